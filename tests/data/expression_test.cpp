// SPDX-License-Identifier: Apache-2.0
// Arithmetic with quantities beside the same formulas in C++, its slopes beside differences and the
// engine, and what it refuses with the place.
#include "tessera/data/expression.h"

#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

using tessera::grad;
using tessera::tensor;
using tessera::Tensor;
using namespace tessera::data;

namespace {

constexpr double pi = std::numbers::pi;

/// Names of the tests: two lengths, a frequency, a time, a number; h is a unit (hours), too.
const std::vector<std::string> kNames = {"f0", "h", "n", "t0", "w"};
const std::vector<double> kValues = {2.4e9, 1.524e-3, 1.7, 3e-9, 3.2e-3};
std::optional<NameMeaning> find_name(std::string_view name) {
  const Dimension of[] = {dimension::frequency, dimension::length, dimension::number,
                          dimension::time, dimension::length};
  for (std::uint32_t k = 0; k < kNames.size(); ++k)
    if (kNames[k] == name) return NameMeaning{k, of[k]};
  return {};
}
Expression parse(std::string_view text) { return parse_expression(text, find_name, kNames); }

struct Wrong {
  int number = 0;
  std::size_t offset = 0;
  std::string message, hint;
};
Wrong wrong(std::string_view text) {
  try {
    parse(text);
  } catch (const QuantityError& e) {
    return {e.number(), e.offset(), e.what(), e.hint()};
  }
  return {};
}

}  // namespace

TEST(Expression, ComputesWhatTheSameFormulaDoes) {
  const auto [f0, h, n, t0, w] =
      std::tuple(kValues[0], kValues[1], kValues[2], kValues[3], kValues[4]);
  const struct {
    const char* text;
    double value;
    Dimension dimension;
  } cases[] = {
      {"w/2 + 1 mm", w / 2 + 1e-3, dimension::length},
      {"2*pi*f0", 2 * pi * f0, dimension::frequency},
      {"w - h - 1mm", w - h - 1e-3, dimension::length},
      {"w - (h - 1 mm)", w - (h - 1e-3), dimension::length},
      {"12 ohm*m", 12, dimension::resistivity},
      {"1 mm*w", 1e-3 * w, {{2, 0, 0, 0, 0, 0, 0, 0}}},
      {"1 mm*min(2, 3)", 2e-3, dimension::length},
      {"1 mm * h", 1e-3 * h, {{2, 0, 0, 0, 0, 0, 0, 0}}},
      {"w*h", w * h, {{2, 0, 0, 0, 0, 0, 0, 0}}},
      {"2 h", 7200, dimension::time},
      {"1 m/s^2*t0", 1 * t0, dimension::velocity},
      {"5 J/(kg*K)", 5, {{2, 0, -2, 0, -1, 0, 0, 0}}},
      {"5 J/(1 s)", 5, {{2, 1, -3, 0, 0, 0, 0, 0}}},
      {"1/(2*t0)", 1 / (2 * t0), dimension::frequency},
      {"3 1/s + f0", 3 + f0, dimension::frequency},
      {"-n^2", -(n * n), dimension::number},
      {"2^3^2", 512, dimension::number},
      {"2^-1", 0.5, dimension::number},
      {"n^n", std::pow(n, n), dimension::number},
      {"--n", n, dimension::number},
      {"w^2/w", w * w / w, dimension::length},
      {"(w^2)^0.5", std::sqrt(w * w), dimension::length},
      {"sqrt(w^2 + h^2)", std::sqrt(w * w + h * h), dimension::length},
      {"sin(30 deg)", 0.5, dimension::number},
      {"cos(2*pi*f0*t0)", std::cos(2 * pi * f0 * t0), dimension::number},
      {"tan(n)", std::tan(n), dimension::number},
      {"asin(0.5) + 1 deg", pi / 6 + pi / 180, dimension::angle},
      {"acos(0.5)", pi / 3, dimension::angle},
      {"atan(1)", pi / 4, dimension::angle},
      {"atan2(-h, w)", std::atan2(-h, w), dimension::angle},
      {"exp(n)*log(n)", std::exp(n) * std::log(n), dimension::number},
      {"min(w, h, 1 mm)", 1e-3, dimension::length},
      {"max( w ,h )", w, dimension::length},
      {"abs(h - w)", w - h, dimension::length},
      {"c0/f0", 299792458 / f0, dimension::length},
      {"1/sqrt(eps0*mu0)", 299792458, dimension::velocity},
      {"sqrt(mu0/eps0) - eta0", 0, dimension::resistance},
      {"2*pi*hbar*f0/q_e", 6.62607015e-34 * f0 / 1.602176634e-19, dimension::voltage},
      {"k_B*N_A", 8.31446261815324, {{2, 1, -2, 0, -1, -1, 0, 0}}},
      {"50 %*w", w / 2, dimension::length},
      {"1e-3*2E3", 2, dimension::number},
  };
  for (const auto& c : cases) {
    const Expression e = parse(c.text);
    EXPECT_EQ(e.dimension(), c.dimension) << c.text;
    EXPECT_NEAR(e.value(kValues), c.value, 4e-15 * std::max(std::abs(c.value), 1e-13)) << c.text;
  }
}

