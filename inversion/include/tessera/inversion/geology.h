// SPDX-License-Identifier: Apache-2.0
//
// Sections of the earth drawn by chance: layers that later events fold, break and fill. They are
// what a prior learns from and what an inversion is tried on.
//
//   Geology g{.rows = 32, .columns = 64, .events = {{.kind = Event::Kind::layers, .count = {3, 8}},
//                                                   {.kind = Event::Kind::fault}}};
//   std::vector<float> log10_rho = draw_section(g, {seed, 17});   // always the same for this key
//
// Lengths are parts of the region, those along x of its width, those along z and throws of its
// depth, so that one recipe serves regions of any size; angles are those of a region `aspect` times
// as wide as deep.
#pragma once
#include "tessera/data/random.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::inversion {

/// What happened to the region, `count` times with this probability. Every number is drawn evenly
/// between two bounds, resistivities evenly in their logarithm.
struct Event {
  enum class Kind : std::uint8_t {
    layers,        ///< `count` of them, their boundaries anywhere; the first event, and it alone
    fold,          ///< z moves by `amplitude` sin(2 pi x / `wavelength` + phase)
    fault,         ///< a plane through (`x`, 0) that dips by `dip` to either side: what lies above
                   ///< it slides down along it by `throw_`, up where that is negative
    intrusion,     ///< an ellipse about (`x`, `z`), `width` and `height` across, turned by `tilt`
    basin,         ///< from the top at `x`, `width` across and `height` deep: a squared cosine
    block,         ///< a rectangle about (`x`, `z`), `width` by `height`
    random_field,  ///< Gaussian with standard deviation `amplitude` in decades, correlated as
                   ///< exp(-(dx / `width`)^2 / 2 - (dz / `height`)^2 / 2), added to what is there
  };
  using Bounds = std::array<double, 2>;
  Kind kind = Kind::layers;
  double probability = 1;
  std::array<int, 2> count{1, 1};
  Bounds resistivity_ohm_m{1, 10000};
  Bounds x{0, 1}, z{0, 1};
  Bounds width{0.1, 0.4}, height{0.1, 0.4};
  Bounds tilt{-0.5235987755982988, 0.5235987755982988};  ///< rad, clockwise: 30 degrees
  Bounds dip{0.7853981633974483, 1.5707963267948966};    ///< rad from the horizontal: 45 to 90
  Bounds throw_{0.02, 0.2};
  Bounds amplitude{0.02, 0.1};
  Bounds wavelength{0.5, 2};
};
/// "random_field".
const char* name_of(Event::Kind k);

struct Geology {
  std::int64_t rows = 32, columns = 64;
  double aspect = 2;                 ///< width of the region over its depth
  Event::Bounds ohm_m{0.1, 100000};  ///< what lies outside of these is brought to them
  std::vector<Event> events;         ///< in the order of time; each acts on all before it
};

/// Why sections cannot be drawn, as "events[2].dip: ..."; empty: they can.
std::vector<std::string> faults_of(const Geology& g);
/// The section of a key: log10 of the resistivity in ohm m, [rows, columns], its mean over four
/// points of each cell. The same whatever else is drawn, and on any number of threads. Throws Error
/// with the first of `faults_of`.
std::vector<float> draw_section(const Geology& g, data::RandomKey key);
/// How often each event happened in it; of layers, their number.
std::vector<int> times_of(const Geology& g, data::RandomKey key);

}  // namespace tessera::inversion
