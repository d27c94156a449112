// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/pictures.h"

#include "electromagnetics/fdtd/networks.h"
#include "electromagnetics/fdtd/results.h"
#include "electromagnetics/waves/bodies.h"
#include "tessera/data/file_io.h"
#include "tessera/electromagnetics/figures.h"
#include "tessera/electromagnetics/network_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// A value, or the modulus of a complex one.
double shown(const Quantity& q, std::size_t at) {
  const auto* real = std::get_if<std::vector<double>>(&q.values);
  return real ? (*real)[at] : std::abs(std::get<std::vector<std::complex<double>>>(q.values)[at]);
}

/// One in four or fewer, evenly.
std::size_t stride_of(const MonitorResult& r) {
  return std::max<std::size_t>(1, r.axis.values.size() / 4);
}

em::CurvesFigure curves(const MonitorResult& r) {
  em::CurvesFigure f{.title = r.name,
                     .axis = r.axis.name,
                     .axis_unit = r.axis.units,
                     .at = r.axis.values,
                     .label = r.kind,
                     .unit = {},
                     .curves = {}};
  for (const Quantity& q : r.quantities) {
    if (q.shape.size() != 1 || q.shape[0] != r.axis.values.size()) continue;
    if (!f.unit.empty() && q.units != f.unit) continue;  // one unit a panel: that of the first
    f.unit = q.units;
    std::vector<double> y;
    for (std::size_t k = 0; k < q.shape[0]; ++k) y.push_back(shown(q, k));
    f.curves.push_back({q.name, std::move(y)});
  }
  return f;
}

/// Elements of S, `which` of them by row and column, with those of files that are compared with it.
em::NetworkFigure network_figure(const MonitorResult& r, const Results& all, const CaseOptions& o,
                                 const std::string& title,
                                 const std::function<bool(std::size_t, std::size_t)>& which) {
  em::NetworkFigure f{.title = title, .curves = {}};
  const auto add = [&](const MonitorResult& from, bool other) {
    const Coordinate &to = from.coordinates[0], &driven = from.coordinates[1];
    for (std::size_t i = 0; i < to.names.size(); ++i)
      for (std::size_t j = 0; j < driven.names.size(); ++j) {
        const Quantity* q = from.find(element_name(to.names[i], driven.names[j]));
        if (!q || !which(i, static_cast<std::size_t>(driven.values[j]) - 1)) continue;
        f.curves.push_back({.name = (other ? from.name + " " : "") + q->name,
                            .frequency_hz = from.axis.values,
                            .values = std::get<std::vector<std::complex<double>>>(q->values),
                            .compared = other});
      }
  };
  add(r, false);
  for (const CompareOptions& with : o.scattering.compare)
    for (const MonitorResult& other : all)
      if (with.result == r.name && other.name == with.name) add(other, true);
  return f;
}

/// |field| of a plane at one frequency, or the field at one time; the largest component.
em::FieldMap field_map(const MonitorResult& r, std::size_t at) {
  const Quantity* best = nullptr;
  double largest = -1;
  std::vector<double> values;
  const std::size_t n[3] = {r.coordinates[2].values.size(), r.coordinates[1].values.size(),
                            r.coordinates[0].values.size()},
                    points = n[0] * n[1] * n[2];
  for (const Quantity& q : r.quantities) {
    if (q.shape.size() != 4) continue;
    std::vector<double> v;
    for (std::size_t p = 0; p < points; ++p) v.push_back(shown(q, at * points + p));
    double peak = 0;
    for (const double x : v) peak = std::max(peak, std::abs(x));
    // By a little less than the impedance of vacuum: of a wave there the electric field is shown.
    if (q.name[0] == 'H') peak *= 376.7;
    if (peak > largest) largest = peak, best = &q, values = std::move(v);
  }
  const int across = n[0] == 1 ? 0 : n[1] == 1 ? 1 : 2;
  const Coordinate &u = r.coordinates[across == 0 ? 1 : 2], &w = r.coordinates[across == 2 ? 1 : 0];
  const auto [factor, unit] = em::readable_unit({r.axis.values[at]}, r.axis.units);
  const bool in_time =
      std::holds_alternative<std::vector<double>>(best->values);  // of either sign, about zero
  return {.title = fmt::format("{}, {} = {:.4g} {}", r.name, r.axis.name,
                               r.axis.values[at] * factor, unit),
          .name = in_time ? best->name : "|" + best->name + "|",
          .unit = best->units,
          .axis = across,
          .position = r.coordinates[static_cast<std::size_t>(2 - across)].values.front(),
          .labels = {u.name, w.name},
          .points = {u.values, w.values},
          .values = std::move(values),
          .signed_values = in_time};
}

