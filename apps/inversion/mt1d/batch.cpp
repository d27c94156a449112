// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/batch.h"

#include "inversion/mt1d/record.h"
#include "tessera/data/log.h"
#include "tessera/data/progress.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace tessera::apps::mt1d {
namespace {

constexpr std::uint64_t steps_between_looks = 50;  ///< of a chain, about 10 ms

/// What the threads share: finished results, chains under way, and the word to stop.
class Batch {
 public:
  Batch(const Mt1dOptions& options, const Input& input)
      : options_(options),
        input_(input),
        results_(input.survey.stations.size()),
        chains_(input.survey.stations.size()) {}

  void restore(const data::Checkpoint& c) {
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const std::string prefix = fmt::format("sounding/{}/", i);
      if (c.has(prefix + "id")) {
        results_[i] = get(c, prefix);
        ++finished_;
      } else if (c.has(prefix + "chain/m")) {
        inversion::Chain chain;
        chain.m = c.array<double>(prefix + "chain/m");
        chain.component = c.scalar<std::uint64_t>(prefix + "chain/component");
        chain.step = c.scalar<std::uint64_t>(prefix + "chain/step");
        chain.accepted = c.scalar<std::uint64_t>(prefix + "chain/accepted");
        chain.log_beta = c.scalar<double>(prefix + "chain/log_beta");
        chain.kept = c.array<double>(prefix + "chain/kept");
        chains_[i] = std::move(chain);
      }
    }
  }

  data::Checkpoint checkpoint(const std::string& config_sha256) {
    data::Checkpoint c;
    c.app = "inversion.mt1d";
    c.config_sha256 = config_sha256;
    c.inputs = files_of(input_);
    const std::lock_guard lock(mutex_);
    c.step = step_++;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const std::string prefix = fmt::format("sounding/{}/", i);
      if (results_[i]) {
        put(c, prefix, *results_[i]);
      } else if (chains_[i]) {
        const inversion::Chain& chain = *chains_[i];
        c.put(prefix + "chain/m", chain.m);
        c.put(prefix + "chain/component", chain.component);
        c.put(prefix + "chain/step", chain.step);
        c.put(prefix + "chain/accepted", chain.accepted);
        c.put(prefix + "chain/log_beta", chain.log_beta);
        c.put(prefix + "chain/kept", chain.kept);
      }
    }
    return c;
  }
  void first_step(std::uint64_t step) { step_ = step; }

  /// One thread's work: soundings until none is left or a stop is asked for.
  void work(data::Log& log) {
    for (;;) {
      const std::size_t i = next_++;
      if (i >= results_.size() || stop_ || failed()) return;
      if (results_[i]) continue;
      try {
        invert(i, log);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
      changed_.notify_all();
    }
  }

  void ask_to_stop() { stop_ = true; }
  void ask_for_chains() { ++wanted_; }
  void end_of_thread() {
    const std::lock_guard lock(mutex_);
    ++ended_;
    changed_.notify_all();
  }
  /// Waits until all threads have ended, at most 50 ms; true when they have.
  bool wait(int threads) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(50), [&] { return ended_ == threads; });
    return ended_ == threads;
  }
  std::size_t finished() const { return finished_; }
  void rethrow() {
    if (failure_) std::rethrow_exception(failure_);
  }
  std::vector<inversion::StationResult> take() {
    std::vector<inversion::StationResult> out;
    for (auto& r : results_) out.push_back(std::move(*r));
    return out;
  }

 private:
  bool failed() {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr;
  }

  void invert(std::size_t i, data::Log& log) {
    const auto begin = std::chrono::steady_clock::now();
    const inversion::Station& station = input_.survey.stations[i];
    inversion::SoundingInverter inverter(station.response, inversion_options(options_, i));
    if (const inversion::Sampler* sampler = inverter.sampler()) {
      inversion::Chain chain;
      {
        const std::lock_guard lock(mutex_);
        chain = chains_[i] ? *chains_[i] : sampler->start();
      }
      std::uint64_t published = wanted_;
      while (!sampler->advance(chain, chain.step + steps_between_looks)) {
        if (!stop_ && published == wanted_) continue;
        published = wanted_;
        const std::lock_guard lock(mutex_);
        chains_[i] = chain;
        if (stop_) return;
      }
      inverter.finish(chain);
    }
    inversion::StationResult found = inversion::station_result(station, inverter.result());
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto& r = found.result;
    log.info(fmt::format(
        "{:<12} {:3} periods  RMS {:6.3f}  D+ {:6.3f}  {:3} iterations  sees {:6.1f} km  {:6.2f} s "
        " {}{}",
        station.id, station.response.size(), r.rms, r.bound.rms, r.iterations.size(),
        r.depth.bostick_m / 1000, seconds, word(r.reason),
        r.exact_hessian ? "" : "  (bands by Gauss-Newton: the exact Hessian is indefinite)"));
    if (r.reason == inversion::Reason::target_below_bound)
      log.warning(fmt::format(
          "{}: an RMS of {:.3g} is asked for, but no layered earth comes below {:.4g} (D+)",
          station.id, r.target_rms, r.bound.rms));
    const std::lock_guard lock(mutex_);
    results_[i] = std::move(found);
    chains_[i].reset();
    ++finished_;
  }

  const Mt1dOptions& options_;
  const Input& input_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<inversion::StationResult>> results_;
  std::vector<std::optional<inversion::Chain>> chains_;
  std::exception_ptr failure_;
  std::atomic<std::size_t> next_{0}, finished_{0};
  std::atomic<std::uint64_t> wanted_{0};
  std::atomic<bool> stop_{false};
  std::uint64_t step_ = 1;
  int ended_ = 0;
};

}  // namespace

