// SPDX-License-Identifier: Apache-2.0
// Monitors of transformed fields: points and regions, fluxes, far fields, densities of states.
#include "electromagnetics/fdtd/exterior.h"
#include "electromagnetics/fdtd/monitors.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/diffraction.h"
#include "tessera/electromagnetics/flux.h"
#include "tessera/electromagnetics/medium_energy.h"
#include "tessera/electromagnetics/near_to_far.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::apps::fdtd {

namespace em = electromagnetics;

namespace {

std::vector<double> real_values(const Tensor& t) { return t.to_vector<double>(); }
std::vector<std::complex<double>> complex_values(const Tensor& t) { return t.to_vector<c128>(); }

constexpr double kOnLine = 1e-9;  ///< a side this near to a line of the grid, in cells or domains,
                                  ///< lies on it: the rest is rounding

struct Span2 {
  Point low, high;
};
Span2 extent(const Case& c, const MonitorOptions& o) {
  Span2 e{};
  for (std::size_t d = 0; d < 3; ++d) {
    const double middle =
        o.position ? (*o.position)[d] : (c.grid.lines[d].front() + c.grid.lines[d].back()) / 2;
    const double size = o.size ? (*o.size)[d] : 0;
    e.low[d] = std::max(middle - size / 2, c.grid.lines[d].front());
    e.high[d] = std::min(middle + size / 2, c.grid.lines[d].back());
  }
  return e;
}

/// The axis across a plane: the resolved one along which its size is zero; -1 for a box.
int normal_axis(const Case& c, const MonitorOptions& o) {
  for (int d = 0; d < 3; ++d)
    if (c.grid.resolved(d) && (!o.size || (*o.size)[static_cast<std::size_t>(d)] == 0)) return d;
  return -1;
}

/// The faces of a plane or box, and where their samples begin.
struct Surface {
  std::vector<em::Patch> patches;
  std::vector<std::int64_t> first;

  Surface(const Case& c, const MonitorOptions& o, em::SampleList& samples) {
    const Span2 e = extent(c, o);
    const int axis = normal_axis(c, o);
    if (axis < 0) {
      patches = em::grid_box(c.grid, e.low, e.high);
      // A box that reaches to a face of the domain is open there: what lies beyond a mirror is not
      // in the grid.
      std::erase_if(patches, [&](const em::Patch& p) {
        const std::vector<double>& lines = c.grid.lines[static_cast<std::size_t>(p.axis)];
        const double near = kOnLine * (lines.back() - lines.front());
        return p.outward < 0 ? p.position <= lines.front() + near
                             : p.position >= lines.back() - near;
      });
      if (patches.empty())
        throw Error(
            "the box is as large as the domain: none of its sides has fields on both sides");
      if (o.reverse)
        for (em::Patch& p : patches) p.outward = -p.outward;
    } else {
      const std::size_t lo = axis == 0 ? 1 : 0, hi = axis == 2 ? 1 : 2;
      patches = {em::grid_patch(c.grid, axis, o.reverse ? -1 : 1,
                                e.low[static_cast<std::size_t>(axis)], {e.low[lo], e.low[hi]},
                                {e.high[lo], e.high[hi]})};
    }
    for (const em::Patch& p : patches) first.push_back(em::add_patch(samples, p));
  }
  std::vector<em::SurfaceFields> fields(const Tensor& values) const {
    std::vector<em::SurfaceFields> out;
    for (std::size_t p = 0; p < patches.size(); ++p)
      out.push_back(em::patch_fields(values, patches[p], first[p]));
    return out;
  }
};

const CaseSource& source_of(const Case& c, const MonitorOptions& o,
                            std::initializer_list<SourceKind> kinds) {
  const CaseSource* only = nullptr;
  for (const CaseSource& s : c.sources) {
    if (std::find(kinds.begin(), kinds.end(), s.options.kind) == kinds.end()) continue;
    if (!o.source || s.options.name == *o.source) {
      only = &s;
      break;
    }
  }
  if (!only)
    throw Error("[monitor " + o.name +
                "] there is no source of the kind that it is measured against");
  return *only;
}

int dimensions(const Case& c) {
  return int{c.grid.resolved(0)} + int{c.grid.resolved(1)} + int{c.grid.resolved(2)};
}

/// What is counted `n` times.
Tensor times(const Tensor& x, double n) { return n == 1 ? x : x * n; }

/// Whether something differs from frequency to frequency: then `of(k)`, whose first axis is that of
/// one frequency, for each of them.
template <class F>
Tensor by_frequency(std::size_t n, const F& of) {
  std::vector<Tensor> parts;
  for (std::size_t k = 0; k < n; ++k) parts.push_back(of(k));
  return parts.size() == 1 ? parts[0] : concatenate(parts, 0);
}
Tensor at_frequency(const Tensor& x, std::size_t k) {
  return slice(x, 0, static_cast<Index>(k), static_cast<Index>(k) + 1);
}

// ---- dft
// ------------------------------------------------------------------------------------------------------------------

class DftMonitor : public Spectral {
 public:
  DftMonitor(const Case& c, const MonitorOptions& o)
      : Spectral(c, o), components_(computed_components(c, o)), region_(region_of(c, o)) {
    add_region(samples_, region_, components_);
    start_transform();
    if (former_) subtracted_ = fields_of(*former_);
    former_.reset();
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    out.coordinates = region_coordinates(region_);
    const std::uint64_t n[3] = {region_.x.size(), region_.y.size(), region_.z.size()},
                        points = n[0] * n[1] * n[2];
    const auto all = complex_values(figure(values()));
    for (std::size_t q = 0; q < components_.size(); ++q) {
      std::vector<std::complex<double>> v;
      for (std::size_t k = 0; k < count(); ++k) {
        const auto begin =
            all.begin() + static_cast<std::ptrdiff_t>((k * components_.size() + q) * points);
        v.insert(v.end(), begin, begin + static_cast<std::ptrdiff_t>(points));
      }
      std::vector<std::uint64_t> shape{count()};
      if (points > 1) shape = {count(), n[2], n[1], n[0]};
      out.quantities.push_back({em::name_of(components_[q]),
                                em::is_electric(components_[q]) ? "V*s/m" : "A*s/m",
                                "transform of the field", shape, std::move(v)});
    }
    return out;
  }
  std::string figure_name() const override { return "fields"; }
  Tensor figure(const Tensor& values) const override {
    return subtracted_.defined() ? values - subtracted_ : values;
  }

