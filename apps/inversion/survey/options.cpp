// SPDX-License-Identifier: Apache-2.0
#include "inversion/survey/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>

namespace tessera::apps::survey {

constexpr double degrees = 180 / std::numbers::pi;

bool is_given(const data::Config& config, std::string_view table, std::string_view key) {
  const data::Member* in = data::find(config.table(), table);
  const auto* keys = in ? in->value.get<data::Table>() : nullptr;
  return keys && data::find(*keys, key);
}

bool is_chosen(const std::vector<data::OptionSpec>& specs, const void* values,
               std::string_view key) {
  return std::any_of(specs.begin(), specs.end(), [&](const data::OptionSpec& s) {
    if (s.key != key && !s.key.starts_with(std::string(key) + ".")) return false;
    if (s.table) return s.list && s.count(values) > 0;
    const data::OptionValue v = s.fetch(values);
    return v.set != s.default_value.set || v.items != s.default_value.items;
  });
}

void find_contradictions(const data::Config& config, const DataOptions& data,
                         const StaticShiftOptions& shift, const PosteriorOptions& posterior,
                         std::vector<data::Diagnostic>& wrong) {
  const auto say = [&](int number, std::string_view key, std::string message, std::string hint) {
    wrong.push_back(config.error(number, key, std::move(message), std::move(hint)));
  };
  if (shift.enabled && !shift.prior_std && !shift.reference_resistivity)
    say(602, "static_shift.enabled",
        "static shift cannot be told from a resistivity: a sounding fits as well with any factor",
        "give static_shift.prior_std or static_shift.reference_resistivity");
  if (data.shortest_period && data.longest_period && *data.shortest_period >= *data.longest_period)
    say(605, "data.shortest_period", "shortest_period is not below longest_period", "");
  if (posterior.method == inversion::PosteriorMethod::mcmc &&
      posterior.keep_every > posterior.samples)
    say(608, "posterior.keep_every",
        "a chain of posterior.samples = " + std::to_string(posterior.samples) +
            " steps that keeps one in " + std::to_string(posterior.keep_every) + " keeps none",
        "more samples, or a smaller keep_every");
}

bool are_bounds(const data::Config& config, const std::optional<double>& least,
                const std::optional<double>& greatest, std::vector<data::Diagnostic>& wrong) {
  const auto refuse = [&](std::string_view key, std::string message, std::string hint) {
    wrong.push_back(config.error(604, key, std::move(message), std::move(hint)));
    return false;
  };
  if (least.has_value() != greatest.has_value())
    return refuse(least ? "model.least_resistivity" : "model.greatest_resistivity",
                  "least_resistivity and greatest_resistivity come in pairs", "give both or none");
  if (least && *least >= *greatest)
    return refuse("model.least_resistivity", "least_resistivity is not below greatest_resistivity",
                  "exchange them");
  return least.has_value();
}

void doubt_known(const data::Config& config, const std::string& key, const std::string& what,
                 double ohm_m, double least, double greatest, std::vector<data::Diagnostic>& out) {
  const double range = std::log(greatest / least),
               apart = std::min(std::log(ohm_m / least), std::log(greatest / ohm_m));
  constexpr double tenth = 0.1;
  if (apart >= tenth * range * (1 - 1e-12)) return;
  const bool low = ohm_m * ohm_m < least * greatest;
  // Where the bound has to be for the resistivity to lie a tenth of the range from it.
  const double bound = low ? greatest * std::pow(ohm_m / greatest, 1 / (1 - tenth))
                           : least * std::pow(ohm_m / least, 1 / (1 - tenth));
  out.push_back(config.error(
      604, key,
      fmt::format("{}, {:g} ohm*m, lies close to a bound, where smoothness draws what is next to "
                  "it far towards that",
                  what, ohm_m),
      low ? fmt::format("wider bounds: model.least_resistivity below {:.4g} ohm*m", bound)
          : fmt::format("wider bounds: model.greatest_resistivity above {:.4g} ohm*m", bound)));
  out.back().severity = data::Severity::warning;
}

inversion::StationOptions station_options(const DataOptions& o,
                                          std::vector<inversion::DatumKind> kinds) {
  inversion::StationOptions out{.mask_periods_s = o.mask_periods, .kinds = std::move(kinds)};
  out.floors.impedance = floor_of(o);
  if (o.sign != SignChoice::file)
    out.read.sign =
        o.sign == SignChoice::plus ? inversion::TimeSign::plus : inversion::TimeSign::minus;
  if (o.units != UnitsChoice::file)
    out.read.units = o.units == UnitsChoice::ohm ? inversion::ImpedanceUnits::ohm
                                                 : inversion::ImpedanceUnits::field;
  if (o.rotation) out.rotation_deg = *o.rotation * degrees;
  if (o.strike) out.strike_deg = *o.strike * degrees;
  if (o.shortest_period) out.shortest_period_s = *o.shortest_period;
  if (o.longest_period) out.longest_period_s = *o.longest_period;
  return out;
}

inversion::Loss loss_of(const MisfitOptions& o) {
  return {o.kind == Misfit::l2 ? inversion::Loss::Kind::l2 : inversion::Loss::Kind::huber,
          o.huber_corner};
}

std::optional<inversion::StaticShift> static_shift_of(const StaticShiftOptions& o) {
  if (!o.enabled) return std::nullopt;
  inversion::StaticShift out{.reference_ohm_m = o.reference_resistivity,
                             .reference_period_s = o.reference_period};
  if (o.prior_std)
    out.std_ln_impedance = 0.5 * std::numbers::ln10 * *o.prior_std;  // rho_a goes as |Z|^2
  return out;
}

}  // namespace tessera::apps::survey
