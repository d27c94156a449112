// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/grid_cut.h"

#include "tessera/parallel/communicator.h"
#include "tessera/parallel/part_sums.h"

namespace tessera::electromagnetics {

int cut_axis(const YeeModel& m) {
  const auto may_be = [&](int d) {
    const auto u = static_cast<std::size_t>(d);
    const bool turned = m.faces[u].low == Boundary::periodic && m.bloch_phase[u] != 0;
    return m.grid.cells(d) > 1 && !(turned && !m.tensors.empty());
  };
  if (!may_be(1)) return may_be(2) ? 2 : -1;
  return may_be(2) && m.grid.cells(2) >= m.grid.cells(1) ? 2 : 1;
}

GridCut cut_evenly(const YeeModel& model, parallel::Communicator& ranks) {
  const int axis = cut_axis(model);
  if (axis < 0 || ranks.size() == 1 || model.grid.cells(axis) < ranks.size()) return {};
  GridCut cut{&ranks, axis, {}};
  for (const Index i : parallel::deal_parts(model.grid.cells(axis), ranks.size()))
    cut.begin.push_back(static_cast<int>(i));
  return cut;
}

Slab slab_of(const YeeModel& model, const GridCut& cut) {
  if (!cut.ranks) return {};
  const int me = cut.ranks->rank(), n = cut.ranks->size();
  const auto u = static_cast<std::size_t>(me);
  const bool joined = model.faces[static_cast<std::size_t>(cut.axis)].low == Boundary::periodic;
  return {.axis = cut.axis,
          .begin = cut.begin[u],
          .end = cut.begin[u + 1],
          .below = me > 0   ? me - 1
                   : joined ? n - 1
                            : -1,
          .above = me + 1 < n ? me + 1
                   : joined   ? 0
                              : -1,
          .ranks = cut.ranks};
}

}  // namespace tessera::electromagnetics