 private:
  /// Fields that a former run has kept, as `values` has them: [frequency, component and point].
  Tensor fields_of(const MonitorResult& former) const {
    std::vector<c128> out;
    for (std::size_t k = 0; k < count(); ++k)
      for (const int q : components_) {
        const Quantity* field = former.find(em::name_of(q));
        const auto* all =
            field ? std::get_if<std::vector<std::complex<double>>>(&field->values) : nullptr;
        const std::size_t points = all ? all->size() / count() : 0;
        if (points != region_.x.size() * region_.y.size() * region_.z.size())
          throw MonitorFault("subtract",
                             std::string("the run in ") + options_.subtract->string() +
                                 " keeps no such " + em::name_of(q) + " of this monitor",
                             "take the same size and components in both");
        out.insert(out.end(), all->begin() + static_cast<std::ptrdiff_t>(k * points),
                   all->begin() + static_cast<std::ptrdiff_t>((k + 1) * points));
      }
    return tensor(out, {static_cast<Index>(count()), static_cast<Index>(samples_.size())});
  }
  Tensor subtracted_;
  std::vector<int> components_;
  Region region_;
};

// ---- flux
// -----------------------------------------------------------------------------------------------------------------

class FluxMonitor : public Spectral {
 public:
  FluxMonitor(const Case& c, const MonitorOptions& o) : Spectral(c, o), surface_(c, o, samples_) {
    start_transform();
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    const std::vector<double> power = real_values(figure(values()));
    const char* unit = dimensions(case_) == 3   ? "W*s^2"
                       : dimensions(case_) == 2 ? "W*s^2/m"
                                                : "W*s^2/m^2";
    out.quantities.push_back(
        {"flux", unit, "energy per bandwidth through the surface", {count()}, power});
    out.quantities.push_back(sums());
    return out;
  }
  void relate(MonitorResult& own, const Results& all) const override {
    if (!options_.relative_to) return;
    const auto& power = std::get<std::vector<double>>(own.find("flux")->values);
    own.quantities.insert(
        own.quantities.begin(),
        {"ratio", "1", "power over that of " + *options_.relative_to, {count()}, over(power, all)});
  }
  std::string figure_name() const override { return "flux"; }
  Tensor figure(const Tensor& values) const override {
    return times(em::flux(surface_.patches, surface_.fields(values)), images_of(case_, options_));
  }

