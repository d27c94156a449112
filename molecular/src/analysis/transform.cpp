// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/transform.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::molecular {
namespace {

Vec3 minus(const Vec3& a, const Vec3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vec3 plus(const Vec3& a, const Vec3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
double weight(std::span<const double> w, std::size_t k) { return w.empty() ? 1.0 : w[k]; }

using Matrix4 = std::array<std::array<double, 4>, 4>;

/// The eigenvector of the largest eigenvalue of a symmetric matrix, by Jacobi rotations.
std::array<double, 4> largest_eigenvector(Matrix4 a) {
  Matrix4 v{};
  for (std::size_t i = 0; i < 4; ++i) v[i][i] = 1;
  for (int sweep = 0; sweep < 50; ++sweep) {
    double off = 0, on = 0;
    for (std::size_t p = 0; p < 4; ++p)
      for (std::size_t q = 0; q < 4; ++q) (p == q ? on : off) += a[p][q] * a[p][q];
    if (off <= 1e-32 * on) break;
    for (std::size_t p = 0; p < 4; ++p)
      for (std::size_t q = p + 1; q < 4; ++q) {
        if (a[p][q] == 0) continue;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]),
                     t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1 / std::hypot(t, 1.0), s = t * c;
        for (auto& row : a) {
          const double x = row[p], y = row[q];
          row[p] = c * x - s * y, row[q] = s * x + c * y;
        }
        for (std::size_t k = 0; k < 4; ++k) {
          const double x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
        }
        for (auto& row : v) {
          const double x = row[p], y = row[q];
          row[p] = c * x - s * y, row[q] = s * x + c * y;
        }
      }
  }
  std::size_t best = 0;
  for (std::size_t k = 1; k < 4; ++k)
    if (a[k][k] > a[best][best]) best = k;
  return {v[0][best], v[1][best], v[2][best], v[3][best]};
}

}  // namespace

MoleculeMap::MoleculeMap(const System& system) {
  const std::size_t n = system.n_atoms();
  // What bonds do not connect, springs may hold (GROMACS's bonds of type 6), or a site made of
  // both.
  std::vector<std::vector<std::int32_t>> bound(n), held(n);
  const auto join = [](auto& lists, std::int32_t i, std::int32_t j) {
    lists[static_cast<std::size_t>(i)].push_back(j);
    lists[static_cast<std::size_t>(j)].push_back(i);
  };
  for (const auto& [i, j] : system.connectivity) join(bound, i, j);
  for (const auto& [i, j] : system.constraints.atoms) join(bound, i, j);
  for (const auto& [o, h1, h2] : system.rigid_waters.atoms) join(bound, o, h1), join(bound, o, h2);
  for (const auto& [i, j] : system.bonds.atoms) join(held, i, j);
  for (const auto& [i, j] : springs(system)) join(held, i, j);
  for (const VirtualSite& s : system.virtual_sites) {
    join(bound, s.site, s.parents[0]);
    for (std::size_t k = 1; k < s.parents.size(); ++k)
      if (s.parents[k] >= 0) join(held, s.site, s.parents[k]);
  }

  const std::vector<std::int32_t> molecule = molecules(system);
  for (std::size_t i = 0; i < n; ++i) {
    const auto m = static_cast<std::size_t>(molecule[i]);
    if (m >= atoms_.size()) atoms_.resize(m + 1);
    atoms_[m].push_back(static_cast<std::int32_t>(i));
  }
  std::vector<bool> placed(n, false);
  for (std::size_t first = 0; first < n; ++first) {
    if (placed[first]) continue;
    placed[first] = true;
    std::vector<std::int32_t> front = {static_cast<std::int32_t>(first)};
    const auto reach = [&](std::int32_t next, std::int32_t from) {
      if (placed[static_cast<std::size_t>(next)]) return false;
      placed[static_cast<std::size_t>(next)] = true;
      links_.push_back({next, from});
      front.push_back(next);
      return true;
    };
    for (std::size_t at = 0, held_at = 0; at < front.size();) {
      for (; at < front.size(); ++at)
        for (std::int32_t next : bound[static_cast<std::size_t>(front[at])]) reach(next, front[at]);
      while (held_at < front.size() && at == front.size()) {
        const std::int32_t from = front[held_at];
        if (!std::ranges::any_of(held[static_cast<std::size_t>(from)],
                                 [&](std::int32_t next) { return reach(next, from); }))
          ++held_at;
      }
    }
  }
}

void MoleculeMap::make_whole(std::vector<Vec3>& x, const Box& box) const {
  if (!is_periodic(box)) return;
  for (const auto& [atom, to] : links_) {
    Vec3& p = x[static_cast<std::size_t>(atom)];
    const Vec3& q = x[static_cast<std::size_t>(to)];
    p = plus(q, wrapped(box, minus(p, q)));
  }
}

