// SPDX-License-Identifier: Apache-2.0
// Media at the frequencies that results are asked for: models outside of their range, and
// resonances that time steps move.
#include "electromagnetics/waves/case_parts.h"
#include "tessera/electromagnetics/media_library.h"
#include "tessera/electromagnetics/medium_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// A medium that something is made of, and the key that says so.
struct UsedMedium {
  em::Medium medium;
  std::string key, model;  ///< model: its name in the library; empty: of none
  std::size_t material = 0;
  bool listed = false;  ///< it is [[material]] number `material`
};

/// Each medium once.
std::vector<UsedMedium> used_media(const Case& c) {
  std::vector<em::Medium> all(c.named_media().begin(), c.named_media().end());
  all.insert(all.end(), c.sheet_media.begin(), c.sheet_media.end());
  std::vector<UsedMedium> out;
  for (std::size_t n = 0; n < all.size(); ++n) {
    const std::string& name = all[n].name;
    if (std::any_of(out.begin(), out.end(),
                    [&](const UsedMedium& u) { return u.medium.name == name; }))
      continue;
    UsedMedium& u = out.emplace_back(
        UsedMedium{all[n], "grid.background", name == "vacuum" || name == "pec" ? "" : name});
    for (std::size_t s = c.options.structures.size(); s-- > 0;)
      if (n > 0 && c.options.structures[s].material == name)
        u.key = structure_key(c.options, s) + ".material";
      else if (n > 0 && c.options.structures[s].empty == name)
        u.key = structure_key(c.options, s) + ".empty";
    for (std::size_t s = 0; s < c.options.sheets.size(); ++s)
      if (n >= c.named_media().size() && c.options.sheets[s].material == name)
        u.key = fmt::format("sheet[{}].material", s);
    for (std::size_t q = 0; q < c.options.materials.size(); ++q)
      if (c.options.materials[q].name == name) {
        u.model = c.options.materials[q].library.value_or("");
        u.material = q, u.listed = true;
      }
  }
  return out;
}

/// What results are asked for at: of resonances the ends of their bands.
std::vector<double> frequencies_of(const MonitorOptions& o) {
  if (o.kind == MonitorKind::resonances) return {*o.frequency_min, *o.frequency_max};
  return o.all_frequencies();
}

/// A model of the library holds where its source says, a fit where its table is.
void extrapolated_models(Case& c, const data::Config& config) {
  const std::vector<double> of_ports = c.options.scattering.all_frequencies();
  std::vector<double> asked = of_ports;
  for (const MonitorOptions& o : c.options.monitors)
    for (const double f : frequencies_of(o)) asked.push_back(f);
  if (asked.empty()) return;
  const double low = *std::min_element(asked.begin(), asked.end()),
               high = *std::max_element(asked.begin(), asked.end());
  for (const auto& [m, used_by, model, material, listed] : used_media(c)) {
    const auto table = c.table_bands.find(m.name);
    std::array<double, 2> band{};
    if (table != c.table_bands.end()) {
      band = table->second;
    } else if (!model.empty()) {
      const em::LibraryMedium& known = em::find_library_medium(model);
      band = {known.f_min_hz, known.f_max_hz};
    } else {
      continue;
    }
    const std::string key =
        listed ? fmt::format("material[{}].{}", material, model.empty() ? "index_file" : "library")
               : used_by;
    constexpr double rounding = 1e-6;
    const double beyond = high > band[1] * (1 + rounding)  ? high
                          : low < band[0] * (1 - rounding) ? low
                                                           : -1;
    if (beyond < 0) continue;
    const bool by_ports = std::find(of_ports.begin(), of_ports.end(), beyond) != of_ports.end();
    c.warnings.push_back(warning(
        config, 659, key,
        fmt::format("the {} of '{}' holds from {:.4g} to {:.4g} Hz, and {} for {:.4g} Hz, "
                    "where it is an extrapolation",
                    model.empty() ? "table" : "model", model.empty() ? m.name : model, band[0],
                    band[1], by_ports ? "s_parameters asks" : "monitors ask", beyond),
        "take a table of n and k that has these frequencies (index_file), or other "
        "frequencies"));
  }
}

/// What results are asked for at, and of resonances the line itself where their band holds it.
std::vector<double> frequencies_about(const Case& c, double line_hz) {
  std::vector<double> out = c.options.scattering.all_frequencies();
  for (const MonitorOptions& o : c.options.monitors) {
    for (const double f : frequencies_of(o)) out.push_back(f);
    if (o.kind == MonitorKind::resonances && *o.frequency_min <= line_hz &&
        line_hz <= *o.frequency_max)
      out.push_back(line_hz);
  }
  return out;
}

/// The part of a line f0 in the permittivity goes with 1/(f0^2 - f^2 + i f width), and steps have
/// it at f + shift. Lines far above f are as they are at rest.
void moved_lines(Case& c, const data::Config& config) {
  constexpr double worth_a_word = 0.2;
  for (const UsedMedium& u : used_media(c)) {
    em::MediumLine worst;
    double error = worth_a_word, shift = 0, at = 0;
    for (const em::MediumLine& l : em::lines_of(u.medium))
      for (const double f : frequencies_about(c, l.frequency_hz)) {
        const double own = em::stepped_shift(f, c.dt_s),
                     off = own * (2 * f + own) /
                           std::hypot(l.frequency_hz * l.frequency_hz - f * f, f * l.width_hz);
        if (std::isfinite(own) && off > error) error = off, worst = l, shift = own, at = f;
      }
    if (error > worth_a_word)
      c.warnings.push_back(warning(
          config, 646, u.listed ? fmt::format("material[{}]", u.material) : u.key,
          fmt::format("with steps of {:.4g} s the resonance of '{}' at {:.6g} Hz{} acts at {:.6g} "
                      "Hz as it should {:.3g} Hz above that",
                      c.dt_s, u.medium.name, worst.frequency_hz,
                      worst.width_hz > 0 ? fmt::format(", {:.3g} Hz wide,", worst.width_hz)
                                         : ", without loss,",
                      at, shift),
          "the shift falls with the square of the step: smaller cells, or run.dt"));
  }
}

}  // namespace

void doubt_media(Case& c, const data::Config& config) {
  extrapolated_models(c, config);
  moved_lines(c, config);
}

}  // namespace tessera::apps::waves
