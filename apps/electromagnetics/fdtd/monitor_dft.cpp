// SPDX-License-Identifier: Apache-2.0
// Transformed fields at a point, or in the cells of a region.
#include "electromagnetics/fdtd/spectral.h"
#include "tessera/autodiff/ops.h"

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

class DftMonitor : public Spectral {
 public:
  DftMonitor(const Case& c, const MonitorOptions& o)
      : Spectral(c, o), components_(computed_components(c, o)), region_(region_of(c, o)) {
    em::add_region(samples_, region_, components_);
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
  std::vector<Figure> figures(const Tensor& values, const Tensor&) const override {
    const Tensor all = figure(values);
    const auto points = static_cast<Index>(region_.size());
    std::vector<Figure> out;
    for (std::size_t q = 0; q < components_.size(); ++q) {
      const auto first = static_cast<Index>(q) * points;
      out.push_back({em::name_of(components_[q]), slice(all, 1, first, first + points), 1});
    }
    return out;
  }

 private:
  /// Fields that a former run has kept, as `values` has them: [frequency, component and point],
  /// whether or not it has told them per watt.
  Tensor fields_of(const MonitorResult& former) const {
    std::vector<c128> out;
    const std::vector<std::complex<double>>& watt = former.transform->of_a_watt;
    for (std::size_t k = 0; k < count(); ++k)
      for (const int q : components_) {
        const Quantity* field = former.find(em::name_of(q));
        const auto* all =
            field ? std::get_if<std::vector<std::complex<double>>>(&field->values) : nullptr;
        const std::size_t points = all ? all->size() / count() : 0;
        if (points != region_.size())
          throw MonitorFault("subtract",
                             std::string("the run in ") + options_.subtract->string() +
                                 " keeps no such " + em::name_of(q) + " of this monitor",
                             "take the same size and components in both");
        if (watt.empty() && field->units.find("/sqrt(W") != std::string::npos)
          throw MonitorFault("subtract",
                             std::string("the run in ") + options_.subtract->string() + " keeps " +
                                 em::name_of(q) + " per watt, and not of how many",
                             "run it again with this version, or without s_parameters.per_watt");
        for (std::size_t p = k * points; p < (k + 1) * points; ++p)
          out.push_back(watt.empty() ? (*all)[p] : (*all)[p] / watt[k]);
      }
    return tensor(out, {static_cast<Index>(count()), static_cast<Index>(samples_.size())});
  }
  Tensor subtracted_;
  std::vector<int> components_;
  em::Region region_;
};

}  // namespace

std::unique_ptr<Monitor> make_dft(const Case& c, const MonitorOptions& o) {
  return std::make_unique<DftMonitor>(c, o);
}

}  // namespace tessera::apps::fdtd
