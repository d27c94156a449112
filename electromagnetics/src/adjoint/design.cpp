// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/design.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

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

/// What surrounds each position of a component along an axis.
using AxisShares = std::vector<std::vector<CellShare>>;

int last_position(const YeeGrid& grid, int c, int d) {
  return at_middle(c, d) || !grid.resolved(d) ? grid.cells(d) - 1 : grid.cells(d);
}

/// The edges that have a share of the columns, of which there are `count` along each axis.
template <class Shares>
DesignRegion region_of(const std::vector<int>& components, const std::array<Index, 3>& count,
                       const Shares& shares_of) {
  DesignRegion out;
  std::vector<Index> row_begin{0}, column;
  std::vector<double> share, outside;
  for (const int c : components) {
    if (!is_electric(c))
      throw Error(fmt::format("[design_region] {} has no permittivity: choose from Ex, Ey and Ez",
                              name_of(c)));
    const std::array<AxisShares, 3> at{shares_of(c, 0), shares_of(c, 1), shares_of(c, 2)};
    for (std::size_t k = 0; k < at[2].size(); ++k)
      for (std::size_t j = 0; j < at[1].size(); ++j)
        for (std::size_t i = 0; i < at[0].size(); ++i) {
          if (at[0][i].empty() || at[1][j].empty() || at[2][k].empty()) continue;
          double rest = 1;
          std::vector<std::pair<Index, double>> of_edge;
          for (const CellShare& z : at[2][k])
            for (const CellShare& y : at[1][j])
              for (const CellShare& x : at[0][i]) {
                of_edge.emplace_back((z.cell * count[1] + y.cell) * count[0] + x.cell,
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
  out.pattern =
      csr_pattern(n_edges, count[0] * count[1] * count[2], std::move(row_begin), std::move(column));
  out.share = tensor(share);
  out.outside = tensor(outside);
  return out;
}

/// The pixels in the box of a position, which cells surround as above; each cell has a part of it
/// next to the position.
std::vector<CellShare> pixels_around(const YeeGrid& grid, const std::vector<CellShare>& cells,
                                     int component, int axis, int i,
                                     const std::vector<double>& lines) {
  std::vector<CellShare> out;
  const auto add = [&](int pixel, double share) {
    for (CellShare& known : out)
      if (known.cell == pixel) {
        known.share += share;
        return;
      }
    out.push_back({pixel, share});
  };
  const auto count = static_cast<int>(lines.size()) - 1;
  for (const CellShare& c : cells) {
    if (c.cell >= grid.cells(axis)) continue;  // the far side of a single cell
    double low = grid.lines[axis][c.cell], high = grid.lines[axis][c.cell + 1];
    if (!grid.resolved(axis)) {
      const double at = grid.middle(axis, 0);
      for (int p = 0; p < count; ++p)
        if (lines[p] <= at && at < lines[p + 1]) add(p, c.share);
      continue;
    }
    if (!at_middle(component, axis) && grid.cells(axis) > 1) {  // the half that lies towards line i
      const bool behind = c.cell == (i == grid.cells(axis) ? 0 : i);
      (behind ? high : low) = grid.middle(axis, c.cell);
    }
    for (int p = std::max(
             static_cast<int>(std::upper_bound(lines.begin(), lines.end(), low) - lines.begin()) -
                 1,
             0);
         p < count && lines[p] < high; ++p) {
      const double both = std::min(high, lines[p + 1]) - std::max(low, lines[p]);
      if (both > 1e-10 * (high - low)) add(p, c.share * both / (high - low));
    }
  }
  return out;
}

}  // namespace

DesignRegion design_region(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                           const std::array<int, 3>& low, const std::array<int, 3>& high,
                           const std::vector<int>& components) {
  for (int d = 0; d < 3; ++d)
    if (low[d] < 0 || low[d] >= high[d] || high[d] > grid.cells(d))
      throw Error(fmt::format("[design_region] cells {} to {} along {}, of which there are {}",
                              low[d], high[d], "xyz"[d], grid.cells(d)));
  DesignRegion out = region_of(
      components, {high[0] - low[0], high[1] - low[1], high[2] - low[2]}, [&](int c, int d) {
        AxisShares shares;
        for (int i = 0; i <= last_position(grid, c, d); ++i) {
          shares.push_back(around(grid, faces[d], c, d, i));
          std::erase_if(shares.back(),
                        [&](const CellShare& s) { return s.cell < low[d] || s.cell >= high[d]; });
          for (CellShare& s : shares.back()) s.cell -= low[d];
        }
        return shares;
      });
  out.low = low, out.high = high;
  return out;
}

DesignRegion pixel_region(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                          const std::array<std::vector<double>, 3>& lines,
                          const std::vector<int>& components) {
  std::array<Index, 3> count{};
  for (int d = 0; d < 3; ++d) {
    if (lines[d].size() < 2 || std::adjacent_find(lines[d].begin(), lines[d].end(),
                                                  std::greater_equal<>()) != lines[d].end())
      throw Error(fmt::format("[pixel_region] the {} lines along {} do not rise", lines[d].size(),
                              "xyz"[d]));
    count[d] = static_cast<Index>(lines[d].size()) - 1;
  }
  DesignRegion out = region_of(components, count, [&](int c, int d) {
    AxisShares shares;
    for (int i = 0; i <= last_position(grid, c, d); ++i)
      shares.push_back(pixels_around(grid, around(grid, faces[d], c, d, i), c, d, i, lines[d]));
    return shares;
  });
  if (out.edges.empty()) throw Error("[pixel_region] the pixels lie outside of the grid");
  for (int d = 0; d < 3; ++d) {
    out.low[d] = grid.cells(d), out.high[d] = 0;
    for (int i = 0; i < grid.cells(d); ++i)
      if (!grid.resolved(d) ||
          (grid.lines[d][i + 1] > lines[d].front() && grid.lines[d][i] < lines[d].back()))
        out.low[d] = std::min(out.low[d], i), out.high[d] = i + 1;
  }
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