void for_each_index(std::size_t n, int threads, const std::function<void(std::size_t)>& fn) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto body = [&] {
    for (std::size_t i; (i = next++) < n;) {
      try {
        fn(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = n;
      }
    }
  };
  {
    std::vector<std::jthread> pool;
    for (int t = 1; t < threads; ++t) pool.emplace_back(body);
    body();
  }
  if (failure) std::rethrow_exception(failure);
}

int threads_for(std::size_t soundings, int wanted) {
  return std::max(1, static_cast<int>(std::min(soundings, static_cast<std::size_t>(wanted))));
}

BatchResult run_batch(RunContext& run, const Mt1dOptions& options, const Input& input) {
  Batch batch(options, input);
  if (auto loaded = data::load_newest_checkpoint(run.folder.checkpoints())) {
    for (const auto& w : loaded->warnings) run.log.warning(data::to_string(w));
    data::check_resumable(loaded->checkpoint, run.manifest, files_of(input));
    batch.restore(loaded->checkpoint);
    batch.first_step(loaded->checkpoint.step + 1);
    run.log.info(fmt::format("going on from {}: {} of {} soundings are done",
                             loaded->path.filename().string(), batch.finished(),
                             input.survey.stations.size()));
  }
  const auto save = [&] {
    data::write_checkpoint(run.folder.checkpoints(), batch.checkpoint(run.manifest.config_sha256),
                           run.options.keep_checkpoints);
  };
  data::Progress progress({.style = run.progress_style,
                           .phase = "invert",
                           .unit = "soundings",
                           .total = input.survey.stations.size(),
                           .already_done = batch.finished(),
                           .heartbeat = run.folder.heartbeat_json()});
  const int threads = threads_for(input.survey.stations.size(), run.manifest.threads);
  bool stopped = false;
  {
    std::vector<std::jthread> pool;
    for (int t = 0; t < threads; ++t)
      pool.emplace_back([&] {
        batch.work(run.log);
        batch.end_of_thread();
      });
    // Chains are asked for one look before a checkpoint is written, so that they are nearly up to
    // date.
    data::Periodic periodic(run.options.checkpoint_every_s);
    bool due = false;
    try {
      while (!batch.wait(threads)) {
        progress.update(batch.finished());
        if (!stopped && run.stop.poll() != data::StopReason::none) {
          stopped = true;
          batch.ask_to_stop();
        }
        if (due) save();
        due = periodic.due();
        if (due) batch.ask_for_chains();
      }
    } catch (...) {
      batch.ask_to_stop();
      throw;
    }
  }
  batch.rethrow();
  const bool complete = batch.finished() == input.survey.stations.size();
  save();
  progress.update(batch.finished());
  progress.finish(complete ? "finished" : "stopped");
  if (!complete) return {.stopped = true};
  return {.results = batch.take()};
}

}  // namespace tessera::apps::mt1d
