// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/domain.h"

#include "electromagnetics/waves/bodies.h"
#include "electromagnetics/waves/case.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

}  // namespace

std::array<double, 2> band_of(const CaseOptions& o) {
  double low = INFINITY, high = 0;
  for (const MonitorOptions& m : o.monitors)
    for (const double f : m.kind == MonitorKind::resonances
                              ? std::vector<double>{*m.frequency_min, *m.frequency_max}
                              : m.all_frequencies())
      low = std::min(low, f), high = std::max(high, f);
  for (const double f : o.scattering.all_frequencies())
    low = std::min(low, f), high = std::max(high, f);
  for (const SourceOptions& s : o.sources) {
    const WaveformOptions& w = s.waveform;
    double centre = w.frequency.value_or(0), half = w.bandwidth.value_or(0) / 2;
    if (w.frequency_min && w.frequency_max)
      centre = (*w.frequency_min + *w.frequency_max) / 2,
      half = (*w.frequency_max - *w.frequency_min) / 2;
    if (w.kind == WaveformKind::baseband) centre = 0, half = 0.5 / w.width;
    // With x = pi f tau the spectrum is x^n e^{-x^2}: its peak at sqrt(n/2), about a tenth of that
    // 1.15 further.
    if (w.kind == WaveformKind::derivative)
      centre = 0, half = (std::sqrt(w.order / 2.0) + 1.15) / (std::numbers::pi * w.width);
    if (w.kind == WaveformKind::ricker || w.kind == WaveformKind::ricker_derivative) half = centre;
    if (w.kind == WaveformKind::file) continue;
    low = std::min(low, std::max(centre - half, 0.0)), high = std::max(high, centre + half);
  }
  return {std::isfinite(low) ? low : 0, high};
}

void settle_domain(CaseOptions& o, const data::Config& config) {
  const auto [lowest, highest] = band_of(o);
  const double high = o.grid.frequency_max.value_or(highest);
  const AutoGridOptions& own = *o.grid.automatic;
  Point low{INFINITY, INFINITY, INFINITY}, top{-INFINITY, -INFINITY, -INFINITY};
  const auto hold = [&](const Point& from, const Point& to) {
    for (std::size_t d = 0; d < 3; ++d) {
      if (std::isfinite(from[d])) low[d] = std::min(low[d], from[d]);
      if (std::isfinite(to[d])) top[d] = std::max(top[d], to[d]);
    }
  };
  const auto hold_box = [&](const Point& at, const Point& size) {
    Point a, b;
    for (std::size_t d = 0; d < 3; ++d) a[d] = at[d] - size[d] / 2, b[d] = at[d] + size[d] / 2;
    hold(a, b);
  };
  try {
    const em::SceneOrder bodies = bodies_of(o);
    for (const em::Structure& s : bodies.scene().structures)
      hold(s.shape.bounds().low, s.shape.bounds().high);
  } catch (const StructureFault& e) {
    throw data::InputError(config.error(626, structure_key(o, e.structure), e.what(),
                                        "see `tessera explain structure`"),
                           data::ExitCode::config_invalid);
  }
  for (const PortOptions& p : o.ports) hold_box(p.position, p.size.value_or(Point{}));
  for (const LoadOptions& l : o.loads) hold_box(l.position, l.size);
  for (const WireOptions& w : o.wires)
    for (const Point& p : w.points) hold(p, p);
  for (const SheetOptions& s : o.sheets) {
    const Point unknown{INFINITY, INFINITY, INFINITY},
        whole = s.shape == SheetShape::disc ? Point{2 * s.radius, 2 * s.radius, 2 * s.radius}
                                            : s.size.value_or(unknown);
    for (std::size_t d = 0; d < 3; ++d) {
      Point at = s.position, size{};
      size[d] = static_cast<int>(d) == s.axis() ? 0 : whole[d];
      for (std::size_t e = 0; e < 3; ++e)
        if (e != d) at[e] = NAN;
      hold_box(at, size);
    }
    const auto normal = static_cast<std::size_t>(s.axis());
    for (const std::array<double, 2>& corner : s.corners) {
      Point at{NAN, NAN, NAN};
      at[(normal + 1) % 3] = corner[0], at[(normal + 2) % 3] = corner[1];
      hold(at, at);
    }
  }
  for (const SourceOptions& s : o.sources)
    if (s.position) hold_box(*s.position, s.size.value_or(Point{}));
  for (const MonitorOptions& m : o.monitors)
    if (m.position) hold_box(*m.position, m.size.value_or(Point{}));
  std::vector<data::Diagnostic> findings;
  if (o.grid.centre != Point{})
    findings.push_back(config.error(620, "grid.centre",
                                    "without grid.size the domain lies about what is in it, "
                                    "wherever grid.centre is",
                                    "give grid.size, too, or leave this out"));
  for (int d = 0; d < 3 && findings.empty(); ++d) {
    const auto u = static_cast<std::size_t>(d);
    for (const bool up : {false, true}) {
      if (o.boundary.is_symmetry(d, up))
        findings.push_back(config.error(620, "boundary.symmetry",
                                        "without grid.size nothing says where the mirror stands",
                                        "give grid.size and grid.centre"));
      const int layers = o.boundary.layer_cells(d, up);
      if (layers == 0) continue;
      if (!(lowest > 0) || !(high > 0)) {
        findings.push_back(config.error(
            620, "grid.auto",
            "without grid.size, layers stand off by a part of the longest wavelength, and there is "
            "no lowest frequency above 0",
            "give grid.size"));
        break;
      }
      const double room = own.padding * em::speed_of_light / lowest +
                          layers * em::speed_of_light / high / own.cells_per_wavelength;
      (up ? top : low)[u] += up ? room : -room;
    }
    if (findings.empty() && !(std::isfinite(low[u]) && std::isfinite(top[u]) && top[u] > low[u]))
      findings.push_back(config.error(
          620, "grid.auto", fmt::format("nothing says how large the domain is along {}", "xyz"[d]),
          "give grid.size"));
  }
  if (!findings.empty())
    throw data::InputError(data::ExitCode::config_invalid, std::move(findings));
  for (std::size_t d = 0; d < 3; ++d) {
    o.grid.size[d] = top[d] - low[d];
    o.grid.centre[d] = (top[d] + low[d]) / 2;
  }
}

}  // namespace tessera::apps::waves
