// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table over a small section: values beside the formulas, derivatives beside differences.
#include "tessera/inversion/section_forward.h"

#include "forward_checks.h"
#include "measured.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/bounds.h"
#include "tessera/inversion/frequencies.h"
#include "tessera/inversion/learnt_model.h"
#include "tessera/inversion/section_prior.h"
#include "tessera/inversion/static_shift.h"
#include "tessera/inversion/through.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>

namespace tessera::inversion {
namespace {

using Vector = std::vector<double>;

Mesh2d three_by_three() {
  const Vector y{-9000, -5000, -2500, -1200, -500, 0, 500, 1100, 1900, 3000, 5000, 9000},
      z{-20000, -8000, -3000, -1000, -300, 0, 150, 400, 900, 2000, 5000, 12000};
  return bent(
      tensor_mesh(y, z, Vector{0.0},
                  [](double at, double depth) {
                    if (depth < 0) return air();
                    const Index row = depth < 150 ? 0 : depth < 900 ? 1 : 2;
                    return Medium2d{.parameter = 3 * row + (at < -1200 ? 0 : at < 1100 ? 1 : 2)};
                  }),
      {{-20000}, {0, [](double at) { return 30 * std::sin(at / 1500); }}, {12000}});
}
Sensors2d two_sensors(const Mesh2d& m) { return sensors_on(m, 0, {-1500, 700}, true); }

const std::vector<DatumKind>& all_kinds() {
  static const std::vector<DatumKind> kinds = [] {
    std::vector<DatumKind> out;
    for (int e = 0; e <= static_cast<int>(Element::ty); ++e)
      for (int p = 0; p <= static_cast<int>(Part::phase_tensor); ++p)
        if (const DatumKind k{static_cast<Element>(e), static_cast<Part>(p)}; predicts_section(k))
          out.push_back(k);
    return out;
  }();
  return kinds;
}

/// Both stations have every kind at these frequencies.
DataTable table_of(const std::vector<DatumKind>& kinds, const Vector& frequency) {
  DataTable t;
  for (int s = 0; s < 2; ++s)
    for (const double f : frequency)
      for (const DatumKind k : kinds) t.add(s, f, k, 0.1, 1);
  return t;
}

Vector uneven_model(std::size_t n) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> ln_rho(std::log(3.0), std::log(300.0));
  Vector m(n);
  for (double& x : m) x = ln_rho(random);
  return m;
}

double farthest_off(const Vector& a, const Vector& b) {
  double out = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    out = std::max(out, std::abs(a[k] - b[k]) / (1e-3 + std::abs(b[k])));
  return out;
}

TEST(SectionForward, KnowsWhatASectionHas) {
  EXPECT_EQ(all_kinds().size(),
            20u);  // four of xy, yx, determinant, average; two of ty, of the tensor
  for (const DatumKind k : {DatumKind{Element::tx, Part::real},
                            {Element::xx, Part::log10_rho},
                            {Element::xy, Part::phase_tensor}}) {
    EXPECT_FALSE(predicts_section(k));
    try {
      SectionForward(three_by_three(), two_sensors(three_by_three()), table_of({k}, {1}), {1});
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(name_of(k)), std::string::npos) << e.what();
    }
  }
}

