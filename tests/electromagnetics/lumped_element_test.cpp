// SPDX-License-Identifier: Apache-2.0
//
// Circuits on edges: reflections from the end of a line against the line's own formula and the
// circuit's, boxes of edges against one edge, power, energy, places that cannot be.
#include "tessera/electromagnetics/lumped_element.h"

#include "ended_line.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/yee_primitive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

namespace tessera::electromagnetics {
namespace {

using C = std::complex<double>;
using namespace ended_lines;
using namespace guides;

using std::numbers::pi;

/// Reflection at the last line, from E at two others.
std::vector<C> reflections(const Line& l, const LumpedElement& element,
                           const std::vector<double>& f, double f0) {
  const double cell = l.grid.length(0, 0);
  const int first = l.end() / 2, second = first + 5;
  YeeModel m = l.model();
  add_elements(m, {place(element, l.grid, l.faces)});
  const std::vector<Edge> looked{{Ez, first, 0, 0}, {Ez, second, 0, 0}};
  TimeDomain run(std::move(m), {l.pulse(l.end() / 4, f0)}, looked);
  RunningDft dft(f, l.dt_s, looked);
  run.advance(60 * l.end(), [&](const Records& r) { dft.add(r); });
  std::vector<C> out;
  for (std::size_t q = 0; q < f.size(); ++q) {
    const double k = wavenumber(f[q], cell, l.dt_s);
    const std::vector<C> e = dft.at(q);
    const auto wave = [&](int line) { return std::polar(1.0, -k * (line - l.end()) * cell); };
    // e = a w + b / w at both lines.
    const C w0 = wave(first), w1 = wave(second), det = w0 / w1 - w1 / w0;
    out.push_back((w0 * e[1] - w1 * e[0]) / det / ((e[0] / w1 - e[1] / w0) / det));
  }
  return out;
}

TEST(LumpedElement, EndsALineWithTheReflectionOfItsCircuit) {
  // 20 cells a wavelength at f0.
  const Line l = line_of(120, speed_of_light / f0 / 20);
  const std::vector<double> f{0.7 * f0, f0, 1.2 * f0};
  for (const auto& [name, circuit] : circuits()) {
    const std::vector<C> got = reflections(l, sheet_at_end(l, circuit), f, f0);
    for (std::size_t q = 0; q < f.size(); ++q) {
      const C y = admittance(circuit, stepped_frequency(f[q], l.dt_s));
      EXPECT_LT(std::abs(got[q] - stepped_reflection(y, f[q], l.grid.length(0, 0), l.dt_s)),
                name == "critical" ? 1e-6 : 1e-8)
          << name << " at " << f[q];
    }
  }
}

// With L and C exact at that frequency all that is left is the line's own impedance, cos(k d / 2) /
// cos(w dt / 2): at most 0.01 whatever the circuit.
TEST(LumpedElement, IsItsCircuitAtTwentyCellsAWavelength) {
  for (const double courant : {0.99, 0.99 / std::sqrt(3.0)}) {
    Line l = line_of(120, speed_of_light / f0 / 20);
    l.dt_s *= courant / 0.99;
    for (const auto& [name, circuit] : circuits()) {
      const C y = admittance(circuit, C(0, w0)) * eta;
      const std::vector<C> got =
          reflections(l, sheet_at_end(l, exact_at(circuit, f0, l.dt_s)), {f0}, f0);
      EXPECT_LT(std::abs(got[0] - (1.0 - y) / (1.0 + y)), 0.01) << name;
    }
  }
}

TEST(LumpedElement, IsOfSecondOrder) {
  for (const auto& [name, circuit] : circuits()) {
    double error[2];
    for (const int fine : {0, 1}) {
      Line l = line_of(120 << fine, speed_of_light / f0 / (20 << fine));
      const C y = admittance(circuit, C(0, w0)) * eta;
      error[fine] =
          std::abs(reflections(l, sheet_at_end(l, circuit), {f0}, f0)[0] - (1.0 - y) / (1.0 + y));
    }
    if (error[0] < 1e-6) continue;  // resistors on a magic step
    EXPECT_GT(std::log2(error[0] / error[1]), 1.9) << name << " " << error[0];
  }
}

/// E along a line and a record of it.
std::vector<double> signal_of(const Line& l, const LumpedElement& element, Edge looked,
                              const SymmetryFaces& symmetry = {}) {
  YeeModel m = l.model();
  add_elements(m, {place(element, l.grid, l.faces, {}, {}, symmetry)});
  TimeDomain run(std::move(m), {l.pulse(20, f0)}, {looked});
  std::vector<double> out;
  const double unit = run.scheme().field_scale(looked);
  run.advance(700, [&](const Records& r) {
    for (std::int64_t n = 0; n < r.n_steps; ++n) out.push_back(r.step(n)[0] / unit);
  });
  return out;
}
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, size = 0;
  for (std::size_t n = 0; n < a.size(); ++n)
    most = std::max(most, std::abs(a[n] - b[n])), size = std::max(size, std::abs(b[n]));
  return most / size;
}
Circuit scaled(Circuit c, double by) {
  if (c.resistance_ohm) *c.resistance_ohm *= by;
  if (c.inductance_h) *c.inductance_h *= by;
  if (c.capacitance_f) *c.capacitance_f /= by;
  return c;
}

// A box over uneven plates, four columns of three edges, is one edge of a line scaled by height
// over width; so is a strip in two dimensions.
TEST(LumpedElement, InABoxOfEdgesIsOneElement) {
  Line one = line_of(80, 10e-3);
  one.dt_s *= 0.5;
  Line plates = one, flat = one;
  plates.grid.lines[1] = {0, 9e-3, 19e-3, 31e-3};
  plates.grid.lines[2] = {0, 9e-3, 19e-3, 28e-3};
  plates.faces[1] = mirrors, plates.faces[2] = walls;
  flat.grid.lines[1] = plates.grid.lines[2], flat.faces[1] = walls;
  const double x = one.at(one.end());
  for (const auto& [name, circuit] : circuits()) {
    const std::vector<double> want = signal_of(one, sheet_at_end(one, circuit), {Ez, 60, 0, 0});
    const LumpedElement box{scaled(circuit, 28.0 / 31), 2, {x, 0, 0}, {x, 31e-3, 28e-3}};
    EXPECT_LT(distance(signal_of(plates, box, {Ez, 60, 2, 1}), want), 1e-11) << name;
    // The same, half of it drawn behind the mirror: each half has twice the impedance.
    const LumpedElement whole{scaled(circuit, 14.0 / 31), 2, {x, -31e-3, 0}, {x, 31e-3, 28e-3}};
    EXPECT_LT(distance(signal_of(plates, whole, {Ez, 60, 2, 1}, {{{}, {true, false}, {}}}), want),
              1e-11)
        << name;
    // On a mirror instead of a wall.
    const LumpedElement on_mirror{scaled(circuit, 14.0 / 31), 2, {x, 0, 0}, {x, 31e-3, 28e-3}};
    EXPECT_LT(
        distance(signal_of(plates, on_mirror, {Ez, 60, 2, 1}, {{{false, true}, {}, {}}}), want),
        1e-11)
        << name;
    // Half of it drawn behind the lower plate.
    const LumpedElement tall{scaled(circuit, 56.0 / 31), 2, {x, 0, -28e-3}, {x, 31e-3, 28e-3}};
    EXPECT_LT(distance(signal_of(plates, tall, {Ez, 60, 2, 1}, {{{}, {}, {true, false}}}), want),
              1e-11)
        << name;
    // Single precision keeps its digits.
    plates.dtype = Dtype::f32;  // poles that lie 1e-4 apart cancel
    EXPECT_LT(distance(signal_of(plates, box, {Ez, 60, 2, 1}), want),
              name == "critical" ? 2e-3 : 3e-5)
        << name;
    plates.dtype = Dtype::f64;
  }
  const Circuit r{.resistance_ohm = 200};
  const auto along_y = [&](const Line& l, double height) {
    YeeModel m = l.model();
    add_elements(m, {place({scaled(r, height), 1, {x, 0, 0}, {x, 28e-3, 0}}, l.grid, l.faces)});
    const Point at{l.at(20), 0, 0}, to{l.at(20), l.grid.lines[1].back(), 0};
    const Edge looked{Ey, 60, 0, 0};
    TimeDomain run(std::move(m),
                   {current_source(l.grid, l.faces, l.dt_s, Ey, at, to, 1, gaussian_pulse(f0, f0))},
                   {looked});
    std::vector<double> out;
    const double unit = run.scheme().field_scale(looked);
    run.advance(700, [&](const Records& rec) {
      for (std::int64_t n = 0; n < rec.n_steps; ++n) out.push_back(rec.step(n)[0] / unit);
    });
    return out;
  };
  EXPECT_LT(distance(along_y(flat, 28e-3), along_y(one, 1)), 1e-11);
}

/// A box with metal walls and two posts, each with a gap of some cells in the middle.
struct Box {
  YeeGrid grid{.lines = {even(9, 4e-3), even(8, 4e-3), even(6, 4e-3)}};
  std::array<Faces, 3> faces{walls, walls, walls};
  double dt_s = 0.95 * stable_time_step(grid);
  int gap = 1;
  bool metal(const Edge& e) const {
    return e.component == Ez && ((e.i == 3 && e.j == 3) || (e.i == 6 && e.j == 4)) &&
           (e.k < 3 || e.k >= 3 + gap);
  }
  YeeModel model(Dtype dtype = Dtype::f64) const {
    YeeModel m{.grid = grid, .faces = faces, .dt_s = dt_s, .dtype = dtype};
    m.material = [*this](int c, int j, int k, MaterialRow& row) {
      for (int i = 0; i < 10; ++i)
        if (metal({static_cast<std::uint8_t>(c), i, j, k}))
          row.inverse[static_cast<std::size_t>(i)] = 0;
    };
    return m;
  }
  /// From floor to ceiling: the post is part of its terminals.
  PlacedElement at(const Circuit& c, int i, int j) const {
    return place({c, 2, {i * 4e-3, j * 4e-3, 0}, {i * 4e-3, j * 4e-3, 24e-3}}, grid, faces, {},
                 [&](const Edge& e) { return metal(e); });
  }
};

/// Both posts, the first driven, or, with `swapped`, the second.
struct Pair {
  std::vector<TerminalValues> driven, other;  ///< [frequencies]
  std::vector<C> source;
};
Pair pair_of(const Box& box, const Circuit& driven, const Circuit& other,
             const std::vector<double>& f, bool swapped) {
  const PlacedElement drive = swapped ? box.at(driven, 6, 4) : box.at(driven, 3, 3),
                      load = swapped ? box.at(other, 3, 3) : box.at(other, 6, 4);
  YeeModel m = box.model();
  add_elements(m, {drive, load});
  const TerminalReading reading = terminal_reading(m, drive, f);
  std::vector<Edge> all = reading.edges;
  const std::size_t of_drive = all.size();
  all.insert(all.end(), load.edges.begin(), load.edges.end());
  const Waveform volts = gaussian_pulse(3e9, 5e9);
  TimeDomain run(std::move(m), {lumped_source(drive, volts, box.dt_s)}, all);
  RunningDft dft(f, box.dt_s, all);
  const int steps = 40000;
  run.advance(steps, [&](const Records& r) { dft.add(r); });
  Pair out;
  for (std::size_t q = 0; q < f.size(); ++q) {
    const std::vector<C> e = dft.at(q);
    C v[2] = {}, source = 0;
    for (std::size_t k = 0; k < drive.edges.size(); ++k) v[0] += drive.voltage[k] * e[k];
    for (std::size_t k = 0; k < load.edges.size(); ++k) v[1] += load.voltage[k] * e[of_drive + k];
    for (int n = 0; n < steps; ++n) {
      const double t = (n + 0.5) * box.dt_s;
      source += box.dt_s * volts.at(t) * std::polar(1.0, -2 * pi * f[q] * t);
    }
    out.source.push_back(source);
    out.driven.push_back(terminal_values(drive, v[0], source, f[q], box.dt_s));
    out.other.push_back(terminal_values(load, v[1], 0, f[q], box.dt_s));
    // The loops of h say the same as the circuit.
    C volt = 0, ampere = 0;
    for (std::size_t k = 0; k < of_drive; ++k)
      volt += reading.voltage[q][k] * e[k], ampere += reading.current[q][k] * e[k];
    EXPECT_LT(std::abs(volt - out.driven[q].v), 1e-12 * std::abs(volt));
    EXPECT_LT(std::abs(ampere - out.driven[q].i), 1e-9 * std::abs(ampere));
  }
  return out;
}

// In a closed box without loss the other element takes at each frequency what the driven one gives.
TEST(LumpedElement, GivesThePowerThatFieldsGet) {
  const std::vector<double> f{1.1e9, 2.3e9, 3e9, 4.4e9};
  for (const bool parallel : {false, true}) {
    const Circuit drive{
        .resistance_ohm = 90, .inductance_h = 3e-9, .capacitance_f = 0.8e-12, .parallel = parallel};
    const Pair p = pair_of({}, drive, {.resistance_ohm = 150}, f, false);
    for (std::size_t q = 0; q < f.size(); ++q) {
      const double given = std::real(p.driven[q].v * std::conj(p.driven[q].i)),
                   taken = -std::real(p.other[q].v * std::conj(p.other[q].i));
      EXPECT_GT(given, 0);
      EXPECT_NEAR(taken / given, 1, 1e-8) << parallel << " " << f[q];
    }
  }
}

// Which of two is driven makes no difference to the voltage at the other, of edges in series too.
TEST(LumpedElement, IsReciprocal) {
  const std::vector<double> f{1.1e9, 2.3e9, 3e9, 4.4e9};
  const Circuit one{.resistance_ohm = 90, .capacitance_f = 0.8e-12, .parallel = true},
      other{.resistance_ohm = 40, .inductance_h = 1e-9, .parallel = true};
  const Box box{.gap = 3};
  const Pair there = pair_of(box, one, other, f, false), back = pair_of(box, other, one, f, true);
  for (std::size_t q = 0; q < f.size(); ++q) {
    const C z12 = there.other[q].v / (there.source[q] / 90.0),
            z21 = back.other[q].v / (back.source[q] / 40.0);
    EXPECT_LT(std::abs(z12 - z21), 1e-8 * std::abs(z12)) << f[q];
  }
}

// R, L and C as arguments: the run is that of the rows, and its derivatives those of differences,
// to second order.
TEST(LumpedElement, DifferentiatesInItsValues) {
  const Box box{.gap = 3};
  const Circuit circuit{
      .resistance_ohm = 90, .inductance_h = 2e-9, .capacitance_f = 0.3e-12, .parallel = true};
  const PlacedElement element = box.at(circuit, 3, 3);
  YeeModel by_rows = box.model(), free = box.model();
  by_rows.injected = {{Ez, 5, 5, 2}}, by_rows.recorded = {{Ez, 3, 3, 4}, {Ez, 6, 2, 3}};
  free.injected = by_rows.injected, free.recorded = by_rows.recorded;
  const FreeElement place = free_element(free, element);
  free.mixed = place.edges;
  add_elements(by_rows, {element});
  std::vector<double> pulse;
  for (int n = 0; n < 200; ++n) pulse.push_back(std::exp(-std::pow((n - 25.0) / 8, 2)));
  const Tensor w = tensor(pulse, {200, 1});
  const YeeOpPtr op = yee_op(free), rows = yee_op(by_rows);
  // In their own units, so that steps of all are alike.
  const auto records = [&](Tensor x) {
    return simulate(
        op,
        parameters(place, 90 * select(x, 0, 0), 2e-9 * select(x, 0, 1), 0.3e-12 * select(x, 0, 2)),
        w);
  };
  const Tensor one = tensor({1.0, 1.0, 1.0}), got = records(one),
               want = simulate(rows, coefficients(rows), w);
  EXPECT_LT(max(abs(got - want)).item(), 1e-11 * max(abs(want)).item());
  const auto value = [&](Tensor x) { return sum(square(records(x))); };
  const CheckReport r = gradcheck(value, std::tuple(tensor({1.0, 0.8, 1.2})), {.order = 2});
  EXPECT_TRUE(r) << to_string(r);
}

// Whatever R, L and C are, energy falls once the pulse is over.
TEST(LumpedElement, MakesNoEnergy) {
  const Box box;
  for (const Dtype dtype : {Dtype::f64, Dtype::f32})
    for (const double r : {0.0, 1e-9, 50.0, 1e12})
      for (const double l : {0.0, 1e-16, 1e-9, 1e3})
        for (const double c : {0.0, 1e-19, 1e-12, 1e3})
          for (const bool parallel : {false, true}) {
            Circuit circuit{.parallel = parallel};
            if (r > 0) circuit.resistance_ohm = r;
            if (l > 0) circuit.inductance_h = l;
            if (c > 0) circuit.capacitance_f = c;
            if (r == 0 && l == 0 && c == 0) continue;
            YeeModel m = box.model(dtype);
            add_elements(m, {box.at(circuit, 3, 3)});
            const Point at{24e-3, 16e-3, 14e-3};
            TimeDomain run(std::move(m),
                           {current_source(box.grid, box.faces, box.dt_s, Ez, at, at, 1e-3,
                                           gaussian_pulse(6e9, 8e9))},
                           {});
            run.advance(static_cast<std::int64_t>(run.sources_end_s() / box.dt_s) + 2);
            // Fields alone, which swing with what the element stores, and by the order of dt.
            double most = 0, last = 0;
            for (int n = 0; n < 40; ++n) run.advance(5), most = std::max(most, run.energy_j());
            run.advance(1000);
            for (int n = 0; n < 40; ++n) run.advance(5), last = std::max(last, run.energy_j());
            EXPECT_GT(most, 0);
            EXPECT_LT(last, 1.02 * most) << r << " " << l << " " << c << " " << parallel;
          }
}

TEST(LumpedElement, IsRefusedWhereItCannotBe) {
  const Box box;
  const Circuit r{.resistance_ohm = 50};
  const auto refused = [&](const LumpedElement& e, const std::string& words,
                           std::array<Faces, 3> faces = {walls, walls, walls}) {
    try {
      place(e, box.grid, faces, {}, {}, {{{true, true}, {true, true}, {true, true}}});
      ADD_FAILURE() << words;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  const Point low{8e-3, 8e-3, 0}, high{8e-3, 8e-3, 8e-3};
  refused({{}, 2, low, high}, "has a resistance");
  refused({{.resistance_ohm = -1}, 2, low, high}, "positive resistance");
  refused({{.inductance_h = 0.0}, 2, low, high}, "positive inductance");
  refused({{.capacitance_f = NAN}, 2, low, high}, "positive capacitance");
  refused({r, 3, low, high}, "axis 0, 1 or 2");
  refused({r, 2, high, low}, "low <= high");
  refused({r, 2, low, low}, "no open edge");
  refused({r, 2, {0, 0, 0}, {0, 0, 8e-3}}, "no open edge");  // along a wall
  refused({r, 2, {1, 0, 0}, {1, 0, 8e-3}}, "outside of the grid");
  refused({r, 2, {-8e-3, 8e-3, 0}, {8e-3, 8e-3, 8e-3}}, "beyond the lower face along x");
  refused({r, 2, {-8e-3, 8e-3, 0}, {16e-3, 8e-3, 8e-3}}, "should halve", {mirrors, walls, walls});
  EXPECT_THROW(lumped_source(box.at({.inductance_h = 1e-9}, 3, 3), gaussian_pulse(3e9, 5e9), 1e-12),
               Error);
  // An end in the air.
  const auto metal = [&](const Edge& e) { return box.metal(e); };
  const auto loose = [&](Point to) {
    return loose_end(place({r, 2, {12e-3, 12e-3, 12e-3}, to}, box.grid, box.faces, {}, metal),
                     box.grid, box.faces, metal);
  };
  EXPECT_FALSE(loose({12e-3, 12e-3, 16e-3}));
  EXPECT_TRUE(loose({16e-3, 12e-3, 16e-3}));  // one of two columns beside the post
}

}  // namespace
}  // namespace tessera::electromagnetics
