// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/case_parts.h"
#include "tessera/electromagnetics/index_fit.h"
#include "tessera/electromagnetics/index_table.h"
#include "tessera/electromagnetics/loss.h"
#include "tessera/electromagnetics/media_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <complex>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// The conductivity that makes up what the poles leave of a loss tangent at f:
/// sigma / (w eps0) = tan d Re eps + Im eps of all but it.
void add_loss_beside_poles(em::Medium& m, double loss_tangent, double f_hz, const std::string& key,
                           const data::Config& config) {
  for (int d = 0; d < 3; ++d) {
    const std::complex<double> eps = em::permittivity(m, d, f_hz);
    const double left = loss_tangent + eps.imag() / eps.real();
    if (!(eps.real() > 0) || left < -1e-12 * loss_tangent)
      refuse({config.error(
          624, key + ".loss_tangent",
          fmt::format("at loss_frequency eps and poles alone give a permittivity of {:.6g} {:+.3g} "
                      "i, which no conductivity brings to that loss tangent",
                      eps.real(), eps.imag()),
          "leave it out, or mend the poles")});
    m.sigma[static_cast<std::size_t>(d)] =
        em::conductivity_from_loss_tangent(eps.real(), std::max(left, 0.0), f_hz);
  }
}

em::Medium make_medium(const MaterialOptions& o, const std::string& key, const data::Config& config,
                       Case& out) {
  em::Medium m;
  if (o.library) m = em::find_medium(*o.library);
  if (o.index_file) {
    const em::IndexTable table = em::read_index_table(*o.index_file);
    out.table_bands[o.name] = {table.f_hz.front(), table.f_hz.back()};
    const em::FittedMedium fitted = em::fit_medium(table, {.tolerance = o.fit.tolerance,
                                                           .most_order = o.fit.most_poles,
                                                           .conducting = o.fit.conducting,
                                                           .least_eps_inf = o.fit.least_eps});
    m = fitted.medium;
    if (!fitted.report.reached)
      out.warnings.push_back(
          config.error(640, key + ".index_file",
                       fmt::format("{} poles fit the table to {:.2g} (RMS; {:.2g} at worst), not "
                                   "to the tolerance of {:.2g}",
                                   fitted.report.order, fitted.report.rms, fitted.report.max_error,
                                   o.fit.tolerance),
                       "allow more poles (fit.most_poles) or a larger fit.tolerance")),
          out.warnings.back().severity = data::Severity::warning;
  }
  if (o.index) m.eps = {*o.index * *o.index, *o.index * *o.index, *o.index * *o.index};
  if (o.eps) m.eps = *o.eps;
  if (o.loss_tangent && o.loss_band) {
    m = em::wideband_debye(m.eps[0], *o.loss_tangent, o.loss_frequency.value_or((*o.loss_band)[0]),
                           (*o.loss_band)[0], (*o.loss_band)[1]);
  } else if (o.loss_tangent && o.poles.empty()) {
    for (std::size_t d = 0; d < 3; ++d)
      m.sigma[d] = em::conductivity_from_loss_tangent(m.eps[d], *o.loss_tangent,
                                                      o.loss_frequency.value_or(0));
  }
  if (o.sigma) m.sigma = *o.sigma;
  m.name = o.name;
  m.pec = o.pec || o.surface_impedance;
  m.mu = o.mu;
  m.sigma_m = o.sigma_m;
  m.chi2 = o.chi2;
  m.chi3 = o.chi3;
  for (const PoleOptions& p : o.poles)
    for (const em::PoleResidue& term : em::dispersion_model(p.kind).poles(p.values))
      m.poles.push_back(term);
  if (o.loss_tangent && !o.loss_band && !m.poles.empty())
    add_loss_beside_poles(m, *o.loss_tangent, o.loss_frequency.value_or(0), key, config);
  return m;
}

em::Medium medium_named(const std::string& name, const CaseOptions& o, const data::Config& config,
                        Case& out) {
  for (std::size_t m = 0; m < o.materials.size(); ++m)
    if (o.materials[m].name == name) {
      const std::string key = "material[" + std::to_string(m) + "]";
      try {
        return em::zero_poles_as_conductivity(make_medium(o.materials[m], key, config, out));
      } catch (const data::InputError&) {
        throw;
      } catch (const Error& e) {
        refuse({config.error(624, key, e.what(), "see `tessera explain material`")});
      }
    }
  em::Medium m;
  if (name == "pec")
    m.pec = true;
  else if (name != "vacuum")
    m = em::zero_poles_as_conductivity(em::find_medium(name));
  m.name = name;
  return m;
}

}  // namespace

std::vector<em::Medium> make_sheet_media(const CaseOptions& o, const data::Config& config,
                                         Case& out) {
  std::vector<em::Medium> media;
  for (const SheetOptions& s : o.sheets)
    media.push_back(s.material ? medium_named(*s.material, o, config, out)
                               : em::Medium{.name = "vacuum"});
  return media;
}

std::vector<em::Medium> make_media(const CaseOptions& o, const data::Config& config, Case& out) {
  std::vector<em::Medium> media;
  const auto named = [&](const std::string& name) {
    if (std::none_of(media.begin(), media.end(),
                     [&](const em::Medium& m) { return m.name == name; }))
      media.push_back(medium_named(name, o, config, out));
  };
  named(o.grid.background);
  for (const StructureOptions& s : o.structures)
    if (s.material) {
      if (s.shape == ShapeKind::pixels) named(empty_medium(s, o));
      named(*s.material);
    }
  for (const std::string& name : o.further_media) named(name);
  return media;
}

}  // namespace tessera::apps::waves