// Upright sensors beside a body: the phase of Ex / Hz goes through 180 degrees. What is
// interpolated between six frequencies a decade is what is computed at each.
TEST(SectionForward, PhasesThatPass180DegreesAreInterpolatedWithinATurn) {
  const Mesh2d mesh = three_by_three();
  Sensors2d sensors = two_sensors(mesh);
  sensors.tilt = {std::numbers::pi / 2, -std::numbers::pi / 2};
  const Tensor m = log(tensor(Vector{100, 3, 300, 100, 1, 300, 10, 1000, 100}));
  Vector all;
  for (int k = 0; k <= 96; ++k) all.push_back(std::pow(10.0, 2 - k / 24.0));
  DataTable table =
      table_of({{Element::xy, Part::phase}, {Element::determinant, Part::phase}}, all);
  const Vector exact = SectionForward(mesh, sensors, table, all)(m).to_vector();
  for (std::size_t i = 0; i < table.size(); ++i)
    table.value[i] = std::remainder(exact[i], turn_of(table.kind[i]));  // as tables have it
  const Vector few = model_frequencies(table);
  ASSERT_LT(few.size(), 30u);
  const Vector by_few = SectionForward(mesh, sensors, table, few)(m).to_vector();
  std::size_t passes[2] = {0, 0};  // of either kind
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double turn = turn_of(table.kind[i]);
    EXPECT_NEAR(by_few[i], table.value[i], 1)
        << name_of(table.kind[i]) << " " << table.station[i] << " " << table.frequency_hz[i];
    if (i > 1 && table.station[i] == table.station[i - 2])
      passes[turn == 180] += std::abs(table.value[i] - table.value[i - 2]) > turn / 2;
  }
  EXPECT_GT(passes[0], 0u) << "no phase passes 180 degrees: this shows nothing";
  EXPECT_GT(passes[1], 0u) << "no root changes its sign";
}

// The data's own phases would slip by a turn at a datum with the other sign (of a determinant: one
// that is 90 degrees off). Its neighbours are interpolated as if it were not there.
TEST(SectionForward, AWrongPhaseLeavesItsNeighboursAlone) {
  const Mesh2d mesh = three_by_three();
  const Tensor m = log(tensor(Vector(9, 100.0)));
  Vector all;
  for (int k = 0; k <= 96; ++k) all.push_back(std::pow(10.0, 2 - k / 24.0));
  DataTable table =
      table_of({{Element::xy, Part::phase}, {Element::determinant, Part::phase}}, all);
  const auto wrong = [&](std::size_t i) { return i / 2 % all.size() == 50; };
  for (std::size_t i = 0; i < table.size(); ++i)
    table.value[i] = 46 - 0.04 * static_cast<double>(i / 2 % all.size()) -
                     (wrong(i) ? turn_of(table.kind[i]) / 2 : 0);
  const Vector few = model_frequencies(table);
  ASSERT_LT(few.size(), 30u);
  const Vector exact = SectionForward(mesh, two_sensors(mesh), table, all)(m).to_vector(),
               by_few = SectionForward(mesh, two_sensors(mesh), table, few)(m).to_vector();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double off = by_few[i] - exact[i];
    EXPECT_NEAR(wrong(i) ? std::remainder(off, turn_of(table.kind[i])) : off, 0, 1)
        << name_of(table.kind[i]) << " " << table.station[i] << " " << table.frequency_hz[i];
    if (!wrong(i)) {
      EXPECT_NEAR(exact[i], 45, 20) << "the half-space is none: this shows nothing";
    }
  }
}

TEST(SectionForward, NumbersAreThoseOfTheResponses) {
  const Mesh2d mesh = three_by_three();
  const Vector frequency{10, 1, 0.1};
  const DataTable table = table_of(all_kinds(), frequency);
  const SectionForward forward(mesh, two_sensors(mesh), table, frequency);
  const Vector m = uneven_model(9), d = forward(tensor(m)).to_vector();
  const Responses2d r = Forward2d(mesh, two_sensors(mesh), frequency)(tensor(m));
  const auto te = r.te.to_vector<c128>(), tm = r.tm.to_vector<c128>(),
             tipper = r.tipper.to_vector<c128>();
  ASSERT_EQ(d.size(), table.size());
  for (std::size_t i = 0; i < d.size(); ++i) {
    const auto f = static_cast<std::size_t>(
        std::find(frequency.begin(), frequency.end(), table.frequency_hz[i]) - frequency.begin());
    const std::size_t at = f * 2 + static_cast<std::size_t>(table.station[i]);
    const auto [element, part] = table.kind[i];
    const c128 xy = te[at], yx = tm[at];
    double expected = 0;
    if (part == Part::phase_tensor) {
      // X^-1 Y of Z = [[0, xy], [yx, 0]], by Cramer.
      const double det = -xy.real() * yx.real();
      expected =
          element == Element::xx ? -xy.real() * yx.imag() / det : -yx.real() * xy.imag() / det;
    } else {
      const c128 z = element == Element::xy        ? xy
                     : element == Element::yx      ? -yx
                     : element == Element::ty      ? tipper[at]
                     : element == Element::average ? (xy - yx) / 2.0
                                                   : std::sqrt(-xy * yx);
      expected = part == Part::real   ? z.real()
                 : part == Part::imag ? z.imag()
                 : part == Part::phase
                     ? std::arg(z) * 180 / std::numbers::pi
                     : std::log10(std::norm(z) /
                                  (2 * std::numbers::pi * frequency[f] * 4e-7 * std::numbers::pi));
    }
    EXPECT_NEAR(d[i], expected, 1e-12 * (1 + std::abs(expected))) << name_of(table.kind[i]);
  }
}

