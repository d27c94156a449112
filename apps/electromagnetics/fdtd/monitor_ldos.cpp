// SPDX-License-Identifier: Apache-2.0
// Density of states, and what a current gives to the field, at a source.
#include "electromagnetics/fdtd/spectral.h"
#include "tessera/autodiff/ops.h"

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

class LdosMonitor : public Spectral {
 public:
  LdosMonitor(const Case& c, const MonitorOptions& o)
      : Spectral(c, o),
        source_(source_of(c, o, {SourceKind::point, SourceKind::line, SourceKind::plane})) {
    samples_.add(component(), *source_.options.position);
    start_transform();
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    const Tensor e = reshape(values(), {static_cast<Index>(count())}), j = moments();
    const int dims = case_.grid.dimensions(), axis = em::axis_of(component());
    const em::PointSource kind = em::point_source(case_.grid, component());
    const em::SceneOrder scene(case_.scene);
    const em::Medium& m =
        case_.media[static_cast<std::size_t>(em::medium_at(scene, *source_.options.position))];
    const Tensor purcell = em::purcell_factor(
        kind, e, j, frequencies_, em::real_permittivities(m, axis, frequencies_), m.mu[0]);
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
    return em::local_density_of_states(em::point_source(case_.grid, component()),
                                       reshape(values, {static_cast<Index>(count())}), moments(),
                                       frequencies_);
  }

 private:
  int component() const { return static_cast<int>(source_.options.component); }
  /// The current flows at (n + 1/2) dt, as the scheme takes it.
  Tensor moments() const {
    const auto w = em::spectrum(source_.waveform, frequencies_, case_.dt_s,
                                static_cast<int>(source_.waveform.end_s / case_.dt_s) + 1, 0.5);
    const double images =
        em::images_of_current(case_.grid, case_.faces, component(), *source_.options.position);
    std::vector<c128> moment;
    for (const auto& v : w) moment.push_back(images * source_.options.amplitude * v);
    return tensor(moment);
  }
  const CaseSource& source_;
};

}  // namespace

std::unique_ptr<Monitor> make_ldos(const Case& c, const MonitorOptions& o) {
  return std::make_unique<LdosMonitor>(c, o);
}

}  // namespace tessera::apps::fdtd
