// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/input.h"

#include "tessera/inversion/layering.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>

#include <numbers>
#include <optional>

namespace tessera::apps::mt1d {
namespace {

/// Error E0614 where one of the depths is given and the other one, which the data choose, does not
/// fit to it.
std::optional<data::Diagnostic> unfit_depths(const Mt1dOptions& o,
                                             const inversion::StationData& station) {
  if (o.first_depth.has_value() == o.last_depth.has_value()) return {};
  const auto inverted = inversion::without_reference_shift(
      inversion::response_of(station.data, 0, element_of(o.response)), inversion_options(o));
  const auto z = inversion::bottoms(inversion::layering_from_data(inverted, o.layers).thickness_m);
  const double first = o.first_depth.value_or(z.front()), last = o.last_depth.value_or(z.back());
  if (first < last) return {};
  return survey::about(614, station.station.file.path,
                       o.last_depth
                           ? fmt::format("model.last_depth, {:g} m, is not below the first depth "
                                         "that the data ask for, {:.3g} m",
                                         last, first)
                           : fmt::format("model.first_depth, {:g} m, is not above the last depth "
                                         "that the data ask for, {:.3g} m",
                                         first, last),
                       "give model.first_depth and model.last_depth; are units and periods right?");
}

}  // namespace

Input read_input(const Mt1dOptions& o) {
  const inversion::Element element = element_of(o.response);
  std::vector<inversion::DatumKind> kinds = inversion::impedance_kinds(element);
  // A table of data may hold apparent resistivities and phases in place of impedances.
  if (inversion::is_survey_table(o.data.files)) {
    kinds.push_back({element, inversion::Part::log10_rho});
    kinds.push_back({element, inversion::Part::phase});
  }
  return survey::read_input(
      o.data,
      {.kinds = std::move(kinds),
       .fewest_periods = 3,
       .whole = element,
       .asking =
           [](const std::vector<inversion::DatumKind>& others) {
             std::string out;
             for (const auto& [element, name] :
                  {std::pair{inversion::Element::determinant, "determinant"},
                   {inversion::Element::average, "average"},
                   {inversion::Element::xy, "xy"},
                   {inversion::Element::yx, "yx"}})
               for (const inversion::DatumKind& k : others)
                 if (k.element == element && k.part != inversion::Part::phase_tensor) {
                   out += fmt::format("{}data.response = \"{}\"", out.empty() ? "" : ", or ", name);
                   break;
                 }
             return out;
           },
       .refuse = [&](const inversion::StationData& d) { return unfit_depths(o, d); },
       .line_up =
           [&](std::vector<inversion::StationData> stations) {
             constexpr double degrees = 180 / std::numbers::pi;
             return inversion::line_up(
                 std::move(stations),
                 o.profile.azimuth ? std::optional(*o.profile.azimuth * degrees) : std::nullopt);
           }});
}

inversion::Response response_of(const Mt1dOptions& o, const Input& in, std::size_t station) {
  return inversion::response_of(in.survey.data, station, element_of(o.response));
}

}  // namespace tessera::apps::mt1d