TEST(SectionForward, APhaseIsTheOneNextToItsDatum) {
  const Mesh2d mesh = three_by_three();
  DataTable table = table_of({{Element::xy, Part::phase}, {Element::yx, Part::phase}}, {1});
  const auto predicted = [&] {
    return SectionForward(mesh, two_sensors(mesh), table, {1})(tensor(uneven_model(9))).to_vector();
  };
  const Vector plain = predicted();
  for (double& v : table.value) v = -340;
  const Vector turned = predicted();
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(turned[i], plain[i] - 360, 1e-10);
    EXPECT_GT(plain[i], 0);
    EXPECT_LT(plain[i], 90);
  }
  // The root of the determinant has either sign.
  table = table_of({{Element::determinant, Part::phase}}, {1});
  const Vector root = predicted();
  for (double& v : table.value) v = -100;
  const Vector other = predicted();
  for (std::size_t i = 0; i < root.size(); ++i) EXPECT_NEAR(other[i], root[i] - 180, 1e-10);
}

/// Over a half-space with a relief: log10 rho_a and Z / sqrt(f) change little, and smoothly.
TEST(SectionForward, PredictsBetweenItsFrequencies) {
  const Mesh2d mesh = three_by_three();
  const Vector at{10, 3, 1, 0.3};
  const DataTable table =
      table_of({{Element::xy, Part::log10_rho}, {Element::xy, Part::real}}, {1.7});
  const DataTable direct =
      table_of({{Element::xy, Part::log10_rho}, {Element::xy, Part::real}}, {1.7});
  const Vector m(9, std::log(30.0));
  const auto between = SectionForward(mesh, two_sensors(mesh), table, at)(tensor(m)).to_vector();
  const auto there = SectionForward(mesh, two_sensors(mesh), direct, {1.7})(tensor(m)).to_vector();
  EXPECT_LE(farthest_off(between, there), 5e-3);
  EXPECT_GT(farthest_off(between, there), 0);
}

