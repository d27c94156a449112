// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/dispersion_models.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::electromagnetics {

using V = DispersionValues;

const std::vector<DispersionParameter>& dispersion_parameters() {
  using Q = DispersionQuantity;
  static const std::vector<DispersionParameter> parameters{
      {"frequency",
       "Resonance (lorentz, critical_point), plasma frequency (drude), or relaxation frequency "
       "(debye).",
       Q::frequency},
      {"damping", "Damping rate divided by 2 pi.", Q::damping},
      {"delta_eps", "What it adds to the permittivity at low frequency."},
      {"strength", "Factor on the square of the plasma frequency.", Q::number, 1},
      {"amplitude", "Amplitude."},
      {"phase", "Phase.", Q::angle, 0},
      {"pole", "a, real and imaginary part; the real part of a stable medium is negative.",
       Q::complex},
      {"residue",
       "c, real and imaginary part; beside a real pole it counts twice, by its real part.",
       Q::complex},
  };
  return parameters;
}

const std::vector<DispersionModel>& dispersion_models() {
  static const std::vector<DispersionModel> models{
      {.name = "lorentz",
       .formula = "delta_eps f0^2/(f0^2 - f^2 + i f g)",
       .parameters = {"frequency", "damping", "delta_eps"},
       .poles = [](const V& v) { return lorentz(v("frequency"), v("damping"), v("delta_eps")); }},
      {.name = "drude",
       .formula = "-strength f0^2/(f^2 - i f g)",
       .parameters = {"frequency", "damping", "strength"},
       .poles = [](const V& v) { return drude(v("frequency"), v("damping"), v("strength")); }},
      {.name = "debye",
       .formula = "delta_eps/(1 + i f/f0)",
       .parameters = {"frequency", "delta_eps"},
       .poles = [](const V& v) { return debye(v("frequency"), v("delta_eps")); }},
      {.name = "critical_point",
       .formula = "Etchegoin's critical point",
       .parameters = {"frequency", "damping", "amplitude", "phase"},
       .poles =
           [](const V& v) {
             return critical_point(v("frequency"), v("damping"), v("amplitude"), v("phase"));
           }},
      {.name = "residue",
       .formula = "c/(i w - a) + conjugate",
       .parameters = {"pole", "residue"},
       .poles =
           [](const V& v) {
             PoleResidue term{v.complex("pole"), v.complex("residue")};
             if (is_real(term)) term.c *= 2;  // the conjugate, which terms of a medium leave out
             return std::vector<PoleResidue>{term};
           },
       .fault = [](const V& v) -> std::optional<DispersionFault> {
         if (v("pole") <= 0) return {};
         return DispersionFault{
             "pole", "its real part is positive, so that it grows in time",
             "with e^{+i w t} poles of a stable medium have a negative real part"};
       }},
  };
  return models;
}

DispersionValues::DispersionValues() {
  for (const DispersionParameter& p : dispersion_parameters())
    values_.push_back({p.standard.value_or(0), 0});
}

std::size_t DispersionValues::number_of(std::string_view parameter) {
  const auto& all = dispersion_parameters();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].name == parameter) return i;
  throw Error(fmt::format("[DispersionValues] there is no parameter '{}'", parameter));
}

const DispersionModel& dispersion_model(std::string_view name) {
  const auto& all = dispersion_models();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const DispersionModel& m) { return m.name == name; });
  if (found == all.end())
    throw Error(fmt::format("[dispersion_model] there is no form '{}'", name));
  return *found;
}

}  // namespace tessera::electromagnetics
