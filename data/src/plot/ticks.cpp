// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/data/plot_ticks.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace tessera::data {
namespace {

constexpr const char* kMinus = "\u2212";
constexpr double kSlack = 1e-9;  // a limit that is a tick up to rounding keeps its tick
constexpr const char* kThinSpace = "\u2009";

/// units x 10^shift as a plain decimal number with `decimals` digits after the point, thousands set
/// apart from five digits on (as the SI brochure asks). Exact: only digits are moved.
std::string decimal(std::int64_t units, int shift, int decimals) {
  std::string digits = std::to_string(units < 0 ? -units : units);
  if (shift > 0 && units != 0) digits.append(static_cast<std::size_t>(shift), '0');
  const auto fraction = static_cast<std::size_t>(std::max(0, -shift));
  if (digits.size() <= fraction) digits.insert(0, fraction + 1 - digits.size(), '0');
  std::string whole = digits.substr(0, digits.size() - fraction),
              part = digits.substr(digits.size() - fraction);
  part.resize(static_cast<std::size_t>(std::max(decimals, 0)), '0');
  if (whole.size() > 4)
    for (std::size_t i = whole.size() - 3; i > 0 && i<whole.size(); i = i> 3 ? i - 3 : 0)
      whole.insert(i, kThinSpace);
  return (units < 0 ? kMinus : "") + whole + (part.empty() ? "" : "." + part);
}

/// units x 10^shift as the nearest double (one rounding while |shift| <= 22).
double scaled(std::int64_t units, int shift) {
  const auto u = static_cast<double>(units);
  if (shift >= 0) return u * power_of_ten(shift);
  return shift >= -300 ? u / power_of_ten(-shift) : u / 1e300 / power_of_ten(-shift - 300);
}

std::string power(int e) {
  return "10^{" + std::string(e < 0 ? kMinus : "") + std::to_string(std::abs(e)) + "}";
}

void require_range(const char* what, double lo, double hi) {
  if (!(std::isfinite(lo) && std::isfinite(hi) && lo < hi))
    throw Error(std::string("[") + what + "] expected finite limits with low < high, got " +
                std::to_string(lo) + " and " + std::to_string(hi));
}

/// Ticks at i x units x 10^shift. `split` is the number of intervals between two of them.
Ticks multiples(double lo, double hi, std::int64_t units, int shift, int split) {
  const double step = scaled(units, shift);
  const auto first = static_cast<std::int64_t>(std::ceil(lo / step - kSlack));
  const auto last = static_cast<std::int64_t>(std::floor(hi / step + kSlack));
  Ticks ticks;
  const double largest =
      std::max(std::abs(static_cast<double>(first)), std::abs(static_cast<double>(last))) *
      static_cast<double>(units);
  const int top =
      largest > 0 ? static_cast<int>(std::floor(std::log10(largest) + kSlack)) + shift : 0;
  if (top >= 6 || top <= -4) ticks.exponent = static_cast<int>(std::floor(top / 3.0)) * 3;
  const int moved = shift - ticks.exponent;
  for (std::int64_t i = first; i <= last; ++i)
    ticks.major.push_back(
        {scaled(i * units, shift), decimal(i * units, moved, std::max(0, -moved))});
  for (std::int64_t i = (first - 1) * split; i <= (last + 1) * split; ++i) {
    const double v = step * (static_cast<double>(i) / split);
    if (i % split != 0 && v >= lo && v <= hi) ticks.minor.push_back(v);
  }
  return ticks;
}

bool inside(double v, double lo, double hi) {
  return v >= lo * (1 - kSlack) && v <= hi * (1 + kSlack);
}

/// Powers of ten from 10^first to 10^last, every n-th labelled.
Ticks decades(int first, int last, int max_labels, double lo, double hi) {
  Ticks ticks;
  const int stride = (last - first) / max_labels + 1;
  const bool plain = first >= -2 && last <= 3;  // 0.01 to 1000 read better than powers
  for (int e = first; e <= last; ++e) {
    if (e % stride == 0)
      ticks.major.push_back({power_of_ten(e), plain ? decimal(1, e, std::max(0, -e)) : power(e)});
    else if (stride <= 10)
      ticks.minor.push_back(power_of_ten(e));
  }
  if (stride == 1)
    for (int e = first - 1; e <= last; ++e)
      for (int m = 2; m <= 9; ++m)
        if (const double v = scaled(m, e); inside(v, lo, hi)) ticks.minor.push_back(v);
  std::sort(ticks.minor.begin(), ticks.minor.end());
  return ticks;
}

}  // namespace

