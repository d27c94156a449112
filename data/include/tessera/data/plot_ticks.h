// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace tessera::data {

/// One labelled tick. The label is plot markup (plot.h), e.g. `0.5`, `−20`, `10 000`, `10^{-3}`.
struct Tick {
  double value = 0;
  std::string label;
};

/// Ticks of one axis, rising. The true value of a label is label x 10^exponent (exponent is a
/// multiple of three, 0 unless the plain numbers would be longer than about six characters).
struct Ticks {
  std::vector<Tick> major;
  std::vector<double> minor;
  int exponent = 0;
};

/// 10^e correctly rounded; 0 below 1e-308, infinity above 1e308.
double power_of_ten(int e);

/// Ticks at multiples of 1, 2 or 5 times a power of ten inside [lo, hi], at most `max_labels` of
/// them (at least two where that is possible with max_labels >= 3). With `step` > 0 they are
/// multiples of whole multiples of it (45 gives 0, 45, 90). Needs finite lo < hi.
Ticks linear_ticks(double lo, double hi, int max_labels, double step = 0);

/// Ticks for a logarithmic axis, 0 < lo < hi: decades as powers of ten, every n-th where they do
/// not fit, minor ticks at 2..9. Where less than two decades fall inside, plain numbers such as 20,
/// 50, 100; where even those are too few, the linear ones.
Ticks log_ticks(double lo, double hi, int max_labels);

}  // namespace tessera::data