// A quantity alone is to the last bit what it always was.
TEST(Expression, KeepsTheBitsOfPlainQuantities) {
  for (const char* text : {"0.4 nm", "2.4 GHz", "12 kcal/mol", "-3.7 deg", "0.1", "5 %", "7e-3 um"})
    EXPECT_EQ(parse_expression(text).value(std::vector<double>{}), parse_quantity(text).value)
        << text;
}

TEST(Expression, SaysWhatIsWrongAndWhere) {
  const struct {
    const char* text;
    int number;
    std::size_t offset;
    const char *message, *hint;
  } cases[] = {
      {"1 mm + 2 GHz", 222, 5, "'1 mm' is length and '2 GHz' is frequency: they cannot be added",
       ""},
      {"w - n", 222, 2, "'w' is length and 'n' is a plain number: they cannot be subtracted", ""},
      {"w + widht", 221, 4, "there is no name 'widht'", ""},
      {"W + 1 mm", 221, 0, "there is no name 'W'", "'1 W'"},
      {"2*f1", 221, 2, "there is no name 'f1'", "did you mean 'f0'?"},
      {"sqr(w)", 221, 0, "there is no function 'sqr'", "did you mean 'sqrt'?"},
      {"sqrt w", 220, 4, "'(' is due behind it", ""},
      {"sqrt(w)", 222, 5, "sqrt takes what has a square root in its units, and 'w' is length", ""},
      {"exp(w)", 222, 4, "exp takes a plain number", ""},
      {"sin(w)", 222, 4, "an angle or a plain number", ""},
      {"asin(30 deg)", 222, 5, "asin takes a plain number", ""},
      {"min(w)", 220, 0, "'min' takes 2 to 16 arguments, got 1", ""},
      {"atan2(w)", 220, 0, "'atan2' takes 2 arguments, got 1", ""},
      {"atan2(w, f0)", 222, 9, "atan2 takes values of one dimension", ""},
      {"2^w", 222, 2, "an exponent is a plain number", ""},
      {"w^n", 222, 1, "only plain numbers take an exponent that changes", ""},
      {"w^0.3", 222, 1, "this power of it has no unit", ""},
      {"(w", 220, 0, "the parenthesis is not closed", ""},
      {"w)", 220, 1, "unexpected ')'", ""},
      {"w +", 220, 3, "ends where a number", ""},
      {"", 220, 0, "ends where a number", ""},
      {"2 w", 211, 2, "unknown unit 'w'", ""},
      {"2 GHzz", 211, 2, "unknown unit 'GHzz'", ""},
      {"w 2", 220, 2, "something is due between both", "'*'"},
      {"2(w)", 220, 1, "something is due between both", ""},
      {"w**2", 220, 1, "unexpected '**'", "'^'"},
      {"1,5*w", 220, 1, "unexpected ','", "point"},
      {"w + +1 mm", 220, 4, "unexpected '+'", "left out"},
      {"2 J/hbar", 220, 4, "'hbar' is both a unit and a name here", "' * hbar'"},
      {"2 mm*h", 220, 5, "'h' is both a unit and a name here", "' * h'"},
      {"2 G*n", 211, 2, "more than one way", "gauss"},
      {"w $ 2", 220, 2, "unexpected '$'", ""},
      {"w + \xc3\xa9", 220, 4, "none of ASCII", ""},
      {"1e400*w", 211, 0, "out of the range", ""},
      {"(1 m^9)^100", 222, 7, "this power of it has no unit", ""},
  };
  for (const auto& c : cases) {
    const Wrong e = wrong(c.text);
    EXPECT_EQ(e.number, c.number) << c.text << ": " << e.message;
    EXPECT_EQ(e.offset, c.offset) << c.text;
    EXPECT_NE(e.message.find(c.message), std::string::npos) << c.text << ": " << e.message;
    EXPECT_NE(e.hint.find(c.hint), std::string::npos) << c.text << ": " << e.hint;
  }
}

