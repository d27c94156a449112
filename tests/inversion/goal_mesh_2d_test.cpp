// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/goal_mesh_2d.h"

#include "layered_table.h"
#include "measured.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace tessera::inversion {
namespace {

/// Columns of the layers, as coarse as may be, so that refinement has everything to do.
Mesh2d coarse_layers(const Layered& m) {
  std::vector<double> z = depths(m);
  z.insert(z.begin(), -3e5);
  z.push_back(std::max(1e6, 2 * z.back()));
  return triangles_of(tensor_mesh(graded_axis({-3e5, 3e5}, [](double) { return 1e5; }), z,
                                  std::vector{0.0}, layers_of(m)));
}

TEST(GoalMesh2d, LayersOnEachKindOfMesh) {
  if (!std::filesystem::exists(layered_table_file())) GTEST_SKIP() << "no test data";
  // A mesh serves some decades, as those that invert have it.
  const std::map<std::string, std::pair<double, double>> band{
      {"A5", {0.1, 10}}, {"K3", {1, 100}}, {"halfspace100", {10, 1000}}};
  for (const auto& [name, model] : layered_table()) {
    {
      const auto [low, high] = band.at(name);
      Layered part{model.rho, model.h, {}, {}};
      for (std::size_t f = 0; f < model.frequency.size(); ++f)
        if (f % 2 == 0 && model.frequency[f] > 0.99 * low && model.frequency[f] < 1.01 * high) {
          part.frequency.push_back(model.frequency[f]);
          part.z.push_back(model.z[f]);
        }
      const Tensor ln_rho = ln(part.rho);
      const Mesh2d coarse = coarse_layers(part);
      const Sensors2d sensors = sensors_on(coarse, 0, {0});
      const Mesh2d start = start_mesh(coarse, sensors, high, ln_rho, 1.0, 0.7);
      for (const int order : {1, 2}) {
        const GoalMesh g = goal_mesh(start, sensors, part.frequency, ln_rho,
                                     {.goal = 0.003, .forward = {.order = order}});
        const Responses2d r = Forward2d(g.mesh, sensors, part.frequency, {.order = order})(ln_rho);
        const auto te = r.te.to_vector<c128>(), tm = r.tm.to_vector<c128>();
        Off off;
        for (std::size_t f = 0; f < part.frequency.size(); ++f)
          for (std::size_t s = 0; s < 1; ++s) {
            off.add(te[f + s], part.z[f]);
            off.add(-tm[f + s], part.z[f]);
          }
        const double tipper = max(abs(r.tipper)).item();
        std::printf(
            "%s P%d %g Hz: %ld cells after %zu steps, last change %.1e; rho_a %.1e phase %.3f "
            "tipper %.1e\n",
            name.c_str(), order, high, g.mesh.cells(), g.steps.size(), g.steps.back().error,
            off.rho_a, off.phase, tipper);
        EXPECT_TRUE(g.reached);
        EXPECT_LE(off.rho_a, 0.003);
        EXPECT_LE(off.phase, 0.1);
        EXPECT_LE(tipper, 3e-3);
      }
    }
  }
}

}  // namespace
}  // namespace tessera::inversion
