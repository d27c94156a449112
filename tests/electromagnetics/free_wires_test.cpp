// SPDX-License-Identifier: Apache-2.0
// Wires between lines of the grid: charge, energy, images, and that direction and place among cells
// do not count.
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"
#include "tessera/electromagnetics/free_wire.h"
#include "tessera/electromagnetics/scene.h"
#include "tessera/electromagnetics/time_domain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <string>

namespace tessera::electromagnetics::free_wire_tests {
namespace {

using std::numbers::pi;
constexpr double kCell = 0.01;
constexpr std::array<std::array<int, 2>, 3> kNoLayers{};

std::array<Faces, 3> faces_of(Boundary all) {
  const Faces f{all, all};
  return {f, f, f};
}
YeeModel model_of(const YeeGrid& grid, const std::array<Faces, 3>& faces, Dtype type = Dtype::f64,
                  double courant = 0.99) {
  Pml pml;
  pml.cells = 8;
  const std::vector<Medium> vacuum(1);
  return yee_model(grid, faces, pml, courant * stable_time_step(grid), type, Scene{}, vacuum);
}
YeeGrid box(int x, int y, int z) { return uniform_grid({x * kCell, y * kCell, z * kCell}, kCell); }
/// Through `middle`, in the direction of these angles.
ThinWire straight(double length, double theta_deg, double phi_deg, const Point& middle,
                  double radius = 0.1 * kCell) {
  const double t = theta_deg * pi / 180, p = phi_deg * pi / 180;
  const Point d{std::sin(t) * std::cos(p), std::sin(t) * std::sin(p), std::cos(t)};
  ThinWire w{{middle, middle}, radius};
  for (std::size_t k = 0; k < 3; ++k)
    w.points[0][k] -= d[k] * length / 2, w.points[1][k] += d[k] * length / 2;
  return w;
}

/// What a pulse makes of the elements of wires: transforms of V and I, at the time of V.
struct Terminals {
  std::vector<std::complex<double>> v, i;
};
Terminals drive(YeeModel model, const std::vector<ThinWire>& wires,
                const std::vector<WireElement>& elements, const std::vector<std::size_t>& driven,
                double f_hz, double f_wave, std::int64_t steps,
                const std::array<std::array<int, 2>, 3>& layers = kNoLayers) {
  const double dt = model.dt_s;
  model.wires = wire_network(model, wires, elements, layers);
  std::vector<Injection> sources;
  for (const std::size_t e : driven)
    sources.push_back(wire_source(e, gaussian_pulse(f_wave, f_wave), dt));
  std::vector<Edge> recorded;
  for (int e = 0; e < static_cast<int>(elements.size()); ++e)
    recorded.push_back({wire_voltage, e, 0, 0}), recorded.push_back({wire_current, e, 0, 0});
  TimeDomain run(std::move(model), std::move(sources), recorded);
  Terminals out{std::vector<std::complex<double>>(elements.size()),
                std::vector<std::complex<double>>(elements.size())};
  const double w = 2 * pi * f_hz;
  run.advance(steps, [&](const Records& r) {
    for (std::int64_t n = 0; n < r.n_steps; ++n)
      for (std::size_t e = 0; e < elements.size(); ++e) {
        const double t = static_cast<double>(r.first + n) * dt;
        out.v[e] += r.step(n)[2 * e] * std::polar(1.0, -w * t);
        out.i[e] += r.step(n)[2 * e + 1] * std::polar(std::cos(w * dt / 2), -w * (t + dt / 2));
      }
  });
  return out;
}

TEST(FreeWires, AClosedLoopLeavesNoChargeOnTheGrid) {
  ThinWire loop{{}, 0.1 * kCell};
  for (int k = 0; k <= 5; ++k) {
    const double t = 2 * pi * (k % 5) / 5;
    loop.points.push_back({0.031 * std::cos(t), 0.027 * std::sin(t), 0.02 * std::cos(2 * t + 1)});
  }
  const auto network =
      wire_network(model_of(box(16, 16, 16), faces_of(Boundary::pec)), {&loop, 1}, {}, kNoLayers);
  std::map<std::array<int, 3>, double> leaving;
  double most = 0;
  for (const auto& of_segment : network->shares)
    for (const auto& [edge, weight] : of_segment) {
      const Edge& e = network->edges[static_cast<std::size_t>(edge)];
      std::array<int, 3> at{e.i, e.j, e.k};
      leaving[at] += weight;
      ++at[static_cast<std::size_t>(e.component)];
      leaving[at] -= weight;
      most = std::max(most, std::abs(weight));
    }
  EXPECT_GT(most, 0.1);
  for (const auto& [at, sum] : leaving) EXPECT_LT(std::abs(sum), 1e-13);
}

/// Of a long wire M is mu/(2 pi) ln(r/a) to a length, with an r of the grid, and S likewise, so
/// that waves along it have the speed of light.
TEST(FreeWires, ALongWireHasTheLogarithmOfItsRadius) {
  const auto logarithms = [](double radius, double phi) {
    const ThinWire w = straight(0.4, 90, phi, {0.003, 0.002, 0.001}, radius * kCell);
    const auto net =
        wire_network(model_of(box(60, 60, 20), faces_of(Boundary::pec)), {&w, 1}, {}, kNoLayers);
    const std::size_t n = net->shares.size(), m = n / 2, nodes = n + 1;
    const double length = 0.4 / static_cast<double>(n);
    double l = 0, c = 0;
    for (std::size_t k = 0; k < n; ++k) l += net->inductance[m * n + k];
    for (std::size_t k = 0; k < nodes; ++k) c += net->elastance[m * nodes + k];
    return std::array{l * 2 * pi / vacuum_permeability / length,
                      c * 2 * pi * vacuum_permittivity * length};
  };
  for (const double phi : {0.0, 20.0, 45.0}) {
    const auto thick = logarithms(0.2, phi), thin = logarithms(0.02, phi);
    for (const std::size_t k : {0, 1}) EXPECT_NEAR(thin[k] - thick[k], std::log(10.0), 0.02) << phi;
    EXPECT_NEAR(thin[0] / thin[1], 1, 0.02) << phi;
  }
}

TEST(FreeWires, DirectionAndPlaceDoNotCount) {
  const double length = 0.2, f = 0.9 * speed_of_light / (2 * length);
  const std::array<std::array<int, 2>, 3> layers{{{8, 8}, {8, 8}, {8, 8}}};
  std::vector<std::complex<double>> z;
  struct Place {
    double theta, phi;
    Point middle;
  };
  for (const Place& p : {Place{0, 0, {0.003, 0.004, 0.001}},
                         {30, 0, {}},
                         {80, 0, {0.005, 0, 0.002}},
                         {25, 70, {0.0049, 0.0025, -0.004}}}) {
    const Terminals t = drive(model_of(box(46, 46, 46), faces_of(Boundary::pml), Dtype::f32),
                              {straight(length, p.theta, p.phi, p.middle)}, {{p.middle, 75.0}}, {0},
                              f, f, 1500, layers);
    z.push_back(t.v[0] / t.i[0]);
  }
  for (const std::complex<double>& own : z)
    EXPECT_LT(std::abs(own - z[0]), 0.003 * std::abs(z[0])) << own << z[0];
  // nec2c, 21 segments.
  EXPECT_LT(std::abs(z[0] - std::complex<double>(63.54, -27.69)), 3);
}

TEST(FreeWires, ElementsInSeriesAddTheirImpedance) {
  const double f = 0.7e9, w = 2 * pi * f;
  const Point at{0.001, 0.002, 0.003};
  const std::array<std::array<int, 2>, 3> layers{{{8, 8}, {8, 8}, {8, 8}}};
  const auto z_with = [&](const WireElement& load) {
    std::vector<WireElement> elements{{at, 75.0}};
    if (load.resistance_ohm > 0 || load.inductance_h > 0 || load.capacitance_f)
      elements.push_back(load);
    const Terminals t = drive(model_of(box(36, 36, 36), faces_of(Boundary::pml)),
                              {straight(0.14, 35, 20, at)}, elements, {0}, f, f, 2000, layers);
    return t.v[0] / t.i[0];
  };
  const std::complex<double> none = z_with({});
  const double x = w * 0.99 * stable_time_step(box(36, 36, 36)) / 2;
  for (const auto& [load, wanted] :
       {std::pair{WireElement{at, 40.0}, std::complex<double>(40)},
        {WireElement{at, 0, 20e-9}, {0, w * 20e-9 * std::tan(x) / x}},
        {WireElement{at, 10.0, 10e-9, 2e-12},
         {10, w * 10e-9 * std::tan(x) / x - 2 * x / std::sin(2 * x) / (w * 2e-12)}}})
    EXPECT_LT(std::abs(z_with(load) - none - wanted), 2e-4 * std::abs(wanted)) << wanted;
}

/// A wire that leaves a wall obliquely, and the same with its image.
TEST(FreeWires, AnEndOnAWallGoesOnInItsImage) {
  const double f = 0.6e9;
  const Point top{0.05, 0.02, 0.09}, below{0.05, 0.02, -0.09};
  const auto at = [](const Point& end, double share) {
    return Point{end[0] * share, end[1] * share, end[2] * share};
  };
  const double share = 0.5 / std::floor(std::hypot(5.0, 2.0, 9.0));
  YeeGrid half = box(24, 24, 16), whole = box(24, 24, 32);
  for (double& z : half.lines[2]) z += 0.08;
  const std::vector<WireElement> one{{at(top, share), 50.0}},
      two{{at(top, share), 50.0}, {at(below, share), 50.0}};
  const Terminals a = drive(model_of(half, faces_of(Boundary::pec)), {{{{0, 0, 0}, top}, 0.001}},
                            one, {0}, f, f, 800);
  // The current of the image goes on: the other source points the other way along its wire.
  const Terminals b = drive(model_of(whole, faces_of(Boundary::pec)),
                            {{{below, {0, 0, 0}, top}, 0.001}}, two, {0, 1}, f, f, 800);
  EXPECT_LT(std::abs(a.i[0] - b.i[0]), 1e-9 * std::abs(a.i[0]));
  EXPECT_LT(std::abs(b.i[1] - b.i[0]), 1e-9 * std::abs(a.i[0]));
}

/// A star of three wires, one of them bent, with a capacitor and a coil, in a closed box.
TEST(FreeWires, EnergyIsKept) {
  for (const Dtype type : {Dtype::f32, Dtype::f64})
    for (const double radius : {1e-6, 0.3}) {
      const double a = radius * kCell;
      const Point hub{0.002, -0.003, 0.004};
      const std::vector<ThinWire> wires{{{hub, {0.05, 0.01, 0.03}, {0.02, 0.05, 0.04}}, a},
                                        {{{-0.05, -0.02, 0.05}, hub}, a},
                                        {{hub, {-0.01, 0, -0.05}}, a}};
      const std::vector<WireElement> elements{{{0.026, 0.0035, 0.017}, 0, 0, 2e-12},
                                              {{-0.024, -0.0115, 0.027}, 0, 5e-9}};
      YeeModel model = model_of(box(16, 16, 16), faces_of(Boundary::pec), type);
      model.wires = wire_network(model, wires, elements, kNoLayers);
      const double dt = model.dt_s;
      TimeDomain run(std::move(model), {wire_source(0, gaussian_pulse(2e9, 2e9), dt)}, {});
      while (run.time_s() < run.sources_end_s()) run.advance(16);
      double low = INFINITY, high = 0;
      const auto watch = [&](std::int64_t steps) {
        low = INFINITY, high = 0;
        for (std::int64_t n = 0; n < steps; n += 7) {
          run.advance(7);
          low = std::min(low, run.energy_j()), high = std::max(high, run.energy_j());
        }
      };
      watch(420);
      const double early_low = low, early_high = high;
      EXPECT_GT(early_low, 0);
      run.advance(4000);
      watch(420);
      EXPECT_NEAR(high / early_high, 1, 0.05) << radius;
      EXPECT_NEAR(low / early_low, 1, 0.1) << radius;
    }
}

TEST(FreeWires, TheyGoOnWithTheSameBits) {
  const ThinWire wire = straight(0.1, 30, 20, {});
  const std::vector<WireElement> elements{{{}, 50.0, 0, 1e-12}};
  const auto made = [&] {
    YeeModel model = model_of(box(20, 20, 20), faces_of(Boundary::pec), Dtype::f32);
    model.wires = wire_network(model, {&wire, 1}, elements, kNoLayers);
    const double dt = model.dt_s;
    return TimeDomain(std::move(model), {wire_source(0, gaussian_pulse(2e9, 2e9), dt)},
                      {{wire_current, 0, 0, 0}, {Ez, 3, 4, 5}});
  };
  std::vector<double> all, parts;
  const auto keep = [](std::vector<double>& to) {
    return [&to](const Records& r) {
      for (std::int64_t n = 0; n < r.n_steps; ++n)
        to.insert(to.end(), {r.step(n)[0], r.step(n)[1]});
    };
  };
  TimeDomain whole = made(), first = made(), second = made();
  whole.advance(300, keep(all));
  first.advance(137, keep(parts));
  TimeDomain::Slice slice;
  for (int k = 0; k < first.slice_count(); ++k) {
    first.copy_slice(k, slice);
    second.set_slice(k, slice);
  }
  second.set_wire_state(first.wire_state());
  second.set_step(first.step());
  second.advance(163, keep(parts));
  EXPECT_EQ(all, parts);
  EXPECT_THROW(second.set_wire_state({1, 2, 3}), Error);
}

TEST(FreeWires, WiresOnLinesStayThereUnlessTheyMeetOthers) {
  const YeeGrid grid = box(20, 20, 20);
  const double a = 0.1 * kCell;
  const ThinWire on{{{0, 0, -0.03}, {0, 0, 0.03}, {0.02, 0, 0.03}}, a},
      off{{{0.003, 0.02, -0.03}, {0.003, 0.02, 0.03}}, a},
      oblique{{{0, 0, 0}, {0.03, 0.02, 0.01}}, a},
      bent{{{0, 0, -0.03}, {0, 0, 0.034}, {0.02, 0, 0.034}}, a},
      ends{{{0.04, 0, -0.034}, {0.04, 0, 0.031}}, a};
  EXPECT_TRUE(runs_on_lines(on, grid));
  EXPECT_TRUE(runs_on_lines(ends, grid));
  for (const ThinWire& w : {off, oblique, bent}) EXPECT_FALSE(runs_on_lines(w, grid));
  EXPECT_EQ(free_wires(std::vector{on, ends}, grid), (std::vector<std::size_t>{}));
  EXPECT_EQ(free_wires(std::vector{on, off, ends}, grid), (std::vector<std::size_t>{1}));
  EXPECT_EQ(free_wires(std::vector{on, ends, oblique}, grid), (std::vector<std::size_t>{0, 2}));
}

TEST(FreeWires, WhatCannotBeIsRefusedWithItsPlace) {
  const auto words = [](const YeeModel& model, const std::vector<ThinWire>& wires,
                        const std::vector<WireElement>& elements = {},
                        const std::array<std::array<int, 2>, 3>& layers = kNoLayers) {
    try {
      wire_network(model, wires, elements, layers);
    } catch (const WireFault& e) {
      return (e.of_radius ? "radius: " : "points: ") + std::string(e.what());
    } catch (const ElementFault& e) {
      return "element: " + std::string(e.what());
    }
    return std::string();
  };
  const auto holds = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const YeeModel model = model_of(box(20, 20, 20), faces_of(Boundary::pec));
  const ThinWire good = straight(0.1, 30, 20, {});
  EXPECT_EQ(words(model, {good}), "");
  EXPECT_TRUE(holds(words(model, {straight(0.1, 30, 20, {}, 0.004)}), "radius: its radius is 0.4"));
  EXPECT_TRUE(holds(words(model, {straight(0.1, 30, 20, {}, NAN)}), "radius: its radius is not"));
  EXPECT_TRUE(holds(words(model, {straight(0.3, 30, 20, {})}), "leaves the domain"));
  EXPECT_TRUE(holds(words(model, {straight(0.1, NAN, 20, {})}), "leaves the domain"));
  EXPECT_TRUE(holds(words(model, {{{{0, 0, 0}}, 0.001}}), "less than two points"));
  EXPECT_TRUE(holds(words(model, {{{{0, 0, 0}, {0, 0, 0}}, 0.001}}), "two of its points"));
  EXPECT_TRUE(holds(words(model, {good, good}), "runs along another wire"));
  EXPECT_TRUE(holds(words(model, {good}, {{{0.03, 0, 0}, 50.0}}), "element: lies"));
  EXPECT_TRUE(holds(words(model, {good}, {}, {{{8, 8}, {8, 8}, {8, 8}}}), "absorbing layer"));
  EXPECT_TRUE(holds(words(model, {{{{-0.1, -0.05, 0}, {-0.1, 0.05, 0.01}}, 0.001}}),
                    "touches the lower end of x"));
  const Faces joined{Boundary::periodic, Boundary::periodic};
  EXPECT_TRUE(holds(words(model_of(box(10, 20, 20), {joined, joined, joined}),
                          {straight(0.1, 30, 20, {-0.01, 0, 0})}),
                    "no wall"));
  YeeGrid graded = box(20, 20, 20);
  graded.lines[0][11] += 0.001;
  EXPECT_TRUE(holds(words(model_of(graded, faces_of(Boundary::pec)), {good}), "cells are even"));
  // Another medium beside it, and a scheme without a TimeDomain.
  YeeModel filled = model;
  filled.material = [](int component, int, int k, MaterialRow& row) {
    if (component < 3 && k > 12) std::fill(row.inverse.begin(), row.inverse.end(), 0.5);
  };
  EXPECT_TRUE(holds(words(filled, {good}), "another medium"));
  YeeModel own = model;
  own.wires = wire_network(model, {&good, 1}, {}, kNoLayers);
  EXPECT_THROW(YeeScheme{own}, Error);
}

/// In a medium of eps = 4 all is as in vacuum at half of the frequency, with half of the impedance.
TEST(FreeWires, AMediumScales) {
  const double length = 0.14, f = 0.9e9;
  const std::vector<ThinWire> wire{straight(length, 35, 20, {})};
  const YeeModel vacuum = model_of(box(24, 24, 24), faces_of(Boundary::pec));
  YeeModel filled = vacuum;
  filled.dt_s *= 2;
  filled.material = [](int component, int, int, MaterialRow& row) {
    if (component < 3) std::fill(row.inverse.begin(), row.inverse.end(), 0.25);
  };
  const Terminals a = drive(vacuum, wire, {{{}, 100.0}}, {0}, f, f, 1000),
                  b = drive(filled, wire, {{{}, 50.0}}, {0}, f / 2, f / 2, 1000);
  EXPECT_LT(std::abs(b.v[0] / b.i[0] - a.v[0] / a.i[0] / 2.0), 1e-6 * std::abs(a.v[0] / a.i[0]));
}

}  // namespace
}  // namespace tessera::electromagnetics::free_wire_tests
