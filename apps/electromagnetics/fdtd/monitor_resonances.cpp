// SPDX-License-Identifier: Apache-2.0
// Frequencies and Q of what rings at a point after the sources have ended, and their derivatives in
// lengths of structures.
#include "electromagnetics/fdtd/monitors.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/shape_derivatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// What opens the record, unless the start is given: the end of the last source, of a wave behind
/// its way through its box.
double sources_end(const Case& c) {
  double end = 0;
  for (const CaseSource& s : c.sources)
    end = std::max(end, s.wave.edges.empty() ? s.waveform.end_s : s.wave.end_s);
  return end;
}
MonitorOptions from_end_of_sources(const Case& c, const MonitorOptions& o) {
  MonitorOptions out = o;
  if (!out.start) out.start = sources_end(c);
  for (const CaseSource& s : c.sources)
    if (out.components.empty() && s.wave.edges.empty()) out.components = {s.options.component};
  return out;
}

/// A mode and its derivatives in each length, as one component has them.
struct Resonance {
  em::Mode mode;
  std::vector<double> frequency, decay;
  int component = 0;
};

/// By which E and H compare.
double impedance(int component) { return em::is_electric(component) ? 1 : em::vacuum_impedance; }
double strength(const Resonance& r) { return std::abs(r.mode.amplitude) * impedance(r.component); }

/// Of modes that several components tell, the one that tells it most exactly.
std::vector<Resonance> distinct(const std::vector<Resonance>& found) {
  std::vector<em::Mode> modes;
  std::vector<int> components;
  for (const Resonance& r : found) modes.push_back(r.mode), components.push_back(r.component);
  std::vector<Resonance> out;
  for (const std::size_t k : em::distinct_modes(modes, components)) out.push_back(found[k]);
  return out;
}

class ResonanceMonitor : public Monitor {
 public:
  ResonanceMonitor(const Case& c, const MonitorOptions& o)
      : ResonanceMonitor(c, o, from_end_of_sources(c, o)) {}
  void observe(const em::Records& r) override {
    record_.add(r, samples_);
    derivatives_ = Tensor();
  }
  bool differentiate(std::int64_t n_steps, const em::GridCut& cut,
                     const std::function<bool(double)>& go_on) override;
  bool is_differentiated() const override {
    return options_.derivatives.empty() || derivatives_.defined();
  }
  MonitorResult result() const override;
  void save(data::Checkpoint& c, const std::string& prefix) const override {
    c.put(prefix + "time", record_.time_s());
    c.put(prefix + "values", record_.values());
    if (derivatives_.defined()) c.put(prefix + "derivatives", derivatives_.to_vector());
  }
  void load(const data::Checkpoint& c, const std::string& prefix) override {
    record_.restore(c.array<double>(prefix + "time"), c.array<double>(prefix + "values"));
    if (c.has(prefix + "derivatives"))
      derivatives_ = tensor(
          c.array<double>(prefix + "derivatives"),
          {static_cast<Index>(options_.derivatives.size()), static_cast<Index>(components_.size()),
           static_cast<Index>(record_.time_s().size())});
  }
  std::int64_t bytes(std::int64_t n_steps) const override;
  bool keeps(std::int64_t n) const override { return record_.kept()(n); }
  std::string figure_name() const override { return "record"; }
  Tensor figure(const Tensor& samples) const override { return samples; }

 private:
  ResonanceMonitor(const Case& c, const MonitorOptions& o, const MonitorOptions& adjusted)
      : Monitor(c, o),
        components_(computed_components(c, adjusted)),
        record_(kept_steps(c, adjusted)) {
    for (const int x : components_) samples_.add(x, *o.position);
    if (*o.frequency_max * step_s() > 0.5)
      throw Error(fmt::format(
          "its band ends at {:.6g} Hz, and steps of {:.4g} s tell nothing above {:.6g} Hz",
          *o.frequency_max, step_s(), 0.5 / step_s()));
  }
  double step_s() const { return static_cast<double>(record_.kept().every) * case_.dt_s; }

  std::string per_unit_of(const std::string& name) const;

  std::vector<int> components_;
  em::TimeRecord<double> record_;
  /// Of the record of each component in each length [length, component, step].
  Tensor derivatives_;
};

/// "/m" of a length; nothing of a plain number.
std::string ResonanceMonitor::per_unit_of(const std::string& name) const {
  const data::Parameter* p = case_.options.use.parameters.find(name);
  const std::string unit = p ? data::si_unit(p->value.dimension) : "m";
  if (unit.empty()) return {};
  return unit.find_first_of("*/") == std::string::npos ? "/" + unit : "/(" + unit + ")";
}

bool ResonanceMonitor::differentiate(std::int64_t n_steps, const em::GridCut& cut,
                                     const std::function<bool(double)>& go_on) {
  if (options_.derivatives.empty()) return true;
  const Tensor all = em::sample_derivatives(
      make_model(case_, em::slab_of(case_.faces, cut)), case_.shape_derivatives.at(options_.name),
      make_injections(case_), samples_, n_steps, {.go_on = go_on, .cut = cut});
  if (!all.defined()) return false;
  const std::vector<double>& time = record_.time_s();
  const Index first =
      time.empty() ? n_steps
                   : std::llround(time.front() / case_.dt_s) - 1;  // sample n is known after step n
  derivatives_ = slice(all, 2, first, first + static_cast<Index>(time.size()));
  return true;
}

