// SPDX-License-Identifier: Apache-2.0
// Networks beside circuits that are known by hand, each conversion beside its way back, and
// derivatives of all of it to second order. tests/acceptance/run devices --row touchstone compares
// with scikit-rf.
#include "tessera/electromagnetics/networks.h"

#include "tessera/autodiff/check.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/network_joins.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace tessera::electromagnetics {
namespace {

using C = c128;
using data::NetworkMode;

Tensor random_matrices(Index frequencies, Index n, unsigned seed, double size = 0.3) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> u(-size, size);
  std::vector<C> x(static_cast<std::size_t>(frequencies * n * n));
  for (C& v : x) v = {u(rng), u(rng)};
  return reshape(tensor(x), {frequencies, n, n});
}
Tensor complex_references(Index n) {
  std::vector<C> z;
  for (Index k = 0; k < n; ++k)
    z.emplace_back(30.0 + 20 * static_cast<double>(k), -12.0 + 9 * static_cast<double>(k));
  return tensor(z);
}
Tensor ohms(const std::vector<double>& r) { return tensor(r); }
double apart(const Tensor& a, const Tensor& b) {
  return max(abs(a - b)).item() / (1 + max(abs(b)).item());
}
Tensor matrix(std::vector<C> x, Index n) { return reshape(tensor(x), {n, n}); }
C at(const Tensor& m, Index i, Index j) {
  const std::vector<C> all = m.to_vector<C>();
  return all[static_cast<std::size_t>(i * m.shape().back() + j)];
}

constexpr Waves kWaves[] = {Waves::power, Waves::pseudo, Waves::travelling};

TEST(Networks, ASeriesElementAndAShuntAreWhatTheyAreByHand) {
  const C z{20, 35};
  const Terminals t = terminals_of_abcd(matrix({1, z, 0, 1}, 2));
  const Tensor s = s_of(t, ohms({50, 50}));
  EXPECT_LT(std::abs(at(s, 0, 0) - z / (z + 100.0)), 1e-15);
  EXPECT_LT(std::abs(at(s, 1, 0) - 100.0 / (z + 100.0)), 1e-15);
  EXPECT_LT(apart(y_of(t), matrix({1.0 / z, -1.0 / z, -1.0 / z, 1.0 / z}, 2)), 1e-14);
  EXPECT_THROW(z_of(t), Error);  // it has none
  EXPECT_LT(apart(abcd_of(terminals_of_s(s, ohms({50, 50}))), matrix({1, z, 0, 1}, 2)), 1e-14);
  const Terminals shunt = terminals_of_abcd(matrix({1, 0, 1.0 / z, 1}, 2));
  EXPECT_LT(apart(z_of(shunt), matrix({z, z, z, z}, 2)), 1e-14);
  // H of a series element: V1 = z I1 + V2, I2 = -I1. G of a shunt: its admittance.
  EXPECT_LT(apart(h_of(t), matrix({z, 1, -1, 0}, 2)), 1e-14);
  EXPECT_LT(apart(g_of(shunt), matrix({1.0 / z, -1, 1, 0}, 2)), 1e-14);
}

// One port z at a reference r: (z - r*)/(z + r) of power waves, (z - r)/(z + r) of the others.
TEST(Networks, WavesOfOnePortAreThoseOfTheirAuthors) {
  const C z{20, 35}, r{40, -15};
  const Terminals t = terminals_of_z(matrix({z}, 1));
  const Tensor reference = tensor(std::vector<C>{r});
  const C power = at(s_of(t, reference), 0, 0);
  EXPECT_LT(std::abs(power - (z - std::conj(r)) / (z + r)), 1e-15);
  for (const Waves w : {Waves::pseudo, Waves::travelling})
    EXPECT_LT(std::abs(at(s_of(t, reference, w), 0, 0) - (z - r) / (z + r)), 1e-15);
  // A source of impedance r gives its available power, less what comes back.
  const double taken = std::real(z) / std::norm(z + r), available = 1 / (4 * std::real(r));
  EXPECT_NEAR(1 - std::norm(power), taken / available, 1e-15);
}

