// SPDX-License-Identifier: Apache-2.0
// Monitors of fields in time: probes, snapshots, resonances.
#include "electromagnetics/fdtd/monitors.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/harmonic_inversion.h"
#include "tessera/electromagnetics/shape_derivatives.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::apps::fdtd {

namespace em = electromagnetics;

std::vector<int> computed_components(const Case& c, const MonitorOptions& o) {
  std::vector<int> out;
  if (!o.components.empty()) {
    for (const Component x : o.components) out.push_back(static_cast<int>(x));
    return out;
  }
  const std::array<bool, 6> all = computed(c);
  for (int x = 0; x < 6; ++x)
    if (all[static_cast<std::size_t>(x)]) out.push_back(x);
  return out;
}

namespace {
/// Each such step from `start` to `end`.
bool within(const MonitorOptions& o, std::int64_t every, double dt, std::int64_t n) {
  const double t = static_cast<double>(n) * dt;
  return n % every == 0 && !(o.start && t < *o.start) && !(o.end && t > *o.end);
}
}  // namespace

const char* field_units(int component) { return em::is_electric(component) ? "V/m" : "A/m"; }

Probe::Probe(const Case& c, const MonitorOptions& o)
    : Monitor(c, o), components_(computed_components(c, o)) {
  for (const int x : components_) samples_.add(x, *o.position);
  every_ = o.every ? std::max<std::int64_t>(1, std::llround(*o.every / c.dt_s)) : 1;
}

bool Probe::keeps(std::int64_t n) const { return within(options_, every_, case_.dt_s, n); }

void Probe::observe(const em::Records& r) {
  for (std::int64_t n = 0; n < r.n_steps; ++n) {
    if (!keeps(r.first + n + 1)) continue;
    time_.push_back(static_cast<double>(r.first + n + 1) * case_.dt_s);
    for (std::size_t q = 0; q < components_.size(); ++q)
      values_.push_back(
          samples_.value(static_cast<std::int64_t>(q), r.step(n).data(), r.imaginary_step(n)));
  }
}

MonitorResult Probe::result() const {
  MonitorResult out{options_.name, "probe", {"time", "s", time_}, {}, {}};
  for (std::size_t q = 0; q < components_.size(); ++q) {
    std::vector<double> v;
    for (std::size_t n = 0; n < time_.size(); ++n) v.push_back(values_[n * components_.size() + q]);
    const int x = components_[q];
    out.quantities.push_back(
        {em::name_of(x),
         field_units(x),
         em::is_electric(x) ? "field" : "field, half a step before the time given",
         {time_.size()},
         std::move(v)});
  }
  return out;
}
void Probe::save(data::Checkpoint& c, const std::string& prefix) const {
  c.put(prefix + "time", time_);
  c.put(prefix + "values", values_);
}
void Probe::load(const data::Checkpoint& c, const std::string& prefix) {
  time_ = c.array<double>(prefix + "time");
  values_ = c.array<double>(prefix + "values");
}
std::int64_t Probe::bytes(std::int64_t n_steps) const {
  return n_steps / every_ * static_cast<std::int64_t>(8 * (components_.size() + 1));
}

// ---- resonances
// -----------------------------------------------------------------------------------------------------------

namespace {
/// The source whose end opens the record, unless the start is given.
double sources_end(const Case& c) {
  double end = 0;
  for (const CaseSource& s : c.sources) end = std::max(end, s.waveform.end_s);
  return end;
}
MonitorOptions from_end_of_sources(const Case& c, const MonitorOptions& o) {
  MonitorOptions out = o;
  if (!out.start) out.start = sources_end(c);
  if (out.components.empty()) {
    for (const CaseSource& s : c.sources) {
      out.components = {s.options.component};
      break;
    }
  }
  return out;
}
}  // namespace

ResonanceMonitor::ResonanceMonitor(const Case& c, const MonitorOptions& o)
    : Monitor(c, o), adjusted_(from_end_of_sources(c, o)), probe_(c, adjusted_) {
  for (const int x : probe_.components()) samples_.add(x, *o.position);
}

