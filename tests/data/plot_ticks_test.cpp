// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/plot_ticks.h"

#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace tessera::data {
namespace {

std::string joined(const Ticks& t) {
  std::string out;
  for (const Tick& tick : t.major) out += (out.empty() ? "" : " ") + tick.label;
  return out;
}

/// The number that a label means, read independently of how it was made: U+2212 is minus, thin
/// spaces go, 10^{k}.
double meaning(std::string label, int exponent) {
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at; (at = label.find(from)) != std::string::npos;)
      label.replace(at, from.size(), to);
  };
  replace("\u2212", "-");
  replace("\u2009", "");
  replace("10^{", "1e");
  replace("}", "");
  return std::strtod(
      (label +
       (exponent && label.find('e') == std::string::npos ? "e" + std::to_string(exponent) : ""))
          .c_str(),
      nullptr);
}

void expect_sound(const Ticks& t, double lo, double hi, int max_labels, const std::string& what) {
  SCOPED_TRACE(what + " " + std::to_string(lo) + " … " + std::to_string(hi) + ", at most " +
               std::to_string(max_labels));
  EXPECT_LE(t.major.size(), static_cast<std::size_t>(max_labels));
  const double slack = 1e-8 * (std::abs(hi) + std::abs(lo));
  for (std::size_t i = 0; i < t.major.size(); ++i) {
    const double v = t.major[i].value;
    EXPECT_GE(v, lo - slack);
    EXPECT_LE(v, hi + slack);
    if (i) {
      EXPECT_GT(v, t.major[i - 1].value);
    }
    // A label may be off by the last rounding of value and text, never by more.
    EXPECT_NEAR(meaning(t.major[i].label, t.exponent), v, 4e-16 * std::abs(v)) << t.major[i].label;
  }
  for (std::size_t i = 0; i < t.minor.size(); ++i) {
    EXPECT_GE(t.minor[i], lo - slack);
    EXPECT_LE(t.minor[i], hi + slack);
    if (i) {
      EXPECT_GT(t.minor[i], t.minor[i - 1]);
    }
  }
}

TEST(LinearTicks, KnownCases) {
  EXPECT_EQ(joined(linear_ticks(0, 1, 6)), "0.0 0.2 0.4 0.6 0.8 1.0");
  EXPECT_EQ(joined(linear_ticks(-3.3, 3.3, 3)), "\u22122 0 2");
  EXPECT_EQ(joined(linear_ticks(0, 25000, 6)),
            "0 5000 10\u2009000 15\u2009000 20\u2009000 25\u2009000");
  EXPECT_EQ(joined(linear_ticks(1e-4, 5e-4, 5)), "100 200 300 400 500");
  EXPECT_EQ(linear_ticks(1e-4, 5e-4, 5).exponent, -6);
  EXPECT_EQ(joined(linear_ticks(0, 4e6, 5)), "0 1 2 3 4");
  EXPECT_EQ(linear_ticks(0, 4e6, 5).exponent, 6);
}

TEST(LinearTicks, KeepTheStepAskedForOrAMultiple) {
  EXPECT_EQ(joined(linear_ticks(0, 90, 7, 15)), "0 15 30 45 60 75 90");
  EXPECT_EQ(joined(linear_ticks(0, 90, 6, 15)), "0 30 60 90");
  EXPECT_EQ(joined(linear_ticks(-180, 180, 9, 45)),
            "\u2212180 \u2212135 \u221290 \u221245 0 45 90 135 180");
  EXPECT_EQ(joined(linear_ticks(0, 3, 4, 1)), "0 1 2 3");
  EXPECT_EQ(joined(linear_ticks(0, 1, 9, 0.25)), "0.00 0.25 0.50 0.75 1.00");
}

