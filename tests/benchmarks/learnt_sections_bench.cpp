// SPDX-License-Identifier: Apache-2.0
//
// learnt_sections_bench PRIOR SECTIONS FIRST END DRAWS [MODEL_A]: sections FIRST, ..., END - 1 of
// the file, sounded on a finer mesh, 21 stations, 16 frequencies, TE and TM, 5 %, inverted smooth
// (Occam) and with the prior; before them model A of the folder MODEL_A (its noisy columns). With
// DRAWS of the posterior their mean is the learnt section, else the optimum.
#include "learnt_case.h"
#include "measure.h"
#include "model_a.h"
#include "tessera/inversion/occam.h"

#include <cstdlib>

namespace {

using namespace tessera;
using namespace tessera::benchmarks;

/// Steps until the RMS is at most `rms`.
int steps_to(const std::vector<Iteration>& rows, double rms) {
  int n = 0;
  for (const Iteration& row : rows) {
    ++n;
    if (row.rms <= rms) return n;
  }
  return 1000;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "learnt_sections_bench PRIOR SECTIONS FIRST END DRAWS [MODEL_A]\n");
    return 2;
  }
  const Generator generator = generator_of(read_section_prior(argv[1]));
  const auto calibration = read_prior_calibration(argv[1]);
  if (!calibration) {
    std::fprintf(stderr, "%s says nothing of held-out sections\n", argv[1]);
    return 2;
  }
  const BoxSource sections = data::open_boxes(argv[2], "log10_resistivity");
  const Index first = std::atol(argv[3]), end = std::atol(argv[4]);
  const int draws = std::atoi(argv[5]);
  const DataTable table = table_of(21, 16);
  const Index columns = sections.type.shape[2];
  const double column = region_width_m / double(columns);
  const Numbers places = middle_places(21, columns);
  // Both have the edges that sections have. Beside contacts of three decades one solver column of
  // 156 m to a cell is wrong by 1.5 and 2.7 standard deviations (root mean square, two sections),
  // three by 0.28 and 1.8.
  const Line truth(places, table, {column / 5, 15.625, 1.0001, 6, 0.08, 3, 1100}, false);
  const Line line(places, table, {column, 31.25, 1.0001, 12, 0.15, 3, 1250}, true);
  std::printf("# data from %ld unknowns, model of %ld cells, %ld unknowns\n",
              truth.forward.forward().unknowns(), line.mesh.parameters(),
              line.forward.forward().unknowns());

  Samples ratio, optimum_ratio, cost, smooth_error, learnt_error, seconds;
  int doubted = 0, reached = 0, as_fast = 0, smooth_reached = 0;
  const auto invert = [&](const char* name, const Line& line, const Section& section,
                          const Data& d) {
    InverseProblem p{.forward = line.forward.map(), .data = d.value, .sigma = d.sigma};
    const auto cells = static_cast<std::size_t>(line.mesh.parameters());
    OccamResult smooth;
    const double t_smooth = seconds_of([&] {
      smooth = occam(
          p, section_smoothing(line.mesh.cells, {.down = 0.05, .reference = {d.typical_ln_rho}}),
          Numbers(cells, d.typical_ln_rho), {.target_rms = 1, .mu_start = 100});
    });
    LearntResult r;
    const double t = seconds_of([&] {
      const Placed prior = placed(line, generator, *calibration, d.typical_ln_rho, true);
      r = invert_learnt(p, prior.model, prior.prior, smooth.m,
                        {.newton = {.max_iterations = 21, .tolerance = 0.5},
                         .held_out = {calibration->held_out},
                         .posterior_draws = draws,
                         .key = {5, 0}});
    });
    const std::vector<std::string> doubts = doubts_of(r, {calibration->held_out});
    const double a = line.error(smooth.m, section), optimum = line.error(r.cells, section),
                 b = draws > 0 ? line.error(r.mean, section) : optimum,
                 rms = draws > 0 ? r.mean_rms : r.rms;
    const int steps = steps_to(r.iterations, 1.05),
              steps_smooth = steps_to(smooth.iterations, 1.05);
    ratio.add(b / a), optimum_ratio.add(optimum / a), smooth_error.add(a), learnt_error.add(b),
        seconds.add(t), cost.add(r.objective / double(r.n_data));
    doubted += !doubts.empty(), reached += rms <= 1.05, as_fast += steps <= steps_smooth;
    smooth_reached += std::abs(smooth.rms - 1) <= 0.05;
    std::printf(
        "# %s: smooth RMS %.3f, %d steps to 1.05, error %.3f (%.1f s); learnt RMS %.3f, %d steps, "
        "error %.3f, ratio %.2f; the optimum's RMS %.3f, ratio %.2f, cost %.3f, codes %.2f, pixels "
        "%.1f, from %s (%.1f s)%s\n",
        name, smooth.rms, steps_smooth, a, t_smooth, rms, steps, b, b / a, r.rms, optimum / a,
        r.objective / double(r.n_data), r.code_norm[0], r.pixels_cost,
        r.starts[r.start].name.c_str(), t, doubts.empty() ? "" : ", prior doubtful");
    for (const std::string& doubt : doubts) std::printf("#   %s\n", doubt.c_str());
    std::fflush(stdout);
  };
  if (argc > 6) {
    const Line cells_of_a(even_places(21), table, {100, 31.25, 1.0001, 12, 0.15, 3, 1250}, true);
    invert("model A", cells_of_a, model_a(argv[6]), data_of_a(argv[6], table));
  }
  for (Index k = first; k < end; ++k) {
    const Section s = section_of(sections, k);
    invert(std::to_string(k).c_str(), line, s,
           sounded(truth, table, truth.ln_rho_of(s), {99, static_cast<std::uint64_t>(k)}));
  }
  print_figure("sections", double(ratio.values.size()), "1");
  print_figure("error_ratio", ratio.median(), "1");
  print_figure("optimum_error_ratio", optimum_ratio.median(), "1");
  print_figure("smooth_error", smooth_error.median(), "decades");
  print_figure("learnt_error", learnt_error.median(), "decades");
  print_figure("smooth_reached", smooth_reached, "sections");
  print_figure("learnt_reached", reached, "sections");
  print_figure("in_no_more_steps", as_fast, "sections");
  print_figure("doubted", doubted, "sections");
  print_figure("cost", cost.median(), "1");
  print_figure("learnt_seconds", seconds.median(), "s");
}
