// SPDX-License-Identifier: Apache-2.0
//
// learnt_posteriors_bench PRIOR SECTIONS FIRST END: how often intervals of posteriors hold the
// truth, 7 stations, 8 frequencies, TE and TM, 5 %, by NUTS with Laplace's covariance as its mass.
// First of codes, where the truth is what the decoder makes of a draw; then of log10 rho, where it
// is section FIRST, ..., END - 1 of the file, sounded on a finer mesh, with pixels for what codes
// do not say. As many posteriors of either, on all threads.
#include "learnt_case.h"
#include "measure.h"
#include "tessera/autodiff/forall.h"
#include "tessera/inversion/sampler.h"
#include "tessera/inversion/through.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace {

using namespace tessera;
using namespace tessera::benchmarks;

constexpr std::uint64_t warm_up = 40, steps = 100;

struct Chain2d {
  Numbers kept;  ///< x, [steps][size]
  NutsChain end;
  double worst_r_hat = 0, seconds = 0;
  Reason map = Reason::iteration_limit;
};
Chain2d sampled(const Line& line, const Data& d, const Placed& prior, std::uint64_t seed) {
  Chain2d out;
  out.seconds = seconds_of([&] {
    InverseProblem cells{.forward = line.forward.map(), .data = d.value, .sigma = d.sigma};
    cells.forward.linearize = nullptr;  // of seven stations numbers cost less than one product
    const LearntResult r = invert_learnt(
        cells, prior.model, prior.prior, {},
        {.newton = {.max_iterations = 31, .tolerance = 1e-3}, .draws = 6, .key = {6, seed}});
    out.map = r.reason;
    InverseProblem p = cells;
    p.forward = through(cells.forward, prior.model.map());
    const Nuts nuts(log_density(p, prior.prior), metric_of(mass_of_chains(p, prior.prior, r.m)),
                    {.warm_up = warm_up, .steps = steps, .max_doublings = 6, .key = {7, seed}});
    out.end = nuts.start(r.m);
    nuts.advance(out.end, nuts.total());
    out.kept = std::move(out.end.kept);
  });
  const Mixing m = mixing_of({out.kept}, prior.prior.size());
  out.worst_r_hat = *std::max_element(m.r_hat.begin(), m.r_hat.end());
  return out;
}

/// How many of the truths lie in central intervals, by their ranks among the samples [count][n]: of
/// independent ones exactly as often as the interval says, however few they are.
struct Coverage {
  double inside50 = 0, inside90 = 0, all = 0;
  double percent50() const { return 100 * inside50 / all; }
  double percent90() const { return 100 * inside90 / all; }
  void add(const Numbers& samples, const Numbers& truth, const std::vector<bool>& counts) {
    const std::size_t n = truth.size(), count = samples.size() / n;
    for (std::size_t j = 0; j < n; ++j) {
      if (!counts.empty() && !counts[j]) continue;
      double below = 0.5;
      for (std::size_t k = 0; k < count; ++k) below += samples[k * n + j] < truth[j];
      const double away = std::abs(below / double(count + 1) - 0.5);
      inside50 += away < 0.25, inside90 += away < 0.45, all += 1;
    }
  }
};
double mean_width(const Numbers& samples, std::size_t n, const std::vector<bool>& counts) {
  const auto low = sample_quantile(samples, n, 0.05), high = sample_quantile(samples, n, 0.95);
  double sum = 0, all = 0;
  for (std::size_t j = 0; j < n; ++j)
    if (counts[j]) sum += high[j] - low[j], all += 1;
  return sum / all;
}

/// ln rho of a section, its mean over each cell.
Numbers means_of(const Line& line, const Section& s) {
  const SectionMesh& mesh = line.mesh;
  const auto between = [](double low, double high, double part) {
    return low + part * (high - low);
  };
  Numbers out;
  for (Index col = 0; col < mesh.columns; ++col)
    for (Index row = 0; row < mesh.rows; ++row) {
      double sum = 0;
      for (const double i : {0.125, 0.375, 0.625, 0.875})
        for (const double j : {0.125, 0.375, 0.625, 0.875})
          sum += s.at(between(mesh.y[col], mesh.y[col + 1], i),
                      between(mesh.depth[row], mesh.depth[row + 1], j)) /
                 16;
      out.push_back(sum * std::numbers::ln10);
    }
  return out;
}

template <class F>
void on_all_threads(int count, F&& f) {
  std::atomic<int> next = 0;
  std::vector<std::thread> pool;
  for (unsigned k = 0; k < std::max(1u, std::thread::hardware_concurrency()); ++k)
    pool.emplace_back([&] {
      for (int i; (i = next++) < count;) f(i);
    });
  for (std::thread& t : pool) t.join();
}

