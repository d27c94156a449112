// SPDX-License-Identifier: Apache-2.0
//
// The forms that a term of the permittivity may have, a row each: its name, formula, parameters,
// poles, and what may be wrong with it. Cases name them (`poles.kind`) with the parameters as keys:
// options, checks and pages follow the table, and steps, fits and checks of media see the poles
// alone, so a new form is a row here (docs/how-to/add-a-dispersive-medium.md).
#pragma once
#include "tessera/electromagnetics/medium.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::electromagnetics {

/// What a parameter is; values are in SI units.
enum class DispersionQuantity {
  number,
  frequency,  ///< Hz, ordinary, above zero
  damping,    ///< Hz: a rate divided by 2 pi, 0 or more
  angle,      ///< rad
  complex,    ///< rad/s, real and imaginary part
};

/// A parameter, which several forms may have.
struct DispersionParameter {
  std::string name, doc;
  DispersionQuantity quantity = DispersionQuantity::number;
  std::optional<double> standard{};  ///< its value where none is given; none: it has to be
  std::string since = "0.1";         ///< the version that has it first
};

/// A value for each of dispersion_parameters().
class DispersionValues {
 public:
  DispersionValues();  ///< what they are where none is given; else zero
  double operator()(std::string_view parameter) const { return at(parameter)[0]; }
  std::complex<double> complex(std::string_view parameter) const {
    return {at(parameter)[0], at(parameter)[1]};
  }
  /// Of a real one the second is not used. Throws Error for a name that none has.
  std::array<double, 2>& at(std::string_view parameter) { return values_[number_of(parameter)]; }
  const std::array<double, 2>& at(std::string_view parameter) const {
    return values_[number_of(parameter)];
  }
  bool operator==(const DispersionValues&) const = default;

 private:
  static std::size_t number_of(std::string_view parameter);
  std::vector<std::array<double, 2>> values_;
};

/// What no single parameter shows.
struct DispersionFault {
  std::string parameter, what, remedy;
};

struct DispersionModel {
  std::string name;
  std::string formula;  ///< of chi(f), e^{+i w t}, f0 for `frequency` and g for `damping`
  std::vector<std::string> parameters;
  std::vector<PoleResidue> (*poles)(const DispersionValues&);
  std::optional<DispersionFault> (*fault)(const DispersionValues&) = nullptr;
};

const std::vector<DispersionParameter>& dispersion_parameters();
const std::vector<DispersionModel>& dispersion_models();
/// Throws Error for a name that none has.
const DispersionModel& dispersion_model(std::string_view name);

}  // namespace tessera::electromagnetics