 private:
  Surface surface_;
};

// ---- energy
// ---------------------------------------------------------------------------------------------------------------

/// The cells of an axis that a box holds at least a part of: fields are those in their middles, and
/// the part is their weight, so that boxes that share a cell add up.
struct Stretch {
  std::vector<double> at, weight;
  Stretch(const Case& c, const MonitorOptions& o, int d) {
    const auto u = static_cast<std::size_t>(d);
    if (!c.grid.resolved(d)) {
      at = {c.grid.middle(d, 0)}, weight = {1};
      return;
    }
    const std::vector<double>& x = c.grid.lines[u];
    const double low = o.size ? (*o.position)[u] - (*o.size)[u] / 2 : x.front(),
                 high = o.size ? (*o.position)[u] + (*o.size)[u] / 2 : x.back();
    for (int i = 0; i < c.grid.cells(d); ++i) {
      const auto n = static_cast<std::size_t>(i);
      const double part = std::min(high, x[n + 1]) - std::max(low, x[n]);
      if (!(part > kOnLine * (x[n + 1] - x[n]))) continue;
      at.push_back(c.grid.middle(d, i));
      weight.push_back(part);
    }
    if (at.empty()) throw Error(std::string("the box has no extent along ") + "xyz"[d]);
  }
};

class EnergyMonitor : public Spectral {
 public:
  EnergyMonitor(const Case& c, const MonitorOptions& o)
      : Spectral(c, o), components_(computed_components(c, {})) {
    const Stretch x(c, o, 0), y(c, o, 1), z(c, o, 2);
    add_region(samples_, {x.at, y.at, z.at}, components_);
    start_transform();
    const em::SceneOrder scene(c.scene);
    const double images = images_of(c, o);
    for (std::size_t k = 0; k < z.at.size(); ++k)
      for (std::size_t j = 0; j < y.at.size(); ++j)
        for (std::size_t i = 0; i < x.at.size(); ++i) {
          volume_.push_back(images * x.weight[i] * y.weight[j] * z.weight[k]);
          medium_.push_back(
              static_cast<std::size_t>(em::medium_at(scene, {x.at[i], y.at[j], z.at[k]})));
        }
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    const Tensor all = values();
    const std::vector<double> electric = real_values(part(all, true)),
                              magnetic = real_values(part(all, false)),
                              total = real_values(figure(all));
    const char* unit = dimensions(case_) == 3   ? "J*s^2"
                       : dimensions(case_) == 2 ? "J*s^2/m"
                                                : "J*s^2/m^2";
    out.quantities = {{"energy", unit, "mean energy of the transformed fields", {count()}, total},
                      {"electric", unit, "its electric part", {count()}, electric},
                      {"magnetic", unit, "its magnetic part", {count()}, magnetic}};
    return out;
  }
  std::string figure_name() const override { return "energy"; }
  Tensor figure(const Tensor& values) const override {
    return part(values, true) + part(values, false);
  }

