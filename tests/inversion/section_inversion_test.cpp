// SPDX-License-Identifier: Apache-2.0
//
// A block below five stations, from data with errors: by every way to invert them.
#include "tessera/inversion/section_inversion.h"

#include "measured.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/posterior.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tessera::inversion {
namespace {

struct BlockCase {
  SectionMesh mesh;
  std::vector<double> frequency;
  DataTable data;
  std::vector<double> truth;
};

const std::vector<DatumKind> block_kinds{{Element::xy, Part::log10_rho},
                                         {Element::xy, Part::phase},
                                         {Element::yx, Part::real},
                                         {Element::yx, Part::imag}};

/// `shift` multiplies rho_a of station k's TE by 10^(shift (-1)^k).
BlockCase block_case(double noise = 1, double shift = 0,
                     std::vector<double> frequency = {100, 20, 4, 1}) {
  SectionStations stations;
  for (int k = 0; k < 5; ++k) stations.y.push_back(600.0 * k), stations.z.push_back(10.0 * (k % 2));
  BlockCase c{.mesh = section_mesh(stations, {.ohm_m = 100, .shallowest_m = 360, .deepest_m = 3560},
                                   {.growth = 1.5,
                                    .padding_growth = 2,
                                    .first_solver_m = 100,
                                    .solver_rate = 0.4,
                                    .columns_of_cell = 1,
                                    .air_growth = 2.5})};
  c.frequency = std::move(frequency);
  for (int s = 0; s < 5; ++s)
    for (const double f : c.frequency)
      for (const DatumKind k : block_kinds) c.data.add(s, f, k, 45, 1);
  c.truth.assign(static_cast<std::size_t>(c.mesh.parameters()), std::log(100.0));
  for (Index col = 0; col < c.mesh.columns; ++col)
    for (Index r = 0; r < c.mesh.rows; ++r) {
      const double y = (c.mesh.y[col] + c.mesh.y[col + 1]) / 2,
                   z = (c.mesh.depth[r] + c.mesh.depth[r + 1]) / 2;
      if (std::abs(y - 1200) < 700 && std::abs(z - 900) < 600)
        c.truth[static_cast<std::size_t>(col * c.mesh.rows + r)] = std::log(10.0);
    }
  const SectionForward forward(c.mesh.solver, c.mesh.sensors, c.data, c.frequency);
  c.data.value = forward(tensor(c.truth)).to_vector();
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < c.data.size(); ++i) {
    const DatumKind kind = c.data.kind[i];
    const bool impedance = kind.element == Element::yx;
    if (kind.part == Part::log10_rho) c.data.value[i] += c.data.station[i] % 2 ? -shift : shift;
    c.data.sigma[i] =
        impedance ? 0.025 * std::abs(c.data.value[i]) : (kind.part == Part::phase ? 1.4 : 0.02);
    c.data.value[i] += noise * c.data.sigma[i] * normal(random);
  }
  return c;
}

SectionState run_all(const SectionInversion& inversion) {
  SectionState state = inversion.begin();
  while (!state.ended()) inversion.step(state);
  return state;
}
double farthest_of(const std::vector<double>& a, const std::vector<double>& b) {
  double out = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
    out = std::max(out, std::abs(a[k] - b[k]));
  return out;
}

TEST(SectionInversion, OccamFindsTheSmoothestSectionAtTheTarget) {
  const BlockCase c = block_case();
  const SectionInversion inversion(c.data, c.mesh, c.frequency, {.start = {std::log(100.0)}});
  const SectionState state = run_all(inversion);
  const SectionResult r = inversion.result(state);
  EXPECT_EQ(r.reason, Reason::target_reached);
  EXPECT_LE(r.rms, 1.0);
  EXPECT_GE(r.rms, 0.98);
  EXPECT_LE(farthest_of(r.predicted, inversion.problem().forward.predict(r.ln_rho)), 1e-12);
  double inside = 0, outside = 0, n = 0;
  for (std::size_t k = 0; k < c.truth.size(); ++k) {
    if (c.truth[k] < 3)
      inside += r.ln_rho[k], ++n;
    else
      outside += r.ln_rho[k];
  }
  EXPECT_LT(inside / n, outside / (double(c.truth.size()) - n) - 1);
  // Rows of a sensitivity by hand; a deep corner is seen less than what lies below a station.
  const auto seen = inversion.sensitivity(state);
  const Matrix j = inversion.problem().forward.jacobian(r.ln_rho);
  double first = 0;
  for (std::size_t i = 0; i < j.rows; ++i) first += std::pow(j(i, 7) / c.data.sigma[i], 2);
  EXPECT_NEAR(seen[7], std::sqrt(first), 1e-9);
}

