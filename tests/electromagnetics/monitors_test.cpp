// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/monitors.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/time_domain.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <tuple>
#include <vector>

namespace tessera::electromagnetics {
namespace {

/// A square of 8 x 8 cells about the origin.
YeeGrid small_square() { return uniform_grid({8 * cell, 8 * cell, 0}, cell); }

/// `values` [step, edge] as what a block of steps left.
Records records_of(const std::vector<double>& values, std::int64_t n_edges,
                   std::int64_t first = 0) {
  return {first, static_cast<std::int64_t>(values.size()) / n_edges, n_edges, values.data(),
          n_edges};
}

TEST(Monitors, ARegionIsTheMiddlesOfItsCells) {
  const Region r = region_of(small_square(), cells(1, 0.25, 3), cells(2, 0, 0));
  ASSERT_EQ(r.x.size(), 2u);
  EXPECT_NEAR(r.x[0], 0.5 * cell, 1e-12 * cell);
  EXPECT_NEAR(r.x[1], 1.5 * cell, 1e-12 * cell);
  EXPECT_EQ(r.y, std::vector<double>{0.25 * cell});  // a line
  EXPECT_EQ(r.z, std::vector<double>{0});            // not resolved: wherever it is asked for
  EXPECT_EQ(r.size(), 2u);
  // Thinner than a cell, about a line: no middle lies within.
  EXPECT_EQ(region_of(small_square(), cells(1, 2, 0), cells(2, 0.5, 0)).y,
            std::vector<double>{2 * cell});
}

TEST(Monitors, FacesOfABoxOnThoseOfTheDomainAreOpen) {
  const auto box = [](double low, double high) {
    SampleList samples(small_square(), {pec, pec, joined});
    return sampled_box(samples, cells(low, -2, 0), cells(high, 2, 0));
  };
  EXPECT_EQ(box(-2, 2).patches.size(), 4u);
  const SampledSurface at_wall = box(-4, 2);
  ASSERT_EQ(at_wall.patches.size(), 3u);
  for (const Patch& p : at_wall.patches) EXPECT_FALSE(p.axis == 0 && p.outward < 0);
  SampleList samples(small_square(), {pec, pec, joined});
  EXPECT_THROW(sampled_box(samples, cells(-4, -4, 0), cells(4, 4, 0)), Error);
  // Of joined faces one alone is the other's outer side; both are none.
  const auto between = [](double low, double high) {
    SampleList of_joined(small_square(), {joined, pec, joined});
    return sampled_box(of_joined, cells(low, -2, 0), cells(high, 2, 0)).patches.size();
  };
  EXPECT_EQ(between(-4, 2), 4u);
  EXPECT_EQ(between(-2, 4), 4u);
  EXPECT_EQ(between(-4, 4), 2u);
  const SampledSurface inwards = sampled_box(samples, cells(-2, -2, 0), cells(2, 2, 0), -1);
  EXPECT_GT(inwards.patches.front().outward, 0);  // that of low x
}

TEST(Monitors, ABodyOnABoxIsFoundOnItsFacesAlone) {
  const Scene scene{{{box(cells(-1, -1, -1), cells(1, 1, 1)), 1, 0, "body"}}};
  const auto found = [&](const Point& low, const Point& high) {
    return body_on_box(SceneOrder(scene), small_square(), {pec, pec, joined}, {low, high});
  };
  EXPECT_FALSE(found(cells(-2, -2, 0), cells(2, 2, 0)));
  const auto cut = found(cells(-2, -2, 0), cells(0.5, 2, 0));
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->medium, 1);
  EXPECT_EQ(cut->axis, 0);
  // The faces of the domain are none, and of a plane only what lies on it counts.
  const Scene whole{{{box(cells(-9, -9, -9), cells(9, 9, 9)), 1, 0, "body"}}};
  const auto on_sides = [&](const Scene& in, const Faces& x, double low, double high) {
    return body_on_box(SceneOrder(in), small_square(), {x, pec, joined},
                       {cells(low, -4, 0), cells(high, 4, 0)});
  };
  EXPECT_FALSE(on_sides(whole, pec, -4, 4));
  EXPECT_FALSE(on_sides(whole, joined, -4, 4));
  // Of joined faces one alone is a side; a body that ends on it touches it, as elsewhere.
  for (const auto& [from, to, cuts] :
       {std::tuple{-4, -3, true}, {3, 9, true}, {-9, 9, true}, {3, 4, false}}) {
    const Scene at_seam{{{box(cells(from, -9, -9), cells(to, 9, 9)), 1, 0, "body"}}};
    EXPECT_EQ(on_sides(at_seam, joined, -4, 2).has_value(), cuts) << from;
    EXPECT_EQ(on_sides(at_seam, joined, -2, 4).has_value(), cuts) << from;
    EXPECT_FALSE(on_sides(at_seam, joined, -4, 4)) << from;
    if (to - from > 9) continue;
    EXPECT_FALSE(on_sides(at_seam, joined, -2, 2)) << from;
    EXPECT_FALSE(on_sides(at_seam, pec, -4, 2)) << from;
    EXPECT_FALSE(on_sides(at_seam, pec, -2, 4)) << from;
  }
  EXPECT_TRUE(found(cells(0, -2, 0), cells(0, 2, 0)));
  EXPECT_FALSE(found(cells(2, -2, 0), cells(2, 2, 0)));
}

TEST(Monitors, ARecordInTimeHasTheStepsThatAreKept) {
  SampleList samples(small_square(), {pec, pec, joined});
  samples.add(Ez, cells(1, 1, 0));  // on an edge: E is its unknown over the reference length
  ASSERT_EQ(samples.edges().size(), 1u);
  TimeRecord<double> record({.dt_s = 2, .every = 3, .start_s = 7, .end_s = 25});
  record.add(records_of({1, 2, 3, 4, 5, 6, 7}, 1), samples);
  record.add(records_of({8, 9, 10, 11, 12, 13, 14, 15}, 1, 7), samples);
  EXPECT_EQ(record.time_s(), (std::vector<double>{12, 18, 24}));  // steps 6, 9 and 12
  ASSERT_EQ(record.values().size(), 3u);
  const double unit = record.values()[0] / 6;
  EXPECT_NEAR(record.values()[1], 9 * unit, 1e-12 * 9 * unit);
  EXPECT_NEAR(record.values()[2], 12 * unit, 1e-12 * 12 * unit);
}

TEST(Monitors, ATransformLessItselfIsNothingHoweverOftenEachLooked) {
  const std::vector<double> f{0.01, 0.03};
  const std::vector<Edge> edges{{Ez, 3, 4, 0}, {Hx, 3, 4, 0}};
  std::vector<double> values;
  for (int n = 0; n < 400; ++n)
    for (const double shift : {0.0, 1.0})
      values.push_back(std::exp(-std::pow((n - 150) / 30.0, 2)) * std::cos(0.1 * n + shift));
  SpectralRecord each(f, 1, edges), third(f, 1, edges, 3);
  for (SpectralRecord* r : {&each, &third}) r->add(records_of(values, 2));
  const double norm = each.norm();
  EXPECT_GT(norm, 1);
  third.subtract(each.own_sums(), 1);
  EXPECT_LT(third.norm(), 1e-9 * norm);  // the band of the pulse ends far below 1/3 - f
  each.subtract(each.own_sums(), 1);
  EXPECT_EQ(each.norm(), 0);
  EXPECT_EQ(each.sums(), std::vector<double>(8, 0.0));
  EXPECT_THROW(each.subtract({1, 2}, 1), Error);
}

/// Sums of each step, restored where a coarser stride would be chosen today, count each step once.
TEST(Monitors, ATransformThatIsRestoredGoesOnAsItBegan) {
  const std::vector<double> f{0.01, 0.03};
  const std::vector<Edge> edges{{Ez, 3, 4, 0}, {Hx, 3, 4, 0}};
  std::vector<double> values;
  for (int n = 0; n < 400; ++n)
    for (const double shift : {0.0, 1.0})
      values.push_back(std::exp(-std::pow((n - 150) / 30.0, 2)) * std::cos(0.1 * n + shift));
  const std::vector<double> begin(values.begin(), values.begin() + 2 * 160),
      rest(values.begin() + 2 * 160, values.end());
  SpectralRecord whole(f, 1, edges), cut(f, 1, edges), resumed(f, 1, edges, 3);
  whole.add(records_of(values, 2));
  cut.add(records_of(begin, 2));
  resumed.subtract(whole.own_sums(), 1);
  resumed.restore(cut.own_sums(), cut.fading().sums(), cut.every());
  resumed.add(records_of(rest, 2, 160));
  EXPECT_EQ(resumed.every(), 1);
  EXPECT_EQ(resumed.own_sums(), whole.own_sums());
  EXPECT_EQ(resumed.fading().sums(), whole.fading().sums());
  EXPECT_LT(resumed.norm(), 1e-12 * whole.norm());  // less the whole, scaled by 1/3 and 3
}

TEST(Monitors, WhatRingsOutFadesAtItsRate) {
  const double rate = 0.01;  // of the amplitude in a step: 0.0869 dB
  std::vector<double> values;
  for (int n = 0; n < 1000; ++n) values.push_back(std::exp(-rate * n) * std::cos(0.7 * n));
  Fading fading(45, 1);  // five periods of cos^2
  fading.add(records_of(values, 1));
  const Fading::Report r = fading.report();
  EXPECT_TRUE(r.seen);
  const double db_a_step = 20 * std::log10(std::exp(1.0)) * rate;
  EXPECT_NEAR(r.db_a_step, db_a_step, 0.01 * db_a_step);
  // 1000 steps are 22 full windows; the last eighth of those behind the first is left out.
  EXPECT_NEAR(r.fallen_db, 45 * 19 * db_a_step, 0.01 * 45 * 19 * db_a_step);
  EXPECT_FALSE(Fading(45, 1).report().seen);
}

/// Of a record over a decade of frequencies.
Fading::Report report_of(const std::vector<double>& values, double dt_s) {
  SpectralRecord record({1e9, 10e9}, dt_s, {{Ez, 0, 0, 0}});
  record.add(records_of(values, 1));
  return record.fading().report();
}

/// In a run of one to three periods of the lowest frequency.
TEST(Monitors, APulseThatHasPassedHasFadedHoweverShortTheRun) {
  const double dt = 2e-12;
  const auto pulse = [&](double t) {
    const double s = (t - 0.45e-9) / 0.1e-9;
    return std::exp(-s * s) * std::cos(two_pi * 5.5e9 * t);
  };
  for (const double end : {1.2e-9, 1.5e-9, 2e-9, 3e-9}) {
    std::vector<double> values;
    for (int n = 0; n * dt < end; ++n) values.push_back(pulse(n * dt) + 1e-5);
    EXPECT_GT(report_of(values, dt).fallen_db, 60) << end;
  }
  // What rings on at a tenth of the amplitude, at the lowest frequency, is told at whichever phase
  // the run ends.
  for (int end = 900; end < 1500; end += 7) {
    std::vector<double> values;
    for (int n = 0; n < end; ++n)
      values.push_back(pulse(n * dt) + 0.1 * std::cos(two_pi * 1e9 * n * dt));
    EXPECT_LT(report_of(values, dt).fallen_db, 20 + 3) << end;
  }
  // A band that begins at a hundredth of what is there.
  SpectralRecord low({1e7, 10e9}, dt, {{Ez, 0, 0, 0}});
  std::vector<double> values;
  for (int n = 0; n < 1500; ++n) values.push_back(pulse(n * dt) + 1e-5);
  low.add(records_of(values, 1));
  EXPECT_GT(low.fading().report().fallen_db, 60);
}

/// A uniform field has V eps0 eps E^2/4 and V mu0 H^2/4 (its amplitude is a phasor's), and a box
/// has what its two parts have, wherever in a cell they meet.
TEST(Monitors, EnergiesOfBoxesAddUp) {
  const std::vector<double> f{1e9};
  const auto energy = [&](double low, double high) {
    SampleList samples(small_square(), {pec, pec, joined});
    const BoxEnergy box(samples, Scene{}, {{.eps = {3, 3, 3}}}, cells(low, -1, 0),
                        cells(high, 2, 0), {Ez, Hx});
    const Tensor ones_everywhere = ones({1, samples.size()}, Dtype::c128);
    return std::pair(box.electric(ones_everywhere, f).item(),
                     box.magnetic(ones_everywhere, f).item());
  };
  const double volume = 3 * 3 * cell * cell;  // per metre
  const auto [electric, magnetic] = energy(-1.3, 1.7);
  EXPECT_NEAR(electric / (volume * vacuum_permittivity * 3 / 4), 1, 1e-12);
  EXPECT_NEAR(magnetic / (volume * vacuum_permeability / 4), 1, 1e-12);
  EXPECT_NEAR((energy(-1.3, 0.4).first + energy(0.4, 1.7).first) / electric, 1, 1e-12);
  EXPECT_THROW(energy(1, 1), Error);
}

TEST(Monitors, ACurrentOnAMirrorIsDoubled) {
  const YeeGrid grid = small_square();
  const std::array<Faces, 3> faces{Faces{Boundary::pmc, Boundary::pec}, pec, joined};
  const auto images = [&](int component, const Point& at) {
    return images_of_current(grid, faces, component, at);
  };
  EXPECT_EQ(images(Ez, cells(-4, 0, 0)), 2);  // along the magnetic one
  EXPECT_EQ(images(Ex, cells(-4, 0, 0)), 1);  // across it: its image takes it away
  EXPECT_EQ(images(Ex, cells(4, 0, 0)), 2);   // across an electric one
  EXPECT_EQ(images(Ey, cells(-4, 4, 0)), 4);  // in a corner
  EXPECT_EQ(images(Ez, cells(-3, 1, 0)), 1);
  EXPECT_EQ(images(Hz, cells(4, 4, 0)), 4);   // magnetic ones along electric mirrors
  EXPECT_EQ(images(Hx, cells(-4, 0, 0)), 2);  // and across magnetic ones
  EXPECT_EQ(images(Hz, cells(-4, 0, 0)), 1);
  EXPECT_EQ(images(Hx, cells(4, 0, 0)), 1);
  EXPECT_EQ(point_source(grid, Ez), PointSource::line);
  EXPECT_EQ(point_source(grid, Ex), PointSource::line_dipole);
}

/// E across a magnetic wall and H along it are odd there: zero on the wall, half way to the first
/// middle half of what is there. At an electric wall they are even. A current of that kind on the
/// wall drives nothing.
TEST(Monitors, WhatIsOddAtAMagneticWallVanishesOnIt) {
  const YeeGrid grid = small_square();
  const std::array<Faces, 3> faces{Faces{Boundary::pmc, Boundary::pec}, pec, joined};
  for (const int component : {Ex, Hy, Hz}) {
    const auto weight = [&](double x) {
      SampleList samples(grid, faces);
      samples.add(component, cells(x, component == Hz ? 0.5 : 0, 0));
      const std::vector<double> ones(samples.edges().size(), 1.0);
      return samples.value(0, ones.data());
    };
    const double inside = weight(0.5);
    EXPECT_GT(inside, 0);
    EXPECT_EQ(weight(-4), 0) << component;
    EXPECT_NEAR(weight(-3.75) / inside, 0.5, 1e-9) << component;
    EXPECT_NEAR(weight(-3.5) / inside, 1, 1e-9) << component;
    EXPECT_NEAR(weight(4) / inside, 1, 1e-9) << component;
    const auto source = [&](double x) {
      const Point at = cells(x, component == Hz ? 0.5 : 0, 0);
      return current_source(grid, faces, 1e-12, component, at, at, 1, gaussian_pulse(1e9, 1e9));
    };
    EXPECT_THROW(source(-4), Error) << component;
    EXPECT_EQ(source(-3.75).edges.size(), 1u) << component;
  }
}

TEST(Monitors, OneModeOfTwoComponentsIsToldByTheExacterOne) {
  const auto mode = [](double f, double error) {
    return Mode{.frequency_hz = f, .decay = 1e-3, .quality = 1, .amplitude = 1, .error_hz = error};
  };
  // Two of Ez, one of which Hx has too, within the errors and more exactly.
  const std::vector<Mode> modes{mode(1.0, 1e-3), mode(1.001, 1e-4), mode(1.002, 2e-3)};
  EXPECT_EQ(distinct_modes(modes, std::vector<int>{Ez, Hx, Ez}), (std::vector<std::size_t>{1, 2}));
  const std::vector<Mode> apart{mode(1.0, 1e-3), mode(1.02, 1e-4)};
  EXPECT_EQ(distinct_modes(apart, std::vector<int>{Ez, Hx}), (std::vector<std::size_t>{1, 0}));
  EXPECT_THROW(distinct_modes(apart, std::vector<int>{Ez}), Error);
  // A hundredth of their width apart they are one, whatever is said of their errors.
  std::vector<Mode> broad{mode(1.0, 1e-6), mode(1.02, 1e-6)};
  for (Mode& m : broad) m.decay = 3 * std::numbers::pi;
  EXPECT_EQ(distinct_modes(broad, std::vector<int>{Ez, Hx}), (std::vector<std::size_t>{0}));
  EXPECT_EQ(distinct_modes(broad, std::vector<int>{Ez, Ez}).size(), 2u);
  broad[1].decay = 0.3 * std::numbers::pi;
  EXPECT_EQ(distinct_modes(broad, std::vector<int>{Ez, Hx}).size(), 2u);
}

}  // namespace
}  // namespace tessera::electromagnetics