 private:
  /// Sum over points and electric (magnetic) components of volume eps0 s |E|^2 / 4 (mu0 mu |H|^2 /
  /// 4), real [frequency]; s as medium_energy.h says.
  Tensor part(const Tensor& values, bool electric) const {
    std::vector<double> weight;  // [frequency, component, point]
    for (std::size_t k = 0; k < count(); ++k)
      for (const int q : components_) {
        const int axis = em::axis_of(q);
        std::vector<double> of_medium;
        for (const em::Medium& m : case_.media)
          of_medium.push_back(
              m.pec || em::is_electric(q) != electric ? 0.0
              : electric
                  ? em::vacuum_permittivity / 4 * em::stored_permittivity(m, axis, frequencies_[k])
                  : em::vacuum_permeability / 4 * m.mu[static_cast<std::size_t>(axis)]);
        for (std::size_t p = 0; p < volume_.size(); ++p)
          weight.push_back(volume_[p] * of_medium[medium_[p]]);
      }
    return sum(real(values * conj(values)) * tensor(weight, values.shape()), {1});
  }
  std::vector<int> components_;
  std::vector<double> volume_;
  std::vector<std::size_t> medium_;
};

// ---- far fields
// -------------------------------------------------------------------------------------------------------------

class FarFieldMonitor : public Spectral {
 public:
  FarFieldMonitor(const Case& c, const MonitorOptions& o)
      : Spectral(c, o),
        surface_(c, o, samples_),
        exteriors_(exteriors(c, o, frequencies_)),
        exterior_(exteriors_.front()) {
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
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    const double degree = 180 / std::numbers::pi;
    std::vector<double> theta = theta_, phi = phi_;
    for (double& v : theta) v *= degree;
    for (double& v : phi) v *= degree;
    out.coordinates = {{"theta", "deg", theta}, {"phi", "deg", phi}};
    const Tensor all = values();
    const auto fields = surface_.fields(all);
    const std::vector<std::uint64_t> shape{count(), theta_.size(), phi_.size()};
    if (options_.kind == MonitorKind::rcs) {
      const std::vector<c128> incident = incident_wave();
      const Tensor sigma = figure(all);
      out.quantities.push_back({"rcs", exterior_.dimensions == 3 ? "m^2" : "m",
                                "scattering cross-section", shape, real_values(sigma)});
      std::vector<double> total;
      const std::vector<double> power = real_values(power_of(fields));
      const double eta = em::vacuum_impedance * std::sqrt(exterior_.mu / exterior_.eps);
      for (std::size_t k = 0; k < count(); ++k)
        total.push_back(power[k] / (std::norm(incident[k]) / (2 * eta)));
      out.quantities.push_back({"total",
                                exterior_.dimensions == 3 ? "m^2" : "m",
                                "total scattering cross-section, from the flux",
                                {count()},
                                total});
      out.quantities.push_back(sums());
      return out;
    }
    const Tensor far = far_fields(all), intensity = intensity_of(far), power = power_of(fields);
    const Tensor directivity = each_exterior([&](const em::Exterior& e, const auto& part) {
      return em::directivity(part(far), part(power), e);
    });
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
    out.quantities.push_back(sums());
    out.quantities.push_back({"E_theta", unit, "far field without e^{-ikr}/r (2-D: /sqrt r)", shape,
                              std::move(e_theta)});
    out.quantities.push_back(
        {"E_phi", unit, "far field without e^{-ikr}/r (2-D: /sqrt r)", shape, std::move(e_phi)});
    return out;
  }
  std::string figure_name() const override {
    return options_.kind == MonitorKind::rcs ? "rcs" : "intensity";
  }
  Tensor figure(const Tensor& values) const override {
    const Tensor far = far_fields(values);
    return options_.kind == MonitorKind::rcs
               ? em::scattering_cross_section(far, tensor(incident_wave()), exterior_)
               : intensity_of(far);
  }

