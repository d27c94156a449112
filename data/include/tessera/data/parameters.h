// SPDX-License-Identifier: Apache-2.0
// [parameters] of a configuration: numbers with names, of which expressions are made.
#pragma once
#include "tessera/data/config.h"
#include "tessera/data/expression.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::data {

struct Parameter {
  std::string name;
  Origin key;         ///< where its name stands
  std::string text;   ///< as it was given: "w/2 + 1 mm", "5"
  bool bare = false;  ///< it was given as a number, not as a string
  Expression expression;
  Quantity value;
  /// It follows from no other: derivatives are taken in those alone.
  bool free = true;
};

/// The parameters of one configuration. They may refer to each other in any order.
class Parameters {
 public:
  Parameters() = default;
  /// Those that are wrong are told in `findings` and left out: E0210, E0211, E0218, and E0220 to
  /// E0224.
  Parameters(const Config& config, std::vector<Diagnostic>& findings);

  /// In the order of their numbers, by name.
  const std::vector<Parameter>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  const std::vector<std::string>& names() const { return names_; }
  const Parameter* find(std::string_view name) const;
  /// Numbers of those that follow from no other, ascending.
  const std::vector<std::uint32_t>& free() const { return free_; }

  /// An expression over these. Throws QuantityError.
  Expression parse(std::string_view text) const;
  /// SI units. Not finite where the expression has no value.
  double value(const Expression& e) const;
  /// With d value / d p for each of the free parameters p.
  Slopes slopes(const Expression& e) const;
  /// Of other values of the free parameters, each a scalar tensor in SI units.
  Tensor value(const Expression& e, const std::vector<Tensor>& free) const;

 private:
  friend class ParameterReader;
  std::vector<Parameter> all_;
  std::vector<std::string> names_;
  std::vector<std::uint32_t> free_, order_;  ///< order_: each behind those it is made of
  std::vector<double> values_;
  std::vector<Slopes> slopes_;
};

/// One number of a configuration that an expression of parameters gives.
struct DependentValue {
  std::string key;             ///< "structure[2].size"
  std::size_t item = 0;        ///< of a list or row, row after row
  std::string text;            ///< the expression, as it was given
  double value = 0;            ///< SI units of the key
  bool whole = false;          ///< the key takes integers: it has slopes, but moves in steps
  std::vector<double> slopes;  ///< d value / d each free parameter
  Expression expression;
  std::optional<Expression> then;  ///< of a wavelength for a frequency: what is made of it

  Tensor at(const Parameters& parameters, const std::vector<Tensor>& free) const;
};

/// All of a configuration that follows from its parameters.
struct ParameterUse {
  Parameters parameters;
  std::vector<DependentValue> values;
};

/// The same configuration with another value of a free parameter, SI units.
Config with_parameter(Config config, const Parameter& parameter, double value);

namespace detail {
/// Where byte `offset` of a string stands; where the string itself does if the file writes it in
/// another way (escapes, several lines).
Origin place_in_string(const Config& config, const Origin& at, std::string_view text,
                       std::size_t offset);
}  // namespace detail

}  // namespace tessera::data
