// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace tessera::data {

/// What crosses from us to the plug-in that holds OpenCASCADE, which reads STEP. Both sides are
/// built together; the number in the symbol changes when this does. It is called in guarded
/// children alone.
struct StepSurface {
  std::uint64_t points = 0, triangles = 0;
  std::uint64_t solids = 0, faces = 0;
  char unit[40] = "";  ///< the name of that of length
};
/// Why it cannot be done; empty where it was.
struct StepFailure {
  int number = 0;  ///< of the error
  char text[400] = "";
};
/// `take` gets a StepSurface, then its points, 3 doubles each, in m, then its triangles, 3 indices
/// of 4 bytes each. Chords are at most `chord_m` off the true faces, or, where that is 0, the share
/// of the diameter of all.
using TessellateStep = void (*)(const char* path, double chord_m, double chord_share,
                                void (*take)(void* to, const void* bytes, std::size_t count),
                                void* to, StepFailure* failure);
constexpr const char* kTessellateStep = "tessera_tessellate_step_1";

}  // namespace tessera::data