 private:
  /// of(exterior, part) where all frequencies have one exterior; else for each of them, `part`
  /// taking its entries.
  template <class F>
  Tensor each_exterior(const F& of) const {
    if (exteriors_.size() == 1) return of(exterior_, [](const Tensor& x) { return x; });
    return by_frequency(exteriors_.size(), [&](std::size_t k) {
      return of(exteriors_[k], [k](const Tensor& x) { return at_frequency(x, k); });
    });
  }
  Tensor far_fields(const Tensor& values) const {
    const std::vector<em::SurfaceFields> fields = surface_.fields(values);
    if (exteriors_.size() == 1)
      return em::far_field(surface_.patches, fields, frequencies_, directions_, exterior_);
    return by_frequency(exteriors_.size(), [&](std::size_t k) {
      std::vector<em::SurfaceFields> own;
      for (const em::SurfaceFields& f : fields)
        own.push_back({at_frequency(f.e, k), at_frequency(f.h, k)});
      return em::far_field(surface_.patches, own, std::vector<double>{frequencies_[k]}, directions_,
                           exteriors_[k]);
    });
  }
  Tensor intensity_of(const Tensor& far) const {
    return each_exterior([&](const em::Exterior& e, const auto& part) {
      return em::radiation_intensity(part(far), e);
    });
  }
  Tensor power_of(const std::vector<em::SurfaceFields>& fields) const {
    return times(em::flux(surface_.patches, fields), images_of_all(case_));
  }
  std::vector<c128> incident_wave() const {
    const CaseSource& wave = source_of(case_, options_, {SourceKind::plane_wave});
    std::vector<c128> out;
    for (const double f : frequencies_)
      out.push_back(wave.options.amplitude * spectrum_of(wave, f));
    return out;
  }
  std::complex<double> spectrum_of(const CaseSource& s, double f) const {
    return em::spectrum(s.waveform, std::vector<double>{f}, case_.dt_s,
                        static_cast<int>(s.waveform.end_s / case_.dt_s) + 1)[0];
  }
  Surface surface_;
  std::vector<em::Exterior> exteriors_;  ///< one, or one for each frequency
  em::Exterior exterior_;                ///< the first
  std::vector<double> theta_, phi_;
  std::vector<em::Direction> directions_;
};

// ---- density of states
// --------------------------------------------------------------------------------------------------------

class LdosMonitor : public Spectral {
 public:
  LdosMonitor(const Case& c, const MonitorOptions& o)
      : Spectral(c, o),
        source_(source_of(c, o, {SourceKind::point, SourceKind::line, SourceKind::plane})) {
    samples_.add(static_cast<int>(source_.options.component), *source_.options.position);
    start_transform();
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    const Tensor e = reshape(values(), {static_cast<Index>(count())}), j = moments();
    const int dims = dimensions(case_),
              axis = em::axis_of(static_cast<int>(source_.options.component));
    const em::PointSource kind = point_source();
    const em::SceneOrder scene(case_.scene);
    const em::Medium& m =
        case_.media[static_cast<std::size_t>(em::medium_at(scene, *source_.options.position))];
    const Tensor purcell =
        !disperses(m) ? em::purcell_factor(kind, e, j, frequencies_,
                                           m.eps[static_cast<std::size_t>(axis)], m.mu[0])
                      : by_frequency(count(), [&](std::size_t k) {
                          const std::vector<double> f{frequencies_[k]};
                          return em::purcell_factor(kind, at_frequency(e, k), at_frequency(j, k), f,
                                                    permittivity_of(m, axis, f[0]), m.mu[0]);
                        });
    out.quantities.push_back({"purcell",
                              "1",
                              "power over that in the homogeneous medium at the source",
                              {count()},
                              real_values(purcell)});
    out.quantities.push_back({"ldos",
                              dims == 3   ? "s/m^3"
                              : dims == 2 ? "s/m^2"
                                          : "s/m",
                              "local density of states along the current",
                              {count()},
                              real_values(em::local_density_of_states(kind, e, j, frequencies_))});
    out.quantities.push_back({"power",
                              dims == 3   ? "W*s^2"
                              : dims == 2 ? "W*s^2/m"
                                          : "W*s^2/m^2",
                              "power that the current gives",
                              {count()},
                              real_values(em::emitted_power(e, j))});
    return out;
  }
  std::string figure_name() const override { return "ldos"; }
  Tensor figure(const Tensor& values) const override {
    return em::local_density_of_states(
        point_source(), reshape(values, {static_cast<Index>(count())}), moments(), frequencies_);
  }

