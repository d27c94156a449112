// SPDX-License-Identifier: Apache-2.0
// The kinds of monitors.
#pragma once
#include "electromagnetics/fdtd/monitor.h"

namespace tessera::apps::fdtd {

/// Points of a plane, box or line on the grid: middles of its cells along extended axes.
struct Region {
  std::vector<double> x, y, z;
};
Region region_of(const Case& c, const MonitorOptions& o);
std::vector<Coordinate> region_coordinates(const Region& region);
/// Samples of each component in turn, x fastest.
void add_region(electromagnetics::SampleList& samples, const Region& region,
                const std::vector<int>& components);
/// Those that the monitor names, or all that are computed.
std::vector<int> computed_components(const Case& c, const MonitorOptions& o);
const char* field_units(int component);

/// Fields at a point, step by step.
class Probe : public Monitor {
 public:
  Probe(const Case& c, const MonitorOptions& o);
  void observe(const electromagnetics::Records& r) override;
  MonitorResult result() const override;
  void save(data::Checkpoint& c, const std::string& prefix) const override;
  void load(const data::Checkpoint& c, const std::string& prefix) override;
  std::int64_t bytes(std::int64_t n_steps) const override;
  bool keeps(std::int64_t n) const override;
  std::string figure_name() const override { return "record"; }
  Tensor figure(const Tensor& samples) const override { return samples; }

  const std::vector<int>& components() const { return components_; }
  const std::vector<double>& time() const { return time_; }
  const std::vector<double>& values() const { return values_; }  ///< [time, component]
  double step_s() const { return static_cast<double>(every_) * case_.dt_s; }

 private:
  std::vector<int> components_;
  std::int64_t every_ = 1;
  std::vector<double> time_, values_;
};

/// Frequencies and Q of what rings at a point after the sources have ended, and their derivatives
/// in lengths of structures.
class ResonanceMonitor : public Monitor {
 public:
  ResonanceMonitor(const Case& c, const MonitorOptions& o);
  void observe(const electromagnetics::Records& r) override { probe_.observe(r); }
  bool differentiate(std::int64_t n_steps, const std::function<bool(double)>& go_on) override;
  MonitorResult result() const override;
  void save(data::Checkpoint& c, const std::string& prefix) const override {
    probe_.save(c, prefix);
  }
  void load(const data::Checkpoint& c, const std::string& prefix) override {
    probe_.load(c, prefix);
  }
  std::int64_t bytes(std::int64_t n_steps) const override;
  bool keeps(std::int64_t n) const override { return probe_.keeps(n); }
  std::string figure_name() const override { return "record"; }
  Tensor figure(const Tensor& samples) const override { return samples; }

 private:
  MonitorOptions adjusted_;  ///< begins at the end of the sources
  Probe probe_;
  /// Of the record of each component in each length [length, component, step].
  Tensor derivatives_;
};

/// Fields of a region at intervals.
class Snapshot : public Monitor {
 public:
  Snapshot(const Case& c, const MonitorOptions& o);
  void observe(const electromagnetics::Records& r) override;
  MonitorResult result() const override;
  void save(data::Checkpoint& c, const std::string& prefix) const override;
  void load(const data::Checkpoint& c, const std::string& prefix) override;
  std::int64_t bytes(std::int64_t n_steps) const override;
  bool keeps(std::int64_t n) const override;
  std::string figure_name() const override { return "field"; }
  Tensor figure(const Tensor& samples) const override { return samples; }

 private:
  std::vector<int> components_;
  Region region_;
  std::int64_t every_ = 1;
  std::vector<double> time_;
  std::vector<float> values_;
};

/// Transformed fields: the common part of all that follow.
class Spectral : public Monitor {
 public:
  Spectral(const Case& c, const MonitorOptions& o)
      : Monitor(c, o), frequencies_(o.all_frequencies()) {}
  void observe(const electromagnetics::Records& r) override {
    dft_->add(r);
    fading_->add(r);
  }
  void save(data::Checkpoint& c, const std::string& prefix) const override {
    c.put(prefix + "sums", dft_->sums());
    fading_->save(c, prefix);
  }
  void load(const data::Checkpoint& c, const std::string& prefix) override {
    dft_->restore(c.array<double>(prefix + "sums"));
    fading_->load(c, prefix);
  }
  std::optional<double> settling() const override;
  std::optional<Fading::Report> fading() const override { return fading_->report(); }
  std::int64_t bytes(std::int64_t) const override {
    return static_cast<std::int64_t>(16 * frequencies_.size() * samples_.edges().size());
  }
  std::optional<Transform> transform() const override {
    return Transform{frequencies_, every_, sampling_.folded, start_};
  }

 protected:
  /// After all samples have been added.
  void start_transform();
  MonitorResult begin_result() const;
  /// `power` over that of the flux monitor that the case names, each frequency by its own.
  std::vector<double> over(const std::vector<double>& power, const Results& all) const;
  /// For later runs that subtract this one.
  Quantity sums() const;
  std::uint64_t count() const { return frequencies_.size(); }
  /// Values of all samples, complex [frequency, sample].
  Tensor values() const;
  /// The sums less those of the run that is subtracted.
  std::vector<double> all_sums() const;
  std::vector<double> frequencies_;
  electromagnetics::Sampling sampling_;
  int every_ = 1;  ///< the transform takes each such step
  std::optional<electromagnetics::RunningDft> dft_;
  std::optional<MonitorResult> former_;  ///< what is to be subtracted
  std::vector<double> start_;            ///< the same as sums, negative; empty where nothing is
  std::optional<Fading> fading_;
};

std::unique_ptr<Monitor> make_spectral(const Case& c, const MonitorOptions& o);

}  // namespace tessera::apps::fdtd