bool is_plane(const MonitorResult& r) {
  if (r.coordinates.size() != 3 || r.coordinates[0].name != "z" || r.axis.values.empty())
    return false;
  return std::count_if(r.coordinates.begin(), r.coordinates.end(),
                       [](const Coordinate& c) { return c.values.size() > 1; }) == 2;
}

/// The pattern over the longer of its two angles, at up to four frequencies.
em::PatternFigure pattern(const MonitorResult& r) {
  const Quantity& q = *r.find(r.kind == "rcs" ? "rcs" : "directivity");
  const std::size_t n_theta = r.coordinates[0].values.size(),
                    n_phi = r.coordinates[1].values.size();
  const bool over_theta = n_theta > 1;
  const Coordinate& other = r.coordinates[over_theta ? 1 : 0];
  em::PatternFigure f{.title = fmt::format("{}, {} = {:.4g}°", r.name, over_theta ? "phi" : "theta",
                                           other.values.front()),
                      .angle = over_theta ? "theta" : "phi",
                      .label = q.name,
                      .unit = q.units,
                      .angle_deg = r.coordinates[over_theta ? 0 : 1].values,
                      .curves = {}};
  for (std::size_t k = 0; k < r.axis.values.size(); k += stride_of(r)) {
    std::vector<double> y;
    for (std::size_t i = 0; i < (over_theta ? n_theta : n_phi); ++i)
      y.push_back(shown(q, (k * n_theta + (over_theta ? i : 0)) * n_phi + (over_theta ? 0 : i)));
    f.curves.push_back({r.axis.values[k], std::move(y)});
  }
  return f;
}

/// A pattern in dBi around its centre, at the frequency at which the antenna radiates most of what
/// comes in, or the middle one: over theta at phi = 0 and 90 degrees and what is opposite, and over
/// phi at theta = 90 degrees. Without panels where the angles have none of these.
em::PolarFigure polar_cuts(const MonitorResult& r) {
  const Quantity* q = r.find("gain");
  if (!q) q = r.find("directivity");
  const std::vector<double>&theta = r.coordinates[0].values, &phi = r.coordinates[1].values;
  std::size_t f = r.axis.values.size() / 2;
  if (const Quantity* total = r.find("total_efficiency")) {
    const auto& all = std::get<std::vector<double>>(total->values);
    f = largest_of(all);
  }
  const auto [factor, unit] = em::readable_unit({r.axis.values[f]}, r.axis.units);
  const auto db = [&](std::size_t t, std::size_t p) {
    return 10 * std::log10(shown(*q, (f * theta.size() + t) * phi.size() + p));
  };
  const auto find = [](const std::vector<double>& all, double wanted) {
    const auto at = std::find_if(all.begin(), all.end(), [&](double x) {
      return std::abs(std::remainder(x - wanted, 360)) < 1e-6;
    });
    return at == all.end() ? std::optional<std::size_t>()
                           : static_cast<std::size_t>(at - all.begin());
  };
  em::PolarFigure out{.title = fmt::format("{}: {} in dBi at {:.4g} {}", r.name, q->name,
                                           r.axis.values[f] * factor, unit),
                      .panels = {}};
  em::PolarFigure::Panel over_theta{.title = "over theta", .upright = true, .cuts = {}},
      over_phi{.title = "over phi", .upright = false, .cuts = {}};
  for (const double at : {0.0, 90.0}) {
    const auto here = find(phi, at), opposite = find(phi, at + 180);
    if (!here || theta.size() < 3) continue;
    em::PolarFigure::Cut cut{.name = fmt::format("phi {:g}°", at), .angle_deg = {}, .db = {}};
    for (std::size_t t = 0; t < theta.size(); ++t)
      cut.angle_deg.push_back(theta[t]), cut.db.push_back(db(t, *here));
    for (std::size_t t = opposite ? theta.size() : 0; t-- > 0;)
      cut.angle_deg.push_back(-theta[t]), cut.db.push_back(db(t, *opposite));
    over_theta.cuts.push_back(std::move(cut));
  }
  if (const auto level = find(theta, 90); level && phi.size() > 2) {
    em::PolarFigure::Cut cut{.name = "theta 90°", .angle_deg = {}, .db = {}};
    for (std::size_t p = 0; p < phi.size(); ++p)
      cut.angle_deg.push_back(phi[p]), cut.db.push_back(db(*level, p));
    const double step = phi[1] - phi[0];
    if (std::abs(phi.back() + step - phi.front() - 360) < 1e-6)
      cut.angle_deg.push_back(phi.front()), cut.db.push_back(db(*level, 0));
    over_phi.cuts.push_back(std::move(cut));
  }
  for (em::PolarFigure::Panel* panel : {&over_theta, &over_phi})
    if (!panel->cuts.empty()) out.panels.push_back(std::move(*panel));
  return out;
}

}  // namespace