 private:
  /// The current flows at (n + 1/2) dt, as the scheme takes it.
  Tensor moments() const {
    const auto w = em::spectrum(source_.waveform, frequencies_, case_.dt_s,
                                static_cast<int>(source_.waveform.end_s / case_.dt_s) + 1, 0.5);
    std::vector<c128> moment;
    for (const auto& v : w) moment.push_back(images() * source_.options.amplitude * v);
    return tensor(moment);
  }
  em::PointSource point_source() const {
    const int dims = dimensions(case_),
              axis = em::axis_of(static_cast<int>(source_.options.component));
    return dims == 3   ? em::PointSource::dipole
           : dims == 1 ? em::PointSource::sheet
           : axis == 2 ? em::PointSource::line
                       : em::PointSource::line_dipole;
  }
  /// A current on a mirror and its image are one, twice as strong: across an electric mirror, along
  /// a magnetic one.
  double images() const {
    double n = 1;
    for (int d = 0; d < 3; ++d) {
      if (!case_.grid.resolved(d)) continue;
      const auto u = static_cast<std::size_t>(d);
      const std::vector<double>& lines = case_.grid.lines[u];
      const em::Faces& faces = case_.faces[u];
      const double at = (*source_.options.position)[u],
                   near = 1e-9 * (lines.back() - lines.front());
      const em::Boundary mirror = em::axis_of(static_cast<int>(source_.options.component)) == d
                                      ? em::Boundary::pec
                                      : em::Boundary::pmc;
      if ((faces.low == mirror && at <= lines.front() + near) ||
          (faces.high == mirror && at >= lines.back() - near))
        n *= 2;
    }
    return n;
  }
  const CaseSource& source_;
};

// ---- diffraction orders
// -------------------------------------------------------------------------------------------------------

class OrdersMonitor : public Spectral {
 public:
  OrdersMonitor(const Case& c, const MonitorOptions& o) : Spectral(c, o), surface_(c, o, samples_) {
    start_transform();
    plane_.patch = surface_.patches.front();
    plane_.bloch = {c.bloch_k[static_cast<std::size_t>(plane_.patch.lo_axis())],
                    c.bloch_k[static_cast<std::size_t>(plane_.patch.hi_axis())]};
    const em::SceneOrder scene(c.scene);
    const em::Medium& m = c.media[static_cast<std::size_t>(
        em::medium_at(scene, em::points_of(plane_.patch).front()))];
    plane_.eps = m.eps[0], plane_.mu = m.mu[0];
    if (disperses(m))
      for (const double f : frequencies_) eps_.push_back(permittivity_of(m, 0, f));
    for (const auto& order : o.orders) orders_.push_back({order[0], order[1]});
    if (orders_.empty()) orders_ = propagating();
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    Coordinate m{"m", "1", {}}, n{"n", "1", {}};
    for (const em::Order& order : orders_) {
      m.values.push_back(order.m);
      n.values.push_back(order.n);
    }
    out.coordinates = {m, n};
    const em::OrderAmplitudes a = amplitudes(surface_.fields(values())[0]);
    const std::vector<std::uint64_t> shape{count(), orders_.size()};
    const std::vector<double> power = real_values(a.power);
    const char* unit = dimensions(case_) == 3 ? "W*s^2" : "W*s^2/m";
    out.quantities.push_back({"power", unit, "power of the order along the normal", shape, power});
    out.quantities.push_back({"power_back", unit, "power of the order against the normal", shape,
                              real_values(a.power_back)});
    const std::pair<const char*, const Tensor*> waves[] = {
        {"s", &a.s}, {"p", &a.p}, {"s_back", &a.s_back}, {"p_back", &a.p_back}};
    for (const auto& [name, wave] : waves)
      out.quantities.push_back({name, "V*s/m", "complex amplitude", shape, complex_values(*wave)});
    out.quantities.push_back(sums());
    return out;
  }
  void relate(MonitorResult& own, const Results& all) const override {
    if (!options_.relative_to) return;
    const Quantity& power = *own.find("power");
    Quantity ratio{"efficiency", "1", "power of the order over that of " + *options_.relative_to,
                   power.shape, over(std::get<std::vector<double>>(power.values), all)};
    own.quantities.insert(own.quantities.begin(), std::move(ratio));
  }
  std::string figure_name() const override { return "power"; }
  Tensor figure(const Tensor& values) const override {
    return amplitudes(surface_.fields(values)[0]).power;
  }

 private:
  em::PeriodicPlane plane_at(std::size_t k) const {
    em::PeriodicPlane plane = plane_;
    plane.eps = eps_[k];
    return plane;
  }
  /// Those that propagate at one frequency or more, m slowest.
  std::vector<em::Order> propagating() const {
    if (eps_.empty()) return em::propagating_orders(plane_, frequencies_);
    std::vector<em::Order> all;
    for (std::size_t k = 0; k < count(); ++k)
      for (const em::Order& order :
           em::propagating_orders(plane_at(k), std::vector<double>{frequencies_[k]}))
        if (std::find(all.begin(), all.end(), order) == all.end()) all.push_back(order);
    std::sort(all.begin(), all.end(), [](const em::Order& a, const em::Order& b) {
      return std::pair(a.m, a.n) < std::pair(b.m, b.n);
    });
    return all;
  }
  em::OrderAmplitudes amplitudes(const em::SurfaceFields& fields) const {
    if (eps_.empty()) return em::diffraction_orders(plane_, fields, frequencies_, orders_);
    std::vector<em::OrderAmplitudes> all;
    for (std::size_t k = 0; k < count(); ++k)
      all.push_back(em::diffraction_orders(plane_at(k),
                                           {at_frequency(fields.e, k), at_frequency(fields.h, k)},
                                           std::vector<double>{frequencies_[k]}, orders_));
    const auto joined = [&](Tensor em::OrderAmplitudes::*part) {
      return by_frequency(count(), [&](std::size_t k) { return all[k].*part; });
    };
    using A = em::OrderAmplitudes;
    return {joined(&A::s),      joined(&A::p),      joined(&A::power),
            joined(&A::s_back), joined(&A::p_back), joined(&A::power_back)};
  }
  Surface surface_;
  em::PeriodicPlane plane_;
  std::vector<double> eps_;  ///< at each frequency, where it differs
  std::vector<em::Order> orders_;
};

}  // namespace