// Of a matched pair of ports the factors of pseudo waves differ from those of travelling ones.
TEST(Networks, TransmissionBetweenUnlikeReferencesDependsOnTheWaves) {
  const C r1{50, 0}, r2{30, 40};
  const Tensor reference = tensor(std::vector<C>{r1, r2});
  const Tensor through = matrix({1, 0, 0, 1}, 2);  // ABCD
  const auto s21 = [&](Waves w) {
    return at(s_of(terminals_of_abcd(through), reference, w), 1, 0);
  };
  // b2 / a1 with a2 = 0: V2 = -r2 I2, so V1 = V2 = r2 I1 and b2 = u2 (V2 - w2 I2).
  const auto by_hand = [&](C u1, C u2, C w2) { return u2 * (r2 + w2) / (u1 * (r2 + r1)); };
  const double root = std::sqrt(r2.real());
  EXPECT_LT(std::abs(s21(Waves::power) - by_hand(0.5 / std::sqrt(50.0), 0.5 / root, std::conj(r2))),
            1e-14);
  EXPECT_LT(
      std::abs(s21(Waves::pseudo) - by_hand(0.5 / std::sqrt(50.0), 0.5 * root / std::abs(r2), r2)),
      1e-14);
  EXPECT_LT(
      std::abs(s21(Waves::travelling) - by_hand(0.5 / std::sqrt(50.0), 0.5 / std::sqrt(r2), r2)),
      1e-14);
}

TEST(Networks, EachKindComesBackFromEachOther) {
  for (const Index n : {1, 2, 3, 5})
    for (const Waves w : kWaves) {
      const Tensor s = random_matrices(4, n, 3 + static_cast<unsigned>(n)),
                   z0 = complex_references(n);
      const Terminals t = terminals_of_s(s, z0, w);
      EXPECT_LT(apart(s_of(t, z0, w), s), 1e-14);
      EXPECT_LT(apart(s_of(terminals_of_z(z_of(t)), z0, w), s), 1e-13);
      EXPECT_LT(apart(s_of(terminals_of_y(y_of(t)), z0, w), s), 1e-13);
      EXPECT_LT(apart(matmul(z_of(t), y_of(t)), broadcast_to(eye(n, Dtype::c128), s.shape())),
                1e-13);
      if (n != 2) continue;
      EXPECT_LT(apart(s_of(terminals_of_h(h_of(t)), z0, w), s), 1e-13);
      EXPECT_LT(apart(s_of(terminals_of_g(g_of(t)), z0, w), s), 1e-13);
      EXPECT_LT(apart(s_of(terminals_of_abcd(abcd_of(t)), z0, w), s), 1e-13);
      EXPECT_LT(apart(g_of(t), inv(h_of(t))), 1e-12);
    }
}

TEST(Networks, ReferencesOfEachFrequencyAreTaken) {
  const Tensor s = random_matrices(3, 2, 5), z0 = complex_references(2),
               many = stack({z0, 2.0 * z0, 3.0 * z0}, 0);
  const Tensor all = renormalized(s, many, ohms({50, 75}));
  for (Index f = 0; f < 3; ++f)
    EXPECT_LT(apart(select(all, 0, f),
                    renormalized(select(s, 0, f), static_cast<double>(f + 1) * z0, ohms({50, 75}))),
              1e-15);
}

TEST(Networks, RenormalizingThereAndBackIsNothing) {
  for (const Waves a : kWaves)
    for (const Waves b : kWaves) {
      const Tensor s = random_matrices(2, 3, 9), z0 = complex_references(3),
                   other = ohms({50, 75, 20});
      EXPECT_LT(apart(renormalized(renormalized(s, z0, other, a, b), other, z0, b, a), s), 1e-14);
    }
  // With real references the waves are one.
  const Tensor s = random_matrices(2, 3, 9);
  for (const Waves w : kWaves)
    EXPECT_LT(apart(renormalized(s, ohms({50, 75, 20}), ohms({10, 20, 30}), w, w),
                    renormalized(s, ohms({50, 75, 20}), ohms({10, 20, 30}))),
              1e-14);
}

