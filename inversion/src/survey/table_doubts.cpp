// SPDX-License-Identifier: Apache-2.0
#include "sounding/conventions.h"
#include "sounding/missing.h"
#include "survey/survey_table.h"
#include "tessera/data/median.h"
#include "tessera/inversion/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace tessera::inversion {
namespace {

/// What the rows of an element at a frequency say of its impedance.
struct Seen {
  double re = kNaN, im = kNaN, log10_rho = kNaN, phase = kNaN;
};

}  // namespace

std::vector<data::Diagnostic> doubts_of_rows(const DataTable& t, std::size_t station) {
  std::map<Element, std::map<double, Seen>> elements;
  bool of_impedance = false;
  const auto [first, last] =
      std::equal_range(t.station.begin(), t.station.end(), static_cast<std::int64_t>(station));
  for (auto row = first; row != last; ++row) {
    const auto i = static_cast<std::size_t>(row - t.station.begin());
    const auto [element, part] = t.kind[i];
    if (element > Element::yx || part == Part::phase_tensor) continue;  // these have no phase
    Seen& seen = elements[element][t.frequency_hz[i]];
    of_impedance |= part == Part::real;
    (part == Part::real        ? seen.re
     : part == Part::imag      ? seen.im
     : part == Part::log10_rho ? seen.log10_rho
                               : seen.phase) = t.value[i];
  }
  std::vector<data::Diagnostic> out;
  const auto warn = [&](int number, std::string message, std::string hint) {
    data::Diagnostic& d = out.emplace_back();
    d.severity = data::Severity::warning;
    d.number = number, d.message = std::move(message), d.hint = std::move(hint);
  };
  std::vector<double> rho;
  std::map<Element, std::vector<double>> phases;
  for (const auto& [element, at] : elements)
    for (const auto& [f, seen] : at) {
      const Complex z(seen.re, seen.im);
      if (std::abs(z) > 0) {
        rho.push_back(std::norm(z) / (2 * std::numbers::pi * f * mu0));
        phases[element].push_back(std::arg(z) * 180 / std::numbers::pi);
      } else {
        if (!std::isnan(seen.log10_rho)) rho.push_back(std::pow(10, seen.log10_rho));
        if (!std::isnan(seen.phase)) phases[element].push_back(std::remainder(seen.phase, 360));
      }
    }
  // As of files one response stands for all: the other time sign turns each.
  for (const auto& [element, name] : {std::pair{Element::xy, "xy"},
                                      {Element::yx, "yx"},
                                      {Element::average, "average"},
                                      {Element::determinant, "determinant"}}) {
    const auto found = phases.find(element);
    if (found == phases.end()) continue;
    if (const PhaseReview review = review_phases(name, found->second); review.outside)
      warn(330, review.what,
           review.mirrored ? "tables are in e^{+i omega t}: if this one is not, change the sign of "
                             "its phases, or imaginary parts; nothing was converted"
                           : "");
    break;
  }
  const double typical = data::median(rho);
  if (!(typical > 0) || is_of_the_earth(typical)) return out;
  std::string hint = "log10_rho is the decimal logarithm of ohm m";
  if (of_impedance) {
    hint = "a row's unit is ohm or mV/km/nT";
    for (const auto& [unit, factor] :
         {std::pair{"ohm", 1 / ohm_per_field_unit}, {"mV/km/nT", ohm_per_field_unit}})
      if (const double other = typical * factor * factor; is_of_the_earth(other))
        hint = fmt::format(
            "with \"{}\" in the column unit it would be {:.3g} ohm m; nothing was converted", unit,
            other);
  }
  warn(331, fmt::format("the median apparent resistivity in the table is {:.2g} ohm m", typical),
       hint);
  return out;
}

}  // namespace tessera::inversion