TEST(LinearTicks, PropertiesOverTheRangeOfDoubles) {
  std::mt19937_64 random(20240521);
  std::uniform_real_distribution<double> exponent(-285, 300), fraction(-1, 1);
  for (int trial = 0; trial < 3000; ++trial) {
    const double size = std::pow(10, exponent(random)), a = size * fraction(random),
                 b = size * fraction(random);
    const int labels = 3 + trial % 9;
    const Ticks t = linear_ticks(std::min(a, b), std::max(a, b), labels);
    expect_sound(t, std::min(a, b), std::max(a, b), labels, "linear");
    EXPECT_GE(t.major.size(), 1u);
    EXPECT_EQ(t.exponent % 3, 0);
  }
  expect_sound(linear_ticks(-1.7e308, 1.7e308, 7), -1.7e308, 1.7e308, 7, "whole range");
}

TEST(LinearTicks, NarrowRangeFarFromZero) {
  const Ticks t = linear_ticks(1e6, 1e6 + 1e-3, 6);
  EXPECT_GE(t.major.size(), 2u);
  expect_sound(t, 1e6, 1e6 + 1e-3, 6, "narrow");
}

TEST(LinearTicks, RefuseWhatIsNoRange) {
  EXPECT_THROW(linear_ticks(1, 1, 5), Error);
  EXPECT_THROW(linear_ticks(2, 1, 5), Error);
  EXPECT_THROW(linear_ticks(NAN, 1, 5), Error);
  EXPECT_THROW(linear_ticks(0, HUGE_VAL, 5), Error);
}

TEST(LogTicks, KnownCases) {
  EXPECT_EQ(joined(log_ticks(1e-3, 1e3, 7)),
            "10^{\u22123} 10^{\u22122} 10^{\u22121} 10^{0} 10^{1} 10^{2} 10^{3}");
  EXPECT_EQ(joined(log_ticks(1e-3, 1e3, 4)), "10^{\u22122} 10^{0} 10^{2}");
  EXPECT_EQ(joined(log_ticks(0.05, 500, 9)), "0.1 1 10 100");
  EXPECT_EQ(joined(log_ticks(6, 150, 6)), "10 20 50 100");
  EXPECT_EQ(joined(log_ticks(20, 90, 9)), "20 30 40 50 60 70 80 90");
  const Ticks narrow = log_ticks(41, 44, 5);
  EXPECT_EQ(joined(narrow), "41 42 43 44");
}

TEST(LogTicks, MinorTicksAreTwoToNine) {
  const Ticks t = log_ticks(1, 1000, 9);
  EXPECT_EQ(t.minor.size(), 24u);
  EXPECT_DOUBLE_EQ(t.minor.front(), 2);
  EXPECT_DOUBLE_EQ(t.minor.back(), 900);
}

TEST(LogTicks, PropertiesOverTheRangeOfDoubles) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-300, 300), near(0.01, 3);
  for (int trial = 0; trial < 3000; ++trial) {
    const double e = exponent(random), f = trial % 2 ? e + near(random) : exponent(random);
    const double lo = std::pow(10, std::min(e, f)),
                 hi = std::pow(10, std::min(300.0, std::max(e, f)));
    if (!(lo < hi)) continue;
    const int labels = 3 + trial % 9;
    const Ticks t = log_ticks(lo, hi, labels);
    expect_sound(t, lo, hi, labels, "log");
    EXPECT_GE(t.major.size(), 1u);
    EXPECT_LE(t.minor.size(), 400u);
  }
}

TEST(LogTicks, RefuseLimitsThatAreNotPositive) {
  EXPECT_THROW(log_ticks(0, 1, 5), Error);
  EXPECT_THROW(log_ticks(-1, 1, 5), Error);
}

TEST(PowerOfTen, IsTheNearestDouble) {
  for (int e = -308; e <= 308; ++e)
    EXPECT_EQ(power_of_ten(e), std::strtod(("1e" + std::to_string(e)).c_str(), nullptr));
  EXPECT_EQ(power_of_ten(-400), 0);
  EXPECT_EQ(power_of_ten(400), HUGE_VAL);
}

}  // namespace
}  // namespace tessera::data
