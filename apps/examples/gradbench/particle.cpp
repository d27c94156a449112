// SPDX-License-Identifier: Apache-2.0
//
// GradBench's `particle` (J. Siskind & B. Pearlmutter): a charged particle starts at (0, 8) with
// velocity (0.75, 0) in the field of charges at (10, 10 - w) and (10, 0). Euler steps of 0.1 follow
// it, with the force as the gradient of the potential sum_c 1/|x - c|, until it falls through y =
// 0; w is to make it do so at the origin: argmin_w x(t_f)^2. Derivatives with respect to w go
// through the derivatives that make the force, and through a loop of unknown length.
#include "descent.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"

using namespace tessera;
using gradbench::Mode;

namespace {

constexpr double kStep = 0.1;

/// The square of where it lands, for w [1].
Tensor landing(Mode mode, const Tensor& w) {
  const Tensor ten = full({1}, 10.0);
  const Tensor charges = stack({concatenate({ten, 10.0 - w}), tensor({10.0, 0.0})});  // [2, 2]
  const auto potential = [&](const Tensor& x) { return sum(1.0 / norm(x - charges, {1})); };
  using State = std::pair<Tensor, Tensor>;
  const auto above = [](const State& s) { return select(s.first + kStep * s.second, 0, 1) > 0.0; };
  const auto step = [&](const State& s) {
    const Tensor force = -gradbench::differentiated(mode, potential, s.first).second;
    return State(s.first + kStep * s.second, s.second + kStep * force);
  };
  const auto [x, v] = while_loop(above, step, State(tensor({0.0, 8.0}), tensor({0.75, 0.0})));
  return square(select(x, 0, 0) - select(x, 0, 1) / select(v, 0, 1) * select(v, 0, 0));
}

/// The same with the force written out; complex for the derivative by a complex step.
template <class T>
T plain(const T& w) {
  using std::sqrt;
  T x[2] = {T(0.0), T(8.0)}, v[2] = {T(0.75), T(0.0)};
  const T charge[2][2] = {{T(10.0), 10.0 - w}, {T(10.0), T(0.0)}};
  const auto real_part = [](const T& z) { return std::real(z); };
  for (;;) {
    T force[2] = {T(0.0), T(0.0)};
    for (const auto& c : charge) {
      const T a = x[0] - c[0], b = x[1] - c[1], r2 = a * a + b * b, r3 = r2 * sqrt(r2);
      force[0] += a / r3, force[1] += b / r3;
    }
    const T next[2] = {x[0] + kStep * v[0], x[1] + kStep * v[1]};
    if (real_part(next[1]) > 0) {
      for (int i = 0; i < 2; ++i) x[i] = next[i], v[i] += kStep * force[i];
      continue;
    }
    const T at = x[0] - x[1] / v[1] * v[0];
    return at * at;
  }
}
double by_hand(double w) {
  const auto slope = [](double w) { return plain(std::complex<double>(w, 1e-30)).imag() / 1e-30; };
  double rate = 1e-5, value = plain(w), g = slope(w);
  int successes = 0;
  while (std::abs(g) > 1e-5) {
    if (successes == 10) rate *= 2, successes = 0;
    const double next = w - rate * g;
    if (std::abs(next - w) <= 1e-5) break;
    if (plain(next) < value)
      w = next, value = plain(w), g = slope(w), ++successes;
    else
      rate /= 2, successes = 0;
  }
  return w;
}

}  // namespace

int main() {
  bool ok = true;
  for (const Mode outer : {Mode::forward, Mode::reverse})
    for (const Mode inner : {Mode::forward, Mode::reverse}) {
      const std::string name =
          std::string(outer == Mode::forward ? "f" : "r") + (inner == Mode::forward ? "f" : "r");
      double got = 0;
      const auto planned = jit([&](const Tensor& w) {
        return gradbench::argmin(
            outer, [&](const Tensor& w) { return landing(inner, w); }, w);
      });
      const double ms = gradbench::milliseconds([&] { got = planned(zeros({1})).item(); }, 1);
      ok &= gradbench::close(name, {got}, {by_hand(0)});
      std::printf("%s: %.15g, %.0f ms\n", name.c_str(), got, ms);
    }
  return ok ? 0 : 1;
}