// ---- what they share
// --------------------------------------------------------------------------------------------------------

namespace {

/// Every step where fields hold what no source does: harmonics of nonlinear media, and the cut
/// through a wave that never ends.
em::Sampling sampling_of(const Case& c, const std::vector<double>& frequencies) {
  for (const em::Medium& m : c.media)
    if (m.chi2 != 0 || m.chi3 != 0) return {};
  std::vector<const em::SampledSpectrum*> spectra;
  for (const CaseSource& s : c.sources) {
    if (s.options.amplitude == 0) continue;
    if (!s.spectrum) return {};
    if (std::find(spectra.begin(), spectra.end(), s.spectrum.get()) == spectra.end())
      spectra.push_back(s.spectrum.get());
  }
  return em::coarsest_sampling(frequencies, spectra, c.dt_s);
}

}  // namespace

void Spectral::start_transform() {
  sampling_ = sampling_of(case_, frequencies_);
  every_ = sampling_.every;
  dft_.emplace(frequencies_, case_.dt_s, samples_.edges(), every_);
  // Windows of one period of the lowest frequency, of 8 looks at least: fewer see a wave by chance.
  const double lowest = *std::min_element(frequencies_.begin(), frequencies_.end());
  const auto period = lowest > 0 ? static_cast<std::int64_t>(std::min(1 / lowest / case_.dt_s, 1e6))
                                 : std::int64_t{1000};
  fading_.emplace(std::max<std::int64_t>(period, 8 * every_), every_);
  if (!options_.subtract) return;
  former_ = former_result(case_, options_, frequencies_, samples_);
  // Transforms are linear, so that sums differ as fields do. Those of every n-th step count n
  // times.
  if (options_.kind == MonitorKind::dft) return;  // keeps fields in place of sums
  const Quantity* sums = former_->find("sums");
  if (sums) start_ = std::get<std::vector<double>>(sums->values);
  if (start_.size() != dft_->sums().size())
    throw MonitorFault("subtract",
                       "the run in " + options_.subtract->string() +
                           " cannot be subtracted: its '" + options_.name +
                           "' is a monitor of the kind " + former_->kind,
                       "take the same kind in both");
  for (double& v : start_) v *= -static_cast<double>(former_->transform->every) / every_;
  former_.reset();
}

std::vector<double> Spectral::all_sums() const {
  std::vector<double> out = dft_->sums();
  for (std::size_t n = 0; n < start_.size(); ++n) out[n] += start_[n];
  return out;
}

Tensor Spectral::values() const {
  if (start_.empty()) return dft_->values(samples_);
  em::RunningDft difference = *dft_;
  difference.restore(all_sums());
  return difference.values(samples_);
}

std::vector<double> Spectral::over(const std::vector<double>& power, const Results& all) const {
  const auto base = std::find_if(all.begin(), all.end(), [&](const MonitorResult& r) {
    return r.name == *options_.relative_to;
  });
  const auto& by = std::get<std::vector<double>>(base->find("flux")->values);
  const std::size_t each = power.size() / count();
  std::vector<double> out(power.size());
  for (std::size_t q = 0; q < power.size(); ++q) out[q] = power[q] / by.at(q / each);
  return out;
}

MonitorResult Spectral::begin_result() const {
  static constexpr const char* names[] = {"probe", "dft",  "flux",   "energy",     "far_field",
                                          "rcs",   "ldos", "orders", "resonances", "snapshot"};
  MonitorResult out{options_.name,
                    names[static_cast<int>(options_.kind)],
                    {"frequency", "Hz", frequencies_},
                    {},
                    {}};
  out.transform = TransformRecord{case_.dt_s, every_, positions_of(samples_)};
  return out;
}