bool ResonanceMonitor::differentiate(std::int64_t n_steps,
                                     const std::function<bool(double)>& go_on) {
  if (options_.derivatives.empty()) return true;
  const Tensor all =
      em::sample_derivatives(make_model(case_), case_.shape_derivatives.at(options_.name),
                             make_injections(case_), samples_, n_steps, {.go_on = go_on});
  if (!all.defined()) return false;
  const std::vector<double>& time = probe_.time();
  const Index first =
      time.empty() ? n_steps
                   : std::llround(time.front() / case_.dt_s) - 1;  // sample n is known after step n
  derivatives_ = slice(all, 2, first, first + static_cast<Index>(time.size()));
  return true;
}

std::int64_t ResonanceMonitor::bytes(std::int64_t n_steps) const {
  const auto lengths = static_cast<std::int64_t>(options_.derivatives.size());
  if (lengths == 0) return probe_.bytes(n_steps);
  const std::int64_t word = case_.options.run.precision == Precision::f32 ? 4 : 8,
                     edges = static_cast<std::int64_t>(
                         case_.shape_derivatives.at(options_.name).edges.size());
  return probe_.bytes(n_steps) +
         std::min(em::SampleDerivativesOptions{}.most_bytes, 2 * word * edges * n_steps) +
         48 * lengths * samples_.size() * n_steps;
}

namespace {
/// A mode and its derivatives in each length, as one component has them.
struct Resonance {
  em::Mode mode;
  std::vector<double> frequency, decay;
  int component = 0;
};

double strength(const Resonance& r) {
  return std::abs(r.mode.amplitude) * (em::is_electric(r.component) ? 1 : em::vacuum_impedance);
}

/// Each component has the same modes: those of different ones that lie within their errors of each
/// other are one, told by the component that has it most exactly. Errors are estimates, good to a
/// factor of some units.
std::vector<Resonance> joined(std::vector<Resonance> found) {
  constexpr double kErrors = 3, kRounding = 1e-13;
  std::stable_sort(found.begin(), found.end(), [](const Resonance& a, const Resonance& b) {
    return a.mode.error_hz < b.mode.error_hz;
  });
  std::vector<Resonance> out;
  std::vector<std::vector<int>> seen;  // components of each
  for (Resonance& r : found) {
    std::size_t nearest = out.size();
    double least = INFINITY;
    for (std::size_t k = 0; k < out.size(); ++k) {
      if (std::find(seen[k].begin(), seen[k].end(), r.component) != seen[k].end())
        continue;  // one component tells two modes apart
      const em::Mode &a = out[k].mode, &b = r.mode;
      const double off =
          std::hypot(a.frequency_hz - b.frequency_hz, (a.decay - b.decay) / (2 * std::numbers::pi));
      if (off > kErrors * (a.error_hz + b.error_hz) + kRounding * std::abs(a.frequency_hz) ||
          off >= least)
        continue;
      least = off, nearest = k;
    }
    if (nearest == out.size()) out.push_back(r), seen.emplace_back();
    seen[nearest].push_back(r.component);
  }
  return out;
}
}  // namespace

