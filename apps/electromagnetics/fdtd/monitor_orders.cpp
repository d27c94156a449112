// SPDX-License-Identifier: Apache-2.0
// Diffraction orders through a plane of a periodic structure.
#include "electromagnetics/fdtd/spectral.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/diffraction.h"

#include <utility>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

class OrdersMonitor : public Spectral {
 public:
  OrdersMonitor(const Case& c, const MonitorOptions& o)
      : Spectral(c, o), surface_(em::sampled_surface(samples_, patches_of(c, o))) {
    start_transform();
    em::PeriodicPlane plane;
    plane.patch = surface_.patches.front();
    if (c.grid.resolved(plane.patch.lo_axis())) plane.cell[0] = plane.patch.weight_lo.front();
    if (c.grid.resolved(plane.patch.hi_axis())) plane.cell[1] = plane.patch.weight_hi.front();
    plane.bloch = {c.bloch_k[static_cast<std::size_t>(plane.patch.lo_axis())],
                   c.bloch_k[static_cast<std::size_t>(plane.patch.hi_axis())]};
    const em::SceneOrder scene(c.scene);
    const em::Medium& m =
        c.media[static_cast<std::size_t>(em::medium_at(scene, em::points_of(plane.patch).front()))];
    planes_ = em::planes_in(m, plane, frequencies_);
    for (const auto& order : o.orders) orders_.push_back({order[0], order[1]});
    if (orders_.empty()) orders_ = em::propagating_orders(planes_, frequencies_);
    em::require_orders(planes_, frequencies_, orders_);
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
    const char* unit = case_.grid.dimensions() == 3   ? "W*s^2"
                       : case_.grid.dimensions() == 2 ? "W*s^2/m"
                                                      : "W*s^2/m^2";
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
  std::vector<Figure> figures(const Tensor& values, const Tensor& base) const override {
    const em::OrderAmplitudes a = amplitudes(surface_.fields(values)[0]);
    std::vector<Figure> out{{"power", a.power, 2},   {"power_back", a.power_back, 2},
                            {"s", a.s, 1},           {"p", a.p, 1},
                            {"s_back", a.s_back, 1}, {"p_back", a.p_back, 1}};
    if (base.defined()) out.push_back({"efficiency", over_each(a.power, base), 0});
    return out;
  }

 private:
  em::OrderAmplitudes amplitudes(const em::SurfaceFields& fields) const {
    return em::diffraction_orders(planes_, fields, frequencies_, orders_);
  }
  em::SampledSurface surface_;
  std::vector<em::PeriodicPlane> planes_;  ///< one, or one for each frequency
  std::vector<em::Order> orders_;
};

}  // namespace

std::unique_ptr<Monitor> make_orders(const Case& c, const MonitorOptions& o) {
  return std::make_unique<OrdersMonitor>(c, o);
}

}  // namespace tessera::apps::fdtd
