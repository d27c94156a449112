// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/thread_count.h"
#include "transport.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

namespace tessera::parallel {
namespace {

using Clock = std::chrono::steady_clock;

/// It lies with its sender until it is taken: whoever receives it copies it from there.
struct Message {
  enum class State { lies, is_copied, taken, withdrawn };
  Envelope envelope;
  std::span<const std::byte> bytes;
  State state = State::lies;
};

/// What the ranks share, all of it under the mutex.
struct Group {
  explicit Group(int size)
      : size(size),
        on_the_way(static_cast<std::size_t>(size) * static_cast<std::size_t>(size)),
        notices(static_cast<std::size_t>(size)) {}
  std::deque<std::shared_ptr<Message>>& between(int from, int to) {
    return on_the_way[static_cast<std::size_t>(from * size + to)];
  }

  void note_failure(int rank, const std::string& text, int code_of_it, std::exception_ptr thrown) {
    const std::lock_guard lock(mutex);
    if (failed_rank >= 0) return;
    failed_rank = rank, failed_with = text, code = code_of_it, failure = std::move(thrown);
    changed.notify_all();
  }

  const int size;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::deque<std::shared_ptr<Message>>> on_the_way;
  std::vector<std::vector<std::pair<int, Notice>>> notices;  ///< to each rank, and from whom
  int failed_rank = -1;                                      ///< the first that has
  std::string failed_with;
  int code = 0;
  std::exception_ptr failure;  ///< what it threw; null: it has told its failure itself
};

class ToThread : public Pending {
 public:
  ToThread(Group& group, std::shared_ptr<Message> message)
      : group_(group), message_(std::move(message)) {}
  ~ToThread() override {
    std::unique_lock lock(group_.mutex);
    group_.changed.wait(lock, [&] { return message_->state != Message::State::is_copied; });
    if (message_->state == Message::State::lies) message_->state = Message::State::withdrawn;
  }
  bool done() override {
    const std::lock_guard lock(group_.mutex);
    return message_->state == Message::State::taken;
  }

 private:
  Group& group_;
  std::shared_ptr<Message> message_;
};

class FromThread : public Pending {
 public:
  FromThread(Group& group, int from, int to, Transport::Place place, Clock::time_point not_before)
      : group_(group), from_(from), to_(to), place_(std::move(place)), not_before_(not_before) {}
  bool done() override {
    if (not_before_ > Clock::time_point() && Clock::now() < not_before_) return false;
    std::shared_ptr<Message> m;
    {
      const std::lock_guard lock(group_.mutex);
      auto& queue = group_.between(from_, to_);
      if (queue.empty() || queue.front()->state == Message::State::withdrawn) return false;
      m = std::move(queue.front());
      queue.pop_front();
      m->state = Message::State::is_copied;
    }
    const auto now = [&](Message::State s) {
      const std::lock_guard lock(group_.mutex);
      m->state = s;
      group_.changed.notify_all();
    };
    try {
      const std::span<std::byte> to = place_(m->envelope);
      if (!to.empty()) std::memcpy(to.data(), m->bytes.data(), to.size());
    } catch (...) {
      now(Message::State::withdrawn);
      throw;
    }
    now(Message::State::taken);
    return true;
  }

 private:
  Group& group_;
  int from_, to_;
  Transport::Place place_;
  Clock::time_point not_before_;
};

class ThreadTransport : public Transport {
 public:
  ThreadTransport(Group& group, int rank, std::uint64_t delays) : group_(group), rank_(rank) {
    if (delays) random_.emplace(delays * 1'000'003 + static_cast<std::uint64_t>(rank));
  }
  int rank() const override { return rank_; }
  int size() const override { return group_.size; }
  std::unique_ptr<Pending> send(int to, const Envelope& e,
                                std::span<const std::byte> bytes) override {
    if (random_ && (*random_)() % 4 == 0) std::this_thread::sleep_for(delay());
    auto m = std::make_shared<Message>(Message{e, bytes});
    const std::lock_guard lock(group_.mutex);
    group_.between(rank_, to).push_back(m);
    group_.changed.notify_all();
    return std::make_unique<ToThread>(group_, std::move(m));
  }
  std::unique_ptr<Pending> receive(int from, Place place) override {
    const bool held = random_ && (*random_)() % 4 == 0;
    return std::make_unique<FromThread>(group_, from, rank_, std::move(place),
                                        held ? Clock::now() + delay() : Clock::time_point());
  }
  void idle(int round) override {
    std::unique_lock lock(group_.mutex);
    if (group_.failed_rank >= 0)
      throw OtherRankFailed(group_.failed_rank, group_.code, group_.failed_with);
    if (round < 64) {
      lock.unlock();
      std::this_thread::yield();
    } else {
      group_.changed.wait_for(lock, std::chrono::microseconds(500));
    }
  }
  void tell_waiting(int to, const Notice& notice) override {
    const std::lock_guard lock(group_.mutex);
    group_.notices[static_cast<std::size_t>(to)].emplace_back(rank_, notice);
  }
  void read_notices(const std::function<void(int, const Notice&)>& f) override {
    std::vector<std::pair<int, Notice>> come;
    {
      const std::lock_guard lock(group_.mutex);
      come.swap(group_.notices[static_cast<std::size_t>(rank_)]);
    }
    for (const auto& [from, notice] : come) f(from, notice);
  }
  void tell_failure(const std::string& text, int code) override {
    group_.note_failure(rank_, text, code, nullptr);
  }

 private:
  std::chrono::microseconds delay() { return std::chrono::microseconds((*random_)() % 300); }
  Group& group_;
  const int rank_;
  std::optional<std::mt19937_64> random_;
};

}  // namespace

void run_ranks(int ranks, const std::function<void(Communicator&)>& f, const RankOptions& options) {
  if (ranks < 1) throw Error("[parallel] " + std::to_string(ranks) + " ranks: at least one is run");
  Group group(ranks);
  const int threads = std::max(1, num_threads() / ranks);
  std::vector<std::jthread> all;
  for (int r = 0; r < ranks; ++r)
    all.emplace_back([&, r] {
      try {
        const ThreadCount own(threads);
        Communicator c(std::make_unique<ThreadTransport>(group, r, options.delays));
        c.patience = options.patience;
        f(c);
        c.finish();
      } catch (const std::exception& e) {
        group.note_failure(r, e.what(), 0, std::current_exception());
      } catch (...) {
        group.note_failure(r, "unknown", 0, std::current_exception());
      }
    });
  all.clear();
  if (group.failure) std::rethrow_exception(group.failure);
}

}  // namespace tessera::parallel