// Lossless networks have unitary S of power waves at any references: all power comes out.
TEST(Networks, OfALosslessNetworkPowerWavesAreUnitaryAtComplexReferences) {
  const Tensor x = real(random_matrices(1, 3, 4, 80));
  const Tensor z = complex(zeros(x.shape()), x + transpose(x));
  const Tensor s = s_of(terminals_of_z(z), complex_references(3));
  EXPECT_LT(apart(matmul(adjoint(s), s), reshape(eye(3, Dtype::c128), {1, 3, 3})), 1e-13);
  EXPECT_NEAR(largest_gain(s).to_vector<double>()[0], 1, 1e-13);
  EXPECT_LT(nonreciprocity(s).to_vector<double>()[0], 1e-14);
}

TEST(Networks, EachPortMayHaveWavesOfItsOwn) {
  const Tensor s = random_matrices(3, 3, 21), z = complex_references(3);
  const std::vector<Waves> kinds{Waves::travelling, Waves::power, Waves::pseudo};
  const Terminals t = terminals_of_s(s, z);
  const Tensor own = s_of(t, z, kinds);
  for (std::size_t k = 0; k < 3; ++k) {
    // Of one port by itself the others do not matter: V and I that belong to its waves.
    const auto port = static_cast<Index>(k);
    const WaveFactors all = wave_factors(z, kinds);
    const Tensor one = wave_factors(slice(z, 0, port, port + 1), {kinds[k]}).u;
    EXPECT_LT(apart(slice(all.u, 0, port, port + 1), one), 1e-15);
    EXPECT_LT(apart(s_of(t, z, std::vector<Waves>(3, kinds[k])), s_of(t, z, kinds[k])), 1e-14);
  }
  EXPECT_LT(apart(s_of(terminals_of_s(own, z, kinds), z), s), 1e-13);
  EXPECT_GT(apart(own, s), 1e-3);
  EXPECT_THROW(s_of(t, z, std::vector<Waves>{Waves::power}), Error);
}

TEST(Networks, ChainsAreProductsOfTheirMatrices) {
  const Tensor a = random_matrices(3, 2, 11), b = random_matrices(3, 2, 12);
  for (const Waves w : kWaves) {
    // The inner ports have references of their own, each another one.
    const Tensor za = tensor(std::vector<C>{{50, 5}, {20, -7}}),
                 zb = tensor(std::vector<C>{{90, 3}, {35, 8}});
    const Tensor both = cascade(a, za, b, zb, w);
    const Tensor chain =
        matmul(abcd_of(terminals_of_s(a, za, w)), abcd_of(terminals_of_s(b, zb, w)));
    EXPECT_LT(
        apart(both, s_of(terminals_of_abcd(chain), tensor(std::vector<C>{{50, 5}, {35, 8}}), w)),
        1e-13);
  }
}

// A ring of 2-ports, a loop back into the same network, and a port left over between others.
TEST(Networks, JoinsOfManyPortsAreThoseOfTheirAdmittances) {
  const Tensor s = random_matrices(2, 7, 21), z0 = complex_references(7);
  const Tensor left = join_ports(s, z0, {{1, 4}, {6, 2}});
  // By admittances: V4 = V1, V2 = V6, and the sums of their currents vanish.
  const Tensor y = y_of(terminals_of_s(s, z0));
  // Nodes: ports 0, 3, 5 stay; 1 = 4 and 2 = 6.
  std::vector<C> incidence(7 * 5);
  const int node[] = {0, 3, 4, 1, 3, 2, 4};
  for (std::size_t p = 0; p < 7; ++p) incidence[p * 5 + static_cast<std::size_t>(node[p])] = 1;
  const Tensor a = reshape(tensor(incidence), {7, 5});
  const Tensor nodes = matmul(matmul(transpose(a), y), a);
  const auto block = [&](Index i0, Index i1, Index j0, Index j1) {
    return slice(slice(nodes, 1, i0, i1), 2, j0, j1);
  };
  const Tensor outer =
      block(0, 3, 0, 3) - matmul(block(0, 3, 3, 5), solve(block(3, 5, 3, 5), block(3, 5, 0, 3)));
  const Tensor kept = take(z0, tensor(std::vector<std::int64_t>{0, 3, 5}), 0);
  EXPECT_LT(apart(left, s_of(terminals_of_y(outer), kept)), 1e-12);
  EXPECT_THROW(join_ports(s, z0, {{1, 1}}), Error);
  EXPECT_THROW(join_ports(s, z0, {{1, 7}}), Error);
  EXPECT_THROW(join_ports(s, z0, {{1, 2}, {2, 3}}), Error);
}