MonitorResult ResonanceMonitor::result() const {
  std::vector<Resonance> modes;
  const std::size_t n = probe_.components().size(), steps = probe_.time().size();
  double largest = 0;
  for (const double v : probe_.values()) largest = std::max(largest, std::abs(v));
  for (std::size_t q = 0; q < n && steps > 12; ++q) {
    std::vector<double> signal;
    for (std::size_t k = 0; k < steps; ++k) signal.push_back(probe_.values()[k * n + q]);
    em::HarmonicInversionOptions h;
    if (case_.options.run.precision == Precision::f32) h.noise = 1e-7 * largest;
    const auto found = em::harmonic_inversion(std::span<const double>(signal), probe_.step_s(),
                                              *options_.frequency_min, *options_.frequency_max, h);
    std::vector<Resonance> here(found.size());
    for (std::size_t k = 0; k < found.size(); ++k)
      here[k].mode = found[k], here[k].component = probe_.components()[q];
    const auto record = static_cast<Index>(steps);
    for (std::size_t p = 0; p < options_.derivatives.size() && !found.empty(); ++p) {
      const Tensor moved =
          reshape(slice(slice(derivatives_, 0, static_cast<Index>(p), static_cast<Index>(p) + 1), 1,
                        static_cast<Index>(q), static_cast<Index>(q) + 1),
                  {record});
      const auto [value, derivative] = jvp(
          [&](const Tensor& x) {
            return em::resonances(x, probe_.step_s(), *options_.frequency_min,
                                  *options_.frequency_max, h);
          },
          tensor(signal), moved);
      const auto df = derivative.frequency_hz.to_vector(), dg = derivative.decay.to_vector();
      for (std::size_t k = 0; k < found.size(); ++k) {
        here[k].frequency.push_back(df[k]);
        here[k].decay.push_back(dg[k]);
      }
    }
    for (Resonance& r : here)
      if (r.mode.quality < 0 || r.mode.quality >= options_.min_quality)
        modes.push_back(std::move(r));  // without losses half of them grow by rounding
  }
  if (n > 1) modes = joined(std::move(modes));
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
    amplitude.push_back(m.amplitude);
    error.push_back(m.error_hz);
  }
  const std::uint64_t count = f.size();
  out.quantities = {{"frequency", "Hz", "resonance frequency", {count}, f},
                    {"quality", "1", "quality factor", {count}, quality},
                    {"decay", "1/s", "decay rate of the field", {count}, decay},
                    {"amplitude",
                     field_units(probe_.components()[0]),
                     "complex amplitude at the beginning of the record",
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
                      what = "derivative in " + options_.derivatives[p] + " of the ";
    out.quantities.push_back(
        {"frequency" + by, "Hz/m", what + "resonance frequency", {count}, by_f});
    out.quantities.push_back({"quality" + by, "1/m", what + "quality factor", {count}, by_quality});
    out.quantities.push_back(
        {"decay" + by, "1/s/m", what + "decay rate of the field", {count}, by_decay});
  }
  return out;
}

// ---- snapshots
// ------------------------------------------------------------------------------------------------------------

Snapshot::Snapshot(const Case& c, const MonitorOptions& o)
    : Monitor(c, o), components_(computed_components(c, o)), region_(region_of(c, o)) {
  add_region(samples_, region_, components_);
  every_ = std::max<std::int64_t>(1, std::llround(*o.every / c.dt_s));
}
bool Snapshot::keeps(std::int64_t n) const { return within(options_, every_, case_.dt_s, n); }
void Snapshot::observe(const em::Records& r) {
  for (std::int64_t n = 0; n < r.n_steps; ++n) {
    if (!keeps(r.first + n + 1)) continue;
    time_.push_back(static_cast<double>(r.first + n + 1) * case_.dt_s);
    for (std::int64_t q = 0; q < samples_.size(); ++q)
      values_.push_back(
          static_cast<float>(samples_.value(q, r.step(n).data(), r.imaginary_step(n))));
  }
}
MonitorResult Snapshot::result() const {
  MonitorResult out{
      options_.name, "snapshot", {"time", "s", time_}, region_coordinates(region_), {}};
  const std::uint64_t n[3] = {region_.x.size(), region_.y.size(), region_.z.size()},
                      points = n[0] * n[1] * n[2];
  for (std::size_t q = 0; q < components_.size(); ++q) {
    std::vector<double> v;
    for (std::size_t s = 0; s < time_.size(); ++s) {
      const auto begin =
          values_.begin() + static_cast<std::ptrdiff_t>((s * components_.size() + q) * points);
      v.insert(v.end(), begin, begin + static_cast<std::ptrdiff_t>(points));
    }
    out.quantities.push_back({em::name_of(components_[q]),
                              field_units(components_[q]),
                              "field",
                              {time_.size(), n[2], n[1], n[0]},
                              std::move(v)});
  }
  return out;
}
void Snapshot::save(data::Checkpoint& c, const std::string& prefix) const {
  c.put(prefix + "time", time_);
  c.put(prefix + "values", values_);
}
void Snapshot::load(const data::Checkpoint& c, const std::string& prefix) {
  time_ = c.array<double>(prefix + "time");
  values_ = c.array<float>(prefix + "values");
}
std::int64_t Snapshot::bytes(std::int64_t n_steps) const {
  return n_steps / every_ * samples_.size() * 4;
}

}  // namespace tessera::apps::fdtd
