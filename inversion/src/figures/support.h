// SPDX-License-Identifier: Apache-2.0
// What the figures share: numbers as text, units of length, cell edges.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace tessera::inversion::figures {

bool is_number(double v);  ///< finite

/// Least and greatest of the positive finite values; (1, 0) if there are none.
std::pair<double, double> positive_range(const std::vector<double>& values);

/// `value` to so many significant digits.
std::string digits(double value, int significant);

/// "km" and 1000 from two kilometres on, else "m" and 1.
std::pair<std::string, double> length_unit(double greatest_m);

/// Layer tops and infinity, divided by `scale`.
std::vector<double> layer_edges(const std::vector<double>& top, double scale);

/// Edges half-way between neighbouring centres, geometric where `log`; the outer cells are as wide
/// as half of what lies inside says. Centres must rise or fall strictly.
std::vector<double> cell_edges(const std::vector<double>& centre, bool log);

}  // namespace tessera::inversion::figures
