// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../base/scratch.h"

#include <cstdint>

namespace tessera::kernels {

/// Along one axis result r and window position j meet position (u r + v j + e) / z of the operand,
/// where that is an integer in [0, positions); u, z > 0, v != 0.
struct Meeting {
  std::int64_t results, window, positions;
  std::int64_t u, v, e, z;
};

/// Results whose windows meet alike: for q < count and t < taps result first + step q and window
/// position tap + tap_step t meet position at + q_moves q + t_moves t, and no other j meets one.
struct MeetingClass {
  std::int64_t first, step, count;
  std::int64_t tap, tap_step, taps;
  std::int64_t at, q_moves, t_moves;
};

/// Result r alone.
MeetingClass meeting_of(const Meeting& m, std::int64_t r);

/// All results of an axis in classes, as few as there are changes of the window at the borders,
/// times z where the operand is spread.
detail::List<MeetingClass> meeting_classes(const Meeting& m);

}  // namespace tessera::kernels
