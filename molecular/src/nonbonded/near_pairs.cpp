// SPDX-License-Identifier: Apache-2.0
//
// Cells at least one radius wide in fractions of the box (of the bounding box where nothing is periodic): pairs lie in the same or
// in neighbouring cells.
#include "nonbonded/near_pairs.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::molecular {
namespace {

struct Cells {
  std::array<std::int64_t, 3> n{1, 1, 1};
  std::vector<std::size_t> first;   // of each cell in `atom`
  std::vector<std::int32_t> atom;
  std::size_t of(const std::array<std::int64_t, 3>& c) const { return static_cast<std::size_t>((c[2] * n[1] + c[1]) * n[0] + c[0]); }
};

/// Cell numbers along one axis that hold neighbours of cell c, each once.
std::vector<std::int64_t> around(std::int64_t c, std::int64_t n, bool periodic) {
  std::vector<std::int64_t> out;
  for (std::int64_t d = -1; d <= 1; ++d) {
    std::int64_t k = c + d;
    if (periodic) k = (k + n) % n;
    else if (k < 0 || k >= n) continue;
    if (std::ranges::find(out, k) == out.end()) out.push_back(k);
  }
  return out;
}

}  // namespace

std::vector<std::array<std::int32_t, 2>> near_pairs(const Vec3* x, std::size_t n, const Box& box, double radius, const std::vector<std::array<std::int32_t, 2>>& excluded) {
  const bool periodic = is_periodic(box);
  std::vector<Vec3> s(n);  // in [0, 1)
  Vec3 width = periodic ? widths_nm(box) : Vec3{1, 1, 1};
  Vec3 low;
  low.fill(std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < n; ++i) {
    s[i] = periodic ? fractions(box, x[i]) : x[i];
    for (std::size_t a = 0; a < 3; ++a) {
      if (!std::isfinite(s[i][a])) throw Error(fmt::format("[nonbonded] atom {} has no place: a coordinate is not a number", i + 1));
      if (periodic) s[i][a] -= std::floor(s[i][a]);
      low[a] = std::min(low[a], s[i][a]);
    }
  }
  if (!periodic) {
    Vec3 high;
    high.fill(-std::numeric_limits<double>::infinity());
    for (const Vec3& p : s)
      for (std::size_t a = 0; a < 3; ++a) high[a] = std::max(high[a], p[a]);
    for (std::size_t a = 0; a < 3; ++a) width[a] = n == 0 ? 1 : std::max(high[a] - low[a], 1e-9) * (1 + 1e-12);
    for (Vec3& p : s)
      for (std::size_t a = 0; a < 3; ++a) p[a] = (p[a] - low[a]) / width[a];
  }
  Cells cells;
  const auto most = static_cast<std::int64_t>(std::cbrt(static_cast<double>(n))) + 1;
  for (std::size_t a = 0; a < 3; ++a) cells.n[a] = std::clamp<std::int64_t>(static_cast<std::int64_t>(width[a] / radius), 1, most);
  std::vector<std::array<std::int64_t, 3>> cell(n);
  cells.first.assign(static_cast<std::size_t>(cells.n[0] * cells.n[1] * cells.n[2]) + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t a = 0; a < 3; ++a) cell[i][a] = std::min(static_cast<std::int64_t>(s[i][a] * static_cast<double>(cells.n[a])), cells.n[a] - 1);
    ++cells.first[cells.of(cell[i]) + 1];
  }
  for (std::size_t c = 1; c < cells.first.size(); ++c) cells.first[c] += cells.first[c - 1];
  cells.atom.resize(n);
  std::vector<std::size_t> next(cells.first.begin(), cells.first.end() - 1);
  for (std::size_t i = 0; i < n; ++i) cells.atom[next[cells.of(cell[i])]++] = static_cast<std::int32_t>(i);

  std::vector<std::array<std::int32_t, 2>> out;
  std::vector<std::int32_t> partners;
  auto skip = excluded.begin();
  for (std::size_t i = 0; i < n; ++i) {
    const auto self = static_cast<std::int32_t>(i);
    partners.clear();
    for (const std::int64_t cz : around(cell[i][2], cells.n[2], periodic))
      for (const std::int64_t cy : around(cell[i][1], cells.n[1], periodic))
        for (const std::int64_t cx : around(cell[i][0], cells.n[0], periodic)) {
          const std::size_t c = cells.of({cx, cy, cz});
          for (std::size_t k = cells.first[c]; k < cells.first[c + 1]; ++k) {
            const std::int32_t j = cells.atom[k];
            if (j <= self) continue;
            const Vec3& b = x[j];
            const Vec3 d = wrapped(box, {x[i][0] - b[0], x[i][1] - b[1], x[i][2] - b[2]});
            if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < radius * radius) partners.push_back(j);
          }
        }
    std::ranges::sort(partners);
    while (skip != excluded.end() && (*skip)[0] < self) ++skip;
    auto out_of = skip;
    for (const std::int32_t j : partners) {
      while (out_of != excluded.end() && (*out_of)[0] == self && (*out_of)[1] < j) ++out_of;
      if (out_of != excluded.end() && *out_of == std::array{self, j}) continue;
      out.push_back({self, j});
    }
  }
  return out;
}

}  // namespace tessera::molecular