/// The Jacobian beside products by the engine, forward and back, and beside differences.
TEST(SectionForward, JacobianOfEachKind) {
  const Mesh2d mesh = three_by_three();
  const Vector frequency{5, 0.5};
  for (const Axes2d axes : {Axes2d::one, Axes2d::three}) {
    const DataTable table = table_of(all_kinds(), {5, 0.5, 1.1});
    const SectionForward forward(mesh, two_sensors(mesh), table, frequency, {}, axes);
    const ForwardMap f = forward.map();
    EXPECT_FALSE(forward.map(SectionForward::First::products).jacobian);
    const Vector m = uneven_model(f.n_parameters);
    ASSERT_EQ(f.n_parameters, axes == Axes2d::one ? 9u : 27u);
    const Matrix j = f.jacobian(m), by_products = dense(f.linearize(m));
    double greatest = 0, off = 0, off_back = 0, off_steps = 0;
    for (const double v : j.values) greatest = std::max(greatest, std::abs(v));
    const LinearMap products = f.linearize(m);
    for (std::size_t i = 0; i < j.rows; ++i) {
      double row = 0;
      for (std::size_t k = 0; k < j.cols; ++k) row = std::max(row, std::abs(j(i, k)));
      ASSERT_GT(row, 0) << name_of(table.kind[i]);
      Vector unit(j.rows, 0.0);
      unit[i] = 1;
      const Vector back = products.transposed_times(unit);
      for (std::size_t k = 0; k < j.cols; ++k) {
        off = std::max(off, std::abs(j(i, k) - by_products(i, k)) / row);
        off_back = std::max(off_back, std::abs(j(i, k) - back[k]) / row);
      }
    }
    const Vector here = f.predict(m);
    for (std::size_t k = 0; k < j.cols; ++k) {
      Vector up = m, down = m;
      up[k] += 1e-4, down[k] -= 1e-4;
      const Vector a = f.predict(up), b = f.predict(down);
      for (std::size_t i = 0; i < j.rows; ++i)
        off_steps = std::max(off_steps, std::abs((a[i] - b[i]) / 2e-4 - j(i, k)) /
                                            (std::abs(here[i]) + std::abs(j(i, k))));
    }
    test::measured("beside_products", off);
    EXPECT_LE(off, 1e-10);
    EXPECT_LE(off_back, 1e-10);
    EXPECT_LE(off_steps, 1e-6);
  }
}

// Rows that lie between frequencies of two parts, too. Sensors without data make parts small.
TEST(SectionForward, JacobianByRowsIsTheSame) {
  const Mesh2d mesh = three_by_three();
  Vector places{-1500, 700}, all;
  for (int k = 0; k < 1500; ++k) places.push_back(-2399 + 3.5 * k);
  for (int k = 0; k <= 48; ++k) all.push_back(std::pow(10.0, 1 - k / 24.0));
  const DataTable table = table_of(
      {{Element::xy, Part::log10_rho}, {Element::yx, Part::phase}, {Element::ty, Part::real}}, all);
  const SectionForward forward(mesh, sensors_on(mesh, 0, places, true), table,
                               model_frequencies(table));
  const int before = num_threads();
  set_num_threads(2);  // no more than two frequencies side by side
  const Tensor m = tensor(uneven_model(9));
  const Matrix whole = forward.jacobian(m);
  Matrix by_rows(whole.rows, whole.cols);
  std::vector<int> seen(whole.rows, 0);
  int parts = 0;
  forward.jacobian(m, [&](const std::vector<std::size_t>& rows, const Matrix& values) {
    ++parts;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ++seen[rows[i]];
      for (std::size_t k = 0; k < whole.cols; ++k) by_rows(rows[i], k) = values(i, k);
    }
  });
  set_num_threads(before);
  EXPECT_GT(parts, 2);
  EXPECT_EQ(seen, std::vector<int>(whole.rows, 1));
  EXPECT_EQ(by_rows.values, whole.values);
}

/// The map with its second derivatives as numbers, for the checks that all maps share.
ForwardMap with_hessian(ForwardMap f) {
  f.hessian = [c = f.curvature](const Vector& m, const Vector& y) { return dense(c(m, y)); };
  return f;
}
Vector alike(std::size_t n) {
  Vector w(n);
  for (std::size_t k = 0; k < n; ++k) w[k] = 0.4 + 0.2 * std::cos(1.3 * static_cast<double>(k));
  return w;
}

TEST(SectionForwardDerivatives, TaylorSlopesOfEachKind) {
  const Mesh2d mesh = three_by_three();
  for (const DatumKind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    const SectionForward forward(mesh, two_sensors(mesh), table_of({kind}, {5, 0.5}), {5, 0.5});
    const ForwardMap f = with_hessian(forward.map());
    const Vector m = uneven_model(9), w = alike(9);
    expect_taylor_slopes(f, m, w, third_order_weights(f, m, w));
  }
}

