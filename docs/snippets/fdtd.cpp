// SPDX-License-Identifier: Apache-2.0
// Light through a glass plate of 0.5 um, in one dimension, against the formula of Airy.
#include <tessera/electromagnetics/constants.h>
#include <tessera/electromagnetics/monitors.h>
#include <tessera/electromagnetics/time_domain.h>

#include <cmath>
#include <iostream>

using namespace tessera;
using namespace tessera::electromagnetics;

int main() {
  const double um = 1e-6, thickness = 0.5 * um, index = 1.5;
  const std::vector<double> frequencies{250e12, 300e12, 350e12};
  const YeeGrid grid = uniform_grid({4 * um, 0, 0}, 0.01 * um);
  const Faces layers{Boundary::pml, Boundary::pml}, joined{Boundary::periodic, Boundary::periodic};
  const std::array<Faces, 3> faces{layers, joined, joined};
  const double dt = 0.95 * stable_time_step(grid);
  const std::vector<Medium> media{
      {.name = "vacuum"}, {.name = "glass", .eps = {index * index, index * index, index * index}}};
  const Scene empty,
      plate{.structures = {{box({-thickness / 2, -um, -um}, {thickness / 2, um, um}), 1}}};

  const auto power = [&](const Scene& scene) {
    SampleList samples(grid, faces);
    const SampledSurface behind = sampled_plane(samples, 0, 1, 1 * um, {0, 0}, {0, 0});
    const Point source{-1.5 * um, 0, 0};
    const Waveform pulse = gaussian_pulse(300e12, 200e12);
    TimeDomain run(yee_model(grid, faces, {.cells = 40}, dt, Dtype::f64, scene, media),
                   {current_source(grid, faces, dt, Ez, source, source, 1.0, pulse)},
                   samples.edges());
    SpectralRecord record(frequencies, dt, samples.edges());
    run.advance(6000, [&](const Records& r) { record.add(r); });
    return flux(behind.patches, behind.fields(record.values(samples))).to_vector<double>();
  };

  const std::vector<double> with = power(plate), without = power(empty);
  double worst = 0;
  for (std::size_t k = 0; k < frequencies.size(); ++k) {
    const double r = (index - 1) / (index + 1),
                 phase = 2 * M_PI * frequencies[k] / speed_of_light * index * thickness;
    const double airy = 1 / (1 + 4 * r * r / std::pow(1 - r * r, 2) * std::pow(std::sin(phase), 2));
    std::cout << frequencies[k] / 1e12 << " THz: T " << with[k] / without[k] << ", exactly " << airy
              << "\n";
    worst = std::max(worst, std::abs(with[k] / without[k] - airy));
  }
  return worst < 1e-3 ? 0 : 1;  // 57 cells a wavelength in the glass
}
