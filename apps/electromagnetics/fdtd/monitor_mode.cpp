// SPDX-License-Identifier: Apache-2.0
// Amplitudes of a guide's modes through a plane, both ways.
#include "electromagnetics/fdtd/spectral.h"
#include "electromagnetics/waves/mode_plane.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/line_impedance.h"
#include "tessera/electromagnetics/mode_source.h"

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

class ModeMonitor : public Spectral {
 public:
  ModeMonitor(const Case& c, const MonitorOptions& o) : Spectral(c, o) {
    const em::ModePlane plane = mode_plane(c, flat_axis(c, *o.size), *o.position, o.size);
    const em::YeeModel model = make_model(c);
    modes_ = em::modes_at(model, plane, frequencies_, o.modes, 7, o.index.value_or(0));
    conductors_ = em::guide_conductors(model, plane, modes_.front());
    add_samples(plane);
    make_weights();
    start_transform();
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    std::vector<double> numbers;
    for (int k = 1; k <= options_.modes; ++k) numbers.push_back(k);
    out.coordinates = {{"mode", "1", numbers}};
    const std::vector<std::uint64_t> shape{count(), numbers.size()};
    const char* unit = case_.grid.dimensions() == 3 ? "sqrt(W)*s" : "sqrt(W/m)*s";
    const auto all = complex_values(amplitudes(values()));
    const std::size_t each = all.size() / 2;
    const std::vector<std::complex<double>> on(all.begin(),
                                               all.begin() + static_cast<std::ptrdiff_t>(each)),
        back(all.begin() + static_cast<std::ptrdiff_t>(each), all.end());
    std::vector<std::complex<double>> beta, index;
    for (const em::GridModes& g : modes_)
      for (const em::GridMode& m : g.modes) beta.push_back(m.beta), index.push_back(m.index);
    const bool reverse = options_.reverse;
    out.quantities = {
        {"forward", unit, "amplitude of what runs along the axis", shape, reverse ? back : on},
        {"backward", unit, "amplitude of what runs against it", shape, reverse ? on : back},
        {"index", "1", "effective index", shape, index},
        {"beta", "rad/m", "phase and decay along the axis", shape, beta}};
    if (!conductors_.empty()) out.quantities.push_back(impedance(shape));
    out.quantities.push_back(sums());
    return out;
  }
  void relate(MonitorResult& own, const Results& all) const override {
    if (!options_.relative_to) return;
    for (const char* way : {"forward", "backward"}) {
      std::vector<double> power;
      for (const auto& a : std::get<std::vector<std::complex<double>>>(own.find(way)->values))
        power.push_back(std::norm(a));
      own.quantities.insert(own.quantities.begin() + (way[0] == 'f' ? 0 : 1),
                            {std::string(way) + "_ratio",
                             "1",
                             std::string("power ") + way + " over that of " + *options_.relative_to,
                             {count(), static_cast<std::uint64_t>(options_.modes)},
                             over(power, all)});
    }
  }
  std::string figure_name() const override { return options_.reverse ? "backward" : "forward"; }
  /// Power of what runs along the axis, real [frequency, mode].
  Tensor figure(const Tensor& values) const override {
    const Tensor on = select(amplitudes(values), 0, 0);
    return square(real(on)) + square(imag(on));
  }

 private:
  Quantity impedance(const std::vector<std::uint64_t>& shape) const {
    std::vector<std::complex<double>> z;
    for (const em::GridModes& g : modes_)
      for (const em::GridMode& m : g.modes) z.push_back(em::line_impedance(g, m, conductors_));
    return {"impedance", case_.grid.dimensions() == 3 ? "ohm" : "ohm*m",
            "of the line, by its power and currents", shape, z};
  }
  /// e at the line, then h half a cell before and behind it.
  void add_samples(const em::ModePlane& plane) {
    const auto add = [&](const std::vector<em::Edge>& edges, int at) {
      for (em::Edge e : edges) {
        (plane.axis == 0 ? e.i : plane.axis == 1 ? e.j : e.k) = at;
        samples_.add(e.component, case_.grid.position(e));
      }
    };
    const em::GridModes& g = modes_.front();
    const int cells = case_.grid.cells(plane.axis);
    add(g.e, plane.line), add(g.h, (plane.line + cells - 1) % cells), add(g.h, plane.line);
  }
  /// Amplitudes are products of the samples with fields of the modes: complex [2, frequency, mode,
  /// sample].
  void make_weights() {
    const std::size_t n = modes_.front().e.size(), modes = static_cast<std::size_t>(options_.modes);
    std::vector<c128> w(2 * modes_.size() * modes * 3 * n);
    std::size_t at = 0;
    for (const bool forward : {true, false})
      for (const em::GridModes& g : modes_)
        for (const em::GridMode& mode : g.modes) {
          const std::complex<double> own = em::mode_product(g, mode.e, mode.h);
          for (const int field : {0, 1, 2})
            for (std::size_t k = 0; k < n; ++k) w[at++] = weight(g, mode, field, k, forward) / own;
        }
    weights_ = tensor(w, {2, static_cast<Index>(modes_.size()), static_cast<Index>(modes),
                          static_cast<Index>(3 * n)});
  }
  /// Of a sample, in V/m or A/m, in an amplitude times the mode's product with itself
  /// (grid_modes.h).
  static std::complex<double> weight(const em::GridModes& g, const em::GridMode& m, int field,
                                     std::size_t k, bool forward) {
    const double sign =
        em::axis_of(g.h[k].component) == (em::axis_of(g.e[k].component) + 1) % 3 ? 1.0 : -1.0;
    if (field == 0) return sign * m.h[k] * g.e_scale[k] / 2.0;
    return (forward ? 1.0 : -1.0) * sign * m.e[k] * g.h_scale[k] * em::vacuum_impedance /
           std::cos(m.beta * g.cell / 2.0) / 4.0;
  }
  /// Complex [2, frequency, mode].
  Tensor amplitudes(const Tensor& values) const {
    return squeeze(matmul(weights_, expand_dims(values, -1)), -1);
  }

  std::vector<em::GridModes> modes_;  ///< [frequency]
  std::vector<em::GuideConductor> conductors_;
  Tensor weights_;
};

}  // namespace

std::unique_ptr<Monitor> make_mode(const Case& c, const MonitorOptions& o) {
  return std::make_unique<ModeMonitor>(c, o);
}

}  // namespace tessera::apps::fdtd
