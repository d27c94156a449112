// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera {

/// While it lives, kernels that this thread calls use up to n threads, and `num_threads()` says so
/// here, whatever set_num_threads says of others: of a thread that reads ahead, of one of several
/// workers. Threads that are started meanwhile begin without it. Less than 1 counts as 1. Results
/// do not depend on it.
class ThreadCount {
 public:
  explicit ThreadCount(int n);
  ~ThreadCount();
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

}  // namespace tessera