TEST(Networks, MixedModesAreTheTurnedWavesOfTouchstone) {
  using Kind = NetworkMode::Kind;
  const std::vector<NetworkMode> modes = {
      {Kind::differential, 1, 2}, {Kind::single, 3, 0}, {Kind::common, 1, 2}, {Kind::single, 0, 0}};
  const Tensor s = random_matrices(3, 4, 31), r = ohms({50, 75, 75, 20});
  const Terminals t = terminals_of_s(s, r);
  const Tensor mixed = s_of(to_modes(t, modes), mode_references(r, modes));
  EXPECT_EQ(mode_references(r, modes).to_vector<double>(),
            (std::vector<double>{150, 20, 37.5, 50}));
  const double h = std::sqrt(0.5);
  const Tensor m = matrix({0, h, -h, 0, 0, 0, 0, 1, 0, h, h, 0, 1, 0, 0, 0}, 4);
  EXPECT_LT(apart(mixed, matmul(matmul(m, s), transpose(m))), 1e-14);
  const Terminals back = from_modes(terminals_of_s(mixed, mode_references(r, modes)), modes);
  EXPECT_LT(apart(s_of(back, r), s), 1e-14);
  EXPECT_THROW(to_modes(t, {{Kind::differential, 1, 2}}), Error);
  EXPECT_THROW(to_modes(t, {{Kind::differential, 1, 2},
                            {Kind::single, 3, 0},
                            {Kind::common, 1, 3},
                            {Kind::single, 0, 0}}),
               Error);
}

// A line of impedance z and constant gamma: its planes move by its own length.
TEST(Networks, PlanesShiftByTheConstantOfTheirLine) {
  const C z{48, -3}, gl{0.1, 1.3};
  const Tensor line =
      matrix({std::cosh(gl), z * std::sinh(gl), std::sinh(gl) / z, std::cosh(gl)}, 2);
  const Tensor reference = tensor(std::vector<C>{z, z});
  for (const Waves w : {Waves::pseudo, Waves::travelling}) {
    const Tensor s = s_of(terminals_of_abcd(line), reference, w);
    EXPECT_LT(apart(s, matrix({0, std::exp(-gl), std::exp(-gl), 0}, 2)), 1e-15);
    const Tensor through = shifted_planes(s, tensor(std::vector<C>{-gl, 0.0}));
    EXPECT_LT(apart(through, matrix({0, 1, 1, 0}, 2)), 1e-15);
    const Tensor any = random_matrices(1, 2, 41);
    const Tensor longer = cascade(select(any, 0, 0), reference, s, reference, w);
    EXPECT_LT(apart(shifted_planes(select(any, 0, 0), tensor(std::vector<C>{0.0, gl})), longer),
              1e-14);
  }
}

