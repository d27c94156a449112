// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/transform.h"

#include "molecular_cases.h"
#include "tessera/molecular/analysis.h"
#include "vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace tessera::molecular {
namespace {

using testing::minus, testing::norm, testing::plus;
using Random = std::mt19937_64;

Vec3 gauss(Random& random, double by = 1) {
  std::normal_distribution<double> normal;
  return {by * normal(random), by * normal(random), by * normal(random)};
}

/// Of a random unit quaternion.
std::array<Vec3, 3> rotation(Random& random) {
  std::normal_distribution<double> normal;
  std::array<double, 4> q;
  double n = 0;
  for (double& v : q) v = normal(random), n += v * v;
  for (double& v : q) v /= std::sqrt(n);
  const auto [w, x, y, z] = q;
  return {{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
           {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
           {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}
Vec3 turned(const std::array<Vec3, 3>& r, const Vec3& x) {
  Vec3 out{};
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) out[a] += r[a][b] * x[b];
  return out;
}

const Box slanted_cell = box_of_angles({2.1, 2.3, 2.2}, {75, 80, 70});

TEST(Transform, MoleculesAreMadeWholeAndWrapped) {
  // A chain of five atoms longer than the box, and two waters.
  System s = testing::waters(2, 0.4, 0.3, 0.6);
  for (int k = 0; k < 5; ++k) testing::add_atom(s, "C", 6, 12, 0, 0);
  for (std::int32_t k = 6; k < 10; ++k) s.connectivity.push_back({k, k + 1});
  Random random(1);
  std::vector<Vec3> whole = {
      gauss(random), {}, {}, gauss(random), {}, {}, gauss(random), {}, {}, {}, {}};
  for (std::size_t o : {0, 3})
    whole[o + 1] = plus(whole[o], gauss(random, 0.05)),
              whole[o + 2] = plus(whole[o], gauss(random, 0.05));
  for (std::size_t k = 7; k < 11; ++k) whole[k] = plus(whole[k - 1], {0.8, 0.1, 0});

  std::vector<Vec3> torn = whole;
  for (Vec3& x : torn)
    x = from_fractions(slanted_cell, [&] {
      Vec3 f = fractions(slanted_cell, x);
      for (double& v : f) v -= std::floor(v);
      return f;
    }());
  const MoleculeMap map(s);
  ASSERT_EQ(map.size(), 3u);
  EXPECT_EQ(map.atoms()[2], (std::vector<std::int32_t>{6, 7, 8, 9, 10}));
  map.make_whole(torn, slanted_cell);
  for (const auto& atoms : map.atoms())
    for (std::int32_t i : atoms) {
      const auto k = static_cast<std::size_t>(i), first = static_cast<std::size_t>(atoms[0]);
      EXPECT_LT(norm(minus(minus(torn[k], torn[first]), minus(whole[k], whole[first]))), 1e-14);
    }
  std::vector<Vec3> home = torn;
  map.wrap(home, slanted_cell);
  for (const auto& atoms : map.atoms()) {
    for (double f : fractions(slanted_cell, centre_of(home, atoms)))
      EXPECT_TRUE(f >= -1e-15 && f < 1 + 1e-15) << f;
    const auto first = static_cast<std::size_t>(atoms[0]);
    for (double f : fractions(slanted_cell, minus(home[first], torn[first])))
      EXPECT_NEAR(f, std::round(f), 1e-14);
    for (std::int32_t i : atoms)
      EXPECT_LT(norm(minus(minus(home[static_cast<std::size_t>(i)], home[first]),
                           minus(torn[static_cast<std::size_t>(i)], torn[first]))),
                1e-14);
  }
}

/// What a spring alone holds is of the molecule, too; a long one within a chain gives way to its
/// bonds.
TEST(Transform, WhatSpringsHoldIsMadeWhole) {
  System s;
  for (int k = 0; k < 6; ++k) testing::add_atom(s, "C", 6, 12, 0, 0);
  s.connectivity = {{0, 1}, {1, 2}, {2, 3}, {4, 5}};
  s.bonds.atoms = {{0, 3}, {3, 4}};
  const Box box = rectangular_box({2, 2, 2});
  std::vector<Vec3> whole, torn;
  for (int k = 0; k < 6; ++k) {
    whole.push_back({1.1 + 0.4 * k, 0.5, 0.5});
    torn.push_back({whole.back()[0] - 2 * std::floor(whole.back()[0] / 2), 0.5, 0.5});
  }
  const MoleculeMap map(s);
  ASSERT_EQ(map.size(), 1u);
  map.make_whole(torn, box);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_LT(norm(minus(torn[k], whole[k])), 1e-14) << k;
}

TEST(Transform, PathsGoOnBeyondTheFaces) {
  Random random(2);
  Vec3 x = middle(slanted_cell);
  Unwrap unwrap;
  for (int t = 0; t < 400; ++t) {
    Frame f;
    f.box = slanted_cell;
    Vec3 s = fractions(slanted_cell, x);
    for (double& v : s) v -= std::floor(v);
    f.x_nm = {from_fractions(slanted_cell, s)};
    unwrap.apply(f);
    EXPECT_LT(norm(minus(f.x_nm[0], x)), 1e-12);
    x = plus(x, gauss(random, 0.15));
  }
  EXPECT_GT(norm(x), 2);
}

/// Molecules of two atoms that diffuse several boxes away, in a box whose edge wanders: runs write
/// the paths, others what is in the box, atom by atom or in whole molecules. The path of a centre
/// is the sum of the nearest images of the steps that it takes in the box (von Buelow, Bullerjahn &
/// Hummer 2020, eq. 2), here by hand.
TEST(MeanSquaredDisplacement, DoesNotDependOnTheImagesOfAFile) {
  constexpr std::size_t n = 40, frames = 200;
  System system = testing::lennard_jones_atoms(2 * n);
  std::vector<Group> molecules, atoms;
  for (std::int32_t m = 0; m < static_cast<std::int32_t>(n); ++m) {
    system.connectivity.push_back({2 * m, 2 * m + 1});
    molecules.push_back({2 * m, 2 * m + 1});
    atoms.push_back({2 * m});
  }
  const MoleculeMap map(system);
  Random random(12);
  std::normal_distribution<double> step(0, 0.02), breath(0, 0.01);
  std::uniform_real_distribution<double> anywhere(-6, 6);
  std::vector<Vec3> at(n), path(n), last(n);
  for (Vec3& s : at)
    for (double& v : s) v = anywhere(random);
  std::vector<Frame> paths, torn, whole;
  std::vector<std::vector<Vec3>> by_hand;
  for (std::size_t t = 0; t < frames; ++t) {
    const double edge = 2 + breath(random);
    Frame f;
    f.box = rectangular_box({edge, edge, edge});
    f.time_ps = static_cast<double>(t);
    for (std::size_t m = 0; m < n; ++m) {
      Vec3 &s = at[m], now;
      for (std::size_t k = 0; k < 3; ++k) {
        s[k] += step(random);
        now[k] = edge * (s[k] - std::floor(s[k]));
        const double d = now[k] - last[m][k];
        path[m][k] = t == 0 ? edge * s[k] : path[m][k] + d - edge * std::round(d / edge);
      }
      last[m] = now;
      f.x_nm.push_back({edge * s[0] + 0.3, edge * s[1], edge * s[2]});
      f.x_nm.push_back({edge * s[0] - 0.3, edge * s[1], edge * s[2]});
    }
    by_hand.push_back(path);
    paths.push_back(f);
    map.wrap(f.x_nm, f.box);
    whole.push_back(f);
    for (Vec3& x : f.x_nm)
      for (double& v : x) v -= edge * std::floor(v / edge);
    torn.push_back(f);
  }
  for (const bool drift : {false, true}) {
    const auto found = [&](const std::vector<Group>& groups, const std::vector<Frame>& of) {
      MeanSquaredDisplacement msd(
          system, groups, {.fit_from_ps = 5, .fit_to_ps = 20, .lag_ps = 20, .remove_drift = drift});
      for (const Frame& f : of) msd.add(f);
      return msd;
    };
    const MeanSquaredDisplacement msd = found(molecules, paths);
    const Curve c = msd.curve();
    for (std::size_t lag = 1; lag <= 20; ++lag) {
      double sum = 0;
      for (std::size_t t = lag; t < frames; ++t) {
        Vec3 all{};
        for (std::size_t m = 0; m < n && drift; ++m)
          for (std::size_t k = 0; k < 3; ++k)
            all[k] += (by_hand[t][m][k] - by_hand[t - lag][m][k]) / n;
        for (std::size_t m = 0; m < n; ++m)
          sum += std::pow(norm(minus(minus(by_hand[t][m], by_hand[t - lag][m]), all)), 2);
      }
      EXPECT_NEAR(c.y[lag], sum / static_cast<double>(n * (frames - lag)), 1e-11) << lag;
    }
    EXPECT_NEAR(msd.diffusion().mean, std::pow(2 * 0.02, 2) / 2, 1e-4);
    for (const auto* of : {&torn, &whole}) {
      EXPECT_NEAR(found(molecules, *of).diffusion().mean, msd.diffusion().mean, 1e-12);
      EXPECT_NEAR(found(atoms, *of).diffusion().mean, found(atoms, paths).diffusion().mean, 1e-12);
    }
  }
}

TEST(Transform, AGroupIsCentred) {
  std::vector<Vec3> x = {{0, 0, 0}, {1, 2, 3}, {4, 4, 4}};
  const std::vector<std::int32_t> group = {0, 1};
  const std::vector<double> mass = {3, 1};
  centre(x, group, mass, middle(rectangular_box({2, 4, 6})));
  EXPECT_EQ(x[0], (Vec3{0.75, 1.5, 2.25}));
  EXPECT_EQ(x[2], (Vec3{4.75, 5.5, 6.25}));
  EXPECT_THROW(centre_of(x, std::vector<std::int32_t>{}), Error);
}

TEST(Transform, ARotatedStructureIsFoundAgain) {
  Random random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<Vec3> reference, x;
    std::vector<double> weights;
    std::vector<std::int32_t> group(15);
    std::iota(group.begin(), group.end(), 2);  // two atoms do not take part
    const auto r = rotation(random);
    const Vec3 shift = gauss(random, 3);
    for (int k = 0; k < 17; ++k) {
      reference.push_back(gauss(random));
      x.push_back(plus(turned(r, reference.back()), shift));
    }
    for (int k = 0; k < 15; ++k) weights.push_back(std::exp(gauss(random)[0]));
    x[0] = gauss(random), x[1] = gauss(random);
    const Superposition fit = superpose(x, reference, group, weights);
    EXPECT_LT(fit.rmsd_nm, 1e-14);
    for (std::int32_t i : group)
      EXPECT_LT(
          norm(minus(fit(x[static_cast<std::size_t>(i)]), reference[static_cast<std::size_t>(i)])),
          1e-13);
  }
}

TEST(Transform, NoRotationIsBetter) {
  Random random(4);
  for (int round = 0; round < 4; ++round) {
    std::vector<Vec3> x, reference;
    std::vector<std::int32_t> group(6);
    std::iota(group.begin(), group.end(), 0);
    for (int k = 0; k < 6; ++k) reference.push_back(gauss(random)), x.push_back(gauss(random));
    if (round == 3)  // the mirror image, which would fit exactly but is no rotation
      for (std::size_t k = 0; k < 6; ++k)
        x[k] = {-reference[k][0], reference[k][1], reference[k][2]};
    const Superposition fit = superpose(x, reference, group);
    const Vec3 cx = centre_of(x, group), cr = centre_of(reference, group);
    const auto rmsd = [&](const std::array<Vec3, 3>& r) {
      double sum = 0;
      for (std::size_t k = 0; k < 6; ++k) {
        const double d = norm(minus(turned(r, minus(x[k], cx)), minus(reference[k], cr)));
        sum += d * d;
      }
      return std::sqrt(sum / 6);
    };
    EXPECT_NEAR(fit.rmsd_nm, rmsd(fit.rotation), 1e-14);
    EXPECT_GT(fit.rmsd_nm, 0.1);
    double best = 1e9;
    for (int k = 0; k < 20000; ++k) best = std::min(best, rmsd(rotation(random)));
    EXPECT_LT(fit.rmsd_nm, best);
    EXPECT_LT(best,
              1.05 * fit.rmsd_nm);  // and 20,000 rotations, 7 degrees from each other, come near
  }
}

/// Three molecules that hold together, one of them an ion apart from the two others: whatever
/// images a file has, they are one body.
TEST(Complex, IsOneBodyWhateverImagesTheFileHas) {
  Random random(11);
  System s;
  const std::vector<std::size_t> sizes = {5, 7, 1};
  std::vector<Vec3> body;
  for (std::size_t m = 0; m < sizes.size(); ++m)
    for (std::size_t k = 0; k < sizes[m]; ++k) {
      const auto i = static_cast<std::int32_t>(body.size());
      s.residues.push_back({"X", std::to_string(m), "", ""});
      testing::add_atom(s, "X", 6, 12, 0, 0);
      if (k > 0) s.connectivity.push_back({i - 1, i});
      body.push_back({0.15 * static_cast<double>(k), 0.4 * static_cast<double>(m == 2 ? 3 : m),
                      0.1 * static_cast<double>(k % 2)});
    }
  const Box box = box_of_angles({3.1, 3.3, 3.2}, {75, 80, 70});
  Group group(body.size());
  std::iota(group.begin(), group.end(), 0);
  const MoleculeMap map(s);
  std::uniform_int_distribution<int> image(-2, 2);
  for (const bool wrapped_by_molecule : {false, true}) {
    Complex complex(s, group);
    std::vector<Vec3> first;
    Vec3 at = {1.5, 1.5, 1.5};
    std::array<Vec3, 3> turn = rotation(random);
    for (int frame = 0; frame < 40; ++frame) {
      at = plus(at, gauss(random, 0.5));  // the whole goes where it likes
      if (frame % 10 == 0 && frame > 0) at = plus(at, from_fractions(box, {1, 0, -1}));
      // A turn of a few degrees, as no molecule passes half of the box about its partner.
      const double angle = 0.1, c = std::cos(angle), sn = std::sin(angle);
      const std::array<Vec3, 3> step = {{{c, -sn, 0}, {sn, c, 0}, {0, 0, 1}}}, before = turn;
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b)
          turn[a][b] =
              step[a][0] * before[0][b] + step[a][1] * before[1][b] + step[a][2] * before[2][b];
      std::vector<Vec3> x;
      for (const Vec3& p : body) x.push_back(plus(turned(turn, p), at));
      std::size_t i = 0;
      for (const std::size_t size : sizes) {
        const Vec3 shift =
            from_fractions(box, {1.0 * image(random), 1.0 * image(random), 1.0 * image(random)});
        for (std::size_t k = 0; k < size; ++k, ++i) x[i] = plus(x[i], shift);
      }
      if (wrapped_by_molecule) map.wrap(x, box);
      map.make_whole(x, box);
      complex.gather(x, box);
      if (first.empty()) first = x;
      EXPECT_LT(superpose(x, first, group).rmsd_nm, 1e-9) << frame;
      for (std::size_t a = 0; a < x.size(); ++a)
        EXPECT_NEAR(norm(minus(x[a], x[0])), norm(minus(body[a], body[0])), 1e-9)
            << frame << " " << a;
    }
  }
}

/// What is one molecule, or lies without a box, stays as it is to the last bit.
TEST(Complex, MovesNothingThatNeedsNoMove) {
  System s;
  std::vector<Vec3> x;
  for (std::int32_t i = 0; i < 4; ++i) {
    s.residues.push_back({"X", "1", "", ""});
    testing::add_atom(s, "X", 6, 12, 0, 0);
    x.push_back({0.13 * i, 0.3, 0.4});
  }
  s.connectivity = {{0, 1}, {2, 3}};
  const std::vector<std::int32_t> one = {0, 1}, both = {0, 1, 2, 3};
  for (const auto& group : {one, both})
    for (const Box& box : {Box{}, rectangular_box({2, 2, 2})}) {
      Complex complex(s, group);
      for (int k = 0; k < 3; ++k) {
        std::vector<Vec3> y = x;
        complex.gather(y, box);
        EXPECT_EQ(y, x);
      }
    }
}

}  // namespace
}  // namespace tessera::molecular
