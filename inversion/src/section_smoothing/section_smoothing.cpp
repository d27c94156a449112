// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/section_smoothing.h"

#include "base/sparse_factor.h"
#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

namespace tessera::inversion {
namespace {

[[noreturn]] void bad_smoothing(const std::string& what) {
  throw Error("[section_smoothing] " + what);
}

double area_of(const Mesh2d& m, Index c) {
  double twice = 0;
  for (int k = 0; k < m.corners; ++k) {
    const Index a = m.cell[c * m.corners + k], b = m.cell[c * m.corners + (k + 1) % m.corners];
    twice += m.y[a] * m.z[b] - m.y[b] * m.z[a];
  }
  return std::abs(twice) / 2;
}

using Point = std::pair<double, double>;

/// Whether the segment a b parts c from d. What lies on a line counts to one side of it: a middle
/// on the tear goes with one neighbour, and of two pieces that meet on a tie one parts it.
bool cross(Point a, Point b, Point c, Point d) {
  const auto on_one_side = [](Point p, Point q, Point r) {
    return (q.first - p.first) * (r.second - p.second) >
           (q.second - p.second) * (r.first - p.first);
  };
  if (d < c) std::swap(c, d);
  return on_one_side(a, b, c) != on_one_side(a, b, d) &&
         on_one_side(c, d, a) != on_one_side(c, d, b);
}

bool torn(const std::vector<Tear2d>& tears, Point a, Point b) {
  for (const Tear2d& t : tears)
    for (std::size_t k = 0; k + 1 < t.y.size(); ++k)
      if (cross({t.y[k], t.z[k]}, {t.y[k + 1], t.z[k + 1]}, a, b)) return true;
  return false;
}

void require_options(const SectionSmoothingOptions& o) {
  if (!(o.along >= 0) || !(o.down >= 0) || !(o.across_tears >= 0) || !(o.isotropy >= 0))
    bad_smoothing("weights must not be negative");
  if (!(o.anchor > 0)) bad_smoothing("the anchor must be above 0, or the prior is none");
  if (o.axes != 1 && o.axes != 3) bad_smoothing("a cell has 1 or 3 resistivities");
  if (o.norm == DifferenceNorm::huber && !(o.corner > 0))
    bad_smoothing("the corner must be above 0");
  for (const Tear2d& t : o.tears)
    if (t.y.size() != t.z.size() || t.y.size() < 2)
      bad_smoothing("a tear needs two points or more, and as many y as z");
}

/// Area of each parameter's cells over that of all, sum of A / depth^2, and the area of all.
struct Areas {
  std::vector<double> share, by_depth;
  double all = 0;
};
Areas areas_of(const Mesh2d& m) {
  Areas out;
  out.share.assign(static_cast<std::size_t>(m.parameters()), 0);
  out.by_depth = out.share;
  // Depth from the vertices of a column: of any mesh from the uppermost cell there, near enough.
  const double top = *std::min_element(m.z.begin(), m.z.end());
  for (Index c = 0; c < m.cells(); ++c) {
    const Index p = m.medium[c].parameter;
    if (p < 0) continue;
    const double a = area_of(m, c), depth = std::max(m.middle(c).second - top, std::sqrt(a) / 2);
    out.share[p] += a;
    out.by_depth[p] += a / (depth * depth);
    out.all += a;
  }
  for (double& a : out.share) a /= out.all;
  return out;
}

}  // namespace

std::vector<SectionTie> section_ties(const Mesh2d& m, const SectionSmoothingOptions& o) {
  require_options(o);
  std::map<std::pair<Index, Index>, Index> seen;  // edge -> cell
  std::map<std::pair<Index, Index>, double> weight;
  for (Index c = 0; c < m.cells(); ++c) {
    const Index own = m.medium[c].parameter;
    if (own < 0) continue;
    for (int k = 0; k < m.corners; ++k) {
      const Index a = m.cell[c * m.corners + k], b = m.cell[c * m.corners + (k + 1) % m.corners];
      const auto [at, fresh] = seen.try_emplace(std::minmax(a, b), c);
      if (fresh || m.medium[at->second].parameter == own) continue;
      const Point here = m.middle(c), there = m.middle(at->second);
      const double dy = m.y[b] - m.y[a], dz = m.z[b] - m.z[a], square = dy * dy + dz * dz,
                   apart = std::hypot(here.first - there.first, here.second - there.second);
      double w = (o.along * dz * dz + o.down * dy * dy) / square * std::sqrt(square) / apart;
      if (!o.tears.empty() && torn(o.tears, here, there)) w *= o.across_tears;
      if (w > 0) weight[std::minmax(own, m.medium[at->second].parameter)] += w;
    }
  }
  std::vector<SectionTie> out;
  for (const auto& [pair, w] : weight)
    for (int axis = 0; axis < o.axes; ++axis)
      out.push_back({pair.first * o.axes + axis, pair.second * o.axes + axis, w});
  if (o.axes == 3 && o.isotropy > 0) {
    const Areas areas = areas_of(m);
    for (Index p = 0; p < m.parameters(); ++p)
      for (const auto& [a, b] : {std::pair(0, 1), std::pair(1, 2), std::pair(0, 2)})
        out.push_back({3 * p + a, 3 * p + b, o.isotropy * areas.by_depth[p]});
  }
  return out;
}

Smoothing section_smoothing(const Mesh2d& cells, const SectionSmoothingOptions& o,
                            const std::vector<double>& at) {
  const auto ties = std::make_shared<const std::vector<SectionTie>>(section_ties(cells, o));
  const auto n = static_cast<std::size_t>(cells.parameters() * o.axes);
  if (n == 0) bad_smoothing("the mesh has no parameters");
  std::vector<double> reference = o.reference;
  if (reference.size() == 1) reference.assign(n, o.reference[0]);
  if (reference.size() != n)
    bad_smoothing(
        fmt::format("the reference has {} numbers; the model has {}", reference.size(), n));
  if (!at.empty() && at.size() < n) bad_smoothing("the model is shorter than the prior");
  const std::vector<double> from = o.rough_from_reference ? reference : std::vector<double>(n, 0.0);
  const auto difference = [from](const std::vector<double>& m, const SectionTie& t) {
    const auto a = static_cast<std::size_t>(t.a), b = static_cast<std::size_t>(t.b);
    return (m[a] - from[a]) - (m[b] - from[b]);
  };

  std::vector<Entry> entries;
  for (const SectionTie& t : *ties) {
    double w = t.weight;
    if (o.norm == DifferenceNorm::huber && !at.empty())
      w *= std::min(1.0, o.corner / std::max(std::abs(difference(at, t)), 1e-300));
    const auto a = static_cast<std::size_t>(t.a), b = static_cast<std::size_t>(t.b);
    entries.insert(entries.end(), {{a, a, w}, {b, b, w}, {a, b, -w}, {b, a, -w}});
  }
  const Areas areas = areas_of(cells);
  std::vector<double> anchor(n);
  for (std::size_t k = 0; k < n; ++k) {
    anchor[k] = o.anchor * areas.share[k / static_cast<std::size_t>(o.axes)];
    entries.push_back({k, k, anchor[k]});
  }
  const auto base = std::make_shared<GaussianPrior>();
  base->precision = sparse(n, n, std::move(entries));
  base->mean = reference;
  const bool level = std::all_of(reference.begin(), reference.end(),
                                 [&](double r) { return r == reference.front(); });
  if (!o.rough_from_reference && !(level && o.axes == 1)) {
    // m^T R m + anchor (m - reference)^2 has its least value at (R + anchor)^-1 anchor reference.
    Eigen::VectorXd pull(static_cast<Eigen::Index>(n));
    for (std::size_t k = 0; k < n; ++k)
      pull[static_cast<Eigen::Index>(k)] = anchor[k] * reference[k];
    base->mean = to_vector(SparseFactor(base->precision, {}, "section_smoothing").solve(pull));
  }

  Smoothing out{.proportional = true};
  out.prior = [base](double mu) {
    GaussianPrior p = *base;
    for (double& v : p.precision.values) v *= mu;
    return p;
  };
  out.roughness = [ties, difference, o](const std::vector<double>& m) {
    double sum = 0;
    for (const SectionTie& t : *ties) {
      const double d = std::abs(difference(m, t));
      sum += t.weight * (o.norm == DifferenceNorm::squares || d <= o.corner
                             ? d * d
                             : o.corner * (2 * d - o.corner));
    }
    return sum;
  };
  return out;
}

GaussianPrior section_correlation(const Mesh2d& cells, double along_m, double down_m) {
  if (!(along_m > 0) || !(down_m > 0)) bad_smoothing("lengths must be above 0");
  const auto n = static_cast<std::size_t>(cells.parameters());
  if (n == 0) bad_smoothing("the mesh has no parameters");
  const Areas areas = areas_of(cells);
  const std::vector<double>& area = areas.share;  // all is one
  const double unit = areas.all;
  std::vector<Entry> entries;
  for (const SectionTie& t :
       section_ties(cells, {.along = along_m * along_m / unit, .down = down_m * down_m / unit})) {
    const auto a = static_cast<std::size_t>(t.a), b = static_cast<std::size_t>(t.b);
    const double w = t.weight;
    entries.insert(entries.end(), {{a, a, w}, {b, b, w}, {a, b, -w}, {b, a, -w}});
  }
  for (std::size_t k = 0; k < n; ++k) entries.push_back({k, k, area[k]});
  const SparseMatrix b = sparse(n, n, std::move(entries));
  std::vector<Entry> square;  // of rows of B, which is symmetric
  for (std::size_t k = 0; k < n; ++k) {
    const auto first = static_cast<std::size_t>(b.offsets[k]),
               last = static_cast<std::size_t>(b.offsets[k + 1]);
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t j = first; j < last; ++j)
        square.push_back({static_cast<std::size_t>(b.columns[i]),
                          static_cast<std::size_t>(b.columns[j]),
                          b.values[i] * b.values[j] / area[k]});
  }
  return {std::vector<double>(n, 0.0), sparse(n, n, std::move(square))};
}

}  // namespace tessera::inversion
