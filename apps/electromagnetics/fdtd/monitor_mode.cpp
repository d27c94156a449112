// SPDX-License-Identifier: Apache-2.0
// Amplitudes of a guide's modes through a plane, both ways.
#include "electromagnetics/fdtd/mode_amplitudes.h"
#include "electromagnetics/fdtd/spectral.h"
#include "electromagnetics/waves/exterior.h"
#include "electromagnetics/waves/loads.h"
#include "electromagnetics/waves/mode_plane.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/line_impedance.h"
#include "tessera/electromagnetics/mode_source.h"

#include <string>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

class ModeMonitor : public Spectral {
 public:
  ModeMonitor(const Case& c, const MonitorOptions& o) : Spectral(c, o) {
    const em::ModePlane plane = mode_plane(c, flat_axis(c, *o.size), *o.position, o.size);
    const em::YeeModel model = make_model(c);
    modes_ = em::modes_at(model, plane, frequencies_, o.modes, 7, o.index.value_or(0));
    for (const em::GridModes& g : modes_)  // no more than it has unknowns
      if (g.modes.size() < static_cast<std::size_t>(o.modes))
        throw MonitorFault("modes", "the plane has " + std::to_string(g.modes.size()) + " modes",
                           "ask for no more, or take a larger plane or smaller cells", 629);
    conductors_ =
        em::guide_conductors(model, plane, modes_.front(), symmetry_of(c), absorbers_of(c));
    add_mode_samples(samples_, case_.grid, plane, modes_.front());
    weights_ = mode_weights(modes_, static_cast<std::size_t>(o.modes), images_of(c, plane));
    start_transform();
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    std::vector<double> numbers;
    for (int k = 1; k <= options_.modes; ++k) numbers.push_back(k);
    out.coordinates = {{"mode", "1", numbers}};
    const std::vector<std::uint64_t> shape{count(), numbers.size()};
    const char* unit = amplitude_units(case_);
    const auto all = complex_values(amplitudes(values()));
    const std::size_t each = all.size() / 2;
    const std::vector<std::complex<double>> on(all.begin(),
                                               all.begin() + static_cast<std::ptrdiff_t>(each)),
        back(all.begin() + static_cast<std::ptrdiff_t>(each), all.end());
    std::vector<std::complex<double>> beta, index;
    for (const em::GridModes& g : modes_)
      for (const em::GridMode& m : g.modes) beta.push_back(m.beta), index.push_back(m.index);
    const bool reverse = options_.reverse;
    const char* const runs[] = {"along the axis", "against the axis"};
    out.quantities = {
        {"forward", unit, std::string("amplitude of what runs ") + runs[reverse ? 1 : 0], shape,
         reverse ? back : on},
        {"backward", unit, std::string("amplitude of what runs ") + runs[reverse ? 0 : 1], shape,
         reverse ? on : back},
        {"index", "1", "effective index", shape, index},
        {"beta", "rad/m", "phase and decay along the axis", shape, beta}};
    if (!conductors_.empty()) out.quantities.push_back(impedance(shape));
    out.quantities.push_back(sums());
    return out;
  }
  void relate(MonitorResult& own, const Results& all) const override { relate_ways(own, all); }
  std::string figure_name() const override { return options_.reverse ? "backward" : "forward"; }
  /// Power of what runs along the axis, real [frequency, mode].
  Tensor figure(const Tensor& values) const override {
    return squared_modulus(select(amplitudes(values), 0, 0));
  }
  std::vector<Figure> figures(const Tensor& values, const Tensor& base) const override {
    const Tensor both = amplitudes(values);
    return ways(select(both, 0, forward()), select(both, 0, 1 - forward()), base);
  }
  Tensor power(const Tensor& values) const override {  // of the first mode
    return squared_modulus(select(select(amplitudes(values), 0, forward()), 1, 0));
  }

 private:
  Quantity impedance(const std::vector<std::uint64_t>& shape) const {
    std::vector<std::complex<double>> z;
    for (const em::GridModes& g : modes_)
      for (const em::GridMode& m : g.modes) z.push_back(em::line_impedance(g, m, conductors_));
    return {"impedance", case_.grid.dimensions() == 3 ? "ohm" : "ohm*m",
            "of the line, by its power and currents", shape, z};
  }
  /// Which of the two ways counts as forward.
  Index forward() const { return options_.reverse ? 1 : 0; }
  Tensor amplitudes(const Tensor& values) const { return mode_amplitudes(weights_, values); }

  std::vector<em::GridModes> modes_;  ///< [frequency]
  std::vector<em::GuideConductor> conductors_;
  Tensor weights_;
};

}  // namespace

std::unique_ptr<Monitor> make_mode(const Case& c, const MonitorOptions& o) {
  return std::make_unique<ModeMonitor>(c, o);
}

}  // namespace tessera::apps::fdtd
