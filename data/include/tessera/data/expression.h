// SPDX-License-Identifier: Apache-2.0
// Arithmetic with quantities: "w/2 + 1 mm", "2*pi*f0", "sqrt(a^2 + b^2)". Units are checked when
// the text is read; what is left is a short program over numbers in SI units that runs over
// doubles, over values with slopes, and over tensors of the engine, by one body.
//
//   sum     = product { ('+' | '-') product }
//   product = factor { ('*' | '/') factor }
//   factor  = '-' factor | base [ '^' factor ]                 -a^2 is -(a^2), 2^3^2 is 2^9
//   base    = number [ unit ] | name | function '(' sum { ',' sum } ')' | '(' sum ')'
//
// A unit stands right behind its number, has no blanks in it and goes on as long as units follow:
// `3 ohm*m`, `1 mm*w` (w is no unit: millimetres times w), `1 mm * m` (with blanks: times m). Where
// a symbol could be both a unit and a name, nothing is guessed (E0220).
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/data/quantity.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::data {

/// A number and how fast it changes with each of several others.
struct Slopes {
  double value = 0;
  std::vector<double> by;  ///< d value / d each; empty: none
};

/// An expression that has been read. Evaluated over the values of the names in it, SI units.
class Expression {
 public:
  enum class Op : std::uint8_t {
    constant,
    name,
    add,
    subtract,
    multiply,
    divide,
    negate,
    power,        ///< x^y
    fixed_power,  ///< x^constant
    sqrt,
    exp,
    log,
    sin,
    cos,
    tan,
    asin,
    acos,
    atan,
    atan2,
    abs,
    min,
    max
  };
  struct Step {
    Op op = Op::constant;
    double constant = 0;
    std::uint32_t name = 0;
  };

  const Dimension& dimension() const { return dimension_; }
  /// Numbers of the names that it is made of, each once, ascending.
  const std::vector<std::uint32_t>& names() const { return names_; }

  /// `values[n]` is that of the name with number n.
  double value(const std::vector<double>& values) const;
  Slopes value(const std::vector<Slopes>& values) const;
  /// float64, of any shapes that broadcast; differentiable in every mode and order. At the corners
  /// of abs, min and max as those of the engine.
  Tensor value(const std::vector<Tensor>& values) const;

 private:
  friend class ExpressionReader;
  std::vector<Step> steps_;  ///< operands before what is done with them
  std::vector<std::uint32_t> names_;
  Dimension dimension_;
};

/// What a name stands for: its number and the dimension of its values.
struct NameMeaning {
  std::uint32_t number = 0;
  Dimension dimension;
};
/// Nothing where there is no such name; may throw, too.
using FindName = std::function<std::optional<NameMeaning>(std::string_view name)>;

/// Reads `text`. `known` are the names that `find` knows: for hints, and for symbols that could be
/// units as well. Throws QuantityError at the byte where it goes wrong: E0211 a number or unit,
/// E0220 the spelling, E0221 an unknown name, E0222 dimensions that do not fit.
Expression parse_expression(std::string_view text, const FindName& find = {},
                            const std::vector<std::string>& known = {});

/// The same over one name, x, which has number 0: "c0/x".
Expression parse_expression_of_x(std::string_view text, const Dimension& x);

/// What every expression knows: pi, c0, mu0, eps0, eta0, q_e, k_B, hbar, N_A (CODATA 2018).
const std::vector<std::string>& expression_constants();
/// sqrt, exp, log, sin, ... : names that are none of a parameter, either.
const std::vector<std::string>& expression_functions();

}  // namespace tessera::data
