// SPDX-License-Identifier: Apache-2.0
#include "modes/plane_tensors.h"

#include "tessera/electromagnetics/constants.h"
#include "time_domain/couplings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace tessera::electromagnetics::modes {
namespace {

/// Of the inverse permittivity: what rounding leaves of a face along the guide.
constexpr double kNone = 1e-9;

auto key_of(const Edge& e) { return std::tuple(e.component, e.k, e.j, e.i); }

class CoupledEdges {
 public:
  CoupledEdges(const YeeModel& model, int axis, const std::vector<Edge>& edges) : m_(model) {
    for (int d = 0; d < 3; ++d)
      for (const bool middles : {false, true})
        if (d != axis && m_.grid.resolved(d))
          layers_[d][middles ? 1 : 0] =
              pml_profile(m_.grid.lines[d], m_.faces[d], m_.pml, m_.dt_s, middles);
    for (std::size_t n = 0; n < edges.size(); ++n)
      if (!left_out(edges[n])) number_.emplace(key_of(edges[n]), n);
  }

  /// The number of an edge that takes part, and its own weight; 0 of others.
  std::pair<std::size_t, double> of(const Edge& e) {
    const auto found = number_.find(key_of(e));
    return found == number_.end() ? std::pair(std::size_t{0}, 0.0)
                                  : std::pair(found->second, own(e));
  }

 private:
  bool left_out(const Edge& e) const {
    const auto is_it = [&](const Edge& other) { return other == e; };
    if (m_.open.listed(e) || std::any_of(m_.uncoupled.begin(), m_.uncoupled.end(), is_it) ||
        std::any_of(m_.mixed.edges.begin(), m_.mixed.edges.end(), is_it))
      return true;
    const int at[3] = {e.i, e.j, e.k};
    for (int d = 0; d < 3; ++d)
      for (const PmlProfile& p : layers_[d])
        for (const int i : {at[d] - 1, at[d]})
          if (i >= 0 && i < static_cast<int>(p.b.size()) && p.b[static_cast<std::size_t>(i)] != 0)
            return true;
    return false;
  }
  double own(const Edge& e) {
    const auto [found, is_new] = rows_.try_emplace(std::tuple(e.component, e.k, e.j));
    MaterialRow& row = found->second;
    if (is_new) {
      const auto n = static_cast<std::size_t>(m_.grid.cells(0)) + 1;
      row = {std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), {}, {}};
      if (m_.material) m_.material(e.component, e.j, e.k, row);
    }
    const auto i = static_cast<std::size_t>(e.i);
    const auto within = [&](const auto& run, std::size_t length) {
      return e.i >= run.first && e.i < run.first + static_cast<int>(length);
    };
    if (row.loss[i] != 0) return 0;
    for (const DispersiveRun& run : row.dispersive)
      if (within(run, run.weight.size())) return 0;
    for (const NonlinearRun& run : row.nonlinear)
      if (within(run, run.chi2.size())) return 0;
    double out = speed_of_light * m_.dt_s * row.inverse[i];
    const int at[3] = {e.i, e.j, e.k};
    for (int d = 0; d < 3; ++d)
      out *= d == axis_of(e.component)
                 ? m_.grid.length(d, at[d])
                 : 1 / m_.grid.dual_length(
                           d, at[d], !m_.grid.resolved(d) || m_.faces[d].low == Boundary::periodic);
    return out;
  }

  const YeeModel& m_;
  std::array<PmlProfile, 2> layers_[3];
  std::map<std::tuple<std::uint8_t, int, int, int>, std::size_t> number_;
  std::map<std::tuple<std::uint8_t, int, int>, MaterialRow> rows_;
};

}  // namespace

std::vector<PlaneCoupling> plane_couplings(const YeeModel& model, int axis, int line,
                                           const std::vector<Edge>& edges) {
  std::vector<PlaneCoupling> out;
  if (model.tensors.empty()) return out;
  CoupledEdges all(model, axis, edges);
  std::array<bool, 3> periodic{};
  for (int d = 0; d < 3; ++d)
    periodic[static_cast<std::size_t>(d)] =
        model.grid.resolved(d) && model.faces[d].low == Boundary::periodic;
  for (const NodeTensor& node : model.tensors) {
    const int at[3] = {node.i, node.j, node.k};
    if (at[axis] != line) continue;
    time_domain::couplings_of(
        model.grid, periodic, {0, 0, 0}, speed_of_light * model.dt_s, node,
        [&](const time_domain::Neighbour& x, const time_domain::Neighbour& y, double weight) {
          if (weight == 0 || axis_of(x.edge.component) == axis || axis_of(y.edge.component) == axis)
            return;
          const auto [a, own_a] = all.of(x.edge);
          const auto [b, own_b] = all.of(y.edge);
          if (own_a == 0 || own_b == 0) return;
          out.push_back({a, b, weight, own_a}), out.push_back({b, a, weight, own_b});
        });
  }
  return out;
}

bool couples_along(const YeeModel& model, int axis, int line, const int low[3], const int high[3]) {
  return std::any_of(model.tensors.begin(), model.tensors.end(), [&](const NodeTensor& t) {
    const int at[3] = {t.i, t.j, t.k};
    if (at[axis] != line) return false;
    for (int d = 0; d < 3; ++d)
      if (d != axis && (at[d] < low[d] || at[d] > high[d])) return false;
    const double mean[3] = {t.xy, t.xz, t.yz};
    for (std::size_t pair = 0; pair < 3; ++pair) {
      if (static_cast<int>(pair) == 2 - axis) continue;  // leaves the axis out
      for (const double more : t.pairs[pair])
        if (std::abs(mean[pair] + more) > kNone) return true;
    }
    return false;
  });
}

}  // namespace tessera::electromagnetics::modes
