// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/batch.h"

#include "inversion/mt1d/record.h"
#include "tessera/data/log.h"
#include "tessera/data/progress.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"
#include "tessera/parallel/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace tessera::apps::mt1d {
namespace {

constexpr std::uint64_t steps_between_looks = 50;  ///< of a chain, about 10 ms

std::string prefix_of(std::size_t sounding) { return fmt::format("sounding/{}/", sounding); }

void put_chain(data::Checkpoint& c, const std::string& prefix, const inversion::Chain& chain) {
  c.put(prefix + "chain/m", chain.m);
  c.put(prefix + "chain/component", chain.component);
  c.put(prefix + "chain/step", chain.step);
  c.put(prefix + "chain/accepted", chain.accepted);
  c.put(prefix + "chain/log_beta", chain.log_beta);
  c.put(prefix + "chain/kept", chain.kept);
}

/// What rank 0 says to all in each round.
struct Word {
  bool stop = false;    ///< the run is to end, resumably
  bool chains = false;  ///< those under way are wanted in the next round
  bool end = false;     ///< all have ended
};

/// What the threads of a rank share: finished results, chains under way, and the word to stop. Rank
/// 0 has those of all ranks.
class Batch {
 public:
  Batch(const Mt1dOptions& options, const Input& input, int rank, int ranks)
      : options_(options),
        input_(input),
        rank_(static_cast<std::size_t>(rank)),
        ranks_(static_cast<std::size_t>(ranks)),
        results_(input.survey.stations.size()),
        chains_(input.survey.stations.size()),
        told_(input.survey.stations.size()),
        fresh_(input.survey.stations.size()),
        failed_(input.survey.stations.size()) {}

  void restore(const data::Checkpoint& c) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const std::string prefix = prefix_of(i);
      if (c.has(prefix + "id")) {
        results_[i] = get(c, prefix);
        chains_[i].reset();
        told_[i] = true;
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
    c.inputs = survey::files_of(input_);
    const std::lock_guard lock(mutex_);
    c.step = step_++;
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (results_[i])
        put(c, prefix_of(i), *results_[i]);
      else if (chains_[i])
        put_chain(c, prefix_of(i), *chains_[i]);
    return c;
  }

