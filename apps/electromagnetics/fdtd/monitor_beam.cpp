// SPDX-License-Identifier: Apache-2.0
// Amplitudes of a Gaussian beam through a plane, both ways.
#include "electromagnetics/fdtd/spectral.h"
#include "electromagnetics/waves/beam_plane.h"
#include "electromagnetics/waves/exterior.h"
#include "tessera/electromagnetics/beam_amplitudes.h"

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

class BeamMonitor : public Spectral {
 public:
  BeamMonitor(const Case& c, const MonitorOptions& o)
      : Spectral(c, o),
        surface_(em::sampled_surface(samples_, patches_of(c, o))),
        beam_(beam_of(c, o)) {
    const em::Medium& around = medium_of_beam(c, o);
    for (const double f : frequencies_) eps_.push_back(em::permittivity(around, 0, f).real());
    mu_ = around.mu[0];
    start_transform();
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    const std::vector<std::complex<double>> all = complex_values(amplitudes(values()));
    const auto half = all.begin() + static_cast<std::ptrdiff_t>(count());
    const char* unit = amplitude_units(case_);
    out.quantities = {{"forward",
                       unit,
                       "amplitude of the beam, of E in its focus",
                       {count()},
                       std::vector<std::complex<double>>(all.begin(), half)},
                      {"backward",
                       unit,
                       "amplitude of the beam that comes back on its path",
                       {count()},
                       std::vector<std::complex<double>>(half, all.end())}};
    out.quantities.push_back(sums());
    return out;
  }
  void relate(MonitorResult& own, const Results& all) const override { relate_ways(own, all); }
  std::string figure_name() const override { return "forward"; }
  /// Power of what runs along its direction, real [frequency].
  Tensor figure(const Tensor& values) const override {
    return squared_modulus(select(amplitudes(values), 0, 0));
  }
  std::vector<Figure> figures(const Tensor& values, const Tensor& base) const override {
    const Tensor both = amplitudes(values);
    return ways(select(both, 0, 0), select(both, 0, 1), base);
  }
  Tensor power(const Tensor& values) const override { return figure(values); }

 private:
  Tensor amplitudes(const Tensor& values) const {
    return times(em::beam_amplitudes(surface_.patches[0], surface_.fields(values)[0], beam_,
                                     frequencies_, eps_, mu_),
                 images_of(case_, options_));
  }

  em::SampledSurface surface_;
  em::GaussianBeam beam_;
  std::vector<double> eps_;
  double mu_ = 1;
};

}  // namespace

std::unique_ptr<Monitor> make_beam(const Case& c, const MonitorOptions& o) {
  return std::make_unique<BeamMonitor>(c, o);
}

}  // namespace tessera::apps::fdtd