TEST(SectionInversion, AStateGoesOnWithTheSameBitsFromItsNumbers) {
  const BlockCase c = block_case();
  for (const SectionMethod method :
       {SectionMethod::occam, SectionMethod::gauss_newton, SectionMethod::lbfgs}) {
    SectionInversionOptions o{.method = method, .max_iterations = 7, .start = {std::log(100.0)}};
    o.shift_std_decades = 0.2;
    const SectionInversion inversion(c.data, c.mesh, c.frequency, o);
    SectionState straight = inversion.begin(), broken = straight;
    while (!straight.ended()) inversion.step(straight);
    while (!broken.ended()) {
      // Another process: another object, from nothing but numbers.
      const SectionInversion other(c.data, c.mesh, c.frequency, o);
      broken = unpacked(packed(broken));
      other.step(broken);
    }
    EXPECT_GT(straight.steps().iterations.size(), 3u);
    EXPECT_EQ(packed(straight), packed(broken));
  }
  EXPECT_THROW(unpacked(std::vector<double>{}), Error);
  EXPECT_THROW(unpacked(std::vector<double>{9}), Error);
  std::vector<double> cut = packed(SectionState{});
  cut.pop_back();
  EXPECT_THROW(unpacked(cut), Error);
  cut = packed(SectionState{});
  cut[2] = 1e18;
  EXPECT_THROW(unpacked(cut), Error);
  for (const double bad : {std::nan(""), 1e300, -1.0}) {
    std::vector<double> spoilt = packed(SectionState{});
    spoilt[4] = bad;  // how many iterations
    EXPECT_THROW(unpacked(spoilt), Error);
    spoilt = packed(SectionState{});
    spoilt[1] = std::isnan(bad) ? bad : 1e300;  // a truth
    EXPECT_THROW(unpacked(spoilt), Error);
  }
}

/// Model space from a half-space; data space, conjugate gradients on products and L-BFGS from
/// elsewhere, so that they have some steps to go, not all of them.
TEST(SectionEquations, OneMinimumByAllWays) {
  const BlockCase c = block_case(1, 0, {20, 2});
  std::vector<double> from(c.truth.size(), std::log(100.0));
  const auto minimum = [&](SectionMethod method, NormalEquations equations, double tolerance) {
    const SectionInversionOptions o{.method = method,
                                    .mu = 30,
                                    .max_iterations = 300,
                                    .tolerance = tolerance,
                                    .equations = equations,
                                    .smoothing = {.reference = {std::log(100.0)}},
                                    .start = from};
    const SectionInversion inversion(c.data, c.mesh, c.frequency, o);
    const SectionState s = run_all(inversion);
    EXPECT_TRUE(s.steps().reason == Reason::converged ||
                s.steps().reason == Reason::line_search_stalled)
        << word(s.steps().reason);
    std::printf("%zu steps\n", s.steps().iterations.size());
    return s.steps().m;
  };
  const auto gn = SectionMethod::gauss_newton;
  const auto model = minimum(gn, NormalEquations::model_space, 1e-16);
  for (std::size_t k = 0; k < from.size(); ++k)
    from[k] = model[k] + 0.03 * std::sin(0.37 * static_cast<double>(k));
  const auto data = minimum(gn, NormalEquations::data_space, 1e-16),
             cg = minimum(gn, NormalEquations::conjugate_gradients, 1e-16),
             descent = minimum(SectionMethod::lbfgs, NormalEquations::automatic, 1e-12);
  test::measured("data_space", farthest_of(model, data));
  test::measured("conjugate_gradients", farthest_of(model, cg));
  test::measured("lbfgs", farthest_of(model, descent));
  EXPECT_LE(farthest_of(model, data), 1e-6);
  EXPECT_LE(farthest_of(model, cg), 1e-6);
  EXPECT_LE(farthest_of(model, descent), 1e-3);
}

