// SPDX-License-Identifier: Apache-2.0
// Far fields and scattering cross-sections.
#include "electromagnetics/fdtd/spectral.h"
#include "electromagnetics/waves/exterior.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/antenna_pattern.h"
#include "tessera/electromagnetics/memory_use.h"
#include "tessera/electromagnetics/near_to_far.h"
#include "tessera/electromagnetics/plane_wave.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

em::Bounds bounds_of(const std::vector<em::Patch>& patches) {
  em::Bounds out{{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (const em::Patch& p : patches)
    for (const em::Point& r : em::points_of(p))
      for (std::size_t d = 0; d < 3; ++d)
        out.low[d] = std::min(out.low[d], r[d]), out.high[d] = std::max(out.high[d], r[d]);
  return out;
}

class FarFieldMonitor : public Spectral {
 public:
  FarFieldMonitor(const Case& c, const MonitorOptions& o)
      : Spectral(c, o),
        patches_(patches_of(c, o)),
        power_(em::sampled_flux(samples_, patches_)),
        currents_(power_.links),
        exteriors_(exteriors_of_grid()),
        exterior_(exteriors_.front()) {
    if (exterior_.dimensions < 2)
      throw Error("far fields and cross-sections are of two and three dimensions: take a flux");
    if (o.kind == MonitorKind::rcs) total_ = within_wave();
    walls_ = walls_of_box(c, o);
    start_transform();
    theta_ = o.theta;
    phi_ = o.phi;
    const double pi = std::numbers::pi;
    const bool flat = exterior_.dimensions == 2;
    if (theta_.empty() && !flat)
      for (int i = 0; i < o.angle_points[0]; ++i)
        theta_.push_back(o.angle_points[0] == 1 ? pi / 2 : pi * i / (o.angle_points[0] - 1));
    if (flat) theta_ = {pi / 2};
    if (phi_.empty())
      for (int i = 0; i < o.angle_points[1]; ++i) phi_.push_back(2 * pi * i / o.angle_points[1]);
    directions_ = em::directions(theta_, phi_);
    std::vector<c128> seen;
    for (const em::Direction& d : directions_) seen.emplace_back(behind_a_wall(d) ? 0.0 : 1.0);
    if (std::find(seen.begin(), seen.end(), c128{}) != seen.end())
      seen_ = tensor(seen, {1, static_cast<Index>(seen.size()), 1});
  }
  MonitorResult result() const override { return result_of(values()); }
  std::optional<MonitorResult> combined(const std::vector<const Monitor*>& runs,
                                        const Tensor& weights) const override {
    if (options_.kind == MonitorKind::rcs) return {};
    Tensor sum;
    for (std::size_t k = 0; k < runs.size(); ++k) {
      const Tensor part = expand_dims(select(weights, 1, static_cast<Index>(k)), -1) *
                          dynamic_cast<const FarFieldMonitor&>(*runs[k]).values();
      sum = k == 0 ? part : sum + part;
    }
    return result_of(sum);
  }
  std::int64_t bytes(std::int64_t n_steps) const override {
    const em::RecordMemory pattern =
        em::memory_of_pattern(static_cast<double>(directions_.size()), static_cast<double>(count()),
                              options_.kind == MonitorKind::rcs);
    return Spectral::bytes(n_steps) + static_cast<std::int64_t>(pattern.result);
  }
  std::string figure_name() const override {
    return options_.kind == MonitorKind::rcs ? "rcs" : "intensity";
  }
  Tensor figure(const Tensor& values) const override {
    const Tensor far = far_fields(values);
    return options_.kind == MonitorKind::rcs
               ? em::scattering_cross_section(far, incident_wave(), exterior_)
               : em::radiation_intensity(far, exteriors_);
  }
  std::vector<Figure> figures(const Tensor& values, const Tensor&) const override {
    const Tensor far = far_fields(values), power = power_of(values);
    const auto as_result = [&](const Tensor& x) {
      return reshape(x, {static_cast<Index>(count()), static_cast<Index>(theta_.size()),
                         static_cast<Index>(phi_.size())});
    };
    if (options_.kind == MonitorKind::rcs) {
      const auto section = [&](const Tensor& x) {
        return em::total_cross_section(x, incident_wave(), exterior_);
      };
      std::vector<Figure> out{
          {"rcs", as_result(em::scattering_cross_section(far, incident_wave(), exterior_))},
          {"total", section(power)}};
      if (shows_absorption()) {
        const Tensor absorbed = absorbed_power(values);
        out.push_back({"absorption", section(absorbed)});
        out.push_back({"extinction", section(power + absorbed)});
      }
      return out;
    }
    return {{"directivity", as_result(em::directivity(far, power, exteriors_)), 0},
            {"intensity", as_result(em::radiation_intensity(far, exteriors_)), 2},
            {"power", power, 2},
            {"E_theta", as_result(select(far, 2, 0)), 1},
            {"E_phi", as_result(select(far, 2, 1)), 1}};
  }

 private:
  using Complex = std::complex<double>;

  /// Of transforms of all samples, complex [frequency, sample].
  MonitorResult result_of(const Tensor& all) const {
    MonitorResult out = begin_result();
    const double degree = 180 / std::numbers::pi;
    std::vector<double> theta = theta_, phi = phi_;
    for (double& v : theta) v *= degree;
    for (double& v : phi) v *= degree;
    out.coordinates = {{"theta", "deg", theta}, {"phi", "deg", phi}};
    const std::vector<std::uint64_t> shape{count(), theta_.size(), phi_.size()};
    if (options_.kind == MonitorKind::rcs) {
      const Tensor sigma = figure(all);
      out.quantities.push_back({"rcs", exterior_.dimensions == 3 ? "m^2" : "m",
                                "scattering cross-section", shape, real_values(sigma)});
      const auto add = [&](const char* name, const char* long_name, const Tensor& power) {
        const Tensor s = em::total_cross_section(power, incident_wave(), exterior_);
        out.quantities.push_back(
            {name, exterior_.dimensions == 3 ? "m^2" : "m", long_name, {count()}, real_values(s)});
      };
      const Tensor scattered = power_of(all);
      add("total", "total scattering cross-section, from the flux", scattered);
      if (shows_absorption()) {
        const Tensor absorbed = absorbed_power(all);
        add("absorption", "absorption cross-section, from the flux within the box of the wave",
            absorbed);
        add("extinction", "what is scattered and absorbed", scattered + absorbed);
      }
      out.quantities.push_back(sums());
      return out;
    }
    const Tensor far = far_fields(all), intensity = em::radiation_intensity(far, exteriors_),
                 power = power_of(all), directivity = em::directivity(far, power, exteriors_);
    out.quantities.push_back(
        {"directivity", "1", "intensity over its mean", shape, real_values(directivity)});
    out.quantities.push_back({"intensity", exterior_.dimensions == 3 ? "W*s^2/sr" : "W*s^2/(rad*m)",
                              "radiated intensity", shape, real_values(intensity)});
    out.quantities.push_back({"power",
                              exterior_.dimensions == 3 ? "W*s^2" : "W*s^2/m",
                              "radiated power",
                              {count()},
                              real_values(power)});
    const auto f = complex_values(far);
    std::vector<std::complex<double>> e_theta, e_phi;
    for (std::size_t q = 0; q < f.size(); q += 2) {
      e_theta.push_back(f[q]);
      e_phi.push_back(f[q + 1]);
    }
    const char* unit = exterior_.dimensions == 3 ? "V*s" : "V*s/m^0.5";
    if (exterior_.dimensions == 3) add_polarization(out, e_theta, e_phi, real_values(directivity));
    if (options_.beam) add_beam(out, currents_.components(all), real_values(power));
    out.quantities.push_back(sums());
    out.quantities.push_back({"E_theta", unit, "far field without e^{-ikr}/r (2-D: /sqrt r)", shape,
                              std::move(e_theta)});
    out.quantities.push_back(
        {"E_phi", unit, "far field without e^{-ikr}/r (2-D: /sqrt r)", shape, std::move(e_phi)});
    return out;
  }
  void add_polarization(MonitorResult& out, const std::vector<Complex>& e_theta,
                        const std::vector<Complex>& e_phi,
                        const std::vector<double>& directivity) const {
    const std::vector<std::uint64_t> shape{count(), theta_.size(), phi_.size()};
    std::vector<double> ratio, co, cross;
    for (std::size_t q = 0; q < e_theta.size(); ++q) {
      const em::FarVector f{e_theta[q], e_phi[q]};
      ratio.push_back(em::axial_ratio(f));
      if (!options_.co_polar) continue;
      const em::LinearParts parts =
          em::ludwig3(f, directions_[q % directions_.size()].phi, *options_.co_polar);
      const double all = std::norm(f.theta) + std::norm(f.phi),
                   each = all > 0 ? directivity[q] / all : 0;
      co.push_back(std::norm(parts.co) * each), cross.push_back(std::norm(parts.cross) * each);
    }
    out.quantities.push_back({"axial_ratio", "1",
                              "major over minor axis of polarization, negative: left-handed", shape,
                              std::move(ratio)});
    if (!options_.co_polar) return;
    out.quantities.push_back(
        {"co_polar", "1", "directivity of the polarization that is wanted", shape, std::move(co)});
    out.quantities.push_back(
        {"cross_polar", "1", "directivity of that across it", shape, std::move(cross)});
  }
  void add_beam(MonitorResult& out, const std::vector<em::PatchComponent>& currents,
                const std::vector<double>& power) const {
    const double degree = 180 / std::numbers::pi;
    std::vector<double> theta, phi, most, e_width, h_width, front, lobe, ratio;
    for (std::size_t f = 0; f < count(); ++f) {
      std::vector<em::PatchComponent> of_one = currents;
      for (em::PatchComponent& p : of_one)
        p.values = slice(p.values, 0, static_cast<Index>(f), static_cast<Index>(f) + 1);
      const em::Exterior& around = exteriors_[exteriors_.size() > 1 ? f : 0];
      const auto in = [&](const std::vector<em::Direction>& at) {
        return em::far_field(of_one, std::span(&frequencies_[f], 1), at, std::span(&around, 1));
      };
      const em::MainBeam b = em::main_beam(
          [&](const std::vector<em::Direction>& at) {
            const auto values = complex_values(in(at));
            std::vector<em::FarVector> seen;
            for (std::size_t q = 0; q < at.size(); ++q)
              seen.push_back(behind_a_wall(at[q])
                                 ? em::FarVector{}
                                 : em::FarVector{values[2 * q], values[2 * q + 1]});
            return seen;
          },
          em::beam_step(bounds_of(patches_), around, frequencies_[f]));
      theta.push_back(b.at.theta * degree), phi.push_back(b.at.phi * degree);
      most.push_back(
          real_values(em::directivity(in({b.at}), tensor(std::vector{power[f]}), around))[0]);
      e_width.push_back(b.e_plane_width * degree), h_width.push_back(b.h_plane_width * degree);
      front.push_back(10 * std::log10(b.front_to_back)),
          lobe.push_back(10 * std::log10(b.side_lobe));
      ratio.push_back(b.axial_ratio);
    }
    const auto add = [&](const char* name, const char* unit, const char* what,
                         std::vector<double> values) {
      out.quantities.push_back({name, unit, what, {count()}, std::move(values)});
    };
    add("beam_theta", "deg", "where the main beam looks", std::move(theta));
    add("beam_phi", "deg", "where the main beam looks", std::move(phi));
    add("beam_directivity", "1", "directivity there", std::move(most));
    add("beam_width_e", "deg", "between half powers, in the plane of E", std::move(e_width));
    add("beam_width_h", "deg", "between half powers, across the plane of E", std::move(h_width));
    add("front_to_back", "dB", "over the opposite direction", std::move(front));
    add("side_lobe", "dB", "the largest in both planes, under the beam", std::move(lobe));
    add("beam_axial_ratio", "1", "major over minor axis, negative: left-handed", std::move(ratio));
  }
  /// Where conductors that are no symmetries hide the far field.
  bool behind_a_wall(const em::Direction& d) const {
    const double along[3] = {std::sin(d.theta) * std::cos(d.phi),
                             std::sin(d.theta) * std::sin(d.phi), std::cos(d.theta)};
    return std::any_of(walls_.begin(), walls_.end(), [&](const em::Mirror& w) {
      const double side = (*options_.position)[static_cast<std::size_t>(w.axis)] - w.position;
      return along[w.axis] * side < -1e-9 * std::abs(side);
    });
  }
  /// With the grid's waves: of the cells within the surface, by the mean of their squares.
  std::vector<em::Exterior> exteriors_of_grid() const {
    std::vector<em::Exterior> all = exteriors(case_, options_, frequencies_);
    const em::Bounds around = bounds_of(patches_);
    for (std::size_t d = 0; d < 3; ++d) {
      const int axis = static_cast<int>(d);
      if (!case_.grid.resolved(axis)) continue;
      double length = 0, cubes = 0;
      for (int i = 0; i < case_.grid.cells(axis); ++i) {
        const double h = case_.grid.length(axis, i),
                     low = case_.grid.lines[d][static_cast<std::size_t>(i)];
        if (low > around.high[d] + 1e-9 * h || low + h < around.low[d] - 1e-9 * h) continue;
        length += h, cubes += h * h * h;
      }
      for (em::Exterior& e : all) e.cell_m[d] = std::sqrt(cubes / length), e.dt_s = case_.dt_s;
    }
    return all;
  }
  /// None behind walls.
  Tensor far_fields(const Tensor& values) const {
    const Tensor far =
        em::far_field(currents_.components(values), frequencies_, directions_, exteriors_);
    return seen_.defined() ? far * seen_ : far;
  }
  Tensor power_of(const Tensor& values) const {
    return times(power_.power(values), images_of_all(case_));
  }
  /// The faces of a box a cell within that of the plane wave, where fields are total.
  em::SampledFlux within_wave() {
    em::Bounds box = wave_box(case_, wave().options);
    for (std::size_t d = 0; d < 3; ++d) {
      const std::vector<double>& x = case_.grid.lines[d];
      if (!case_.grid.resolved(static_cast<int>(d))) continue;
      const auto nearest = [&](double at) {
        const auto above = std::upper_bound(x.begin(), x.end(), at);
        if (above == x.end()) return x.size() - 1;
        const auto i = static_cast<std::size_t>(above - x.begin());
        return i > 0 && at - x[i - 1] < x[i] - at ? i - 1 : i;
      };
      const std::size_t low = nearest(box.low[d]), high = nearest(box.high[d]);
      if (low > 0) box.low[d] = x[low + 1];
      if (high + 1 < x.size()) box.high[d] = x[high - 1];
      if (!(box.low[d] < box.high[d]))
        throw Error("the box of the plane wave has less than three cells: nothing fits into it");
    }
    return em::sampled_flux(samples_, em::box_sides(case_.grid, case_.faces, box.low, box.high));
  }
  /// What is subtracted is taken off the fields within the wave's box, too.
  bool shows_absorption() const { return !options_.subtract && !options_.subtract_reference; }
  /// What flows into that box and not out again.
  Tensor absorbed_power(const Tensor& values) const {
    return times(total_.power(values), -images_of_all(case_));
  }
  const CaseSource& wave() const { return source_of(case_, options_, {SourceKind::plane_wave}); }
  /// E that brings, in the continuum, what the wave brings by the scheme: sections have both powers
  /// alike (docs/decisions/0248).
  Tensor incident_wave() const {
    const CaseSource& wave = this->wave();
    const em::PlaneWave of_grid = plane_wave_of(case_, wave);
    std::vector<c128> out;
    for (const c128& v : spectrum_of(wave)) {
      const double flow =
          em::incident_flow(case_.grid, case_.faces, case_.dt_s, of_grid, frequencies_[out.size()]);
      out.push_back(wave.options.amplitude * std::sqrt(flow) * v);
    }
    return tensor(out);
  }
  std::vector<em::Patch> patches_;
  em::SampledFlux power_;                ///< through them
  em::SampledCurrents currents_;         ///< on them
  em::SampledFlux total_;                ///< of an rcs: in the total field
  std::vector<em::Exterior> exteriors_;  ///< one, or one for each frequency
  em::Exterior exterior_;                ///< the first
  std::vector<em::Mirror> walls_;        ///< that are no symmetries
  std::vector<double> theta_, phi_;
  std::vector<em::Direction> directions_;
  Tensor seen_;  ///< 0 in directions behind a wall, else 1; nothing where there are none
};

}  // namespace

std::unique_ptr<Monitor> make_far_field(const Case& c, const MonitorOptions& o) {
  return std::make_unique<FarFieldMonitor>(c, o);
}

}  // namespace tessera::apps::fdtd
