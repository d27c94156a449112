// SPDX-License-Identifier: Apache-2.0
//
// How many steps a run takes: what ends it whatever its fields do, and how long one goes on that
// ends when its fields have died away.
#pragma once
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <cstdint>
#include <optional>
#include <span>

namespace tessera::electromagnetics {

/// Steps of dt_s that hold a duration: one at least, 2^50 at most. Rounding of a whole number of
/// steps makes no further one.
std::int64_t steps_within(double duration_s, double dt_s);

/// The first that is reached ends the run.
struct RunEnd {
  std::optional<std::int64_t> steps = {};      ///< 1 or more
  std::optional<double> time_s = {};           ///< since the beginning
  std::optional<double> after_sources_s = {};  ///< since the last source has ended
};
/// The step at which one of these ends the run; `sources_end_s` infinite: they never end. Nothing
/// where none does.
std::optional<std::int64_t> fixed_end(const RunEnd& end, double sources_end_s, double dt_s);

/// A guess for a run that ends by its decay: until the sources have ended (at once, where they
/// never do), and then light in vacuum goes 20 times along the edges of the domain, one after the
/// other.
std::int64_t steps_of_decay(const YeeGrid& grid, double sources_end_s, double dt_s);
/// Until the sources have ended, as above, and then waves in the densest medium have gone twice
/// along the diagonal of the domain: what crosses it and comes back is in the records. Media by
/// sqrt(eps mu) along x, with the larger of eps at infinite frequency and Re eps at f_hz (0: the
/// former), 1 at least; conductors count for nothing.
std::int64_t steps_of_passages(const YeeGrid& grid, std::span<const Medium> media, double f_hz,
                               double sources_end_s, double dt_s);

}  // namespace tessera::electromagnetics