TEST(SectionEquations, OneStepByAllWays) {
  const BlockCase c = block_case(1, 0, {20, 2});
  std::vector<std::vector<double>> model;
  for (const NormalEquations e : {NormalEquations::model_space, NormalEquations::data_space,
                                  NormalEquations::conjugate_gradients}) {
    const SectionInversionOptions o{.method = SectionMethod::gauss_newton,
                                    .mu = 3,
                                    .max_iterations = 1,
                                    .equations = e,
                                    .start = {std::log(100.0)}};
    model.push_back(run_all(SectionInversion(c.data, c.mesh, c.frequency, o)).steps().m);
  }
  EXPECT_LE(farthest_of(model[0], model[1]), 1e-9);  // rounding
  // Off by 1e-6 in the norm of the equations (normal_equations.cpp); single cells by some of that.
  EXPECT_LE(farthest_of(model[0], model[2]), 1e-5);
}

TEST(SectionEquations, TheSameBitsOnAnyThreads) {
  const BlockCase c = block_case(1, 0, {20, 2});
  const int before = num_threads();
  for (const NormalEquations e : {NormalEquations::model_space, NormalEquations::data_space,
                                  NormalEquations::conjugate_gradients}) {
    std::vector<std::vector<double>> found;
    for (const int threads : {1, 2, 4}) {
      set_num_threads(threads);
      SectionInversionOptions o{.method = SectionMethod::gauss_newton,
                                .max_iterations = 2,
                                .equations = e,
                                .start = {std::log(100.0)}};
      const SectionInversion inversion(c.data, c.mesh, c.frequency, o);
      found.push_back(packed(run_all(inversion)));
    }
    EXPECT_EQ(found[0], found[1]);
    EXPECT_EQ(found[0], found[2]);
  }
  set_num_threads(before);
}

TEST(SectionInversion, ShiftsAreFoundBesideTheSection) {
  const BlockCase c = block_case(0.3, 0.15);
  SectionInversionOptions o{
      .method = SectionMethod::gauss_newton, .mu = 1, .start = {std::log(100.0)}};
  const SectionInversion without(c.data, c.mesh, c.frequency, o);
  o.shift_std_decades = 0.3;
  const SectionInversion with(c.data, c.mesh, c.frequency, o);
  const SectionResult r = with.result(run_all(with));
  ASSERT_EQ(r.shift_decades.size(), 10u);
  const double rms_without = without.result(run_all(without)).rms;
  std::printf("RMS %.3f with shifts, %.3f without\n", r.rms, rms_without);
  EXPECT_LT(r.rms, 0.7 * rms_without);
  for (std::size_t k = 0; k < 10; ++k) {
    const bool te = r.shift_of[k].mode == Element::xy;
    const double truth = te ? (r.shift_of[k].station % 2 ? -0.15 : 0.15) : 0;
    EXPECT_NEAR(r.shift_decades[k], truth, 0.1);
  }
}

