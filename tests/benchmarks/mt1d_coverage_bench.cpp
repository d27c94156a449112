// SPDX-License-Identifier: Apache-2.0
// How often the bands of inversion.mt1d hold the truth: 200 earths drawn from the prior of the app,
// also its unknown roughness, 5 % noise, each inverted as the app does it with its defaults.
#include "measure.h"
#include "tessera/data/random.h"
#include "tessera/inversion/forward_1d.h"
#include "tessera/inversion/response.h"
#include "tessera/inversion/sounding_inversion.h"

#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

int main() {
  using namespace tessera::inversion;
  namespace data = tessera::data;
  using namespace tessera::benchmarks;
  constexpr int draws = 200, n_frequencies = 40;
  constexpr double noise = 0.05, reference = 100;
  std::vector<double> frequency;
  for (int i = 0; i < n_frequencies; ++i)
    frequency.push_back(std::pow(10.0, 3 - 6.0 * i / (n_frequencies - 1)));
  SoundingInversionOptions options;
  options.first_depth_m = 20;
  options.last_depth_m = 100000;
  options.reference_ohm_m = reference;
  const Layering layering = logarithmic_layering(20, 100000, options.layers);
  const ForwardMap forward = layered_forward(frequency, layering.thickness_m);
  const auto n = layering.size();

  std::atomic<int> next{0}, indefinite{0};
  std::mutex mutex;
  double inside50 = 0, inside90 = 0;
  const auto work = [&] {
    for (int k; (k = next++) < draws;) {
      const data::RandomKey key{2024, static_cast<std::uint64_t>(k)};
      SmoothPrior prior;
      prior.mean.assign(n, std::log(reference));
      prior.log10_depth = layering.log10_depth;
      prior.std_ln_rho = options.prior_std_ln_rho;
      // The correlation length: uniform in the logarithm over what the app averages over.
      const double length = 0.2 * std::pow(10.0, 2 * uniform(key, 1000000));
      std::vector<double> xi(n);
      for (std::size_t j = 0; j < n; ++j) xi[j] = normal(key, j);
      const auto truth = draw(prior.at(SmoothPrior::mu_of(prior.std_ln_rho, length)), xi);
      Response r;
      r.frequency_hz = frequency;
      r.impedance_ohm = to_complex(forward.predict(truth));
      for (std::size_t i = 0; i < r.impedance_ohm.size(); ++i) {
        const double s = noise * std::abs(r.impedance_ohm[i]);
        r.sigma_ohm.push_back(s);
        r.impedance_ohm[i] +=
            s * std::complex<double>(normal(key, 1000 + 2 * i), normal(key, 1001 + 2 * i));
      }
      const SoundingInverter inverter(r, options);
      const auto& q = inverter.result();
      int in50 = 0, in90 = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const double rho = std::exp(truth[j]);
        in50 += rho >= q.q25[j] && rho <= q.q75[j];
        in90 += rho >= q.q05[j] && rho <= q.q95[j];
      }
      indefinite += !q.exact_hessian;
      const std::lock_guard lock(mutex);
      inside50 += 100.0 * in50 / static_cast<double>(n) / draws;
      inside90 += 100.0 * in90 / static_cast<double>(n) / draws;
    }
  };
  {
    std::vector<std::jthread> pool;
    for (unsigned t = 1; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
      pool.emplace_back(work);
    work();
  }
  std::printf("%d draws, %zu layers, %d frequencies, %g %% noise; exact Hessian indefinite in %d\n",
              draws, n, n_frequencies, 100 * noise, indefinite.load());
  print_figure("coverage_50", inside50, "%");
  print_figure("coverage_90", inside90, "%");
  return 0;
}
