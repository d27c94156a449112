// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/goal_mesh_2d.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/constants.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace tessera::inversion {
namespace {

/// The fewest cells that have this share of all errors.
std::vector<bool> worst_cells(const std::vector<double>& error, double share) {
  std::vector<std::size_t> order(error.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return error[a] > error[b] || (error[a] == error[b] && a < b);
  });
  const double all = std::accumulate(error.begin(), error.end(), 0.0);
  std::vector<bool> out(error.size(), false);
  double sum = 0;
  for (const std::size_t c : order) {
    if (sum >= share * all) break;
    sum += error[c];
    out[c] = true;
  }
  return out;
}

}  // namespace

ResponseChange change_of(const Responses2d& now, const Responses2d& before) {
  using Of = ResponseChange::Of;
  ResponseChange out;
  const auto look = [&](Of of, const Tensor& a, const Tensor& b, bool relative) {
    if (a.size() == 0) return;
    const Tensor change = 2 * abs(a - b);
    const auto all = (relative ? change / abs(b) : change).to_vector<double>();
    for (std::size_t k = 0; k < all.size(); ++k)
      if (!(all[k] <= out.size) && !std::isnan(out.size)) {
        const auto sensors = static_cast<std::size_t>(a.shape()[1]);
        out = {all[k], of, static_cast<Index>(k / sensors), static_cast<Index>(k % sensors)};
      }
  };
  look(Of::te, now.te, before.te, true);
  look(Of::tm, now.tm, before.tm, true);
  look(Of::tipper, now.tipper, before.tipper, false);
  return out;
}

void step_goal_mesh(GoalMeshSearch& search, const Sensors2d& sensors,
                    const std::vector<double>& frequency_hz, const Tensor& ln_rho,
                    const GoalMeshOptions& options) {
  GoalMesh& out = search.so_far;
  if (search.ended) return;
  if (out.mesh.corners != 3)
    throw Error("[goal_mesh] halves triangles; cut quadrilaterals by triangles_of first");
  if (!(options.goal > 0) || !(options.share > 0 && options.share <= 1))
    throw Error("[goal_mesh] the goal must be positive, the share between 0 and 1");
  Forward2dOptions fine = options.forward, plain = options.forward;
  fine.order = 2;
  const Forward2d forward(out.mesh, sensors, frequency_hz, fine);
  const Responses2d now = forward(ln_rho);
  ResponseChange left{.size = std::numeric_limits<double>::infinity()};
  if (options.forward.order == 1)
    left = change_of(Forward2d(out.mesh, sensors, frequency_hz, plain)(ln_rho), now);
  else if (search.before)
    left = change_of(now, *search.before);
  search.before = now;
  const bool last =
      std::ssize(out.steps) == options.most_steps || out.mesh.cells() >= options.most_cells;
  if (options.forward.order == 2 && left.size <= options.goal) {
    // What changed little may have been changed little: all cells are halved once to see.
    Mesh2d all =
        refined(out.mesh, std::vector<bool>(static_cast<std::size_t>(out.mesh.cells()), true));
    left = change_of(Forward2d(all, sensors, frequency_hz, fine)(ln_rho), now);
    if (left.size > options.goal && !last) {
      out.steps.push_back({out.mesh.cells(), left.size});
      out.mesh = std::move(all);
      search.before.reset();
      return;
    }
  }
  out.steps.push_back({out.mesh.cells(), left.size});
  out.left = left;
  out.reached = left.size <= options.goal;
  search.ended = out.reached || last;
  if (!search.ended)
    out.mesh = refined(out.mesh, worst_cells(forward.linear_errors(ln_rho), options.share));
}

GoalMesh goal_mesh(Mesh2d start, const Sensors2d& sensors, const std::vector<double>& frequency_hz,
                   const Tensor& ln_rho, const GoalMeshOptions& options) {
  GoalMeshSearch search{.so_far = {.mesh = std::move(start)}};
  while (!search.ended) step_goal_mesh(search, sensors, frequency_hz, ln_rho, options);
  return std::move(search.so_far);
}

Mesh2d start_mesh(Mesh2d mesh, const Sensors2d& sensors, double highest_hz, const Tensor& ln_rho,
                  double part, double rate) {
  if (!(highest_hz > 0) || !(part > 0) || !(rate > 0))
    throw Error("[start_mesh] frequency, part and rate must be positive");
  const Index axes = ln_rho.ndim() == 2 ? 3 : 1;
  const auto model = ln_rho.to_vector<double>();
  const auto skin_of = [&](const Medium2d& medium) {
    double ln_least = std::log(medium.ohm_m);
    if (medium.parameter >= 0) {
      const auto first = model.begin() + medium.parameter * axes;
      ln_least = *std::min_element(first, first + axes);
    }
    return std::sqrt(std::exp(ln_least) / (std::numbers::pi * highest_hz * mu0));
  };
  double least = std::numeric_limits<double>::infinity();
  for (const Medium2d& medium : mesh.medium) least = std::min(least, skin_of(medium));
  while (true) {
    std::vector<bool> wanted(static_cast<std::size_t>(mesh.cells()));
    bool any = false;
    for (Index c = 0; c < mesh.cells(); ++c) {
      const Medium2d& medium = mesh.medium[c];
      const auto [y, z] = mesh.middle(c);
      double away = std::numeric_limits<double>::infinity();
      for (std::size_t s = 0; s < sensors.y.size(); ++s)
        away = std::min(away, std::hypot(y - sensors.y[s], z - sensors.z[s]));
      const double size = std::max(part * (medium.is_air() ? least : skin_of(medium)), rate * away);
      double longest = 0;
      for (int k = 0; k < 3; ++k) {
        const Index a = mesh.cell[c * 3 + k], b = mesh.cell[c * 3 + (k + 1) % 3];
        longest = std::max(longest, std::hypot(mesh.y[a] - mesh.y[b], mesh.z[a] - mesh.z[b]));
      }
      wanted[c] = longest > size;
      any = any || wanted[c];
    }
    if (!any) return mesh;
    if (mesh.cells() > 1'000'000) throw Error("[start_mesh] more than 1,000,000 cells");
    mesh = refined(mesh, wanted);
  }
}

}  // namespace tessera::inversion
