// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/design.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::electromagnetics {
namespace {

struct CellShare {
  int cell;
  double share;
};

/// Cells along one axis that surround the position `i` of a component, with their shares; none
/// where the position is not computed.
std::vector<CellShare> around(const YeeGrid& grid, Faces faces, int component, int axis, int i) {
  const int n = grid.cells(axis);
  if (at_middle(component, axis) || n == 1) return {{i, 1.0}};
  const bool joined = faces.low == Boundary::periodic;
  if (i == n && joined) return {};
  if (i == 0 && !joined)
    return faces.low == Boundary::pmc ? std::vector<CellShare>{{0, 1.0}} : std::vector<CellShare>{};
  if (i == n)
    return faces.high == Boundary::pmc ? std::vector<CellShare>{{n - 1, 1.0}}
                                       : std::vector<CellShare>{};
  const int before = i == 0 ? n - 1 : i - 1;
  const double a = grid.length(axis, before), b = grid.length(axis, i);
  return {{before, a / (a + b)}, {i, b / (a + b)}};
}

}  // namespace

DesignRegion design_region(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                           const std::array<int, 3>& low, const std::array<int, 3>& high,
                           const std::vector<int>& components) {
  for (int d = 0; d < 3; ++d)
    if (low[d] < 0 || low[d] >= high[d] || high[d] > grid.cells(d))
      throw Error(fmt::format("[design_region] cells {} to {} along {}, of which there are {}",
                              low[d], high[d], "xyz"[d], grid.cells(d)));
  DesignRegion out{.low = low, .high = high};
  const Index nx = high[0] - low[0], ny = high[1] - low[1], nz = high[2] - low[2];
  const auto inside = [&](int d, int cell) { return cell >= low[d] && cell < high[d]; };
  std::vector<Index> row_begin{0}, column;
  std::vector<double> share, outside;
  for (const int c : components) {
    if (!is_electric(c))
      throw Error(fmt::format("[design_region] {} has no permittivity: choose from Ex, Ey and Ez",
                              name_of(c)));
    std::array<std::vector<std::vector<CellShare>>, 3> cells;  // by axis and position
    for (int d = 0; d < 3; ++d)
      for (int i = 0;
           i <= (at_middle(c, d) || !grid.resolved(d) ? grid.cells(d) - 1 : grid.cells(d)); ++i)
        cells[d].push_back(around(grid, faces[d], c, d, i));
    const auto touches = [&](int d, std::size_t i) {
      return std::any_of(cells[d][i].begin(), cells[d][i].end(),
                         [&](const CellShare& s) { return inside(d, s.cell); });
    };
    for (std::size_t k = 0; k < cells[2].size(); ++k)
      for (std::size_t j = 0; j < cells[1].size(); ++j)
        for (std::size_t i = 0; i < cells[0].size(); ++i) {
          if (!touches(0, i) || !touches(1, j) || !touches(2, k)) continue;
          double rest = 1;
          std::vector<std::pair<Index, double>> of_edge;
          for (const CellShare& z : cells[2][k])
            for (const CellShare& y : cells[1][j])
              for (const CellShare& x : cells[0][i]) {
                if (!inside(0, x.cell) || !inside(1, y.cell) || !inside(2, z.cell)) continue;
                of_edge.emplace_back(
                    ((z.cell - low[2]) * ny + y.cell - low[1]) * nx + x.cell - low[0],
                    x.share * y.share * z.share);
                rest -= x.share * y.share * z.share;
              }
          std::sort(of_edge.begin(), of_edge.end());
          for (const auto& [cell, part] : of_edge) column.push_back(cell), share.push_back(part);
          row_begin.push_back(static_cast<Index>(column.size()));
          outside.push_back(std::abs(rest) < 1e-14 ? 0 : rest);
          out.edges.push_back({static_cast<std::uint8_t>(c), static_cast<int>(i),
                               static_cast<int>(j), static_cast<int>(k)});
        }
  }
  const Index n_edges = static_cast<Index>(out.edges.size());
  out.pattern = csr_pattern(n_edges, nx * ny * nz, std::move(row_begin), std::move(column));
  out.share = tensor(share);
  out.outside = tensor(outside);
  return out;
}