/// What a map makes of each of vectors of length n, one behind the other.
Numbers predicted(const ForwardMap& map, const Numbers& vectors, std::size_t n) {
  Numbers out;
  for (std::size_t i = 0; i < vectors.size(); i += n) {
    const Numbers m =
        map.predict({vectors.begin() + std::ptrdiff_t(i), vectors.begin() + std::ptrdiff_t(i + n)});
    out.insert(out.end(), m.begin(), m.end());
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "learnt_posteriors_bench PRIOR SECTIONS FIRST END\n");
    return 2;
  }
  const Generator generator = generator_of(read_section_prior(argv[1]));
  const auto calibration = read_prior_calibration(argv[1]);
  if (!calibration) return 2;
  const BoxSource sections = data::open_boxes(argv[2], "log10_resistivity");
  const Index first = std::atol(argv[3]);
  const int count = static_cast<int>(std::atol(argv[4]) - first);
  set_num_threads(1);
  const DataTable table = table_of(7, 8);
  const Index columns = sections.type.shape[2];
  const double column = region_width_m / double(columns),
               row = region_depth_m / double(sections.type.shape[1]);
  const Numbers places = middle_places(7, columns);
  const Line truth(places, table, {column / 5, row / 2, 1.0001, 6, 0.08, 1, 1100}, false);
  // Where a decoder's draw is the truth the mesh is what makes the data, whatever it is.
  const Line of_draws(places, table, {500, 50, 1.1, 18, 0.25, 1}, true);
  // For sections cells have the edges of their array: where cells hold an edge, means of the truth
  // give data that are wrong by one to three standard deviations. As they are, the truth's data are
  // wrong by 0.13 to 0.26 (root mean square, three sections), with two solver columns to a cell by
  // 0.07 to 0.27.
  const Line line(places, table, {column, row, 1.0001, 20, 0.35, 1, 1250}, true);
  std::printf("# data from %ld unknowns; models of %ld cells, %ld unknowns, and %ld, %ld\n",
              truth.forward.forward().unknowns(), of_draws.mesh.parameters(),
              of_draws.forward.forward().unknowns(), line.mesh.parameters(),
              line.forward.forward().unknowns());

  std::fflush(stdout);
  std::mutex one_at_a_time;
  Samples seconds, gradients, r_hat;
  std::uint64_t divergent = 0;
  const auto note = [&](const char* what, int k, const Chain2d& c, const Coverage& so_far) {
    seconds.add(c.seconds), gradients.add(double(c.end.gradients)), r_hat.add(c.worst_r_hat);
    divergent += c.end.divergent;
    std::printf(
        "# %s %d: start %s, step %.2f, acceptance %.2f, %lu gradients, %lu divergent, R-hat at "
        "most %.3f, %.1f s; of all so far %.1f in 50, %.1f in 90 %%\n",
        what, k, word(c.map).c_str(), std::exp(c.end.log_step), c.end.acceptance / double(steps),
        (unsigned long)c.end.gradients, (unsigned long)c.end.divergent, c.worst_r_hat, c.seconds,
        so_far.percent50(), so_far.percent90());
    std::fflush(stdout);
  };

  Coverage of_codes, of_cells;
  on_all_threads(count, [&](int k) {
    const Placed prior = placed(of_draws, generator, *calibration, std::log(100.0), false);
    Numbers z(static_cast<std::size_t>(generator.codes));
    for (std::size_t j = 0; j < z.size(); ++j)
      z[j] = data::normal({31, static_cast<std::uint64_t>(k)}, j);
    const Data d =
        sounded(of_draws, table, prior.model.map().predict(z), {32, static_cast<std::uint64_t>(k)});
    const Chain2d c = sampled(of_draws, d, prior, static_cast<std::uint64_t>(k));
    const std::lock_guard lock(one_at_a_time);
    of_codes.add(c.kept, z, {});
    note("codes", k, c, of_codes);
  });

  // What counts are cells within the region; truths are means over their points.
  std::vector<bool> counts;
  for (const auto& [y, z] : line.middles())
    counts.push_back(y > 0 && y < region_width_m && z < region_depth_m);
  const std::size_t cells = counts.size();
  double width = 0, of_prior = 0;
  on_all_threads(count, [&](int k) {
    const Section s = section_of(sections, first + k);
    const Data d = sounded(truth, table, truth.ln_rho_of(s), {33, static_cast<std::uint64_t>(k)});
    const Placed prior = placed(line, generator, *calibration, d.typical_ln_rho, true);
    const Chain2d c = sampled(line, d, prior, 1000 + static_cast<std::uint64_t>(k));
    const ForwardMap map = prior.model.map();
    const std::size_t n = prior.prior.size();
    Numbers draws;
    for (std::uint64_t i = 0; i < 200; ++i) {
      Numbers xi(n);
      for (std::size_t j = 0; j < n; ++j) xi[j] = data::normal({34, i}, j);
      const Numbers x = draw(prior.prior, xi);
      draws.insert(draws.end(), x.begin(), x.end());
    }
    const Numbers models = predicted(map, c.kept, n), unconditioned = predicted(map, draws, n);
    const std::lock_guard lock(one_at_a_time);
    of_cells.add(models, means_of(line, s), counts);
    note("section", k, c, of_cells);
    width += mean_width(models, cells, counts) / count,
        of_prior += mean_width(unconditioned, cells, counts) / count;
  });

  print_figure("posteriors", count, "1");
  print_figure("codes_in_50", of_codes.percent50(), "%");
  print_figure("codes_in_90", of_codes.percent90(), "%");
  print_figure("log10_rho_in_50", of_cells.percent50(), "%");
  print_figure("log10_rho_in_90", of_cells.percent90(), "%");
  print_figure("width_of_prior", width / of_prior, "1");
  print_figure("gradients", gradients.median(), "1");
  print_figure("seconds", seconds.median(), "s");
  print_figure("r_hat", r_hat.median(), "1");
  print_figure("divergent", double(divergent), "1");
}
