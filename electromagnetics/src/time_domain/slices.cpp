// SPDX-License-Identifier: Apache-2.0
//
// The state by what lies where in the grid: fields, psi and Q of the rows at one line and middle;
// and which of it are unknowns.
#include "time_domain/tables.h"

#include <algorithm>

namespace tessera::electromagnetics::time_domain {

template <class T>
std::vector<Stretch> stretches_of_slice(const Tables<T>& t, int axis, int at) {
  std::vector<Stretch> all;
  const auto row = [&](int c, int j, int k) {
    if (!t.holds(c, j, k)) return;
    const ComponentTable<T>& f = t.component[c];
    const std::int64_t length = f.last[0] - f.first[0];
    all.push_back({t.offset(c, f.first[0], j, k), length});
    for (int d = 0; d < 3; ++d) {
      const LayerTable<T>& l = t.layer[c][d];
      if (l.slabs == 0 || (d > 0 && l.slab[static_cast<std::size_t>(d == 1 ? j : k)] < 0)) continue;
      if (d == 0)
        all.push_back({t.psi_row(l, d, j, k), t.psi_length_x(l)});
      else
        all.push_back({t.psi_row(l, d, j, k) + f.first[0], length});
    }
    if (f.special.empty()) return;
    const std::int32_t special = f.special[static_cast<std::size_t>(t.row_index(j, k))];
    if (special < 0) return;
    for (const Polarized<T>& p : t.specials[static_cast<std::size_t>(special)].polarized)
      all.push_back(
          {p.state, 2 * std::int64_t{p.length} * static_cast<std::int64_t>(p.pair.size())});
    for (const Nonlinear<T>& p : t.specials[static_cast<std::size_t>(special)].nonlinear)
      all.push_back({p.state, p.length});
  };
  const int here = at - t.origin[axis], other = 3 - axis;
  for (int c = 0; c < 6; ++c)
    for (int i = 0; i <= t.n[other]; ++i) {
      if (axis == 2)
        row(c, i, here);
      else
        row(c, here, i);
    }
  return all;
}

template <class T>
std::vector<std::uint8_t> unknowns(const Tables<T>& t) {
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(t.state_size), 0);
  for (int c = 0; c < 6; ++c) {
    const ComponentTable<T>& f = t.component[c];
    for (int k = f.first[2]; k < f.last[2]; ++k)
      for (int j = f.first[1]; j < f.last[1]; ++j) {
        for (int i = f.first[0]; i < f.last[0]; ++i)
          mask[static_cast<std::size_t>(t.offset(c, i, j, k))] =
              f.factor[t.row_index(j, k)][i] != 0;
        for (int axis = 0; axis < 3; ++axis) {
          const LayerTable<T>& l = t.layer[c][axis];
          if (l.slabs == 0 || (axis > 0 && l.slab[axis == 1 ? j : k] < 0)) continue;
          const std::int64_t psi = t.psi_row(l, axis, j, k);
          if (axis > 0) {
            std::fill(mask.begin() + psi + f.first[0], mask.begin() + psi + f.last[0], 1);
            continue;
          }
          auto at = mask.begin() + psi;
          for (int i = l.low_begin; i < l.low_end; ++i) *at++ = l.b[i] != 0;
          for (int i = l.high_begin; i < l.high_end; ++i) *at++ = l.b[i] != 0;
        }
      }
  }
  const auto poles = [&](const Special<T>& special) {
    for (const Polarized<T>& p : special.polarized)
      for (std::size_t m = 0; m < p.pair.size(); ++m)
        for (int q = 0; q < (p.two[m] ? 2 : 1) * p.length; ++q)
          mask[static_cast<std::size_t>(p.state) + 2 * m * p.length + q] = 1;
  };
  for (int c = 0; c < 6; ++c)
    for (int k = 0; k <= t.n[2] && !t.component[c].special.empty(); ++k)
      for (int j = 0; j <= t.n[1]; ++j)
        if (const std::int32_t at = t.component[c].special[t.row_index(j, k)];
            at >= 0 && t.holds(c, j, k))
          poles(t.specials[static_cast<std::size_t>(at)]);
  if (t.bloch) mask.insert(mask.end(), mask.begin(), mask.begin() + t.state_size);
  return mask;
}

template std::vector<std::uint8_t> unknowns(const Tables<float>&);
template std::vector<std::uint8_t> unknowns(const Tables<double>&);
template std::vector<Stretch> stretches_of_slice(const Tables<float>&, int, int);
template std::vector<Stretch> stretches_of_slice(const Tables<double>&, int, int);

}  // namespace tessera::electromagnetics::time_domain