  /// What rank 0 does not know yet: results, chains as they were last asked for, lines of the log.
  /// Most often there is nothing.
  std::optional<data::Checkpoint> news() {
    data::Checkpoint c;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = rank_; i < results_.size(); i += ranks_)
      if (results_[i] && !told_[i]) {
        put(c, prefix_of(i), *results_[i]);
        told_[i] = true;
      } else if (failed_[i] && !told_[i]) {
        c.put(prefix_of(i) + "failed", *failed_[i]);
        told_[i] = true;
      } else if (chains_[i] && fresh_[i]) {
        put_chain(c, prefix_of(i), *chains_[i]);
        fresh_[i] = false;
      }
    for (std::size_t k = 0; k < lines_.size(); ++k) {
      c.put(fmt::format("line/{}/text", k), lines_[k].text);
      c.put(fmt::format("line/{}/level", k), static_cast<std::int64_t>(lines_[k].level));
    }
    lines_.clear();
    if (failure_) c.put("failure", text_of(failure_));
    return c.values.empty() ? std::nullopt : std::optional(std::move(c));
  }
  /// The news of another rank.
  void take_news(const data::Checkpoint& c, int rank, data::Log& log) {
    for (std::size_t k = 0; c.has(fmt::format("line/{}/text", k)); ++k)
      log.write(
          static_cast<data::LogLevel>(c.scalar<std::int64_t>(fmt::format("line/{}/level", k))),
          c.text(fmt::format("line/{}/text", k)));
    restore(c);
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < failed_.size(); ++i)
      if (c.has(prefix_of(i) + "failed")) failed_[i] = c.text(prefix_of(i) + "failed");
    if (c.has("failure") && !failure_)
      failure_ =
          std::make_exception_ptr(Error(fmt::format("rank {}: {}", rank, c.text("failure"))));
  }
  void first_step(std::uint64_t step) { step_ = step; }

  /// One thread's work: soundings of this rank until none is left or a stop is asked for.
  void work() {
    for (;;) {
      const std::size_t i = rank_ + ranks_ * next_++;
      if (i >= results_.size() || stop_ || failed()) return;
      if (results_[i]) continue;
      try {
        invert(i);
      } catch (const Error& e) {
        leave_out(i, e.what());
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
    changed_.wait_for(lock, std::chrono::duration<double>(seconds_of_round),
                      [&] { return ended_ == threads; });
    return ended_ == threads;
  }
  std::size_t finished() const { return finished_; }
  bool failed() {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr;
  }
  /// What the threads have said since the last call.
  void write_lines(data::Log& log) {
    std::vector<Line> lines;
    {
      const std::lock_guard lock(mutex_);
      lines.swap(lines_);
    }
    for (const Line& l : lines) log.write(l.level, l.text);
  }
  void rethrow() {
    if (failure_) std::rethrow_exception(failure_);
  }
  /// Whether each sounding has a result or has failed.
  bool complete() {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (!results_[i] && !failed_[i]) return false;
    return true;
  }
  /// Throws the first failure where there is no result.
  BatchResult take() {
    BatchResult out;
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (results_[i]) {
        out.results.push_back(std::move(*results_[i]));
        out.stations.push_back(i);
      }
    if (out.results.empty()) throw Error(failed_.front().value());
    return out;
  }

 private:
  struct Line {
    data::LogLevel level;
    std::string text;
  };
  static std::string text_of(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& e) {
      return e.what();
    }
  }

  void leave_out(std::size_t i, const std::string& why) {
    const std::lock_guard lock(mutex_);
    chains_[i].reset();
    failed_[i] = why;
    lines_.push_back({data::LogLevel::error,
                      fmt::format("{} is left out: {}", input_.survey.stations[i].id, why)});
  }

  void invert(std::size_t i) {
    const auto begin = std::chrono::steady_clock::now();
    const inversion::Station& station = input_.survey.stations[i];
    const inversion::Response response = response_of(options_, input_, i);
    inversion::SoundingInverter inverter(response, inversion_options(options_, station.id));
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
        fresh_[i] = true;
        if (stop_) return;
      }
      inverter.finish(chain);
    }
    inversion::StationResult found = inversion::station_result(station, inverter.result());
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto& r = found.result;
    std::vector<Line> lines;
    lines.push_back(
        {data::LogLevel::info,
         fmt::format(
             "{:<12} {:3} periods  RMS {:6.3f}  D+ {:6.3f}  {:3} iterations  sees {:6.1f} km  "
             "{:6.2f} s "
             " {}{}",
             station.id, response.size(), r.rms, r.bound.rms, r.iterations.size(),
             r.depth.bostick_m / 1000, seconds, word(r.reason),
             r.exact_hessian ? "" : "  (bands by Gauss-Newton: the exact Hessian is indefinite)")});
    if (r.reason == inversion::Reason::target_below_bound)
      lines.push_back(
          {data::LogLevel::warning,
           fmt::format(
               "{}: an RMS of {:.3g} is asked for, but no layered earth comes below {:.4g} (D+)",
               station.id, r.target_rms, r.bound.rms)});
    if (options_.posterior.method != inversion::PosteriorMethod::none && r.q50.empty() &&
        r.reason != inversion::Reason::not_finite)
      lines.push_back(
          {data::LogLevel::warning,
           fmt::format("{}: no bands: beside errors as small as these the prior is lost "
                       "in rounding (data.error_floor)",
                       station.id)});
    // Vehtari et al. 2021, section 4.4: 1.05 and more is far from mixed.
    if (const auto worst = std::ranges::max_element(r.r_hat);
        worst != r.r_hat.end() && *worst > 1.05)
      lines.push_back(
          {data::LogLevel::warning,
           fmt::format("{}: the chain has not mixed, its bands are rough: R-hat is {:.2f} in layer "
                       "{}; more posterior.samples",
                       station.id, *worst, worst - r.r_hat.begin() + 1)});
    const std::lock_guard lock(mutex_);
    results_[i] = std::move(found);
    chains_[i].reset();
    lines_.insert(lines_.end(), lines.begin(), lines.end());
    ++finished_;
  }

  const Mt1dOptions& options_;
  const Input& input_;
  const std::size_t rank_, ranks_;  ///< soundings rank_, rank_ + ranks_, ... are this rank's
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<inversion::StationResult>> results_;
  std::vector<std::optional<inversion::Chain>> chains_;
  std::vector<bool> told_, fresh_;  ///< results that rank 0 has, chains that it has not
  std::vector<std::optional<std::string>> failed_;  ///< why there will be no result
  std::vector<Line> lines_;
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

namespace {

parallel::Bytes bytes_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}
data::Checkpoint decoded(const parallel::Bytes& bytes) {
  return data::decode_checkpoint({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                 "news of a rank");
}

/// Threads at work on a batch.
std::vector<std::jthread> started(Batch& batch, int threads) {
  std::vector<std::jthread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&] {
      batch.work();
      batch.end_of_thread();
    });
  return pool;
}