TEST(Expression, IsBoundedInLengthAndDepth) {
  EXPECT_EQ(wrong(std::string(5000, '1')).number, 220);
  EXPECT_EQ(wrong(std::string(2000, '(') + "1").number, 220);
  EXPECT_EQ(wrong(std::string(2000, '-') + "1").number, 220);
  std::string power = "1";
  for (int k = 0; k < 1000; ++k) power += "^1";
  EXPECT_EQ(wrong(power).number, 220);
  EXPECT_EQ(parse(std::string(30, '(') + "w" + std::string(30, ')')).value(kValues), 3.2e-3);
}

// First derivatives three ways, second ones by the engine twice against differences of the first.
TEST(Expression, HasExactSlopes) {
  for (const char* text :
       {"w/2 + h", "w*h/(w + h)", "sqrt(w^2 + h^2)", "n^n", "n^2.5", "2^n", "sin(n)*exp(n/3)",
        "cos(n) - tan(n/2)", "log(n*w/h)", "asin(n/3)/acos(n/3)", "atan(n)", "atan2(w, h)/n",
        "abs(h - w)", "min(w, 2*h)*max(n, 1)", "-w^3/h", "c0/(2*w*sqrt(n))"}) {
    const Expression e = parse(text);
    std::vector<Slopes> p;
    std::vector<Tensor> x;
    for (std::size_t k = 0; k < kValues.size(); ++k) {
      p.push_back({kValues[k], std::vector<double>(kValues.size())});
      p[k].by[k] = 1;
      x.push_back(tensor({kValues[k]}, {}));
    }
    const Slopes s = e.value(p);
    EXPECT_EQ(s.value, e.value(kValues)) << text;
    const auto of_tensors = [&](const std::vector<Tensor>& v) { return e.value(v); };
    EXPECT_NEAR(of_tensors(x).item(), s.value, 1e-14 * std::abs(s.value)) << text;
    const std::vector<Tensor> g = grad(of_tensors)(x);
    const auto slope_of = [&](std::size_t k) {
      return [&e, k](const std::vector<Tensor>& v) {
        return grad([&e](const std::vector<Tensor>& u) { return e.value(u); })(v)[k];
      };
    };
    for (std::size_t k = 0; k < kValues.size(); ++k) {
      const double slope = k < s.by.size() ? s.by[k] : 0;
      const double scale = std::abs(s.value / kValues[k]);
      EXPECT_NEAR(g[k].item(), slope, 1e-12 * scale) << text << " by " << kNames[k];
      const double h = 1e-5 * kValues[k];
      std::vector<double> up = kValues, down = kValues;
      up[k] += h, down[k] -= h;
      EXPECT_NEAR((e.value(up) - e.value(down)) / (2 * h), slope, 1e-8 * scale)
          << text << " by " << kNames[k];
      std::vector<Tensor> more = x, less = x;
      more[k] = x[k] + h, less[k] = x[k] - h;
      EXPECT_NEAR(grad(slope_of(k))(x)[k].item(),
                  (slope_of(k)(more).item() - slope_of(k)(less).item()) / (2 * h),
                  1e-7 * scale / kValues[k])
          << text << " twice by " << kNames[k];
    }
  }
}