TEST(Networks, GroupDelayOfALineIsItsDelayAndOfSecondOrderElsewhere) {
  std::vector<double> f;
  for (int k = 0; k < 9; ++k) f.push_back(1e9 * (1 + 0.1 * k + 0.004 * k * k));
  const double w0 = 2e9 * std::numbers::pi;
  const auto s_of_phase = [&](auto phase) {
    std::vector<C> s;
    for (const double x : f) s.push_back(std::polar(0.7, phase(2 * std::numbers::pi * x)));
    return tensor(s);
  };
  const auto line =
      group_delay(s_of_phase([](double w) { return -w * 3e-10; }), tensor(f)).to_vector<double>();
  ASSERT_EQ(line.size(), 9u);
  for (const double d : line) EXPECT_NEAR(d, 3e-10, 1e-22);
  const auto bent =
      group_delay(s_of_phase([&](double w) { return -1e-10 * (w - w0) * (w - w0) / w0; }),
                  tensor(f))
          .to_vector<double>();
  for (std::size_t k = 1; k < 8; ++k)  // exact of parabolas, whatever the spacing
    EXPECT_NEAR(bent[k], 2e-10 * (2 * std::numbers::pi * f[k] - w0) / w0, 1e-20);
  EXPECT_EQ(group_delay(s_of_phase([](double) { return 0.1; }), tensor(f)).shape(),
            tessera::Shape({9}));
  EXPECT_THROW(group_delay(tensor(std::vector<C>{1.0}), tensor(std::vector<double>{1e9})), Error);
  // Beside frequencies whose S is not known: the slope to the other side.
  const C none(NAN, NAN);
  const auto turned = [](double f) { return std::polar(1.0, -2 * M_PI * f * 3e-10); };
  const std::vector<double> gaps =
      group_delay(tensor(std::vector<C>{none, turned(1.1e9), turned(1.2e9), turned(1.3e9), none,
                                        turned(1.5e9), none}),
                  tensor(std::vector<double>{1e9, 1.1e9, 1.2e9, 1.3e9, 1.4e9, 1.5e9, 1.6e9}))
          .to_vector<double>();
  for (const std::size_t k : {1u, 2u, 3u}) EXPECT_NEAR(gaps[k], 3e-10, 1e-18) << k;
  for (const std::size_t k : {0u, 4u, 5u, 6u}) EXPECT_TRUE(std::isnan(gaps[k])) << k;
}

// Through everything, in S and in the references, forward and reverse, first and second order.
TEST(Networks, DifferentiateToSecondOrder) {
  using Kind = NetworkMode::Kind;
  const std::vector<NetworkMode> modes = {{Kind::differential, 0, 1}, {Kind::common, 0, 1}};
  for (const Waves w : kWaves) {
    const auto f = [&](const Tensor& s, const Tensor& z0) {
      const Terminals t = terminals_of_s(s, z0, w);
      const Tensor chain = cascade(s, z0, s, z0, w);
      return std::vector<Tensor>{z_of(t) / 50.0,
                                 y_of(t) * 50.0,
                                 abcd_of(t) / 50.0,
                                 renormalized(chain, z0, 2.0 * z0, w, Waves::pseudo),
                                 s_of(to_modes(t, modes), 1.5 * z0, w),
                                 shifted_planes(s, z0 / 50.0)};
    };
    const Tensor s = select(random_matrices(1, 2, 51), 0, 0), z0 = complex_references(2);
    const CheckReport r = gradcheck(f, std::tuple(s, z0), {.order = 2, .directions = 3});
    EXPECT_TRUE(r) << to_string(r);
    const CheckReport v = transpose_check(f, std::tuple(s, z0), {.order = 2});
    EXPECT_TRUE(v) << to_string(v);
  }
  const auto measures = [](const Tensor& s) {
    return std::vector<Tensor>{
        largest_gain(s), nonreciprocity(s),
        group_delay(s, tensor(std::vector<double>{1e9, 1.1e9, 1.3e9})) * 1e9};
  };
  const CheckReport r =
      gradcheck(measures, random_matrices(3, 2, 52), {.order = 2, .directions = 3});
  EXPECT_TRUE(r) << to_string(r);
}

TEST(Networks, WrongShapesAreRefused) {
  const Tensor s = random_matrices(1, 3, 61);
  EXPECT_THROW(terminals_of_s(reshape(s, {9}), ohms({50})), Error);
  EXPECT_THROW(terminals_of_h(s), Error);
  EXPECT_THROW(abcd_of(terminals_of_s(s, ohms({50, 50, 50}))), Error);
  EXPECT_THROW(cascade(s, ohms({50, 50, 50}), s, ohms({50, 50, 50})), Error);
  EXPECT_THROW(side_by_side({}), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