// Shifts are factors on impedances, and so on what a cell makes of them.
TEST(SectionInversion, SensitivityIsThatOfShiftedData) {
  const BlockCase c = block_case(1, 0, {20, 2});
  SectionInversionOptions o{.method = SectionMethod::gauss_newton, .start = {std::log(100.0)}};
  o.shift_std_decades = 0.3;
  const SectionInversion inversion(c.data, c.mesh, c.frequency, o);
  std::vector<double> x = inversion.start();
  for (std::size_t k = c.truth.size(); k < x.size(); ++k) x[k] = k % 3 ? 1 : -1;
  ASSERT_EQ(x.size(), c.truth.size() + 10);
  const auto seen = inversion.sensitivity(inversion.begin(x));
  o.method = SectionMethod::lbfgs;  // keeps no Jacobian, and adds it by rows
  const SectionInversion by_gradients(c.data, c.mesh, c.frequency, o);
  const auto by_rows = by_gradients.sensitivity(by_gradients.begin(x));
  const Matrix j = inversion.problem().forward.jacobian(x);
  for (const std::size_t k : {std::size_t{7}, c.truth.size() / 2}) {
    double sum = 0;
    for (std::size_t i = 0; i < j.rows; ++i) sum += std::pow(j(i, k) / c.data.sigma[i], 2);
    EXPECT_NEAR(seen[k], std::sqrt(sum), 1e-9 * (1 + std::sqrt(sum)));
    EXPECT_NEAR(by_rows[k], std::sqrt(sum), 1e-9 * (1 + std::sqrt(sum)));
  }
}

TEST(SectionInversion, BoundsHoldAndWhatIsFixedStays) {
  const BlockCase c = block_case();
  SectionInversionOptions o{.method = SectionMethod::gauss_newton, .mu = 0.1, .start = c.truth};
  for (double& v : o.start) v = std::log(60.0);
  o.start[3] = std::log(77.0);
  o.fixed.assign(c.truth.size(), false);
  o.fixed[3] = true;
  o.ln_rho_bounds = Bounds{std::log(20.0), std::log(200.0)};
  const SectionInversion inversion(c.data, c.mesh, c.frequency, o);
  const SectionResult r = inversion.result(run_all(inversion));
  EXPECT_NEAR(r.ln_rho[3], std::log(77.0), 1e-12);
  for (const double v : r.ln_rho) {
    EXPECT_GT(v, std::log(20.0));
    EXPECT_LT(v, std::log(200.0));
  }
  EXPECT_LT(*std::min_element(r.ln_rho.begin(), r.ln_rho.end()), std::log(25.0));
  o.start[3] = std::log(300.0);
  EXPECT_THROW(SectionInversion(c.data, c.mesh, c.frequency, o), Error);
}

/// Differences counted by their size leave blocks: of the same RMS, more of the model's change lies
/// in few ties.
TEST(SectionInversion, DifferencesBySizeMakeBlocks) {
  const BlockCase c = block_case(0.5);
  const auto share_of_largest = [&](DifferenceNorm norm) {
    SectionInversionOptions o{.max_iterations = 25, .start = {std::log(100.0)}};
    o.smoothing.norm = norm;
    o.smoothing.corner = 0.02;
    const SectionInversion inversion(c.data, c.mesh, c.frequency, o);
    const SectionResult r = inversion.result(run_all(inversion));
    EXPECT_LE(r.rms, 1.02);
    std::vector<double> differences;
    double all = 0;
    for (const SectionTie& t : section_ties(c.mesh.cells, {.reference = {0}})) {
      differences.push_back(std::abs(r.ln_rho[t.a] - r.ln_rho[t.b]));
      all += differences.back();
    }
    std::sort(differences.rbegin(), differences.rend());
    double largest = 0;
    for (std::size_t k = 0; k < differences.size() / 20; ++k) largest += differences[k];
    return largest / all;
  };
  const double squares = share_of_largest(DifferenceNorm::squares),
               sizes = share_of_largest(DifferenceNorm::huber);
  std::printf("largest twentieth of differences: %.2f of all, by size %.2f\n", squares, sizes);
  EXPECT_GT(sizes, 1.2 * squares);
}

