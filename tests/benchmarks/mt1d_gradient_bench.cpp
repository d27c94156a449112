// SPDX-License-Identifier: Apache-2.0
// A million layered soundings: the gradient of each one's misfit to all its parameters, and the
// rate of full Jacobians.
#include "measure.h"
#include "tessera/data/random.h"
#include "tessera/inversion/forward_1d.h"

#include <sys/resource.h>

#include <cmath>
#include <thread>

int main() {
  using namespace tessera;
  using namespace tessera::benchmarks;
  constexpr std::size_t count = 1000000, layers = 20, n_frequencies = 20;
  std::vector<double> frequency;
  for (std::size_t i = 0; i < n_frequencies; ++i)
    frequency.push_back(std::pow(10.0, 3 - 6.0 * static_cast<double>(i) / (n_frequencies - 1)));
  const inversion::LayeredBatch batch(frequency, layers, 2);

  std::vector<double> ln_rho(layers * count), ln_h((layers - 1) * count);
  for (std::size_t j = 0; j < layers; ++j)
    for (std::size_t s = 0; s < count; ++s) {
      ln_rho[j * count + s] = 4.6 + 4 * (data::uniform({1, j}, s) - 0.5);
      if (j + 1 < layers)
        ln_h[j * count + s] = 3 + 0.35 * static_cast<double>(j) + 0.5 * data::uniform({2, j}, s);
    }
  std::vector<double> re(count * n_frequencies), im(re.size()), sigma(re.size());
  batch.predict(count, ln_rho, ln_h, re, im);
  for (std::size_t i = 0; i < re.size(); ++i) sigma[i] = 0.05 * std::hypot(re[i], im[i]);
  for (double& v : ln_rho) v += 0.1;  // so that misfit and gradient are not zero
  std::vector<double> misfit(count), d_ln_rho(ln_rho.size()), d_ln_h(ln_h.size());

  std::printf("%zu soundings, %zu layers, %zu frequencies, 2 threads of %u processors\n", count,
              layers, n_frequencies, std::thread::hardware_concurrency());
  const double seconds = seconds_of([&] {
    batch.misfit_and_gradient(count, ln_rho, ln_h, re, im, sigma, misfit, d_ln_rho, d_ln_h);
  });

  // The gradient is that of the misfit: central differences for a few soundings and parameters.
  double worst = 0;
  for (std::size_t s : {std::size_t{0}, std::size_t{31}, count / 2, count - 1}) {
    const auto value = [&](std::size_t j, double step) {
      std::vector<double> r(layers), h(layers - 1), zr(n_frequencies), zi(n_frequencies);
      for (std::size_t k = 0; k < layers; ++k) r[k] = ln_rho[k * count + s];
      for (std::size_t k = 0; k + 1 < layers; ++k) h[k] = ln_h[k * count + s];
      (j < layers ? r[j] : h[j - layers]) += step;
      batch.predict(1, r, h, zr, zi);
      double sum = 0;
      for (std::size_t f = 0; f < n_frequencies; ++f) {
        const std::size_t at = s * n_frequencies + f;
        sum +=
            std::pow((zr[f] - re[at]) / sigma[at], 2) + std::pow((zi[f] - im[at]) / sigma[at], 2);
      }
      return sum;
    };
    for (std::size_t j = 0; j < 2 * layers - 1; ++j) {
      const double difference = (value(j, 1e-4) - value(j, -1e-4)) / 2e-4;
      const double got = j < layers ? d_ln_rho[j * count + s] : d_ln_h[(j - layers) * count + s];
      worst = std::max(worst, std::abs(got - difference) / (misfit[s] + std::abs(difference)));
    }
  }
  print_figure("gradient_error", worst, "1");
  if (!(worst < 1e-6)) {
    std::fprintf(stderr, "the gradient is wrong\n");
    return 1;
  }
  print_figure("gradient_seconds", seconds, "s");
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  print_figure("peak_mib", static_cast<double>(usage.ru_maxrss) / 1024, "MiB");

  constexpr std::size_t few = 8192;
  std::vector<double> r(layers * few), h((layers - 1) * few),
      jr((2 * layers - 1) * n_frequencies * few), ji(jr.size());
  for (std::size_t j = 0; j < layers; ++j)
    for (std::size_t s = 0; s < few; ++s) {
      r[j * few + s] = ln_rho[j * count + s];
      if (j + 1 < layers) h[j * few + s] = ln_h[j * count + s];
    }
  batch.jacobian(few, r, h, jr, ji);
  print_figure("jacobians_per_second", few / seconds_of([&] { batch.jacobian(few, r, h, jr, ji); }),
               "1/s");
  return 0;
}