// Shifts of logarithms are added: their derivatives take no responses, which cost as much again.
TEST(SectionForwardDerivatives, OfShiftedLogarithmsTakeNoResponses) {
  const Mesh2d mesh = three_by_three();
  for (const bool logarithms : {true, false}) {
    const DataTable table =
        table_of({{Element::xy, logarithms ? Part::log10_rho : Part::real}}, {5, 0.5});
    const SectionForward forward(mesh, two_sensors(mesh), table, {5, 0.5});
    ForwardMap counted = forward.map();
    int responses = 0;
    counted.predict = [&, predict = counted.predict](const Vector& m) {
      ++responses;
      return predict(m);
    };
    const ForwardMap f = with_shifts(counted, static_shifts_of(table));
    Vector m = uneven_model(9);
    m.insert(m.end(), {0.3, -0.2});
    const Matrix j = f.jacobian(m), by_products = dense(f.linearize(m));
    EXPECT_EQ(responses, logarithms ? 0 : 2);
    expect_taylor_slopes(with_hessian(f), m, alike(11));
    for (std::size_t k = 0; k < j.values.size(); ++k)
      EXPECT_NEAR(j.values[k], by_products.values[k], 1e-10 * (1 + std::abs(j.values[k])));
  }
}

TEST(SectionForwardDerivatives, TaylorSlopesWithShifts) {
  const Mesh2d mesh = three_by_three();
  for (const Element e : {Element::xy, Element::yx, Element::determinant}) {
    SCOPED_TRACE(name_of({e, Part::real}));
    const DataTable table = table_of(
        {{e, Part::real}, {e, Part::imag}, {e, Part::log10_rho}, {e, Part::phase}}, {5, 0.5});
    const SectionForward forward(mesh, two_sensors(mesh), table, {5, 0.5});
    const StaticShifts shifts = static_shifts_of(table);
    const std::size_t n = e == Element::determinant ? 4 : 2;
    ASSERT_EQ(shifts.unknown.size(), n);
    const ForwardMap f = with_shifts(forward.map(), shifts);
    ASSERT_EQ(f.n_parameters, 9 + n);
    Vector m = uneven_model(9);
    for (std::size_t k = 0; k < n; ++k) m.push_back(0.3 - 0.2 * static_cast<double>(k));
    expect_taylor_slopes(with_hessian(f), m, alike(9 + n));
    const Matrix j = f.jacobian(m), by_products = dense(f.linearize(m));
    for (std::size_t k = 0; k < j.values.size(); ++k)
      EXPECT_NEAR(j.values[k], by_products.values[k], 1e-10 * (1 + std::abs(j.values[k])));
    const PulledBack back = pulled_back(f, m);
    EXPECT_EQ(back.value, f.predict(m));
    const Vector y = uneven_weights(back.value), by_pull = back.pull(y),
                 by_jacobian = linear_map(j).transposed_times(y);
    for (std::size_t k = 0; k < m.size(); ++k)
      EXPECT_NEAR(by_pull[k], by_jacobian[k], 1e-10 * (1 + std::abs(by_jacobian[k])));
    // A decade of resistivity is half a decade of impedance and nothing of phase.
    Vector none = m;
    for (std::size_t k = 9; k < m.size(); ++k) none[k] = 0;
    const Vector with = f.predict(m), without = f.predict(none);
    for (std::size_t i = 0; i < table.size(); ++i) {
      const std::size_t s = static_cast<std::size_t>(table.station[i]);
      const double g = e == Element::determinant ? 0.5 * (m[9 + 2 * s] + m[10 + 2 * s]) : m[9 + s];
      const Part part = table.kind[i].part;
      if (part == Part::log10_rho) {
        EXPECT_NEAR(with[i] - without[i], g, 1e-12);
      } else {
        EXPECT_NEAR(with[i] / without[i], part == Part::phase ? 1 : std::pow(10, g / 2), 1e-12);
      }
    }
  }
  EXPECT_THROW(static_shifts_of(table_of({{Element::average, Part::real}}, {1})), Error);
  EXPECT_EQ(static_shifts_of(table_of({{Element::ty, Part::real}, {Element::xy, Part::phase}}, {1}))
                .unknown.size(),
            0u);
  EXPECT_EQ(
      static_shifts_of(table_of({{Element::xy, Part::real}}, {1}), {false, true}).unknown.size(),
      1u);
}

