// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt1d/input.h"
#include "support/app.h"
#include "tessera/inversion/station_result.h"

#include <functional>
#include <vector>

namespace tessera::apps::mt1d {

struct BatchResult {
  bool stopped = false;  ///< a stop was asked for; the checkpoint is written
  /// Of the soundings that did not fail, in their order; empty when stopped.
  std::vector<inversion::StationResult> results;
  std::vector<std::size_t> stations;  ///< of the results
};

/// Threads that `soundings` are inverted on where `wanted` are there.
int threads_for(std::size_t soundings, int wanted);

/// Bytes that a rank sends rank 0: with the result of a sounding, and in each round (at most 50 ms)
/// without one.
std::size_t bytes_of_result(const inversion::StationResult& result);
std::size_t bytes_of_round(int ranks);
inline constexpr double seconds_of_round = 0.05;

/// Inverts all soundings on the threads of the run and of the other ranks (dealt in turn), one log
/// line each as it ends. Goes on from the newest checkpoint of the run folder; writes checkpoints
/// periodically, at a stop and at the end. A checkpoint holds the finished results and the chains
/// of the running ones, so that the results do not depend on how often the run was interrupted, nor
/// on the numbers of threads and ranks. A sounding that fails is told and left out, and tried again
/// by the next resume; where all do, the first failure is thrown.
BatchResult run_batch(RunContext& run, const Mt1dOptions& options, const Input& input);
/// What the other ranks do meanwhile: they write nothing.
void help_with_batch(HelpContext& with, const Mt1dOptions& options, const Input& input);

/// fn(i) for i in 0..n-1 on `threads` threads; the first exception is thrown again here.
void for_each_index(std::size_t n, int threads, const std::function<void(std::size_t)>& fn);

}  // namespace tessera::apps::mt1d