Tensor inverse_permittivity(const DesignRegion& region, const Tensor& eps, Arg surroundings) {
  if (eps.size() != region.pattern->cols())
    throw Error(fmt::format("[inverse_permittivity] the region has {} cells, got {}",
                            region.pattern->cols(), to_string(eps.type())));
  return 1.0 / (csr_matmul(region.share, region.pattern, reshape(eps, {eps.size()})) +
                region.outside * surroundings);
}

DesignMixture design_mixture(const DesignRegion& region, const Medium& empty, const Medium& full,
                             const Medium& around, double dt_s) {
  const std::array<const Medium*, 3> media{&empty, &full, &around};
  DesignMixture out;
  out.edges.edges = region.edges;
  std::array<std::size_t, 3> channel{};  // of a medium's poles; 0: it has none
  for (std::size_t m = 0; m < 3; ++m) {
    const Medium& medium = *media[m];
    if (medium.pec || medium.chi2 != 0 || medium.chi3 != 0)
      throw Error(
          fmt::format("[design_mixture] '{}' is a perfect conductor or nonlinear: mix media with "
                      "pec = false and without chi2 and chi3",
                      medium.name));
    if (medium.mu != empty.mu || medium.sigma_m != empty.sigma_m)
      throw Error(
          fmt::format("[design_mixture] '{}' and '{}' differ in permeability, which is no "
                      "parameter: give them the same mu and sigma_m",
                      empty.name, medium.name));
    DispersiveRun terms;
    for (const PoleResidue& p : medium.poles) {
      const PoleUpdate u = pole_update(p, dt_s);
      terms.alpha.push_back(u.alpha);
      terms.beta.push_back(u.beta);
      terms.shear.push_back(u.shear);
    }
    if (terms.alpha.empty()) continue;
    const auto same = [&](const DispersiveRun& o) {
      return o.alpha == terms.alpha && o.beta == terms.beta && o.shear == terms.shear;
    };
    const auto found = std::find_if(out.edges.poles.begin(), out.edges.poles.end(), same);
    channel[m] = 2 + static_cast<std::size_t>(found - out.edges.poles.begin());
    if (found == out.edges.poles.end()) out.edges.poles.push_back(std::move(terms));
  }
  const auto channels = static_cast<std::size_t>(out.edges.channels());
  std::array<Tensor, 3> theta;
  for (std::size_t m = 0; m < 3; ++m) {
    std::vector<double> values;
    for (const Edge& e : region.edges) {
      std::vector<double> of_edge(channels, 0.0);
      of_edge[0] = media[m]->eps[e.component];
      of_edge[1] = media[m]->sigma[e.component] * dt_s / (2 * vacuum_permittivity);
      if (channel[m] > 0) of_edge[channel[m]] = 1;
      values.insert(values.end(), of_edge.begin(), of_edge.end());
    }
    theta[m] =
        tensor(values, {static_cast<Index>(region.edges.size()), static_cast<Index>(channels)});
  }
  out.empty = theta[0], out.full = theta[1], out.around = theta[2];
  return out;
}

Tensor mixture_parameters(const DesignRegion& region, const DesignMixture& mixture,
                          const Tensor& density) {
  if (density.size() != region.pattern->cols())
    throw Error(fmt::format("[mixture_parameters] the region has {} cells, got {}",
                            region.pattern->cols(), to_string(density.type())));
  const Tensor share = csr_matmul(region.share, region.pattern, reshape(density, {density.size()}));
  const Tensor theta = mixture.empty + expand_dims(share, -1) * (mixture.full - mixture.empty) +
                       expand_dims(region.outside, -1) * (mixture.around - mixture.empty);
  return reshape(theta, {theta.size()});
}

}  // namespace tessera::electromagnetics
