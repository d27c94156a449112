// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/inverse_scattering/doubts.h"

#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/domain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::inverse_scattering {
namespace {

namespace em = electromagnetics;

/// Why no permittivity that the region may have makes it this medium; empty where one does. Media
/// count along the axes whose fields are computed.
std::string not_a_permittivity(const em::Medium& m, const Case& known, double least) {
  const em::Medium& background = known.media.front();
  const std::array<bool, 6> active = computed(known);
  const std::vector<std::size_t> along = electric_components(known);
  const auto any_of_h = [&](auto&& differs) {
    for (std::size_t d = 0; d < 3; ++d)
      if (active[3 + d] && differs(d)) return true;
    return false;
  };
  if (m.pec) return "is a conductor";
  if (std::ranges::any_of(along, [&](std::size_t d) { return m.sigma[d] != 0; })) return "conducts";
  if (em::disperses(m)) return "disperses";
  if (m.chi2 != 0 || m.chi3 != 0) return "is not linear";
  if (any_of_h([&](std::size_t d) { return m.mu[d] != background.mu[d]; }))
    return "has another permeability than grid.background";
  if (any_of_h([&](std::size_t d) { return m.sigma_m[d] != background.sigma_m[d]; }))
    return "has magnetic losses";
  if (std::ranges::any_of(along, [&](std::size_t d) { return m.eps[d] != m.eps[along.front()]; }))
    return "has other permittivities along other axes";
  if (m.eps[along.front()] < least - RegionOptions::passed)
    return "has a permittivity below region.least";
  return {};
}

void doubt_media_of_truth(InverseProblem& p, const data::Config& config) {
  const CaseOptions waves = p.options.waves(true);
  for (std::size_t k = 0; k < p.options.truth.size(); ++k) {
    const StructureOptions& body = p.options.truth[k];
    if (!body.material) continue;
    std::vector<std::string> names{*body.material};
    if (body.shape == ShapeKind::pixels) names.push_back(empty_medium(body, waves));
    for (const em::Medium& m : p.truth->named_media()) {
      if (std::ranges::find(names, m.name) == names.end()) continue;
      const std::string why = not_a_permittivity(m, *p.known, p.options.region.least);
      if (!why.empty())
        p.known->warnings.push_back(warning(
            config, 650, fmt::format("truth[{}]", k),
            fmt::format("the medium '{}' {}: nothing in the region can be that", m.name, why),
            "a medium that is a permittivity alone, where the descent is to find it"));
    }
  }
}

}  // namespace

void doubt_places(Case& c, const InverseOptions& o, const data::Config& config) {
  for (std::size_t r = 0; r < o.receivers.positions.size(); ++r)
    doubt_place(c, config, fmt::format("receivers.positions[{}]", r), "receiver",
                o.receivers.positions[r], {}, "where fields are damped");
  for (std::size_t d = 0; d < 3; ++d) {
    if (!c.grid.resolved(static_cast<int>(d))) continue;
    const std::vector<double>& x = c.grid.lines[d];
    const auto below = static_cast<std::size_t>(layer_cells(c, static_cast<int>(d), false)),
               above = static_cast<std::size_t>(layer_cells(c, static_cast<int>(d), true));
    const double slack = 1e-9 * (x.back() - x.front());
    if (o.region.low[d] >= x[below] - slack && o.region.high[d] <= x[x.size() - 1 - above] + slack)
      continue;
    c.warnings.push_back(warning(
        config, 652, "region",
        fmt::format("the region reaches into the absorbing layer across {}, where waves are damped",
                    "xyz"[d]),
        fmt::format("the layers are {} cells deep: make it smaller, or enlarge grid.size",
                    std::max(below, above))));
  }
}

void doubt_spacing(InverseProblem& p, double widest_s, const data::Config& config) {
  // Between samples h apart a line is (2 pi f h)^2 / 8 of the wave off: 1 % at 22 a period.
  constexpr double samples = 22;
  const double highest = band_of(p.known->options)[1];
  if (widest_s * highest * samples <= 1) return;
  p.known->warnings.push_back(warning(
      config, 651, "data.file",
      fmt::format("rows of the data are {:.3g} s apart, {:.3g} in a period of the sources' highest "
                  "frequency ({:.4g} Hz), and other times are taken from lines between them",
                  widest_s, 1 / (widest_s * highest), highest),
      fmt::format("see that times are in seconds; give rows {:.2g} s apart or closer, or those of "
                  "the run's own steps",
                  1 / (samples * highest))));
}

void doubt_bodies(InverseProblem& p, const data::Config& config) {
  const auto say = [&](const char* key, std::string what, std::string remedy) {
    p.known->warnings.push_back(warning(config, 650, key, std::move(what), std::move(remedy)));
  };
  // A curved body that touches a cell may fill a thousandth of it (fill).
  constexpr double noticed = 0.01;
  const auto differ = [](double a, double b) { return std::abs(a - b) > noticed * std::abs(b); };
  const em::Medium& of_background = p.known->media.front();
  const std::vector<std::size_t> along = electric_components(*p.known);
  const double background = of_background.eps[along.front()];
  if (std::ranges::any_of(along, [&](std::size_t d) { return of_background.eps[d] != background; }))
    say("grid.background",
        "the background has other permittivities along other axes, and the region has one: nothing "
        "in it can be the background",
        "a background of one permittivity");
  std::vector<bool> sought(p.known_map.size(), false);
  std::size_t forgotten = 0, beyond = 0;
  for (const std::size_t cell : p.cells()) {
    sought[cell] = true;
    const double eps = p.known_map[cell];
    forgotten += differ(eps, background) && differ(eps, *p.options.region.start);
  }
  if (forgotten > 0)
    say("structure",
        fmt::format("known bodies reach into {} cells of the region, where the permittivity is "
                    "sought: what is known of them there is not used",
                    forgotten),
        "a region beside them, or region.start as they are");
  if (p.truth_map.empty()) return;
  doubt_media_of_truth(p, config);
  const auto [least, most] = std::ranges::minmax_element(p.truth_map);
  const double range = *most - *least;
  for (std::size_t cell = 0; cell < sought.size(); ++cell)
    beyond += !sought[cell] && std::abs(p.truth_map[cell] - p.known_map[cell]) > noticed * range;
  if (range == 0)
    say("truth",
        "the truth is of one permittivity everywhere: PSNR and similarity, which are relative to "
        "its range, are not defined",
        "bodies of another permittivity than grid.background");
  else if (beyond > 0)
    say("truth",
        fmt::format("the truth is not what is known in {} cells outside of the region: nothing in "
                    "the region is that",
                    beyond),
        "a larger region, or a [[structure]] of what is known");
}

}  // namespace tessera::apps::inverse_scattering