TEST(SectionInversion, BandsHoldTheDataBetweenThem) {
  const BlockCase c = block_case();
  const SectionInversion inversion(c.data, c.mesh, c.frequency, {.start = {std::log(100.0)}});
  const SectionState state = run_all(inversion);
  const SectionBands b = inversion.bands(state);
  const SectionResult r = inversion.result(state);
  EXPECT_GT(b.mu, 0);
  EXPECT_LE(b.mu, r.mu * 10.01);
  double within = 0, narrowest = 1e9, widest = 0;
  for (std::size_t k = 0; k < c.truth.size(); ++k) {
    EXPECT_LT(b.q05[k], b.q25[k]);
    EXPECT_LT(b.q25[k], r.ln_rho[k]);
    EXPECT_LT(r.ln_rho[k], b.q75[k]);
    EXPECT_LT(b.q75[k], b.q95[k]);
    within += b.q05[k] <= c.truth[k] && c.truth[k] <= b.q95[k];
    narrowest = std::min(narrowest, b.q95[k] - b.q05[k]);
    widest = std::max(widest, b.q95[k] - b.q05[k]);
  }
  std::printf("%.0f %% of the truth within 90 %% bands, widths %.3f to %.3f, mu %.3g of %.3g\n",
              100 * within / double(c.truth.size()), narrowest, widest, b.mu, r.mu);
  EXPECT_GT(within / double(c.truth.size()), 0.75);
  EXPECT_GT(widest, 2 * narrowest);
  // The same spread by the dense Hessian of the same prior.
  const Smoothing smooth = inversion.smoothing(state);
  const Posterior dense = laplace(inversion.problem(), smooth.prior(b.mu), r.ln_rho,
                                  Hessian::gauss_newton, NormalEquations::model_space);
  for (std::size_t k = 0; k < c.truth.size(); k += 7)
    EXPECT_NEAR((b.q95[k] - b.q05[k]) / 2, 1.644854 * dense.standard_deviation[k], 1e-5);
}

// Two cells that are known, far below the margin and tied to each other alone: the step between
// them costs the prior a number that no datum has to do with.
TEST(SectionBands, WhatFixedCellsCostAmongThemselvesIsNoDatum) {
  const BlockCase c = block_case(1, 0, {20, 2});
  const auto rows = static_cast<std::size_t>(c.mesh.rows);
  const double top = c.mesh.depth[rows - 2], bottom = c.mesh.depth[rows];
  const auto mu_of = [&](double step) {
    SectionInversionOptions o{.method = SectionMethod::gauss_newton, .mu = 1};
    o.start.assign(c.truth.size(), std::log(100.0));
    o.start[rows - 2] += step / 2;
    o.start[rows - 1] -= step / 2;
    o.fixed.assign(c.truth.size(), false);
    o.fixed[rows - 2] = o.fixed[rows - 1] = true;
    o.smoothing.reference = {std::log(100.0)};
    o.smoothing.tears.push_back(Tear2d{.y = {c.mesh.y[0] - 1000, c.mesh.y[1], c.mesh.y[1]},
                                       .z = {top, top, bottom + 1000}});
    const SectionInversion inversion(c.data, c.mesh, c.frequency, o);
    return inversion.bands(run_all(inversion)).mu;
  };
  EXPECT_NEAR(std::log(mu_of(12)), std::log(mu_of(0)), 0.25);  // golden section ends at 0.2
}

// The weight of the bands is that of the data, whatever weight the model was found with.
TEST(SectionBands, TheirWeightIsFoundFarFromThatOfTheModel) {
  const BlockCase c = block_case(1, 0, {20, 2});
  SectionInversionOptions o{
      .method = SectionMethod::gauss_newton, .mu = 1, .start = {std::log(100.0)}};
  const SectionInversion inversion(c.data, c.mesh, c.frequency, o);
  const SectionState state = run_all(inversion);
  const double near = inversion.bands(state).mu;
  std::printf("mu of the bands: %.3g\n", near);
  ASSERT_LT(near, 9);  // not at the upper end
  for (const double mu : {near * 1e-4, near * 1e10}) {
    o.mu = mu;
    const SectionInversion other(c.data, c.mesh, c.frequency, o);
    EXPECT_NEAR(std::log(other.bands(other.begin(state.steps().m)).mu), std::log(near), 0.25);
  }
}

