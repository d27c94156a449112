// SPDX-License-Identifier: Apache-2.0
// What monitors of transformed fields share, whatever they make of these.
#pragma once
#include "electromagnetics/fdtd/monitors.h"
#include "tessera/autodiff/ops.h"

#include <complex>
#include <optional>
#include <vector>

namespace tessera::apps::fdtd {

/// Transformed fields: the common part of all kinds.
class Spectral : public Monitor {
 public:
  Spectral(const Case& c, const MonitorOptions& o)
      : Monitor(c, o), frequencies_(o.all_frequencies()) {}
  void observe(const electromagnetics::Records& r) override {
    record_->add(r);
    steps_ = r.first + r.n_steps;
  }
  void save(data::Checkpoint& c, const std::string& prefix) const override {
    c.put(prefix + "sums", record_->own_sums());
    c.put(prefix + "fading", record_->fading().sums());
    c.put(prefix + "every", std::int64_t{record_->every()});
    c.put(prefix + "steps", steps_);
  }
  void load(const data::Checkpoint& c, const std::string& prefix) override {
    if (c.has(prefix + "every"))  // else of an older build
      sampling_.every = static_cast<int>(c.scalar<std::int64_t>(prefix + "every"));
    record_->restore(c.array<double>(prefix + "sums"), c.array<double>(prefix + "fading"),
                     sampling_.every);
    steps_ = c.has(prefix + "steps") ? c.scalar<std::int64_t>(prefix + "steps")
                                     : static_cast<std::int64_t>(c.step);
  }
  void take_off(const Monitor& former) override {
    const auto& record = *static_cast<const Spectral&>(former).record_;
    record_->subtract(record.own_sums(), record.every());
  }
  std::optional<double> settling() const override { return record_->norm(); }
  std::optional<electromagnetics::Fading::Report> fading() const override {
    return record_->fading().report();
  }
  std::int64_t bytes(std::int64_t) const override {
    return static_cast<std::int64_t>(16 * frequencies_.size() * samples_.edges().size());
  }
  std::optional<Transform> transform() const override {
    return Transform{frequencies_, sampling_.every, sampling_.folded, record_->start()};
  }

 protected:
  /// After all samples have been added.
  void start_transform();
  MonitorResult begin_result() const;
  electromagnetics::TransformRecord transform_record() const;
  /// `power` over that of the flux, mode or beam monitor that the case names, each frequency by its
  /// own.
  std::vector<double> over(const std::vector<double>& power, const Results& all) const;
  /// Adds the power of the amplitudes `forward` and `backward` over that of `relative_to`.
  void relate_ways(MonitorResult& own, const Results& all) const;
  /// Amplitudes both ways, complex [frequency, ..], and their powers over the `base`.
  static std::vector<Figure> ways(const Tensor& forward, const Tensor& backward,
                                  const Tensor& base);
  /// For later runs that subtract this one.
  Quantity sums() const;
  std::uint64_t count() const { return frequencies_.size(); }
  /// The spectrum of what the run has taken of a source of strength 1: of its waveform until it or
  /// the run ends, at the times (n + offset) dt.
  std::vector<std::complex<double>> spectrum_of(const CaseSource& s, double offset = 0) const;
  /// Values of all samples, complex [frequency, sample].
  Tensor values() const { return record_->values(samples_); }
  std::vector<double> frequencies_;
  electromagnetics::Sampling sampling_;
  std::optional<electromagnetics::SpectralRecord> record_;
  std::optional<MonitorResult> former_;  ///< what is to be subtracted

 private:
  std::int64_t steps_ = 0;  ///< taken so far; 0: as many as are expected
};

inline std::vector<double> real_values(const Tensor& t) { return t.to_vector<double>(); }
inline std::vector<std::complex<double>> complex_values(const Tensor& t) {
  return t.to_vector<c128>();
}
/// |x|^2
inline Tensor squared_modulus(const Tensor& x) { return square(real(x)) + square(imag(x)); }
/// x [frequency, ..] over a number at each frequency.
inline Tensor over_each(const Tensor& x, const Tensor& by) {
  Tensor all = by;
  while (all.ndim() < x.ndim()) all = expand_dims(all, -1);
  return x / all;
}
/// What is counted `n` times.
inline Tensor times(const Tensor& x, double n) { return n == 1 ? x : x * n; }

/// The source that the monitor names, or the first, of one of these kinds. Throws Error.
const CaseSource& source_of(const Case& c, const MonitorOptions& o,
                            std::initializer_list<SourceKind> kinds);

}  // namespace tessera::apps::fdtd
