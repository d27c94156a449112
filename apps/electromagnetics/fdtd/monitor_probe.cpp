// SPDX-License-Identifier: Apache-2.0
// Fields at a point, step by step.
#include "electromagnetics/fdtd/monitors.h"

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

class ProbeMonitor : public Monitor {
 public:
  ProbeMonitor(const Case& c, const MonitorOptions& o)
      : Monitor(c, o), components_(computed_components(c, o)), record_(kept_steps(c, o)) {
    for (const int x : components_) samples_.add(x, *o.position);
  }
  void observe(const em::Records& r) override { record_.add(r, samples_); }
  MonitorResult result() const override {
    const std::vector<double>& time = record_.time_s();
    MonitorResult out{options_.name, "probe", {"time", "s", time}, {}, {}};
    for (std::size_t q = 0; q < components_.size(); ++q) {
      std::vector<double> v;
      for (std::size_t n = 0; n < time.size(); ++n)
        v.push_back(record_.values()[n * components_.size() + q]);
      const int x = components_[q];
      out.quantities.push_back(
          {em::name_of(x),
           field_units(x),
           em::is_electric(x) ? "field" : "field, half a step before the time given",
           {time.size()},
           std::move(v)});
    }
    return out;
  }
  void save(data::Checkpoint& c, const std::string& prefix) const override {
    c.put(prefix + "time", record_.time_s());
    c.put(prefix + "values", record_.values());
  }
  void load(const data::Checkpoint& c, const std::string& prefix) override {
    record_.restore(c.array<double>(prefix + "time"), c.array<double>(prefix + "values"));
  }
  std::int64_t bytes(std::int64_t n_steps) const override {
    return n_steps / record_.kept().every * static_cast<std::int64_t>(8 * (components_.size() + 1));
  }
  bool keeps(std::int64_t n) const override { return record_.kept()(n); }
  std::string figure_name() const override { return "record"; }
  Tensor figure(const Tensor& samples) const override { return samples; }

 private:
  std::vector<int> components_;
  em::TimeRecord<double> record_;
};

}  // namespace

std::unique_ptr<Monitor> make_probe(const Case& c, const MonitorOptions& o) {
  return std::make_unique<ProbeMonitor>(c, o);
}

}  // namespace tessera::apps::fdtd
