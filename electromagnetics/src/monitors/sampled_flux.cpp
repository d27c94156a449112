// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/monitors.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::electromagnetics {
namespace {

/// The nodes of an axis, at which components are known, from its first line to its last: line 0,
/// middle 0, line 1, ... An axis that is not resolved has one of both.
class AxisNodes {
 public:
  AxisNodes(const YeeGrid& grid, const std::array<Faces, 3>& faces, int axis)
      : grid_(grid),
        lines_(grid.lines[static_cast<std::size_t>(axis)]),
        axis_(axis),
        joined_(!grid.resolved(axis) ||
                faces[static_cast<std::size_t>(axis)].low == Boundary::periodic) {}

  bool is_resolved() const { return grid_.resolved(axis_); }
  int count() const { return grid_.resolved(axis_) ? 2 * grid_.cells(axis_) + 1 : 2; }
  double position(int node) const {
    const int i = node / 2;
    return node % 2 ? grid_.middle(axis_, i) : lines_[static_cast<std::size_t>(i)];
  }
  /// Of the axis that a node stands for, what lies between `low` and `high`: the weight of what is
  /// there.
  double share(int node, double low, double high) const {
    if (!grid_.resolved(axis_)) return 1;
    const double from = std::max(low, std::max(begin(node), lines_.front())),
                 to = std::min(high, std::min(end(node), lines_.back()));
    return to > from ? (to - from) / length(node) : 0;
  }
  /// By how much less of node + 1 than of `node` lies below a plane at `at`, or an image of it
  /// where faces are joined: the weight of what flows from one to the other.
  double step(int node, double at) const {
    const auto below = [&](int k, double x) {
      return std::clamp((x - begin(k)) / length(k), 0.0, 1.0);
    };
    const double period = lines_.back() - lines_.front();
    double sum = 0;
    for (const double shift : {-period, 0.0, period})
      if (shift == 0 || joined_) sum += below(node, at + shift) - below(node + 1, at + shift);
    return sum;
  }
  double length(int node) const { return end(node) - begin(node); }
  /// A distance to whole periods where faces are joined.
  double images_away(double distance) const {
    const double period = lines_.back() - lines_.front();
    return joined_ ? std::round(distance / period) * period : 0;
  }

 private:
  /// The length that a node stands for: of a middle its cell, of a line half of the cells at both
  /// sides, where faces are joined beyond them.
  double begin(int node) const {
    const int i = node / 2, n = grid_.cells(axis_);
    if (node % 2) return lines_[static_cast<std::size_t>(i)];
    if (i > 0) return grid_.middle(axis_, i - 1);
    return lines_.front() - (joined_ ? grid_.length(axis_, n - 1) / 2 : 0);
  }
  double end(int node) const {
    const int i = node / 2, n = grid_.cells(axis_);
    if (node % 2) return lines_[static_cast<std::size_t>(i) + 1];
    if (i < n) return grid_.middle(axis_, i);
    return lines_.back() + (joined_ ? grid_.length(axis_, 0) / 2 : 0);
  }

  const YeeGrid& grid_;
  const std::vector<double>& lines_;
  int axis_;
  bool joined_;
};

/// Lower and upper end of what a patch covers along one of its axes.
std::array<double, 2> extent(const std::vector<double>& at, const std::vector<double>& weight) {
  return {at.front() - weight.front() / 2, at.back() + weight.back() / 2};
}

/// A point of the two axes in the plane: nodes of u and v, and what of their lengths is within.
struct PlanePoint {
  int u = 0, v = 0;
  double share = 0, share_u = 0;  ///< of the product, of u's alone
};

/// Adds the links of products E_u H_v through a patch.
class Links {
 public:
  Links(SampleList& samples, const Patch& patch, std::vector<FluxLink>& out)
      : samples_(samples), patch_(patch), out_(out) {
    const YeeGrid& grid = samples.grid();
    for (int d = 0; d < 3; ++d) {
      nodes_.emplace_back(grid, samples.faces(), d);
      if (!grid.resolved(d)) per_ /= grid.length(d, 0);
    }
    const double unit = reference_length(grid);
    per_ *= unit * unit / vacuum_impedance;
  }

