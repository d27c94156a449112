// SPDX-License-Identifier: Apache-2.0
// The energy of a box at each frequency.
#include "electromagnetics/fdtd/spectral.h"
#include "electromagnetics/waves/exterior.h"
#include "tessera/autodiff/ops.h"

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

class EnergyMonitor : public Spectral {
 public:
  EnergyMonitor(const Case& c, const MonitorOptions& o)
      : Spectral(c, o),
        energy_(samples_, c.scene, c.media, corner(c, o, -1), corner(c, o, 1),
                computed_components(c, {}), images_of(c, o)) {
    start_transform();
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    const Tensor all = values();
    const std::vector<double> electric = real_values(energy_.electric(all, frequencies_)),
                              magnetic = real_values(energy_.magnetic(all, frequencies_)),
                              total = real_values(figure(all));
    const int dimensions = case_.grid.dimensions();
    const char* unit = dimensions == 3 ? "J*s^2" : dimensions == 2 ? "J*s^2/m" : "J*s^2/m^2";
    out.quantities = {{"energy", unit, "mean energy of the transformed fields", {count()}, total},
                      {"electric", unit, "its electric part", {count()}, electric},
                      {"magnetic", unit, "its magnetic part", {count()}, magnetic}};
    return out;
  }
  std::string figure_name() const override { return "energy"; }
  Tensor figure(const Tensor& values) const override {
    return energy_.electric(values, frequencies_) + energy_.magnetic(values, frequencies_);
  }

 private:
  /// The low (`side` -1) or high corner of the box; of the domain where no size is given.
  static Point corner(const Case& c, const MonitorOptions& o, int side) {
    Point p{};
    for (std::size_t d = 0; d < 3; ++d)
      p[d] = o.size     ? (*o.position)[d] + side * (*o.size)[d] / 2
             : side < 0 ? c.grid.lines[d].front()
                        : c.grid.lines[d].back();
    return p;
  }
  em::BoxEnergy energy_;
};

}  // namespace

std::unique_ptr<Monitor> make_energy(const Case& c, const MonitorOptions& o) {
  return std::make_unique<EnergyMonitor>(c, o);
}

}  // namespace tessera::apps::fdtd
