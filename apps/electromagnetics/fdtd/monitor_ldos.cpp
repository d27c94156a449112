// SPDX-License-Identifier: Apache-2.0
// Density of states, and what a current gives to the field, at a source. Electric and magnetic
// currents are dual: -Re(E J*)/2 and -Re(H M*)/2 are their powers, and in a medium of impedance Z a
// magnetic one has alone the power of an electric one, |M|^2/Z^2 for |J|^2.
#include "electromagnetics/fdtd/spectral.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

class LdosMonitor : public Spectral {
 public:
  LdosMonitor(const Case& c, const MonitorOptions& o)
      : Spectral(c, o), source_(source_of(c, o, {SourceKind::point})) {
    samples_.add(component(), *source_.options.position);
    start_transform();
    const em::SceneOrder scene(c.scene);
    const em::Medium& m =
        c.media[static_cast<std::size_t>(em::medium_at(scene, *source_.options.position))];
    eps_ = em::real_permittivities(m, em::axis_of(component()), frequencies_);
    mu_ = m.mu[0];
    for (std::size_t k = 0; k < eps_.size(); ++k)
      if (!(eps_[k] > 0))
        throw Error(fmt::format(
            "its source lies in '{}', whose permittivity at {:.6g} Hz is {:.4g}: there is no "
            "homogeneous medium of waves to compare with",
            m.name, frequencies_[k], eps_[k]));
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    const Tensor field = reshape(values(), {static_cast<Index>(count())}), moment = moments();
    const int dims = case_.grid.dimensions();
    out.quantities.push_back({"purcell",
                              "1",
                              "power over that in the homogeneous medium at the source",
                              {count()},
                              real_values(purcell(field, moment))});
    out.quantities.push_back({"ldos",
                              dims == 3   ? "s/m^3"
                              : dims == 2 ? "s/m^2"
                                          : "s/m",
                              "local density of states along the current",
                              {count()},
                              real_values(density(field, moment))});
    out.quantities.push_back({"power",
                              dims == 3   ? "W*s^2"
                              : dims == 2 ? "W*s^2/m"
                                          : "W*s^2/m^2",
                              "power that the current gives",
                              {count()},
                              real_values(em::emitted_power(field, moment))});
    return out;
  }
  std::string figure_name() const override { return "ldos"; }
  Tensor figure(const Tensor& values) const override {
    return density(reshape(values, {static_cast<Index>(count())}), moments());
  }
  std::vector<Figure> figures(const Tensor& values, const Tensor&) const override {
    const Tensor field = reshape(values, {static_cast<Index>(count())}), moment = moments();
    return {{"purcell", purcell(field, moment), 0},
            {"ldos", density(field, moment), 0},
            {"power", em::emitted_power(field, moment), 2}};
  }

 private:
  int component() const { return static_cast<int>(source_.options.component); }
  Tensor purcell(const Tensor& field, const Tensor& moment) const {
    return em::purcell_factor(em::point_source(case_.grid, component()),
                              as_electric(field, eps_, mu_), moment, frequencies_, eps_, mu_);
  }
  Tensor density(const Tensor& field, const Tensor& moment) const {
    return em::local_density_of_states(em::point_source(case_.grid, component()),
                                       as_electric(field, {1.0}, 1), moment, frequencies_);
  }
  /// E of an electric current; of a magnetic one Z^2 H, so that its ratios are those of E.
  Tensor as_electric(const Tensor& field, const std::vector<double>& eps, double mu) const {
    if (em::is_electric(component())) return field;
    std::vector<c128> square;
    for (const double e : eps)
      square.push_back(em::vacuum_impedance * em::vacuum_impedance * mu / e);
    return field * tensor(square);
  }
  /// As the scheme takes it, an electric current flows at (n + 1/2) dt, a magnetic one at n dt.
  Tensor moments() const {
    const double images =
        em::images_of_current(case_.grid, case_.faces, component(), *source_.options.position);
    std::vector<c128> moment;
    for (const c128& v : spectrum_of(source_, em::is_electric(component()) ? 0.5 : 0))
      moment.push_back(images * source_.options.amplitude * v);
    return tensor(moment);
  }
  const CaseSource& source_;
  std::vector<double> eps_;  ///< of the medium at the source: one, or one for each frequency
  double mu_ = 1;
};

}  // namespace

std::unique_ptr<Monitor> make_ldos(const Case& c, const MonitorOptions& o) {
  return std::make_unique<LdosMonitor>(c, o);
}

}  // namespace tessera::apps::fdtd
