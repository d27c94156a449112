// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ldlt/analysis.h"
#include "ldlt/kernels/fronts.h"

namespace tessera::solvers::ldlt_detail {

/// A = L D L^T for the entries of a pattern.
template <class T>
class Factor {
 public:
  /// `values` are those of the pattern's entries.
  Factor(std::shared_ptr<const Analysis> analysis, const T* values);

  Pivots pivots() const { return pivots_; }
  const Analysis& analysis() const { return *analysis_; }
  /// x <- A^-1 x; rows in the order of elimination, `width` elements each, a multiple of
  /// kBlock<T>.
  void solve(T* x, Index width) const;

 private:
  Panel<T> panel(std::size_t front) const {
    const Front& f = analysis_->fronts[front];
    return {f.pivots, f.below, const_cast<T*>(panels_.get()) + storage_.panel[front]};
  }
  Pivots factor_front(std::size_t front, const T* values, T* mine, T* top, T* scaled, bool in_top);

  std::shared_ptr<const Analysis> analysis_;
  const Storage& storage_;
  std::unique_ptr<T[]> panels_;   ///< of all fronts
  std::unique_ptr<T[]> inverse_;  ///< 1 / d
  Pivots pivots_;
};

extern template class Factor<float>;
extern template class Factor<double>;
extern template class Factor<c64>;
extern template class Factor<c128>;

}  // namespace tessera::solvers::ldlt_detail
