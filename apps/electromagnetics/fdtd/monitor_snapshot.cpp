// SPDX-License-Identifier: Apache-2.0
// Fields of a region at intervals.
#include "electromagnetics/fdtd/monitors.h"

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

class SnapshotMonitor : public Monitor {
 public:
  SnapshotMonitor(const Case& c, const MonitorOptions& o)
      : Monitor(c, o),
        components_(computed_components(c, o)),
        region_(region_of(c, o)),
        record_(kept_steps(c, o)) {
    em::add_region(samples_, region_, components_);
  }
  void observe(const em::Records& r) override { record_.add(r, samples_); }
  MonitorResult result() const override {
    const std::vector<double>& time = record_.time_s();
    MonitorResult out{
        options_.name, "snapshot", {"time", "s", time}, region_coordinates(region_), {}};
    const std::uint64_t n[3] = {region_.x.size(), region_.y.size(), region_.z.size()},
                        points = region_.size();
    for (std::size_t q = 0; q < components_.size(); ++q) {
      std::vector<double> v;
      for (std::size_t s = 0; s < time.size(); ++s) {
        const auto begin = record_.values().begin() +
                           static_cast<std::ptrdiff_t>((s * components_.size() + q) * points);
        v.insert(v.end(), begin, begin + static_cast<std::ptrdiff_t>(points));
      }
      const int x = components_[q];
      out.quantities.push_back(
          {em::name_of(x),
           field_units(x),
           em::is_electric(x) ? "field" : "field, half a step before the time given",
           {time.size(), n[2], n[1], n[0]},
           std::move(v)});
    }
    return out;
  }
  void save(data::Checkpoint& c, const std::string& prefix) const override {
    c.put(prefix + "time", record_.time_s());
    c.put(prefix + "values", record_.values());
  }
  void load(const data::Checkpoint& c, const std::string& prefix) override {
    record_.restore(c.array<double>(prefix + "time"), c.array<float>(prefix + "values"));
  }
  std::int64_t bytes(std::int64_t n_steps) const override {
    return n_steps / record_.kept().every * samples_.size() * 4;
  }
  bool keeps(std::int64_t n) const override { return record_.kept()(n); }
  std::string figure_name() const override { return "field"; }
  Tensor figure(const Tensor& samples) const override { return samples; }

 private:
  std::vector<int> components_;
  em::Region region_;
  em::TimeRecord<float> record_;
};

}  // namespace

std::unique_ptr<Monitor> make_snapshot(const Case& c, const MonitorOptions& o) {
  return std::make_unique<SnapshotMonitor>(c, o);
}

}  // namespace tessera::apps::fdtd