double power_of_ten(int e) {
  char text[16] = {'1', 'e'};
  const auto end = std::to_chars(text + 2, text + sizeof text, e).ptr;
  double value = 0;
  if (std::from_chars(text, end, value).ec == std::errc::result_out_of_range)
    return e < 0 ? 0.0 : HUGE_VAL;
  return value;
}

Ticks linear_ticks(double lo, double hi, int max_labels, double step) {
  require_range("linear_ticks", lo, hi);
  max_labels = std::clamp(max_labels, 2, 1000);
  const double span = hi / 2 - lo / 2;  // half the span: the whole may overflow
  const auto fits = [&](double s) {
    return std::floor(hi / s + kSlack) - std::ceil(lo / s - kSlack) + 1 <= max_labels;
  };
  const double floor_step =
      std::max(std::abs(lo), std::abs(hi)) * 1e-14;  // below it, ticks round to equal numbers
  if (step > 0 && step >= floor_step && step < 1e15 && step > 1e-15) {
    // The caller's step (or 2, 3, 4 ... times it) as an exact decimal number of at most nine
    // digits.
    const int shift = std::max(-15, static_cast<int>(std::floor(std::log10(step))) - 8);
    auto units = static_cast<std::int64_t>(std::llround(step / power_of_ten(shift)));
    int s = shift;
    while (units % 10 == 0) units /= 10, ++s;
    for (const int times : {1, 2, 3, 4, 6, 8, 12, 24, 48, 120, 240, 480, 1200})
      if (fits(step * times)) return multiples(lo, hi, units * times, s, times <= 6 ? times : 4);
  }
  int shift =
      static_cast<int>(std::floor(std::log10(std::max({span / max_labels, floor_step, 1e-300}))));
  for (;; ++shift)
    for (const int units : {1, 2, 5})
      if (const double s = scaled(units, shift); s >= floor_step && fits(s))
        return multiples(lo, hi, units, shift, units == 2 ? 4 : 5);
}

Ticks log_ticks(double lo, double hi, int max_labels) {
  require_range("log_ticks", lo, hi);
  if (lo <= 0) throw Error("[log_ticks] expected positive limits, got " + std::to_string(lo));
  max_labels = std::clamp(max_labels, 2, 1000);
  const int first = static_cast<int>(std::ceil(std::log10(lo) - kSlack));
  const int last = static_cast<int>(std::floor(std::log10(hi) + kSlack));
  if (std::log10(hi) - std::log10(lo) > 1.7) return decades(first, last, max_labels, lo, hi);
  // Less than two decades: label some of 1..9, in the densest set that fits.
  std::vector<int> chosen;
  for (const std::vector<int>& set :
       {std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}}) {
    int count = 0;
    for (int e = first - 1; e <= last; ++e)
      for (const int m : set) count += inside(scaled(m, e), lo, hi);
    if (count >= 2 && count <= max_labels) {
      chosen = set;
      break;
    }
  }
  if (chosen.empty() || last < -4 || first > 6)
    return last > first ? decades(first, last, max_labels, lo, hi)
                        : linear_ticks(lo, hi, max_labels);
  Ticks ticks;
  for (int e = first - 1; e <= last; ++e)
    for (int m = 1; m <= 9; ++m) {
      const double v = scaled(m, e);
      if (!inside(v, lo, hi)) continue;
      if (std::find(chosen.begin(), chosen.end(), m) != chosen.end())
        ticks.major.push_back({v, decimal(m, e, std::max(0, -e))});
      else
        ticks.minor.push_back(v);
    }
  return ticks;
}

}  // namespace tessera::data