std::vector<std::filesystem::path> draw_results(const std::filesystem::path& folder,
                                                const Results& results, const CaseOptions& o) {
  const em::SceneOrder bodies = bodies_of(o);
  data::make_folder(folder);
  std::vector<std::filesystem::path> out;
  const auto keep = [&](const data::Figure& f, const std::string& name) {
    // `scene` is the picture of the media.
    for (std::filesystem::path& file :
         data::save_as_png_and_svg(f, folder, name == "scene" ? "scene_monitor" : name))
      out.push_back(std::move(file));
  };
  for (const MonitorResult& r : results) {
    if (r.axis.values.empty()) continue;
    if (r.kind == "resonances") {
      const auto& q = std::get<std::vector<double>>(r.find("quality")->values);
      if (std::any_of(q.begin(), q.end(), [](double x) { return x > 0; }))
        keep(
            em::modes_figure(r.name, std::get<std::vector<double>>(r.find("frequency")->values), q),
            r.name);
    } else if (r.kind == scattering_name) {
      // Up to two ports in one picture, else one for each that is driven.
      const std::size_t n = r.coordinates[0].values.size();
      if (n <= 2)
        keep(em::magnitude_and_phase_figure(
                 network_figure(r, results, o, r.name, [](auto, auto) { return true; })),
             r.name);
      else
        for (const double from : r.coordinates[1].values) {
          const auto j = static_cast<std::size_t>(from) - 1;
          const std::string name = fmt::format("{}_{}", r.name, from);
          keep(em::magnitude_and_phase_figure(network_figure(
                   r, results, o, name, [j](auto, std::size_t column) { return column == j; })),
               name);
        }
      keep(em::smith_figure(network_figure(r, results, o, r.name + ": reflections",
                                           [](std::size_t i, std::size_t j) { return i == j; })),
           r.name + "_smith");
    } else if (r.kind == "compared") {
      continue;  // is in the picture of what it is compared with
    } else if (r.kind == "far_field" || r.kind == "rcs") {
      keep(em::pattern_figure(pattern(r)), r.name);
      if (const em::PolarFigure cuts = r.kind == "rcs" ? em::PolarFigure{} : polar_cuts(r);
          !cuts.panels.empty())
        keep(em::polar_figure(cuts), r.name + "_polar");
    } else if (is_plane(r))
      for (std::size_t k = 0; k < r.axis.values.size(); k += stride_of(r))
        keep(em::field_map_figure(field_map(r, k), bodies), fmt::format("{}_{:04}", r.name, k));
    else if (std::any_of(r.quantities.begin(), r.quantities.end(),
                         [&](const Quantity& q) { return q.shape.size() == 1; }) &&
             r.axis.values.size() > 1)
      keep(em::curves_figure(curves(r)), r.name);
  }
  return out;
}

}  // namespace tessera::apps::fdtd