Quantity Spectral::sums() const {
  return {"sums",
          "V",
          "sums of the transform at the recorded edges, real and imaginary",
          {count(), 2, samples_.edges().size()},
          all_sums()};
}

std::optional<double> Spectral::settling() const {
  double sum = 0;
  const std::vector<double>& sums = dft_->sums();
  for (std::size_t n = 0; n < sums.size(); ++n) {
    const double v = start_.empty() ? sums[n] : sums[n] + start_[n];
    sum += v * v;
  }
  return std::sqrt(sum);
}

Region region_of(const Case& c, const MonitorOptions& o) {
  const bool whole = !o.size && (o.kind == MonitorKind::energy || o.kind == MonitorKind::snapshot);
  Region out;
  std::vector<double>* axes[3] = {&out.x, &out.y, &out.z};
  for (int d = 0; d < 3; ++d) {
    const auto u = static_cast<std::size_t>(d);
    const double middle =
        o.position ? (*o.position)[u] : (c.grid.lines[u].front() + c.grid.lines[u].back()) / 2;
    const double size = whole    ? 2 * (c.grid.lines[u].back() - c.grid.lines[u].front())
                        : o.size ? (*o.size)[u]
                                 : 0;
    if (!c.grid.resolved(d) || size == 0) {
      *axes[d] = {c.grid.resolved(d) ? middle : c.grid.middle(d, 0)};
      continue;
    }
    for (int i = 0; i < c.grid.cells(d); ++i) {
      const double at = c.grid.middle(d, i), near = kOnLine * c.grid.length(d, i);
      if (at >= middle - size / 2 - near && at <= middle + size / 2 + near) axes[d]->push_back(at);
    }
  }
  return out;
}

std::vector<Coordinate> region_coordinates(const Region& r) {
  return {{"z", "m", r.z}, {"y", "m", r.y}, {"x", "m", r.x}};
}

void add_region(em::SampleList& samples, const Region& r, const std::vector<int>& components) {
  for (const int c : components)
    for (const double z : r.z)
      for (const double y : r.y)
        for (const double x : r.x) samples.add(c, {x, y, z});
}

std::unique_ptr<Monitor> make_spectral(const Case& c, const MonitorOptions& o) {
  switch (o.kind) {
    case MonitorKind::dft:
      return std::make_unique<DftMonitor>(c, o);
    case MonitorKind::flux:
      return std::make_unique<FluxMonitor>(c, o);
    case MonitorKind::energy:
      return std::make_unique<EnergyMonitor>(c, o);
    case MonitorKind::far_field:
    case MonitorKind::rcs:
      return std::make_unique<FarFieldMonitor>(c, o);
    case MonitorKind::ldos:
      return std::make_unique<LdosMonitor>(c, o);
    case MonitorKind::orders:
      return std::make_unique<OrdersMonitor>(c, o);
    default:
      throw Error("[monitor " + o.name + "] is no monitor of transformed fields");
  }
}

namespace {

std::unique_ptr<Monitor> make_monitor(const Case& c, const MonitorOptions& o) {
  if (o.kind == MonitorKind::probe) return std::make_unique<Probe>(c, o);
  if (o.kind == MonitorKind::resonances) return std::make_unique<ResonanceMonitor>(c, o);
  if (o.kind == MonitorKind::snapshot) return std::make_unique<Snapshot>(c, o);
  return make_spectral(c, o);
}

}  // namespace

std::vector<std::unique_ptr<Monitor>> make_monitors(const Case& c, const data::Config& config) {
  std::vector<std::unique_ptr<Monitor>> out;
  for (std::size_t m = 0; m < c.options.monitors.size(); ++m) {
    const std::string key = "monitor[" + std::to_string(m) + "]";
    try {
      out.push_back(make_monitor(c, c.options.monitors[m]));
    } catch (const data::InputError&) {
      throw;
    } catch (const MonitorFault& e) {
      throw data::InputError(data::ExitCode::config_invalid,
                             {config.error(660, key + "." + e.key, e.what(), e.hint)});
    } catch (const Error& e) {
      throw data::InputError(data::ExitCode::config_invalid,
                             {config.error(629, key, e.what(), "see the monitor's keys")});
    }
  }
  return out;
}

}  // namespace tessera::apps::fdtd