  /// `sign`: of u x v along the normal.
  void add(int u, int v, double sign) {
    if (!samples_.computes(u) || !samples_.computes(3 + v)) return;
    const AxisNodes& along = nodes_[static_cast<std::size_t>(patch_.axis)];
    const std::vector<PlanePoint> points = points_of(u, v);
    std::vector<double> weight;
    for (const PlanePoint& p : points) weight.push_back(sign * per_ * p.share);
    std::map<int, Index> first;  // row, by node of the normal
    const auto row = [&](int node) {
      const auto [at, fresh] = first.try_emplace(node, samples_.size());
      if (fresh)
        for (const PlanePoint& p : points) add_row(u, v, node, p);
      return at->second;
    };
    for (int node = 0; node + 1 < along.count() && !points.empty(); ++node) {
      const double step = along.step(node, patch_.position);
      const int line = node % 2 ? node + 1 : node, middle = node % 2 ? node : node + 1;
      if (std::abs(step) < 1e-12 || axis_of_node(u, patch_.axis, line).empty()) continue;
      std::vector<double> of = weight;
      for (double& w : of) w *= step;
      const Index e = row(line), h = row(middle);
      out_.push_back(link(u, v, points));
      FluxLink& made = out_.back();
      made.e = e, made.h = h, made.weight = tensor(of), made.step = step;
      const double away = along.images_away(patch_.position - along.position(line));
      made.e_at = along.position(line) + away, made.h_at = along.position(middle) + away;
    }
  }

 private:
  std::vector<AxisWeight> axis_of_node(int component, int axis, int node) const {
    return axis_weights(samples_.grid(), samples_.faces()[static_cast<std::size_t>(axis)],
                        component, axis, nodes_[static_cast<std::size_t>(axis)].position(node));
  }
  /// Without what lies along the normal.
  FluxLink link(int u, int v, const std::vector<PlanePoint>& points) const {
    FluxLink out;
    out.at = patch_, out.u_is_lo = u == patch_.lo_axis();
    const AxisNodes &of_u = nodes_[static_cast<std::size_t>(u)],
                    &of_v = nodes_[static_cast<std::size_t>(v)];
    std::vector<double> at[2], weight[2], length[2];  // of u, of v
    const auto add = [&](int k, const AxisNodes& nodes, int node, double share) {
      at[k].push_back(nodes.position(node)), length[k].push_back(nodes.length(node));
      weight[k].push_back(nodes.is_resolved() ? share * nodes.length(node) : 1);
    };
    for (std::size_t n = 0; n < points.size() && points[n].v == points[0].v; ++n)
      add(0, of_u, points[n].u, points[n].share_u);
    const std::size_t n_u = at[0].size();
    for (std::size_t n = 0; n < points.size(); n += n_u)
      add(1, of_v, points[n].v, points[n].share / points[n].share_u);
    const int lo = out.u_is_lo ? 0 : 1, hi = 1 - lo;
    out.at.lo = at[lo], out.at.weight_lo = weight[lo];
    out.at.hi = at[hi], out.at.weight_hi = weight[hi];
    const double unit = reference_length(samples_.grid());
    for (const double x : length[0]) out.per_e.push_back(unit / x);
    for (const double x : length[1]) out.per_h.push_back(unit / vacuum_impedance / x);
    return out;
  }
  /// None on conductors.
  std::vector<PlanePoint> points_of(int u, int v) const {
    const bool u_is_lo = u == patch_.lo_axis();
    const auto of_u = extent(u_is_lo ? patch_.lo : patch_.hi,
                             u_is_lo ? patch_.weight_lo : patch_.weight_hi),
               of_v = extent(u_is_lo ? patch_.hi : patch_.lo,
                             u_is_lo ? patch_.weight_hi : patch_.weight_lo);
    const AxisNodes &nodes_u = nodes_[static_cast<std::size_t>(u)],
                    &nodes_v = nodes_[static_cast<std::size_t>(v)];
    std::vector<PlanePoint> out;
    for (int b = 0; b < nodes_v.count(); b += 2) {
      const double share_v = nodes_v.share(b, of_v[0], of_v[1]);
      if (share_v == 0 || axis_of_node(u, v, b).empty()) continue;
      for (int a = 1; a < nodes_u.count(); a += 2)
        if (const double share = nodes_u.share(a, of_u[0], of_u[1]); share != 0)
          out.push_back({a, b, share_v * share, share});
    }
    return out;
  }
  /// E_u at a line, H_v at a middle of the normal.
  void add_row(int u, int v, int node, const PlanePoint& p) {
    const int component = node % 2 ? 3 + v : u;
    std::array<int, 3> nodes{}, index{}, periods{};
    nodes[static_cast<std::size_t>(patch_.axis)] = node;
    nodes[static_cast<std::size_t>(u)] = p.u, nodes[static_cast<std::size_t>(v)] = p.v;
    for (std::size_t d = 0; d < 3; ++d) {
      const AxisWeight at = axis_of_node(component, static_cast<int>(d), nodes[d]).front();
      index[d] = at.index, periods[d] = at.period;
    }
    samples_.add_unknown({static_cast<std::uint8_t>(component), index[0], index[1], index[2]},
                         periods);
  }

