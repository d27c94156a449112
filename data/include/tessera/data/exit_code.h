// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::data {

/// What the process says when it ends. The numbers are a public contract
/// (docs/reference/exit-codes.md).
enum class ExitCode : int {
  ok = 0,
  internal_fault = 1,  ///< a bug of ours
  usage = 2,           ///< the command line was wrong
  would_not_fit = 3,   ///< memory or disk would not suffice
  input_invalid = 4,   ///< a data file is malformed
  config_invalid = 5,  ///< the configuration is malformed
  not_converged = 6,   ///< results kept and marked
  blow_up = 7,         ///< NaN or Inf, with step and place
  checkpoint_damaged = 8,
  rank_lost = 9,  ///< a rank did not come within --max-wait; `tessera resume RUN` goes on
  stopped_resumable =
      75,  ///< SIGTERM, first Ctrl-C, STOP file or --max-time; `tessera resume RUN` goes on
  interrupted = 130,  ///< second Ctrl-C; the last periodic checkpoint is kept
};

}  // namespace tessera::data