TEST(SectionInversion, AxesOfTheirOwn) {
  const BlockCase c = block_case();
  SectionInversionOptions o{.method = SectionMethod::gauss_newton,
                            .mu = 3,
                            .max_iterations = 3,
                            .axes = Axes2d::three,
                            .start = {std::log(100.0)}};
  const SectionInversion inversion(c.data, c.mesh, c.frequency, o);
  const SectionResult r = inversion.result(run_all(inversion));
  EXPECT_EQ(r.ln_rho.size(), 3 * c.truth.size());
  EXPECT_LT(r.rms, 2);
}

TEST(SectionInversion, WhatDoesNotFitIsRefused) {
  const BlockCase c = block_case();
  EXPECT_THROW(SectionInversion(c.data, c.mesh, c.frequency, {.start = {1, 2}}), Error);
  EXPECT_THROW(SectionInversion(c.data, c.mesh, c.frequency, {.fixed = {true}}), Error);
  EXPECT_THROW(SectionInversion(c.data, c.mesh, c.frequency, {.target_rms = 0}), Error);
  EXPECT_THROW(SectionInversion(c.data, c.mesh, {1}, {}), Error);
}

TEST(StitchedSection, MeansOverDepthAndLinearBetween) {
  const BlockCase c = block_case();
  const auto m = stitched_section(c.mesh, {{0, {200}, {10, 1000}}, {2400, {}, {100}}});
  const auto depth = depths_below_ground(c.mesh);
  for (Index col = 0; col < c.mesh.columns; ++col) {
    const double y = (c.mesh.y[col] + c.mesh.y[col + 1]) / 2, t = std::clamp(y / 2400, 0.0, 1.0);
    for (Index r = 0; r < c.mesh.rows; ++r) {
      const double a = depth(y, c.mesh.depth[r]), b = depth(y, c.mesh.depth[r + 1]),
                   shallow = std::clamp(200 - a, 0.0, b - a) / (b - a),
                   left = shallow * std::log(10.0) + (1 - shallow) * std::log(1000.0);
      EXPECT_NEAR(m[col * c.mesh.rows + r], (1 - t) * left + t * std::log(100.0), 1e-12);
    }
  }
  EXPECT_THROW(stitched_section(c.mesh, {}), Error);
  EXPECT_THROW(stitched_section(c.mesh, {{0, {1}, {10}}}), Error);
  EXPECT_THROW(stitched_section(c.mesh, {{0, {}, {10}}, {0, {}, {10}}}), Error);
}

// A layered earth lies as deep below hills as it says.
TEST(StitchedSection, LayersLieBelowTheGroundOfHills) {
  SectionStations s;
  for (int k = 0; k < 5; ++k) s.y.push_back(300 * k), s.z.push_back(-400 * (k % 2));
  const SectionMesh mesh = section_mesh(
      s, {.ohm_m = 10, .shallowest_m = 20, .deepest_m = 200, .lowest_hz = 60, .highest_hz = 6000});
  const auto m = stitched_section(mesh, {{0, {200}, {10, 1000}}});
  Ground2d ground;
  for (const Index v : mesh.cells.lines[0])
    ground.y.push_back(mesh.cells.y[v]), ground.z.push_back(mesh.cells.z[v]);
  const auto z_of_ground = depth_through(ground.y, ground.z);
  for (Index c = 0; c < mesh.cells.cells(); ++c) {
    const auto [y, z] = mesh.cells.middle(c);
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (Index k = 4 * c; k < 4 * c + 4; ++k) {
      const Index v = mesh.cells.cell[k];
      low = std::min(low, mesh.cells.z[v] - z_of_ground(mesh.cells.y[v]));
      high = std::max(high, mesh.cells.z[v] - z_of_ground(mesh.cells.y[v]));
    }
    const double is = m[mesh.cells.medium[c].parameter];
    if (high < 200) {
      EXPECT_NEAR(is, std::log(10.0), 1e-12) << y << " " << z;
    }
    if (low > 200) {
      EXPECT_NEAR(is, std::log(1000.0), 1e-12) << y << " " << z;
    }
  }
}

}  // namespace
}  // namespace tessera::inversion
