// SPDX-License-Identifier: Apache-2.0
//
// Kruskal's tree of molecules: pairs of atoms of different molecules by rising distance, each of
// which joins two trees that were apart and puts the one at the image nearest to the other. Pairs
// come from a grid whose reach grows until all is one.
#include "analysis/near_grid.h"
#include "tessera/molecular/transform.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

namespace tessera::molecular {
namespace {

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

Vec3 difference(const Vec3& a, const Vec3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

struct Contact {
  double square;
  std::int32_t i, j;
  bool operator<(const Contact& o) const {
    return std::tie(square, i, j) < std::tie(o.square, o.i, o.j);
  }
};

}  // namespace

Complex::Complex(const System& system, std::span<const std::int32_t> group)
    : molecule_of_(system.n_atoms(), nowhere) {
  const std::vector<std::int32_t> molecule = molecules(system);
  std::vector<std::size_t> number(system.n_atoms(), nowhere);
  for (const std::int32_t i : group) {
    std::size_t& n = number[static_cast<std::size_t>(molecule[static_cast<std::size_t>(i)])];
    if (n == nowhere) {
      n = members_.size();
      members_.emplace_back();
    }
    members_[n].push_back(i);
  }
  atoms_.resize(members_.size());
  for (std::size_t i = 0; i < system.n_atoms(); ++i)
    if (const std::size_t n = number[static_cast<std::size_t>(molecule[i])]; n != nowhere) {
      atoms_[n].push_back(static_cast<std::int32_t>(i));
      molecule_of_[i] = n;
    }
}

void Complex::move(std::vector<Vec3>& x, std::size_t molecule, const Vec3& shift) const {
  if (std::max({std::abs(shift[0]), std::abs(shift[1]), std::abs(shift[2])}) < 1e-9)
    return;  // positions that need no move keep their bits
  for (const std::int32_t i : atoms_[molecule])
    for (std::size_t c = 0; c < 3; ++c) x[static_cast<std::size_t>(i)][c] += shift[c];
}

Vec3 Complex::apart(const std::vector<Vec3>& x, const Link& link) const {
  return difference(centre_of(x, members_[link.molecule]), centre_of(x, members_[link.to]));
}

void Complex::join(std::vector<Vec3>& x, const Box& box) {
  const std::size_t n = members_.size();
  std::vector<std::int32_t> group;
  for (const auto& m : members_) group.insert(group.end(), m.begin(), m.end());
  std::vector<std::size_t> tree(n);
  std::iota(tree.begin(), tree.end(), std::size_t{0});
  std::vector<std::vector<std::size_t>> of_tree(n), near(n);
  for (std::size_t m = 0; m < n; ++m) of_tree[m] = {m};
  std::size_t trees = n;
  const Vec3 length = lengths_nm(box);
  const double farthest = length[0] + length[1] + length[2];
  for (double reach = 0.5; trees > 1;
       reach = reach < farthest ? 2 * reach : std::numeric_limits<double>::infinity()) {
    const NearGrid grid(x, group, box, reach);
    std::map<std::pair<std::size_t, std::size_t>, Contact> nearest;  // of two trees
    for (const std::int32_t i : group) {
      const std::size_t mine = molecule_of_[static_cast<std::size_t>(i)];
      Vec3 s = fractions(box, x[static_cast<std::size_t>(i)]);
      for (double& f : s) f = inside(f);
      grid.around(s, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
          const std::int32_t j = grid.atom[k];
          const std::size_t other = molecule_of_[static_cast<std::size_t>(j)];
          if (j <= i || tree[other] == tree[mine]) continue;
          const Vec3 d = shortest(
              box, difference(x[static_cast<std::size_t>(j)], x[static_cast<std::size_t>(i)]));
          if (const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
              square <= reach * reach) {
            const auto [at, fresh] =
                nearest.try_emplace(std::minmax(tree[mine], tree[other]), Contact{square, i, j});
            if (!fresh && Contact{square, i, j} < at->second) at->second = {square, i, j};
          }
        }
      });
    }
    std::vector<Contact> contacts;
    for (const auto& [trees_joined, contact] : nearest) contacts.push_back(contact);
    std::sort(contacts.begin(), contacts.end());
    for (const Contact& c : contacts) {
      const std::size_t a = molecule_of_[static_cast<std::size_t>(c.i)],
                        b = molecule_of_[static_cast<std::size_t>(c.j)], kept = tree[a],
                        moved = tree[b];
      if (kept == moved) continue;
      const Vec3 d = difference(x[static_cast<std::size_t>(c.j)], x[static_cast<std::size_t>(c.i)]),
                 shift = difference(shortest(box, d), d);
      for (const std::size_t m : of_tree[moved]) {
        move(x, m, shift);
        tree[m] = kept;
      }
      of_tree[kept].insert(of_tree[kept].end(), of_tree[moved].begin(), of_tree[moved].end());
      near[a].push_back(b);
      near[b].push_back(a);
      --trees;
    }
  }
  // From the largest molecule on.
  const auto size = [&](const std::vector<std::int32_t>& m) { return m.size(); };
  std::vector<std::size_t> reached = {
      static_cast<std::size_t>(std::ranges::max_element(members_, {}, size) - members_.begin())};
  std::vector<bool> done(n, false);
  done[reached[0]] = true;
  for (std::size_t k = 0; k < reached.size(); ++k)
    for (const std::size_t m : near[reached[k]]) {
      if (done[m]) continue;
      done[m] = true;
      reached.push_back(m);
      Link link{m, reached[k], {}};
      link.apart = apart(x, link);
      links_.push_back(link);
    }
}

void Complex::gather(std::vector<Vec3>& x, const Box& box) {
  if (members_.size() < 2 || !is_periodic(box)) return;
  if (links_.empty()) return join(x, box);
  for (Link& link : links_) {
    const Vec3 now = apart(x, link), moved = difference(now, link.apart),
               near = shortest(box, moved);
    const Vec3 shift = difference(near, moved);
    move(x, link.molecule, shift);
    link.apart = {now[0] + shift[0], now[1] + shift[1], now[2] + shift[2]};
  }
}

}  // namespace tessera::molecular
