// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/case_parts.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/dispersion_correction.h"
#include "tessera/electromagnetics/medium_checks.h"
#include "tessera/electromagnetics/medium_stability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// Media at their exact speed, and the time step that goes with them.
void correct_dispersion(Case& c, const data::Config& config, double frequency) {
  try {
    em::SteppedMedia stepped = em::dispersion_corrected(c.media, c.grid, c.options.run.dt,
                                                        c.options.run.courant, frequency);
    c.stepped = std::move(stepped.media);
    c.dt_s = stepped.dt_s;
    c.stable_dt_s = stepped.stable_dt_s;
  } catch (const Error& e) {
    refuse({config.error(649, "grid.exact_speed_at", e.what(),
                         "see the key's meaning, or leave it out")});
  }
}

}  // namespace

void choose_time_step(Case& c, const data::Config& config) {
  if (std::all_of(c.media.begin(), c.media.end(), [](const em::Medium& m) { return m.pec; }))
    refuse({config.error(646, "grid.background",
                         "the background is a perfect conductor, and so is the material of each "
                         "structure: no region is left for fields",
                         "choose a background or a structure that is not a conductor")});
  c.stepped = c.media;
  std::vector<em::Medium> all = c.media;
  for (std::size_t k = 0; k < c.sheet_media.size(); ++k)
    if (c.options.sheets[k].material) all.push_back(c.sheet_media[k]);
  const double stable_dt_s = em::max_stable_dt(all, em::curl_curl_bound(c.grid));
  c.stable_dt_s = stable_dt_s;
  const SteppingOptions& r = c.options.run;
  c.dt_s = r.dt.value_or(r.courant * c.stable_dt_s);
  const double slope_min =
      std::pow(em::speed_of_light * c.dt_s, 2) * em::curl_curl_bound(c.grid) / 4;
  std::vector<data::Diagnostic> errors;
  std::set<std::string> seen;
  for (const em::Medium& x : all) {
    if (x.pec || !seen.insert(x.name).second) continue;
    std::string key = "grid.background";
    for (std::size_t q = 0; q < c.options.materials.size(); ++q)
      if (c.options.materials[q].name == x.name) key = fmt::format("material[{}]", q);
    for (const em::MediumFinding& f : em::check_medium(
             x,
             {.f_min_hz = c.frequency_min, .f_max_hz = c.frequency_max, .slope_min = slope_min})) {
      data::Diagnostic d = config.error(646, key, f.what, f.remedy);
      d.severity = f.severity;
      (f.severity == data::Severity::error ? errors : c.warnings).push_back(std::move(d));
    }
    if ((x.chi2 != 0 || x.chi3 != 0) && c.bloch_k != Point{})
      errors.push_back(config.error(
          642, key,
          "between Bloch faces fields are complex, and a nonlinear medium needs the real field",
          "take periodic faces, or leave chi2 and chi3 out"));
  }
  if (!errors.empty()) refuse(std::move(errors));
  if (!(c.stable_dt_s > 0))
    refuse({config.error(646, "material", "no time step is stable in one of the media",
                         "see `tessera check`")});
  if (c.options.grid.exact_speed_at) {
    correct_dispersion(c, config, *c.options.grid.exact_speed_at);
    if (!c.sheet_media.empty()) c.stable_dt_s = std::min(c.stable_dt_s, stable_dt_s);
  }
  if (c.dt_s > c.stable_dt_s * (1 + 1e-9))
    refuse({config.error(
        647, "run.dt",
        fmt::format("a time step of {:.6g} s is above the stability limit of {:.6g} s", c.dt_s,
                    c.stable_dt_s),
        "leave it out, or set run.courant")});
  const double highest = highest_resolved(c);
  const double shortest =
      highest > 0 ? em::speed_of_light / highest / em::highest_index(c.media, highest) : INFINITY;
  double longest = 0;
  for (int d = 0; d < 3; ++d)
    if (c.grid.resolved(d))
      for (int i = 0; i < c.grid.cells(d); ++i) longest = std::max(longest, c.grid.length(d, i));
  if (longest > shortest / 10 && !c.options.grid.automatic)  // that counts in each body
    c.warnings.push_back(warning(config, 648, "grid",
                                 fmt::format("cells of {:.3g} m are coarser than a tenth of the "
                                             "shortest wavelength, {:.3g} m at {:.4g} Hz",
                                             longest, shortest, highest),
                                 "use 10 to 20 cells per wavelength for errors of some per cent"));
}

}  // namespace tessera::apps::waves