std::int64_t ResonanceMonitor::bytes(std::int64_t n_steps) const {
  const auto lengths = static_cast<std::int64_t>(options_.derivatives.size());
  const std::int64_t own =
      n_steps / record_.kept().every * static_cast<std::int64_t>(8 * (components_.size() + 1));
  if (lengths == 0) return own;
  const std::int64_t word = case_.options.run.precision == Precision::f32 ? 4 : 8,
                     edges = static_cast<std::int64_t>(
                         case_.shape_derivatives.at(options_.name).edges.size());
  return own + std::min(em::SampleDerivativesOptions{}.most_bytes, 2 * word * edges * n_steps) +
         48 * lengths * samples_.size() * n_steps;
}

MonitorResult ResonanceMonitor::result() const {
  std::vector<Resonance> modes;
  const std::size_t n = components_.size(), steps = record_.time_s().size();
  double largest = 0;
  for (std::size_t k = 0; k < record_.values().size(); ++k)
    largest = std::max(largest, std::abs(record_.values()[k]) * impedance(components_[k % n]));
  for (std::size_t q = 0; q < n && steps > 12; ++q) {
    std::vector<double> signal;
    for (std::size_t k = 0; k < steps; ++k) signal.push_back(record_.values()[k * n + q]);
    em::HarmonicInversionOptions h;
    if (case_.options.run.precision == Precision::f32)
      h.noise = 1e-7 * largest / impedance(components_[q]);
    const auto found = em::harmonic_inversion(std::span<const double>(signal), step_s(),
                                              *options_.frequency_min, *options_.frequency_max, h);
    std::vector<Resonance> here(found.size());
    for (std::size_t k = 0; k < found.size(); ++k)
      here[k].mode = found[k], here[k].component = components_[q];
    const auto record = static_cast<Index>(steps);
    for (std::size_t p = 0; p < options_.derivatives.size() && !found.empty(); ++p) {
      const Tensor moved =
          reshape(slice(slice(derivatives_, 0, static_cast<Index>(p), static_cast<Index>(p) + 1), 1,
                        static_cast<Index>(q), static_cast<Index>(q) + 1),
                  {record});
      const auto [value, derivative] = jvp(
          [&](const Tensor& x) {
            return em::resonances(x, step_s(), *options_.frequency_min, *options_.frequency_max, h);
          },
          tensor(signal), moved);
      const auto df = derivative.frequency_hz.to_vector(), dg = derivative.decay.to_vector();
      for (std::size_t k = 0; k < found.size(); ++k) {
        here[k].frequency.push_back(df[k]);
        here[k].decay.push_back(dg[k]);
      }
    }
    // Without losses half of them grow by rounding, with a Q that is large, too.
    for (Resonance& r : here)
      if (std::abs(r.mode.quality) >= options_.min_quality) modes.push_back(std::move(r));
  }
  if (n > 1) modes = distinct(modes);
  std::sort(modes.begin(), modes.end(),
            [](const Resonance& a, const Resonance& b) { return strength(a) > strength(b); });
  if (modes.size() > static_cast<std::size_t>(options_.max_modes))
    modes.resize(static_cast<std::size_t>(options_.max_modes));
  std::sort(modes.begin(), modes.end(), [](const Resonance& a, const Resonance& b) {
    return a.mode.frequency_hz < b.mode.frequency_hz;
  });
  MonitorResult out{options_.name, "resonances", {"mode", "1", {}}, {}, {}};
  std::vector<double> f, decay, quality, error;
  std::vector<std::complex<double>> amplitude;
  for (const auto& [m, df, dg, component] : modes) {
    out.axis.values.push_back(static_cast<double>(f.size()));
    f.push_back(m.frequency_hz);
    decay.push_back(m.decay);
    quality.push_back(m.quality);
    amplitude.push_back(m.amplitude * (impedance(component) / impedance(components_[0])));
    error.push_back(m.error_hz);
  }
  const std::uint64_t count = f.size();
  out.quantities = {{"frequency", "Hz", "resonance frequency", {count}, f},
                    {"quality", "1", "quality factor", {count}, quality},
                    {"decay", "1/s", "decay rate of the field", {count}, decay},
                    {"amplitude",
                     field_units(components_[0]),
                     "complex amplitude at the beginning of the record, beside E of H times the "
                     "impedance of vacuum",
                     {count},
                     amplitude},
                    {"error", "Hz", "estimated error of the frequency", {count}, error}};
  for (std::size_t p = 0; p < options_.derivatives.size(); ++p) {
    std::vector<double> by_f, by_decay, by_quality;
    for (const auto& [m, df, dg, component] : modes) {
      by_f.push_back(df[p]);
      by_decay.push_back(dg[p]);
      by_quality.push_back(m.quality *
                           (df[p] / m.frequency_hz - dg[p] / m.decay));  // Q = pi f / gamma
    }
    const std::string by = "_by_" + options_.derivatives[p],
                      what = "derivative in " + options_.derivatives[p] + " of the ",
                      per = per_unit_of(options_.derivatives[p]);
    out.quantities.push_back(
        {"frequency" + by, "Hz" + per, what + "resonance frequency", {count}, by_f});
    out.quantities.push_back(
        {"quality" + by, "1" + per, what + "quality factor", {count}, by_quality});
    out.quantities.push_back(
        {"decay" + by, "1/s" + per, what + "decay rate of the field", {count}, by_decay});
  }
  return out;
}

}  // namespace

std::unique_ptr<Monitor> make_resonances(const Case& c, const MonitorOptions& o) {
  return std::make_unique<ResonanceMonitor>(c, o);
}

}  // namespace tessera::apps::fdtd
