// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/spectral.h"

#include <algorithm>
#include <utility>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// Every step where fields hold what no source does: harmonics of nonlinear media, and the cut
/// through a wave that never ends.
em::Sampling sampling_of(const Case& c, const std::vector<double>& frequencies) {
  for (const em::Medium& m : c.media)
    if (m.chi2 != 0 || m.chi3 != 0) return {};
  std::vector<const em::SampledSpectrum*> spectra;
  for (const CaseSource& s : c.sources) {
    if (s.options.amplitude == 0) continue;
    if (!s.spectrum) return {};
    if (std::find(spectra.begin(), spectra.end(), s.spectrum.get()) == spectra.end())
      spectra.push_back(s.spectrum.get());
  }
  return em::coarsest_sampling(frequencies, spectra, c.dt_s);
}

}  // namespace

void Spectral::start_transform() {
  sampling_ = sampling_of(case_, frequencies_);
  record_.emplace(frequencies_, case_.dt_s, samples_.edges(), sampling_.every);
  if (!options_.subtract) return;
  former_ = former_result(case_, options_, transform_record());
  if (options_.kind == MonitorKind::dft) return;  // keeps fields in place of sums
  const Quantity* sums = former_->find("sums");
  const auto* values = sums ? std::get_if<std::vector<double>>(&sums->values) : nullptr;
  if (!values || values->size() != record_->own_sums().size())
    throw MonitorFault("subtract",
                       "the run in " + options_.subtract->string() +
                           " cannot be subtracted: its '" + options_.name +
                           "' is a monitor of the kind " + former_->kind,
                       "take the same kind in both");
  std::vector<double> in_own_units = *values;
  const double scale = former_->transform->reference_length_m / em::reference_length(case_.grid);
  for (double& v : in_own_units) v *= scale;
  record_->subtract(std::move(in_own_units), former_->transform->every);
  former_.reset();
}

std::vector<double> Spectral::over(const std::vector<double>& power, const Results& all) const {
  const auto base = std::find_if(all.begin(), all.end(), [&](const MonitorResult& r) {
    return r.name == *options_.relative_to;
  });
  std::vector<double> by;
  if (const Quantity* flux = base->find("flux")) {
    by = std::get<std::vector<double>>(flux->values);
  } else {  // the first of a monitor's modes
    const auto& a = std::get<std::vector<std::complex<double>>>(base->find("forward")->values);
    for (std::size_t k = 0; k < count(); ++k) by.push_back(std::norm(a[k * (a.size() / count())]));
  }
  const std::size_t each = power.size() / count();
  std::vector<double> out(power.size());
  for (std::size_t q = 0; q < power.size(); ++q) out[q] = power[q] / by.at(q / each);
  return out;
}

void Spectral::relate_ways(MonitorResult& own, const Results& all) const {
  if (!options_.relative_to) return;
  for (const char* way : {"forward", "backward"}) {
    const Quantity& amplitude = *own.find(way);
    const std::vector<std::uint64_t> shape = amplitude.shape;
    std::vector<double> power;
    for (const auto& a : std::get<std::vector<std::complex<double>>>(amplitude.values))
      power.push_back(std::norm(a));
    own.quantities.insert(own.quantities.begin() + (way[0] == 'f' ? 0 : 1),
                          {std::string(way) + "_ratio", "1",
                           std::string("power ") + way + " over that of " + *options_.relative_to,
                           shape, over(power, all)});
  }
}

std::vector<Monitor::Figure> Spectral::ways(const Tensor& forward, const Tensor& backward,
                                            const Tensor& base) {
  std::vector<Figure> out{{"forward", forward, 1}, {"backward", backward, 1}};
  if (base.defined())
    out.insert(out.end(), {{"forward_ratio", over_each(squared_modulus(forward), base), 0},
                           {"backward_ratio", over_each(squared_modulus(backward), base), 0}});
  return out;
}

std::vector<std::complex<double>> Spectral::spectrum_of(const CaseSource& s, double offset) const {
  const auto run = static_cast<double>(steps_ > 0 ? steps_ : expected_steps(case_));
  return em::spectrum(s.waveform, frequencies_, case_.dt_s,
                      static_cast<int>(std::min(s.waveform.end_s / case_.dt_s + 1, run)), offset);
}

MonitorResult Spectral::begin_result() const {
  static constexpr const char* names[] = {"probe",      "dft",      "flux", "energy",
                                          "far_field",  "rcs",      "ldos", "orders",
                                          "resonances", "snapshot", "mode", "beam"};
  MonitorResult out{options_.name,
                    names[static_cast<int>(options_.kind)],
                    {"frequency", "Hz", frequencies_},
                    {},
                    {}};
  out.transform = transform_record();
  return out;
}

em::TransformRecord Spectral::transform_record() const {
  return {frequencies_, case_.dt_s, sampling_.every, em::sampled_positions(samples_),
          em::reference_length(case_.grid)};
}

Quantity Spectral::sums() const {
  return {"sums",
          "V/m",
          "sums of the transform at the recorded edges, real and imaginary",
          {count(), 2, samples_.edges().size()},
          record_->sums()};
}

const CaseSource& source_of(const Case& c, const MonitorOptions& o,
                            std::initializer_list<SourceKind> kinds) {
  const CaseSource* only = nullptr;
  for (const CaseSource& s : c.sources) {
    if (std::find(kinds.begin(), kinds.end(), s.options.kind) == kinds.end()) continue;
    if (!o.source || s.options.name == *o.source) {
      only = &s;
      break;
    }
  }
  if (!only)
    throw Error("[monitor " + o.name +
                "] there is no source of the kind that it is measured against");
  return *only;
}

}  // namespace tessera::apps::fdtd