// Behind pixels, static shifts and the codes of a decoder, whose weights are drawn.
TEST(SectionForwardDerivatives, TaylorSlopesThroughCodesAndPixels) {
  const Mesh2d mesh = three_by_three();
  const DataTable table = table_of({{Element::xy, Part::log10_rho},
                                    {Element::xy, Part::phase},
                                    {Element::yx, Part::real},
                                    {Element::ty, Part::imag}},
                                   {5, 0.5});
  const SectionForward forward(mesh, two_sensors(mesh), table, {5, 0.5});
  const ForwardMap shifted = with_shifts(forward.map(), static_shifts_of(table));
  CellPoints points{.axes = 2};
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 3; ++column) {
      points.at.insert(points.at.end(), {std::array{70.0, 500.0, 2000.0}[row],
                                         std::array{-2500.0, 0.0, 2500.0}[column]});
      points.cell.push_back(3 * row + column);
    }
  Vector background = uneven_model(9);
  background.resize(shifted.n_parameters, 0.0);
  const LearntModel model = learnt_model(
      {generator_of(section_prior(random_key(3), {.section = {8, 16}, .widths = {4, 4}, .codes = 3},
                                  1.5, 2.0))},
      {{.bounds = {{0, 3000}, {-4000, 4000}}, .fade = {{0, 0.3}, {0.2, 0.2}}}}, points, background,
      sparse_diagonal(Vector(shifted.n_parameters, 1.0)));
  const ForwardMap f = with_hessian(through(shifted, model.map()));
  ASSERT_EQ(f.n_parameters, 9 + 4 + 3u);
  Vector x(f.n_parameters);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = 0.4 * std::sin(2.3 * static_cast<double>(k));
  const Vector w = alike(x.size());
  expect_taylor_slopes(f, x, w, third_order_weights(f, x, w));
  Vector codes(x.size(), 0.0);  // along codes alone, which change the data less
  codes[13] = 3, codes[14] = -2.4, codes[15] = 3.6;
  expect_taylor_slopes(f, x, codes, third_order_weights(f, x, codes));
  const Matrix j = f.jacobian(x), by_products = dense(f.linearize(x));
  for (std::size_t k = 0; k < j.values.size(); ++k)
    EXPECT_NEAR(j.values[k], by_products.values[k], 1e-10 * (1 + std::abs(j.values[k])));
}

TEST(SectionForwardDerivatives, TaylorSlopesBetweenBounds) {
  const Mesh2d mesh = three_by_three();
  const DataTable table =
      table_of({{Element::xy, Part::real}, {Element::yx, Part::imag}}, {5, 0.5});
  const SectionForward forward(mesh, two_sensors(mesh), table, {5, 0.5});
  const Bounds bounds{std::log(1.0), std::log(1000.0)};
  const ForwardMap f = with_bounds(with_shifts(forward.map(), static_shifts_of(table)), bounds, 9);
  Vector m = uneven_model(9);
  for (int k = 0; k < 4; ++k) m.push_back(0.1 * k);
  const Vector x = model_to_bounded(m, bounds, 9);
  expect_taylor_slopes(with_hessian(f), x, alike(13));
  const Matrix j = f.jacobian(x), by_products = dense(f.linearize(x));
  for (std::size_t k = 0; k < j.values.size(); ++k)
    EXPECT_NEAR(j.values[k], by_products.values[k], 1e-10 * (1 + std::abs(j.values[k])));
}

}  // namespace
}  // namespace tessera::inversion
