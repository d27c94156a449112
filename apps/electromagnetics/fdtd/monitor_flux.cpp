// SPDX-License-Identifier: Apache-2.0
// Power through a plane, or out of a box.
#include "electromagnetics/fdtd/spectral.h"
#include "electromagnetics/waves/exterior.h"

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

class FluxMonitor : public Spectral {
 public:
  FluxMonitor(const Case& c, const MonitorOptions& o)
      : Spectral(c, o), flux_(em::sampled_flux(samples_, patches_of(c, o))) {
    start_transform();
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    const std::vector<double> power = real_values(figure(values()));
    const char* unit = case_.grid.dimensions() == 3   ? "W*s^2"
                       : case_.grid.dimensions() == 2 ? "W*s^2/m"
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
    return times(flux_.power(values), images_of(case_, options_));
  }
  std::vector<Figure> figures(const Tensor& values, const Tensor& base) const override {
    const Tensor all = figure(values);
    std::vector<Figure> out{{"flux", all, 2}};
    if (base.defined()) out.push_back({"ratio", all / base, 0});
    return out;
  }
  Tensor power(const Tensor& values) const override { return figure(values); }

 private:
  em::SampledFlux flux_;
};

}  // namespace

std::unique_ptr<Monitor> make_flux(const Case& c, const MonitorOptions& o) {
  return std::make_unique<FluxMonitor>(c, o);
}

}  // namespace tessera::apps::fdtd
