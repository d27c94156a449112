// SPDX-License-Identifier: Apache-2.0
//
// sampled_line_bench PRIOR MODEL_A [GRADIENTS]: the posterior of model A with a learnt prior, its
// codes and a pixel in each cell, by two chains on a thread each, until both together have computed
// so many gradients (10,000); from the data to the draws.
#include "learnt_case.h"
#include "measure.h"
#include "model_a.h"
#include "tessera/autodiff/forall.h"
#include "tessera/inversion/through.h"

#include <cstdlib>
#include <thread>

using namespace tessera;
using namespace tessera::benchmarks;

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "sampled_line_bench PRIOR MODEL_A [GRADIENTS]\n");
    return 2;
  }
  const Generator generator = generator_of(read_section_prior(argv[1]));
  const auto calibration = read_prior_calibration(argv[1]);
  if (!calibration) return 2;
  const std::uint64_t wanted = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 10000;
  const double begin = seconds_now();
  const DataTable table = table_of(21, 16);
  const Line line(even_places(21), table, {100, 31.25, 1.0001, 12, 0.15, 3, 1250}, true);
  const Data d = data_of_a(argv[2], table);
  const Placed prior = placed(line, generator, *calibration, d.typical_ln_rho, true);
  InverseProblem p{.forward = line.forward.map(), .data = d.value, .sigma = d.sigma};
  const LearntResult r =
      invert_learnt(p, prior.model, prior.prior, {},
                    {.newton = {.max_iterations = 31, .tolerance = 0.5}, .key = {6, 0}});
  p.forward = through(p.forward, prior.model.map());
  const Metric metric = metric_of(mass_of_chains(p, prior.prior, r.m));
  const double start = seconds_now() - begin;
  std::printf("# %ld unknowns, %zu numbers, optimum's RMS %.3f; start %.0f s\n",
              line.forward.forward().unknowns(), r.m.size(), r.rms, start);
  std::fflush(stdout);

  constexpr std::uint64_t warm_up = 60;
  set_num_threads(1);
  std::vector<NutsChain> chains(2);
  std::vector<std::thread> pool;
  for (std::uint64_t c = 0; c < chains.size(); ++c)
    pool.emplace_back([&, c] {
      const Nuts nuts(log_density(p, prior.prior), metric,
                      {.warm_up = warm_up, .steps = wanted, .key = {7, c}});
      NutsChain& chain = chains[c];
      chain = nuts.start(r.m);
      while (chain.gradients < wanted / chains.size()) nuts.advance(chain, chain.step + 1);
    });
  for (std::thread& t : pool) t.join();
  const double seconds = seconds_now() - begin;

  double gradients = 0, divergent = 0, worst = NAN;
  std::size_t draws = chains[0].kept_density.size();
  for (const NutsChain& c : chains) {
    gradients += double(c.gradients), divergent += double(c.divergent);
    draws = std::min(draws, c.kept_density.size());
    std::printf("# step %.3f, acceptance %.2f, %lu gradients, %zu draws\n", std::exp(c.log_step),
                c.acceptance / double(c.kept_density.size()), (unsigned long)c.gradients,
                c.kept_density.size());
  }
  if (draws >= 4) {
    std::vector<Numbers> kept;
    for (const NutsChain& c : chains)
      kept.emplace_back(c.kept.begin(), c.kept.begin() + std::ptrdiff_t(draws * r.m.size()));
    const Mixing m = mixing_of(kept, r.m.size());
    worst = *std::max_element(m.r_hat.end() - std::ptrdiff_t(generator.codes), m.r_hat.end());
  }
  print_figure("gradients", gradients, "1");
  print_figure("seconds", seconds, "s");
  print_figure("start_seconds", start, "s");
  print_figure("draws", 2 * double(draws), "1");
  print_figure("code_r_hat", worst, "1");
  print_figure("divergent", divergent, "1");
}