  SampleList& samples_;
  const Patch& patch_;
  std::vector<FluxLink>& out_;
  std::vector<AxisNodes> nodes_;
  double per_ = 1;  ///< W, or W/m ..., of a product of two unknowns
};

}  // namespace

SampledFlux sampled_flux(SampleList& samples, const std::vector<Patch>& patches) {
  SampledFlux out;
  for (const Patch& p : patches) {
    Links links(samples, p, out.links);
    links.add(p.lo_axis(), p.hi_axis(), p.handedness());
    links.add(p.hi_axis(), p.lo_axis(), -p.handedness());
  }
  return out;
}

SampledCurrents::SampledCurrents(const std::vector<FluxLink>& links) {
  for (const FluxLink& link : links)
    for (const bool electric : {true, false}) {
      const PatchComponent::Place place{(electric ? link.e_at : link.h_at) - link.at.position,
                                        link.step};
      const Index first = electric ? link.h : link.e;
      const auto same = std::find_if(sheets_.begin(), sheets_.end(),
                                     [&](const Sheet& s) { return s.first == first; });
      if (same != sheets_.end()) {
        same->places.push_back(place);
        continue;
      }
      // H_v for J, E_u for M.
      const std::vector<double>& per = electric ? link.per_h : link.per_e;
      const bool along_lo = link.u_is_lo != electric;
      const Index n = std::ssize(per);
      sheets_.push_back({link.at,
                         (electric ? 2 : 0) + (along_lo ? 0 : 1),
                         first,
                         link.u_is_lo,
                         tensor(per, along_lo ? tessera::Shape{1, n} : tessera::Shape{n, 1}),
                         {place}});
    }
}

std::vector<PatchComponent> SampledCurrents::components(const Tensor& values) const {
  const Index n_f = values.dim(0);
  std::vector<PatchComponent> out;
  for (const Sheet& s : sheets_) {
    const Index n_lo = s.at.n_lo(), n_hi = s.at.n_hi();
    const Tensor all = slice(values, {0, s.first}, {n_f, s.first + n_lo * n_hi}),
                 in_order = s.u_is_lo ? reshape(all, {n_f, n_hi, n_lo})
                                      : transpose(reshape(all, {n_f, n_lo, n_hi}));
    out.push_back({s.at, s.component, in_order * s.per, s.places});
  }
  return out;
}

Tensor SampledFlux::power(const Tensor& values) const {
  const Index n_f = values.dim(0);
  Tensor sum = zeros({n_f});
  for (const FluxLink& link : links) {
    const Index n = link.weight.dim(0);
    const Tensor e = slice(values, {0, link.e}, {n_f, link.e + n}),
                 h = slice(values, {0, link.h}, {n_f, link.h + n});
    sum = sum + sum_product(real(e) * real(h) + imag(e) * imag(h), link.weight, {1}) * 0.5;
  }
  return sum;
}

}  // namespace tessera::electromagnetics
