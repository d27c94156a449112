// SPDX-License-Identifier: Apache-2.0
//
// The state by what lies where in the grid: fields, psi and Q of the rows at one line and middle.
#include "time_domain/tables.h"

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

template std::vector<Stretch> stretches_of_slice(const Tables<float>&, int, int);
template std::vector<Stretch> stretches_of_slice(const Tables<double>&, int, int);

}  // namespace tessera::electromagnetics::time_domain
