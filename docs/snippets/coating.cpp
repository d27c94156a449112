// SPDX-License-Identifier: Apache-2.0
// A coating that lets light into glass, found by the gradient of whole runs in time.
#include <tessera/autodiff/ops.h>
#include <tessera/autodiff/optimize.h>
#include <tessera/electromagnetics/design.h>
#include <tessera/electromagnetics/flux.h>
#include <tessera/electromagnetics/response.h>
#include <tessera/electromagnetics/time_domain.h>

#include <cmath>
#include <iostream>

using namespace tessera;
using namespace tessera::electromagnetics;

int main() {
  // One dimension, cells of 20 nm: a source at -1.5 um, 12 free cells from 0 on, glass behind them.
  const double um = 1e-6;
  const int n = 12, cell_at_zero = 150, line_of_source = 75;
  const YeeGrid grid = uniform_grid({6 * um, 0, 0}, 0.02 * um);
  const Faces layers{Boundary::pml, Boundary::pml}, joined{Boundary::periodic, Boundary::periodic};
  const std::array<Faces, 3> faces{layers, joined, joined};
  const double dt = 0.95 * stable_time_step(grid);
  const DesignRegion coating =
      design_region(grid, faces, {cell_at_zero, 0, 0}, {cell_at_zero + n, 1, 1}, {Ez});
  SampleList samples(grid, faces);
  const Patch behind = grid_patch(grid, 0, 1, 1 * um, {0, 0}, {0, 0});
  const std::int64_t first = add_patch(samples, behind);

  const std::vector<Medium> media{{.name = "vacuum"}, {.name = "glass", .eps = {4, 4, 4}}};
  const Scene vacuum, glass{.structures = {{box({n * 0.02 * um, -um, -um}, {10 * um, um, um}), 1}}};
  const auto compiled = [&](const Scene& scene) {
    YeeModel model = yee_model(grid, faces, {.cells = 40}, dt, Dtype::f64, scene, media);
    model.injected = {{Ez, line_of_source, 0, 0}};
    model.recorded = samples.edges();
    model.traced = coating.edges;  // whose permittivity is an argument
    return yee_op(std::move(model));
  };
  const auto power_behind = [&](const YeeOpPtr& op, const Tensor& c) {  // [frequency]
    const ResponsePtr run =
        response(op, {.frequencies_hz = {270e12, 300e12, 330e12}, .n_steps = 3000});
    const Tensor recorded = spectra(run, c, ones({3, 1}, Dtype::c128));
    return flux(behind, patch_fields(sample_values(samples, recorded), behind, first));
  };
  const YeeOpPtr with = compiled(glass), without = compiled(vacuum);
  const Tensor incident = power_behind(without, coefficients(without));
  const Tensor outside = concatenate({ones({n}), full({1}, 4.0)});  // beside the first, last edge
  const auto transmission = [&](const Tensor& eps) {
    return power_behind(with, coefficients(with, inverse_permittivity(coating, eps, outside))) /
           incident;
  };

  const auto eps_of = [](const Tensor& q) { return 1.0 + 3.0 * logistic(q); };  // between 1 and 4
  const auto loss = [&](const Tensor& q) { return 1.0 - mean(transmission(eps_of(q))); };
  const Tensor start = zeros({n}), v = linspace(0.5, 1.5, n);
  const double bare = mean(transmission(ones({n}))).item(), h = 1e-3;
  const double derivative = dot(grad(loss)(start), v).item();
  const double difference = (loss(start + h * v) - loss(start - h * v)).item() / (2 * h);
  const auto found = minimize(loss, start, {.max_iterations = 30, .jit = false});

  std::cout << "without a coating: T " << bare << ", exactly " << 8.0 / 9 << "\n"
            << "derivative along v: " << derivative << ", by differences " << difference << "\n"
            << "after " << found.iterations << " iterations: T " << 1 - found.value << "\n"
            << "permittivity of the cells: " << to_string(eps_of(found.x)) << "\n";
  const bool right = std::abs(bare - 8.0 / 9) < 5e-3 && found.value < 0.005 &&
                     std::abs(derivative - difference) < 1e-5;
  return right ? 0 : 1;
}