/// A rank has ended its soundings, wants to stop; then its news, if there are any.
parallel::Bytes message_of(bool ended, bool stopped, const std::optional<data::Checkpoint>& news) {
  std::string text{ended ? '1' : '0', stopped ? '1' : '0'};
  if (news) text += data::encode_checkpoint(*news);
  return bytes_of(text);
}

/// Rank 0 hears the news of the others; true: these have ended. `stop` is set where one is to stop.
bool hear_news(parallel::Communicator& ranks, Batch& batch, data::Log& log, bool& stop) {
  const std::vector<parallel::Bytes> news = ranks.gather({});
  bool ended = true;
  for (int r = 1; r < ranks.size(); ++r) {
    const parallel::Bytes& m = news[static_cast<std::size_t>(r)];
    ended = ended && m.at(0) == std::byte{'1'};
    stop = stop || m.at(1) == std::byte{'1'};
    if (m.size() > 2) batch.take_news(decoded({m.begin() + 2, m.end()}), r, log);
  }
  return ended;
}

}  // namespace

std::size_t bytes_of_result(const inversion::StationResult& result) {
  data::Checkpoint c;
  put(c, prefix_of(0), result);
  c.put("line/0/text", std::string(120, ' '));  // a line of the log
  c.put("line/0/level", std::int64_t{0});
  return message_of(false, false, c).size();
}
std::size_t bytes_of_round(int ranks) {
  std::size_t passed_on = 0;  // of rank 0's word, to those behind this rank in a tree
  for (int step = 2; step < ranks; step *= 2) passed_on += sizeof(Word);
  return message_of(false, false, {}).size() + passed_on;
}

BatchResult run_batch(RunContext& run, const Mt1dOptions& options, const Input& input) {
  Batch batch(options, input, 0, run.ranks.size());
  auto loaded = data::load_newest_checkpoint(run.folder.checkpoints());
  if (loaded) {
    for (const auto& w : loaded->warnings) run.log.warning(data::to_string(w));
    data::check_resumable(loaded->checkpoint, run.manifest, survey::files_of(input));
    batch.restore(loaded->checkpoint);
    batch.first_step(loaded->checkpoint.step + 1);
    run.log.info(fmt::format("going on from {}: {} of {} soundings are done",
                             loaded->path.filename().string(), batch.finished(),
                             input.survey.stations.size()));
  }
  run.ranks.broadcast(bytes_of(
      data::encode_checkpoint(loaded ? std::move(loaded->checkpoint) : data::Checkpoint())));
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
  {
    const std::vector<std::jthread> pool = started(batch, threads);
    // Chains are asked for one look before a checkpoint is written, so that they are nearly up to
    // date.
    data::Periodic periodic(run.options.checkpoint_every_s);
    Word word;
    try {
      while (!word.end) {
        const bool ended = batch.wait(threads);
        batch.write_lines(run.log);
        word.stop = word.stop || run.stop.poll() != data::StopReason::none || batch.failed();
        word.end = hear_news(run.ranks, batch, run.log, word.stop) && ended;
        progress.update(batch.finished());
        if (word.chains && !word.end) save();
        word.chains = periodic.due();
        if (word.stop) batch.ask_to_stop();
        if (word.chains) batch.ask_for_chains();
        run.ranks.broadcast(parallel::to_bytes(std::vector<Word>{word}));
      }
    } catch (...) {
      batch.ask_to_stop();
      throw;
    }
  }
  save();
  batch.rethrow();
  const bool complete = batch.complete();
  progress.update(batch.finished());
  progress.finish(complete ? "finished" : "stopped");
  if (!complete) return {.stopped = true};
  return batch.take();
}

void help_with_batch(HelpContext& with, const Mt1dOptions& options, const Input& input) {
  parallel::Communicator& ranks = with.ranks;
  Batch batch(options, input, ranks.rank(), ranks.size());
  batch.restore(decoded(ranks.broadcast({})));
  const int threads = threads_for(input.survey.stations.size(), with.threads);
  const std::vector<std::jthread> pool = started(batch, threads);
  try {
    for (Word word; !word.end;) {
      const bool ended = batch.wait(threads);
      const bool stopped = with.stop && with.stop->poll() != data::StopReason::none;
      ranks.gather(message_of(ended, stopped, batch.news()));
      word = parallel::from_bytes<Word>(ranks.broadcast({})).at(0);
      if (word.stop) batch.ask_to_stop();
      if (word.chains) batch.ask_for_chains();
    }
  } catch (...) {
    batch.ask_to_stop();
    throw;
  }
}

}  // namespace tessera::apps::mt1d
