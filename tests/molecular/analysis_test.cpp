// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/analysis.h"

#include "error_text.h"
#include "molecular_cases.h"
#include "tessera/autodiff/forall.h"
#include "vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <string>

namespace tessera::molecular {
namespace {

using std::numbers::pi;
using testing::minus, testing::norm;
using Random = std::mt19937_64;

Group first(std::size_t n) {
  Group g(n);
  std::iota(g.begin(), g.end(), 0);
  return g;
}

Frame gas(const Box& box, std::size_t n, Random& random) {
  std::uniform_real_distribution<double> any(-1, 2);
  Frame f;
  f.box = box;
  for (std::size_t i = 0; i < n; ++i)
    f.x_nm.push_back(from_fractions(box, {any(random), any(random), any(random)}));
  return f;
}

TEST(PairDistribution, IsALoopOverAllPairsAndImages) {
  Random random(1);
  // A small box, one cell; a large one with cells; both slanted. Every fourth atom of B is in A.
  for (double scale : {1.0, 5.0}) {
    const Box box = box_of_angles({2.1 * scale, 2.3 * scale, 2.2 * scale}, {75, 80, 70});
    const std::size_t n = 120;
    const Frame f = gas(box, n, random);
    Group a, b;
    std::vector<std::int32_t> molecule;
    for (std::size_t i = 0; i < n; ++i) {
      (i % 3 == 0 ? a : b).push_back(static_cast<std::int32_t>(i));
      if (i % 12 == 0) b.push_back(static_cast<std::int32_t>(i));
      molecule.push_back(static_cast<std::int32_t>(i / 4));
    }
    for (bool molecules_count : {true, false}) {
      PairDistribution::Options o{.r_max_nm = 0.9, .bin_nm = 0.1, .molecule = {}};
      if (!molecules_count) o.molecule = molecule;
      PairDistribution rdf(a, b, o);
      rdf.add(f);
      std::vector<double> expected(9, 0);
      double pairs = 0;
      for (std::int32_t i : a)
        for (std::int32_t j : b) {
          if (i == j || (!molecules_count && i / 4 == j / 4)) continue;
          ++pairs;
          const Vec3 d =
              minus(f.x_nm[static_cast<std::size_t>(i)], f.x_nm[static_cast<std::size_t>(j)]);
          for (int p = -5; p <= 5; ++p)
            for (int q = -5; q <= 5; ++q)
              for (int r = -5; r <= 5; ++r) {
                const double l =
                    norm(minus(d, from_fractions(box, {double(p), double(q), double(r)})));
                if (l < 0.9) ++expected[static_cast<std::size_t>(l / 0.1)];
              }
        }
      const Curve g = rdf.g();
      ASSERT_EQ(g.y.size(), 9u);
      double sum = 0;
      for (std::size_t k = 0; k < 9; ++k) {
        const double r = 0.1 * static_cast<double>(k),
                     shell = 4 * pi / 3 * (std::pow(r + 0.1, 3) - r * r * r);
        EXPECT_NEAR(g.x[k], r + 0.05, 1e-12);
        EXPECT_NEAR(g.y[k], expected[k] * volume_nm3(box) / (pairs * shell), 1e-9) << k;
        sum += expected[k] / static_cast<double>(a.size());
        EXPECT_NEAR(rdf.coordination().y[k], sum, 1e-9);
      }
      EXPECT_GT(expected[8], 0);
    }
  }
}

TEST(PairDistribution, OfAnIdealGasIsOne) {
  Random random(2);
  PairDistribution rdf(first(300), first(300), {.r_max_nm = 1.4, .bin_nm = 0.05, .molecule = {}});
  const Box box = box_of_angles({3, 3.1, 3.2}, {80, 95, 100});
  for (int t = 0; t < 128; ++t) rdf.add(gas(box, 300, random));
  const Curve g = rdf.g();
  double chi2 = 0;
  for (std::size_t k = 4; k < g.y.size(); ++k) {  // some hundred pairs in a bin
    chi2 += std::pow((g.y[k] - 1) / g.error[k], 2);
    EXPECT_NEAR(g.y[k], 1, 5 * g.error[k]);
  }
  const auto n = static_cast<double>(g.y.size() - 4);
  EXPECT_NEAR(chi2, n, 5 * std::sqrt(2 * n));  // the errors are neither too small nor too large
}

TEST(PairDistribution, OfALatticeAreItsShells) {
  Frame f;
  f.box = rectangular_box({4, 4, 4});
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 8; ++k)
        if ((i + j + k) % 2 == 0)
          f.x_nm.push_back({0.5 * i, 0.5 * j, 0.5 * k});  // fcc of edge 1 nm
  PairDistribution rdf(first(f.x_nm.size()), first(f.x_nm.size()),
                       {.r_max_nm = 1.3, .bin_nm = 0.05, .molecule = {}});
  rdf.add(f);
  const Curve n = rdf.coordination();
  EXPECT_EQ(n.y[13], 0);                 // up to 0.70
  EXPECT_NEAR(n.y[14], 12, 1e-12);       // sqrt(1/2)
  EXPECT_NEAR(n.y[20], 18, 1e-12);       // 1
  EXPECT_NEAR(n.y[24], 18 + 24, 1e-12);  // sqrt(3/2) = 1.2247
}

TEST(PairDistribution, SaysWhatItCannotDo) {
  Frame f;
  f.x_nm = {{0, 0, 0}, {0.3, 0, 0}};
  PairDistribution rdf(first(2), first(2), {.r_max_nm = 1.1, .bin_nm = 0.1, .molecule = {}});
  EXPECT_THROW(rdf.add(f), Error);
  f.box = rectangular_box({2, 3, 3});
  EXPECT_THROW(rdf.add(f), Error);
  EXPECT_THROW(PairDistribution({1}, {1}, {}), Error);
}

/// Brownian motion: steps of variance 2 D dt along each axis, seen in a box that breathes.
std::vector<Frame> brownian(std::size_t n, std::size_t frames, double d, double dt, unsigned seed) {
  Random random(seed);
  std::normal_distribution<double> step(0, std::sqrt(2 * d * dt));
  std::vector<Frame> out;
  std::vector<Vec3> x(n);
  for (std::size_t t = 0; t < frames; ++t) {
    Frame f;
    const double s = 2 + 0.01 * std::sin(0.1 * static_cast<double>(t));
    f.box = rectangular_box({s, s, s});
    f.time_ps = dt * static_cast<double>(t);
    for (Vec3& p : x)
      for (double& v : p) v += step(random);
    for (const Vec3& p : x) {
      Vec3 q = p;
      if (t == 0)
        for (double& v : q) v -= s * std::floor(v / s);
      f.x_nm.push_back(q);
    }
    // What a program would have written: the wrapped positions, whose nearest images give the
    // steps.
    if (t > 0)
      for (std::size_t i = 0; i < n; ++i) {
        const Vec3 moved = minus(x[i], out.back().v_nm_ps[i]);
        for (std::size_t k = 0; k < 3; ++k) {
          f.x_nm[i][k] = out.back().x_nm[i][k] + moved[k];
          f.x_nm[i][k] -= s * std::floor(f.x_nm[i][k] / s);
        }
      }
    f.v_nm_ps = x;  // the path, for the test
    out.push_back(std::move(f));
  }
  return out;
}

TEST(MeanSquaredDisplacement, IsALoopOverPairsOfFrames) {
  const std::vector<Frame> frames = brownian(7, 40, 0.01, 0.5, 3);
  MeanSquaredDisplacement msd(testing::lennard_jones_atoms(7), {{0}, {2}, {5, 6}},
                              {.fit_from_ps = 1, .fit_to_ps = 4, .lag_ps = 6});
  for (const Frame& f : frames) msd.add(f);
  const auto path = [&](std::size_t t, std::size_t g) {
    const auto& x = frames[t].v_nm_ps;
    return g == 0 ? x[0]
           : g == 1
               ? x[2]
               : Vec3{(x[5][0] + x[6][0]) / 2, (x[5][1] + x[6][1]) / 2, (x[5][2] + x[6][2]) / 2};
  };
  const Curve c = msd.curve();
  ASSERT_EQ(c.x.size(), 13u);
  std::vector<double> slopes;
  for (std::size_t lag = 0; lag <= 12; ++lag) {
    double sum = 0;
    for (std::size_t t = lag; t < 40; ++t)
      for (std::size_t g = 0; g < 3; ++g)
        sum += std::pow(norm(minus(path(t, g), path(t - lag, g))), 2);
    EXPECT_NEAR(c.x[lag], 0.5 * static_cast<double>(lag), 1e-12);
    EXPECT_NEAR(c.y[lag], sum / (3 * static_cast<double>(40 - lag)), 1e-12);
  }
  // The slope of every window by the normal equations, from 1 to 4 ps.
  double d = 0;
  for (std::size_t t = 0; t + 8 < 40; ++t) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (std::size_t lag = 2; lag <= 8; ++lag) {
      double y = 0;
      for (std::size_t g = 0; g < 3; ++g)
        y += std::pow(norm(minus(path(t + lag, g), path(t, g))), 2) / 3;
      const double x = 0.5 * static_cast<double>(lag);
      n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    d += (n * sxy - sx * sy) / (n * sxx - sx * sx) / 6 / 32;
  }
  EXPECT_NEAR(msd.diffusion().mean, d, 1e-12);
  EXPECT_EQ(msd.diffusion().n, 32u);
}

TEST(MeanSquaredDisplacement, OfBrownianMotionGivesItsD) {
  const std::size_t n = 200;
  constexpr double d = 0.0025;
  std::vector<Group> each;
  for (std::size_t i = 0; i < n; ++i) each.push_back({static_cast<std::int32_t>(i)});
  MeanSquaredDisplacement msd(testing::lennard_jones_atoms(n), each,
                              {.fit_from_ps = 2, .fit_to_ps = 10});
  for (const Frame& f : brownian(n, 600, d, 1, 4)) msd.add(f);
  const data::BlockedMean found = msd.diffusion();
  EXPECT_TRUE(found.plateau);
  EXPECT_NEAR(found.mean, d, 4 * found.error);
  EXPECT_LT(found.error, 0.02 * d);
  EXPECT_GT(found.error, 0.002 * d);
  const Curve c = msd.curve();
  for (std::size_t k = 1; k < c.x.size(); ++k) EXPECT_NEAR(c.y[k], 6 * d * c.x[k], 5 * c.error[k]);
}

TEST(MeanSquaredDisplacement, SaysWhatItCannotDo) {
  const System s = testing::lennard_jones_atoms(2);
  EXPECT_THROW(MeanSquaredDisplacement(s, {{0}}, {.fit_from_ps = 3, .fit_to_ps = 2}), Error);
  EXPECT_THROW(MeanSquaredDisplacement(s, {}, {.fit_from_ps = 1, .fit_to_ps = 2}), Error);
  MeanSquaredDisplacement msd(s, {{0}}, {.fit_from_ps = 1, .fit_to_ps = 5});
  const std::vector<Frame> frames = brownian(2, 5, 0.01, 1, 3);
  for (std::size_t t : {0, 1, 2}) msd.add(frames[t]);
  EXPECT_THROW(msd.diffusion(), Error);
  EXPECT_THROW(msd.add(frames[4]), Error);  // one is missing
  Frame less = frames[3];
  less.x_nm.pop_back();
  EXPECT_THROW(msd.add(less), Error);
  MeanSquaredDisplacement seldom(s, {{0}}, {.fit_from_ps = 0.1, .fit_to_ps = 0.4});
  seldom.add(frames[0]);
  const std::string says = tessera::testing::message_of([&] { seldom.add(frames[1]); });
  EXPECT_NE(says.find("frames, which are 1 ps apart, got one from 0.1 to 0.4 ps"),
            std::string::npos)
      << says;
}

/// A molecule that lies across a face, and rests while the box grows.
TEST(MeanSquaredDisplacement, OfARestingMoleculeIsZero) {
  System s = testing::lennard_jones_atoms(2);
  s.connectivity = {{0, 1}};
  MeanSquaredDisplacement msd(s, {{0, 1}}, {.fit_from_ps = 1, .fit_to_ps = 2});
  for (int t = 0; t < 4; ++t) {
    const double edge = 2 + 0.1 * t;
    msd.add({.x_nm = {{edge - 0.05, 1, 1}, {0.15, 1, 1}},
             .v_nm_ps = {},
             .box = rectangular_box({edge, edge, edge}),
             .time_ps = 1.0 * t});
  }
  for (const double y : msd.curve().y) EXPECT_NEAR(y, 0, 1e-28);
}

TEST(MeanSquaredDisplacement, TakesTimesInSinglePrecision) {
  // As XTC files have them: 0.2 ps steps beyond 8192 ps are multiples of 0.00098 ps. The mean step
  // is known to 2 * 0.0005/60 ps.
  const double dt = 0.2;
  std::vector<Frame> frames = brownian(20, 301, 0.0025, dt, 7);
  const auto found = [&](bool rounded) {
    MeanSquaredDisplacement msd(testing::lennard_jones_atoms(20), {{0}, {4}, {9}},
                                {.fit_from_ps = 1, .fit_to_ps = 4});
    for (std::size_t t = 0; t < frames.size(); ++t) {
      const double exact = 9000 + dt * static_cast<double>(t);
      frames[t].time_ps = rounded ? static_cast<double>(static_cast<float>(exact)) : exact;
      msd.add(frames[t]);
    }
    return msd.curve();
  };
  const Curve exact = found(false), rounded = found(true);
  ASSERT_EQ(rounded.x.size(), exact.x.size());
  EXPECT_NEAR(rounded.x.back(), exact.x.back(), 2e-5 * exact.x.back());
  EXPECT_EQ(rounded.y, exact.y);
  MeanSquaredDisplacement gap(testing::lennard_jones_atoms(20), {{0}},
                              {.fit_from_ps = 1, .fit_to_ps = 4});
  gap.add(frames[0]), gap.add(frames[1]);
  EXPECT_THROW(gap.add(frames[3]), Error);  // one is missing
}

TEST(MeanSquaredDisplacement, OfAnUnboundedBox) {
  // SPC/E: L = 2.5 nm, 298 K, 0.73 mPa s: 2.837297 * 1.380649e-23 * 298/(6 pi * 0.73e-3 * 2.5e-9)
  // = 3.394e-10 m^2/s.
  EXPECT_NEAR(unbounded_diffusion(2.4e-3, 298, 0.73e-3, 2.5), 2.4e-3 + 3.394e-4, 1e-7);
}

/// A site has no velocity in files of ours, and another's in those of others: neither counts.
TEST(VelocityAutocorrelation, LeavesVirtualSitesOut) {
  System s = testing::lennard_jones_atoms(3);
  s.atoms.mass_amu[1] = 0;
  VelocityAutocorrelation c(s, {0, 1, 2}, 1);
  for (int t = 0; t < 3; ++t) {
    Frame f;
    f.time_ps = t;
    f.x_nm.resize(3);
    f.v_nm_ps = {{3, 0, 0}, {0.0 + t, 0, 0}, {0, 1, 0}};
    c.add(f);
  }
  EXPECT_DOUBLE_EQ(c.curve().y[0], 5);
  EXPECT_DOUBLE_EQ(c.curve().y[1], 5);
  const std::string says =
      tessera::testing::message_of([&] { VelocityAutocorrelation(s, {1}, 1); });
  EXPECT_NE(says.find("virtual sites alone"), std::string::npos) << says;
}

TEST(VelocityAutocorrelation, OfAnOscillatorIsACosine) {
  VelocityAutocorrelation c(testing::lennard_jones_atoms(2), {0, 1}, 20);
  const double w = 2 * pi / 40;
  for (int t = 0; t < 400 + 20;
       ++t) {  // atoms a quarter of a period apart: the average over both is exact at each t
    Frame f;
    f.time_ps = 0.5 * t;
    f.x_nm.resize(2);
    f.v_nm_ps = {{2 * std::cos(w * t), 0, 0}, {2 * std::sin(w * t), 0, 0}};
    c.add(f);
  }
  const Curve curve = c.curve();
  ASSERT_EQ(curve.x.size(), 21u);
  for (std::size_t k = 0; k < 21; ++k)
    EXPECT_NEAR(curve.y[k], 2 * std::cos(w * static_cast<double>(k)), 1e-12);
  EXPECT_NEAR(c.diffusion(), 0, 1e-12);  // half a period
  EXPECT_THROW(c.add({}), Error);
}

TEST(Density, OfTheBoxAndOfSlices) {
  System s = testing::waters(100, 0.4, 0.3, 0.6);
  Density density(s, first(300), 2, 4);
  Random random(5);
  std::uniform_real_distribution<double> any(0, 1);
  for (int t = 0; t < 3; ++t) {
    Frame f;
    f.box = box_of_angles({2, 2, 3}, {80, 70, 75});
    for (int i = 0; i < 300; ++i)
      f.x_nm.push_back(from_fractions(
          f.box,
          {any(random), any(random), -0.01 - 0.23 * any(random)}));  // the last slice, one below
    density.add(f);
  }
  const double expected = 100 * (15.9994 + 2 * 1.008) * 1.66053906660e-27 /
                          (volume_nm3(box_of_angles({2, 2, 3}, {80, 70, 75})) * 1e-27);
  EXPECT_NEAR(density.mean().mean, expected, 1e-9 * expected);
  const Curve p = density.profile();
  EXPECT_EQ(p.y[0], 0);
  EXPECT_EQ(p.y[2], 0);
  EXPECT_NEAR(p.y[3], 4 * expected, 1e-9 * expected);
  EXPECT_NEAR(p.x[3], 3.5 / 4 * widths_nm(box_of_angles({2, 2, 3}, {80, 70, 75}))[2], 1e-12);
}

TEST(Shape, RadiusOfGyration) {
  const std::vector<Vec3> x = {{0, 0, 0}, {9, 9, 9}, {0, 0, 4}};
  EXPECT_DOUBLE_EQ(radius_of_gyration(x, Group{0, 2}, {}), 2);
  const std::vector<double> mass = {3, 1};  // centre at z = 1: (3 + 9)/4
  EXPECT_DOUBLE_EQ(radius_of_gyration(x, Group{0, 2}, mass), std::sqrt(3));
}

TEST(Shape, FluctuationsAreThoseAfterTheFit) {
  // A rigid frame that is turned about, and one atom without weight that moves in it by +-0.1 nm.
  Random random(6);
  std::normal_distribution<double> normal;
  std::vector<Vec3> reference;
  for (int k = 0; k < 8; ++k) reference.push_back({normal(random), normal(random), normal(random)});
  std::vector<double> weights(8, 1);
  weights[7] = 0;
  Fluctuations f(reference, first(8), weights);
  for (int t = 0; t < 40; ++t) {
    const double a = 0.3 * t;
    std::vector<Vec3> x;
    for (std::size_t k = 0; k < 8; ++k) {
      Vec3 p = reference[k];
      if (k == 7) p[0] += t % 2 ? 0.1 : -0.1;
      x.push_back({std::cos(a) * p[0] - std::sin(a) * p[1] + 5,
                   std::sin(a) * p[0] + std::cos(a) * p[1] - 0.1 * t, p[2]});
    }
    EXPECT_LT(f.add(x), 1e-14);
  }
  for (std::size_t k = 0; k < 7; ++k) EXPECT_LT(f.rmsf_nm()[k], 1e-13);
  EXPECT_NEAR(f.rmsf_nm()[7], 0.1, 1e-13);
}

TEST(HydrogenBonds, AreThoseOfALoopOverAllPairs) {
  Random random(7);
  std::normal_distribution<double> normal;
  for (double scale : {1.0, 3.0}) {
    const System s = testing::waters(60, 0.4, 0.3, 0.6);
    Frame f =
        gas(box_of_angles({1.4 * scale, 1.5 * scale, 1.6 * scale}, {75, 80, 70}), 180, random);
    for (std::size_t o = 0; o < 180; o += 3)
      for (std::size_t h = o + 1; h < o + 3; ++h)
        for (std::size_t d = 0; d < 3; ++d) f.x_nm[h][d] = f.x_nm[o][d] + 0.06 * normal(random);
    std::vector<HydrogenBond> expected;
    for (std::int32_t d = 0; d < 180; d += 3)
      for (std::int32_t h = d + 1; h < d + 3; ++h)
        for (std::int32_t a = 0; a < 180; a += 3) {
          if (a == d) continue;
          const auto at = [&](std::int32_t i) { return f.x_nm[static_cast<std::size_t>(i)]; };
          const Vec3 r = shortest(f.box, minus(at(a), at(d))), b = minus(at(h), at(d));
          if (norm(r) <= 0.35 &&
              std::acos((r[0] * b[0] + r[1] * b[1] + r[2] * b[2]) / norm(r) / norm(b)) <= pi / 6)
            expected.push_back({d, h, a});
        }
    EXPECT_EQ(hydrogen_bonds(s, f), expected);
    if (scale == 1) {
      EXPECT_GT(expected.size(), 10u);
      EXPECT_THROW(hydrogen_bonds(s, f, 0.8), Error) << "two images of one pair";
    }
  }
}

TEST(Analysis, DoesNotDependOnTheNumberOfThreads) {
  const int before = num_threads();
  std::vector<std::vector<double>> came;
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    const std::size_t n = 20000;  // several tasks
    PairDistribution rdf(first(900), first(900), {.r_max_nm = 0.8, .bin_nm = 0.01, .molecule = {}});
    std::vector<Group> each;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(n); ++i) each.push_back({i});
    MeanSquaredDisplacement msd(testing::lennard_jones_atoms(n), each,
                                {.fit_from_ps = 2, .fit_to_ps = 8});
    for (const Frame& f : brownian(n, 11, 0.01, 1, 8)) rdf.add(f), msd.add(f);
    std::vector<double> all = rdf.g().y;
    const Curve c = msd.curve();
    all.insert(all.end(), c.y.begin(), c.y.end());
    all.push_back(msd.diffusion().mean);
    came.push_back(all);
  }
  set_num_threads(before);
  EXPECT_EQ(came[0], came[1]);
}

}  // namespace
}  // namespace tessera::molecular
