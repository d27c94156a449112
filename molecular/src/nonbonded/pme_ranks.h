// SPDX-License-Identifier: Apache-2.0
//
// A grid of PME over ranks. Each rank spreads and gathers its own atoms on the rows y that these
// touch; lines along x of some rows belong to it, and planes kx of waves:
//
//   charges of touched rows -> rows' owners      whole numbers: no order of adding matters
//   waves of own rows      <-> own planes        two transposes
//   potential of own rows   -> rows touched
//
// Lines and planes are transformed as one rank does, each by itself.
#pragma once
#include "domains/domain.h"
#include "nonbonded/kernels/pme_kernels.h"

#include <vector>

namespace tessera::molecular {

template <class T>
class PmeRanks {
 public:
  explicit PmeRanks(const Domain& domain) : domain_(domain) {}

  /// Which rows, lines and planes are whose, of a grid that is laid out for all.
  void lay_out(PmeGrid<T>& g);
  struct Range {
    std::size_t begin = 0, end = 0;
  };
  const Range& pairs() const { return pairs_[me()]; }  ///< of lines, of this rank
  const Range& planes() const { return planes_[me()]; }
  const Others& others() const { return domain_.others(); }
  bool is_first() const { return me() == 0; }
  bool touches(std::size_t y) const { return touched_[me()][y] != 0; }

  void add_charges(PmeGrid<T>& g) const;
  void to_planes(PmeGrid<T>& g) const;
  void to_lines(PmeGrid<T>& g) const;
  void bring_potential(PmeGrid<T>& g) const;
  /// Those of all planes, at every rank.
  void share_moments(PmeGrid<T>& g) const;

 private:
  std::size_t me() const { return static_cast<std::size_t>(domain_.ranks().rank()); }
  std::size_t size() const { return pairs_.size(); }
  Range rows_of(std::size_t rank, const PmeGrid<T>& g) const;
  /// Rows that `toucher` touches and `owner` owns.
  std::vector<std::size_t> rows(std::size_t toucher, std::size_t owner, const PmeGrid<T>& g) const;
  /// Sends to every other rank what pack(rank) gives; take(rank, values) what comes of `counts`.
  template <class V, class Pack, class Count, class Take>
  void exchange(const char* what, Pack&& pack, Count&& count, Take&& take) const;

  const Domain& domain_;
  std::vector<Range> pairs_, planes_;               ///< of each rank
  std::vector<std::vector<std::uint8_t>> touched_;  ///< rows of each rank
};

}  // namespace tessera::molecular
