// SPDX-License-Identifier: Apache-2.0
//
// GradBench's `saddle` (J. Siskind & B. Pearlmutter): the saddle point min_x max_y |x|^2 - |y|^2,
// both by gradient descent from one start, so that the outer derivative goes through the inner
// descent. Four combinations of modes.
#include "descent.h"
#include "tessera/autodiff/jit.h"

using namespace tessera;
using gradbench::Mode;

namespace {

Tensor f(const Tensor& x, const Tensor& y) { return sum(square(x)) - sum(square(y)); }

/// [4]: x, then y.
Tensor saddle(const Tensor& start, Mode outer, Mode inner) {
  const Tensor x = gradbench::argmin(
      outer,
      [&](const Tensor& x) {
        const Tensor y = gradbench::argmax(
            inner, [&](const Tensor& y) { return f(x, y); }, start);
        return f(x, y);
      },
      start);
  const Tensor y = gradbench::argmax(
      outer, [&](const Tensor& y) { return f(x, y); }, start);
  return concatenate({x, y});
}

/// The same descents with derivatives by hand: 2 x outside, since the inner y does not depend on x;
/// -2 y inside.
std::vector<double> by_hand(std::vector<double> start) {
  const auto descend = [](std::vector<double> x) {
    double rate = 1e-5;
    int successes = 0;
    const auto size2 = [](const std::vector<double>& v) { return v[0] * v[0] + v[1] * v[1]; };
    while (2 * std::sqrt(size2(x)) > 1e-5) {
      if (successes == 10) rate *= 2, successes = 0;
      const std::vector<double> next{x[0] - rate * 2 * x[0], x[1] - rate * 2 * x[1]};
      if (std::hypot(next[0] - x[0], next[1] - x[1]) <= 1e-5) break;
      if (size2(next) < size2(x))
        x = next, ++successes;
      else
        rate /= 2, successes = 0;
    }
    return x;
  };
  std::vector<double> x = descend(start), y = descend(start);
  x.insert(x.end(), y.begin(), y.end());
  return x;
}

}  // namespace

int main() {
  bool ok = true;
  const std::vector<double> start{1, 1};
  for (const Mode outer : {Mode::forward, Mode::reverse})
    for (const Mode inner : {Mode::forward, Mode::reverse}) {
      const std::string name =
          std::string(outer == Mode::forward ? "f" : "r") + (inner == Mode::forward ? "f" : "r");
      const auto planned = jit([&](const Tensor& start) { return saddle(start, outer, inner); });
      std::vector<double> got;
      const double ms =
          gradbench::milliseconds([&] { got = planned(tensor(start)).to_vector(); }, 1);
      ok &= gradbench::close(name, got, by_hand(start));
      std::printf("%s: %.10g %.10g %.10g %.10g, %.0f ms\n", name.c_str(), got[0], got[1], got[2],
                  got[3], ms);
    }
  return ok ? 0 : 1;
}
