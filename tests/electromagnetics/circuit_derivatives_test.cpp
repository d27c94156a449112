// SPDX-License-Identifier: Apache-2.0
//
// Runs differentiate in R, L and C of circuits of every kind: d reflection / d value of a line that
// ends in one, against the formula of the discrete line; to second order, against runs.
#include "ended_line.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/medium_derivatives.h"
#include "tessera/electromagnetics/observed_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::electromagnetics {
namespace {

using namespace ended_lines;

/// The values of a circuit that are there.
std::vector<std::optional<double> Circuit::*> values_of(const Circuit& circuit) {
  std::vector<std::optional<double> Circuit::*> out;
  for (const auto which :
       {&Circuit::resistance_ohm, &Circuit::inductance_h, &Circuit::capacitance_f})
    if (circuit.*which) out.push_back(which);
  return out;
}

/// A line whose end moves with one value of its circuit.
struct MovingEnd {
  Line line;
  Circuit circuit;
  std::optional<double> Circuit::*which;

  double at() const { return *(circuit.*which); }
  Circuit of(double value) const {
    Circuit out = circuit;
    out.*which = value;
    return out;
  }
  YeeModel model(double value) const {
    YeeModel m = line.model();
    add_elements(m, {place(sheet_at_end(line, of(value)), line.grid, line.faces)});
    return m;
  }
  MediumDerivatives moves(double step, MediumOrder order) const {
    return medium_derivatives([this](const std::vector<double>& p) { return model(p[0]); }, {at()},
                              {step * at()}, order);
  }
};

/// Reflection at the last line, from transforms at two others, [frequency].
Tensor reflection_at_end(const Line& l, const Tensor& e, int first, int second,
                         const std::vector<double>& f) {
  const double cell = l.grid.length(0, 0);
  std::vector<c128> at_first, at_second;
  for (const double x : f) {
    const double k = wavenumber(x, cell, l.dt_s);
    at_first.push_back(std::polar(1.0, -k * (first - l.end()) * cell));
    at_second.push_back(std::polar(1.0, -k * (second - l.end()) * cell));
  }
  const Tensor w0 = tensor(at_first), w1 = tensor(at_second), e0 = select(e, 1, 0),
               e1 = select(e, 1, 1);
  return (w0 * e1 - w1 * e0) / (e0 / w1 - e1 / w0);
}

TEST(CircuitDerivatives, OfReflectionsAreThoseOfTheDiscreteLine) {
  const Line l = line_of(60, speed_of_light / f0 / 20);
  const std::vector<double> f{0.7 * f0, f0, 1.2 * f0};
  const int first = l.end() / 2, second = first + 5;
  for (const auto& [name, circuit] : circuits())
    for (const auto which : values_of(circuit)) {
      const MovingEnd end{l, circuit, which};
      const MediumDerivatives d = end.moves(1e-5, MediumOrder::first);
      YeeModel m = end.model(end.at());
      m.mixed = d.edges;
      const ObservedRun run(
          std::move(m), {l.pulse(l.end() / 4, f0)},
          {{.edges = {{Ez, first, 0, 0}, {Ez, second, 0, 0}}, .frequencies_hz = f}}, 120 * l.end());
      const auto [value, slope] = jvp(
          [&](const Tensor& p) {
            return reflection_at_end(l, run.values(d.at(p), {})[0], first, second, f);
          },
          zeros({1}), tensor({1.0}));
      for (std::size_t q = 0; q < f.size(); ++q) {
        const auto formula = [&](double by) {
          const auto y = admittance(end.of(end.at() * by), stepped_frequency(f[q], l.dt_s));
          return stepped_reflection(y, f[q], l.grid.length(0, 0), l.dt_s);
        };
        const std::complex<double> wanted = (formula(1 + 1e-5) - formula(1 - 1e-5)) / 2e-5,
                                   got = slope.to_vector<c128>()[q] * end.at();
        // Without loss the circuits of a difference drift apart for as long as the run lasts.
        const double bar = name == "series L C" ? 5e-6 : 1e-7;
        EXPECT_LT(std::abs(got - wanted), bar) << name << " " << f[q];
      }
    }
}

/// Second derivatives and both modes, against runs elsewhere and each other.
TEST(CircuitDerivatives, CarryToSecondOrder) {
  const Line l = line_of(60, speed_of_light / f0 / 20);
  const Injection pulse = l.pulse(15, f0);
  constexpr std::int64_t steps = 300;
  const std::vector<double> driven = pulse.currents(0, steps, l.dt_s);
  const Tensor w = tensor(driven, {steps, static_cast<Index>(pulse.edges.size())});
  for (const char* const name : {"series R L", "series R L C", "parallel R L C"})
    for (const auto& [other, circuit] : circuits()) {
      if (other != name) continue;
      const MovingEnd end{l, circuit, &Circuit::inductance_h};
      const MediumDerivatives d = end.moves(1e-4, MediumOrder::second);
      const auto loss = [&](YeeModel m, const std::function<Tensor(const YeeOpPtr&)>& c) {
        m.injected = pulse.edges, m.recorded = {{Ez, 30, 0, 0}};
        const YeeOpPtr op = yee_op(std::move(m));
        return sum(square(simulate(op, c(op), w)));
      };
      const auto value = [&](const Tensor& x) {  // in shares of the value
        YeeModel m = end.model(end.at());
        m.mixed = d.edges;
        return loss(std::move(m), [&](const YeeOpPtr&) { return d.at((x - 1) * end.at()); });
      };
      const auto runs = [&](double x) {
        return loss(end.model(x * end.at()), [](const YeeOpPtr& op) { return coefficients(op); })
            .item();
      };
      const Tensor one = tensor({1.0});
      const double own = runs(1), more = runs(1 + 1e-3), less = runs(1 - 1e-3);
      EXPECT_NEAR(value(one).item(), own, 1e-12 * own) << name;
      EXPECT_NEAR(grad(value)(one).item(), (more - less) / 2e-3, 1e-5 * own) << name;
      EXPECT_NEAR(hvp(value, one, one).item(), (more - 2 * own + less) / 1e-6, 1e-4 * own) << name;
      // Forward mode against reverse mode.
      const double forward = jvp(value, one, one).second.item();
      EXPECT_NEAR(grad(value)(one).item(), forward, 1e-10 * std::abs(forward)) << name;
    }
}

}  // namespace
}  // namespace tessera::electromagnetics