void MoleculeMap::wrap(std::vector<Vec3>& x, const Box& box) const {
  if (!is_periodic(box)) return;
  for (const auto& atoms : atoms_) {
    Vec3 s = fractions(box, centre_of(x, atoms));
    for (double& f : s) f = -std::floor(f);
    const Vec3 shift = from_fractions(box, s);
    for (std::int32_t i : atoms)
      x[static_cast<std::size_t>(i)] = plus(x[static_cast<std::size_t>(i)], shift);
  }
}

void Unwrap::apply(Frame& frame) {
  std::vector<Vec3> home = frame.x_nm;
  if (is_periodic(frame.box))
    for (Vec3& x : home) {
      Vec3 s = fractions(frame.box, x);
      for (double& f : s) f = -std::floor(f);
      x = plus(x, from_fractions(frame.box, s));
    }
  if (path_.empty()) {
    last_ = std::move(home);
    path_ = frame.x_nm;
    return;
  }
  if (home.size() != last_.size())
    throw Error(fmt::format("[unwrap] expected {} atoms as in the first frame, got {}",
                            last_.size(), home.size()));
  for (std::size_t i = 0; i < last_.size(); ++i)
    path_[i] = plus(path_[i], wrapped(frame.box, minus(home[i], last_[i])));
  last_ = std::move(home);
  frame.x_nm = path_;
}

Vec3 centre_of(const std::vector<Vec3>& x, std::span<const std::int32_t> group,
               std::span<const double> weights) {
  Vec3 sum{};
  double total = 0;
  for (std::size_t k = 0; k < group.size(); ++k) {
    const double w = weight(weights, k);
    const Vec3& p = x.at(static_cast<std::size_t>(group[k]));
    for (std::size_t d = 0; d < 3; ++d) sum[d] += w * p[d];
    total += w;
  }
  if (!(total > 0))
    throw Error(fmt::format("[centre] expected a group with weight, got {} atoms of weight {}",
                            group.size(), total));
  for (double& v : sum) v /= total;
  return sum;
}

void centre(std::vector<Vec3>& x, std::span<const std::int32_t> group,
            std::span<const double> weights, const Vec3& to) {
  const Vec3 shift = minus(to, centre_of(x, group, weights));
  for (Vec3& p : x) p = plus(p, shift);
}

Vec3 middle(const Box& box) { return from_fractions(box, {0.5, 0.5, 0.5}); }

Vec3 Superposition::operator()(const Vec3& x) const {
  const Vec3 d = minus(x, from);
  Vec3 out = to;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) out[a] += rotation[a][b] * d[b];
  return out;
}

Superposition superpose(const std::vector<Vec3>& x, const std::vector<Vec3>& reference,
                        std::span<const std::int32_t> group, std::span<const double> weights) {
  Superposition out;
  out.from = centre_of(x, group, weights);
  out.to = centre_of(reference, group, weights);
  std::array<Vec3, 3> s{};  // sum w x_a ref_b, both from their centres
  double total = 0;
  for (std::size_t k = 0; k < group.size(); ++k) {
    const double w = weight(weights, k);
    const Vec3 p = minus(x[static_cast<std::size_t>(group[k])], out.from),
               r = minus(reference[static_cast<std::size_t>(group[k])], out.to);
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) s[a][b] += w * p[a] * r[b];
    total += w;
  }
  const Matrix4 key = {
      {{s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]},
       {s[1][2] - s[2][1], s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
       {s[2][0] - s[0][2], s[0][1] + s[1][0], s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]},
       {s[0][1] - s[1][0], s[2][0] + s[0][2], s[1][2] + s[2][1], s[2][2] - s[0][0] - s[1][1]}}};
  const auto [q0, q1, q2, q3] = largest_eigenvector(key);
  out.rotation = {
      {{q0 * q0 + q1 * q1 - q2 * q2 - q3 * q3, 2 * (q1 * q2 - q0 * q3), 2 * (q1 * q3 + q0 * q2)},
       {2 * (q1 * q2 + q0 * q3), q0 * q0 - q1 * q1 + q2 * q2 - q3 * q3, 2 * (q2 * q3 - q0 * q1)},
       {2 * (q1 * q3 - q0 * q2), 2 * (q2 * q3 + q0 * q1), q0 * q0 - q1 * q1 - q2 * q2 + q3 * q3}}};
  // From the atoms: the difference of sums that the eigenvalue gives loses half of the digits where
  // the fit is good.
  double sum = 0;
  for (std::size_t k = 0; k < group.size(); ++k) {
    const Vec3 d = minus(out(x[static_cast<std::size_t>(group[k])]),
                         reference[static_cast<std::size_t>(group[k])]);
    sum += weight(weights, k) * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  }
  out.rmsd_nm = std::sqrt(sum / total);
  return out;
}

}  // namespace tessera::molecular
