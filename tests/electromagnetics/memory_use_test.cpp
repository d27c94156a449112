// SPDX-License-Identifier: Apache-2.0
// Memory that is counted beforehand, against what is there once it is taken.
#include "tessera/electromagnetics/memory_use.h"

#include "tessera/electromagnetics/monitors.h"
#include "tessera/electromagnetics/yee_scheme.h"
#include "test_constants.h"

#include <gtest/gtest.h>

namespace tessera::electromagnetics {
namespace {

constexpr Faces at_low{Boundary::pml, Boundary::pec};

YeeGrid brick() { return uniform_grid({30 * cell, 24 * cell, 20 * cell}, cell); }

/// Rows are padded to lines of cache, which is up to 6 % of a row this long.
TEST(MemoryUse, FieldsAreThoseOfTheScheme) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64})
    for (const double phase : {0.0, 1.0}) {
      YeeModel m{.grid = uniform_grid({254 * cell, 24 * cell, 20 * cell}, cell),
                 .faces = {phase == 0 ? pml : joined, pml, at_low},
                 .pml = {.cells = 5}};
      m.bloch_phase = {phase, 0, 0};
      m.dt_s = 0.9 * stable_time_step(m.grid);
      m.dtype = dtype;
      const YeeScheme scheme(m);
      const double taken = static_cast<double>(scheme.state_size()) * (dtype == Dtype::f32 ? 4 : 8);
      const auto counted =
          static_cast<double>(field_bytes(m.grid, m.faces, m.pml.cells, dtype, scheme.parts()));
      EXPECT_LE(counted, taken);
      EXPECT_GE(counted, 0.94 * taken);
    }
}

TEST(MemoryUse, APlaneHasTheSamplesThatAreTaken) {
  for (int axis = 0; axis < 3; ++axis) {
    SampleList samples(brick(), {pec, pec, pec});
    const std::size_t lo = axis == 0 ? 1 : 0, hi = axis == 2 ? 1 : 2;
    Point size = cells(7, 5, 3);  // each end in the middle of a cell
    size[static_cast<std::size_t>(axis)] = 0;
    sampled_plane(samples, axis, 1, 0, {-size[lo] / 2, -size[hi] / 2},
                  {size[lo] / 2, size[hi] / 2});
    EXPECT_EQ(surface_samples(brick(), {}, size), static_cast<double>(samples.size()));
  }
}

TEST(MemoryUse, ABoxHasTheSamplesThatAreTaken) {
  SampleList samples(brick(), {pec, pec, pec});
  const Point size = cells(7, 5, 3);
  sampled_box(samples, cells(-3.5, -2.5, -1.5), cells(3.5, 2.5, 1.5));
  EXPECT_EQ(surface_samples(brick(), {}, size), static_cast<double>(samples.size()));
  // In two dimensions it has four faces, one cell deep.
  const YeeGrid flat = uniform_grid({30 * cell, 24 * cell, 0}, cell);
  SampleList around(flat, {pec, pec, joined});
  sampled_box(around, cells(-3.5, -2.5, 0), cells(3.5, 2.5, 0));
  EXPECT_EQ(surface_samples(flat, {}, cells(7, 5, 0)), static_cast<double>(around.size()));
}

/// The samples alone, and on top what the containers hold.
TEST(MemoryUse, RecordsAreWhatTheirContainersHold) {
  SampleList samples(brick(), {pec, pec, pec});
  add_region(samples, region_of(brick(), {}, cells(2, 2, 2)), {Ex, Hz});
  const auto n = static_cast<double>(samples.size());
  const double alone = memory_of_time_record(n, 0).running;
  EXPECT_EQ(memory_of_frames(n, 0).running, alone);
  EXPECT_EQ(memory_of_transforms(n, 0).running, alone);
  EXPECT_GE(alone, n * static_cast<double>(sizeof(Edge) + 3 * sizeof(double)));

  const std::vector<double> zeros(20 * samples.edges().size(), 0.0);
  const Records r{0, 20, static_cast<std::int64_t>(samples.edges().size()), zeros.data(),
                  static_cast<std::int64_t>(samples.edges().size())};
  TimeRecord<double> signal({.dt_s = 1, .every = 4});
  TimeRecord<float> frames({.dt_s = 1, .every = 4});
  signal.add(r, samples), frames.add(r, samples);
  EXPECT_EQ(memory_of_time_record(n, 5).running - alone,
            8.0 * static_cast<double>(signal.time_s().size() + signal.values().size()));
  EXPECT_EQ(memory_of_frames(n, 5).running - alone,
            4.0 * static_cast<double>(frames.values().size()));
  EXPECT_EQ(memory_of_frames(n, 5).result, 8.0 * static_cast<double>(frames.values().size()));

  // Sums are kept at edges, of which samples at corners of cells share some.
  std::vector<Edge> edges;
  for (int i = 1; i < 9; ++i) edges.push_back({Ez, i, 5, 5});
  const SpectralRecord record({1e9, 2e9, 3e9}, 1e-12, edges);
  EXPECT_EQ(memory_of_transforms(8, 3).result, 8.0 * static_cast<double>(record.sums().size()));
}

/// Numbers of a direction: directivity, intensity and axial ratio, E_theta and E_phi, and the parts
/// along and across a polarization that is wanted; of a cross-section one.
TEST(MemoryUse, PatternsHaveTheirNumbersInEachDirection) {
  EXPECT_EQ(memory_of_pattern(10, 3, false).result, 30 * (3 * 8 + 2 * 16 + 2 * 8));
  EXPECT_EQ(memory_of_pattern(10, 3, true).result, 30 * 8);
  EXPECT_EQ(memory_of_pattern(0, 3, false).running, 0);
}

}  // namespace
}  // namespace tessera::electromagnetics
