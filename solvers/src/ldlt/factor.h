// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ldlt/analysis.h"
#include "ldlt/kernels/fronts.h"
#include "tessera/autodiff/memory.h"

namespace tessera::solvers::ldlt_detail {

/// Elements that are not filled.
template <class T>
class Memory {
 public:
  explicit Memory(Index elements) : block_(static_cast<std::size_t>(elements) * sizeof(T)) {}
  T* get() const { return static_cast<T*>(block_.data()); }

 private:
  MemoryBlock block_;
};

/// A = L D L^T for the entries of a pattern.
template <class T>
class Factor {
 public:
  /// `values` are those of the pattern's entries.
  Factor(std::shared_ptr<const Analysis> analysis, const T* values);

  Pivots pivots() const { return pivots_; }
  Index bytes() const { return storage_.panel.back() * Index{sizeof(T)}; }
  /// x = A^-1 b, or conj(A)^-1 b, of `count` columns; rows of b and x are `stride` apart. `bad` is
  /// 0 for each column that is finite, NaN for others.
  void solve(const T* b, T* x, Index count, Index stride, bool conjugated, RealOf<T>* bad) const;

 private:
  Panel<T> panel(std::size_t front) const {
    const Front& f = analysis_->fronts[front];
    return {f.pivots, f.below, panels_.get() + storage_.panel[front]};
  }
  /// Memory that the fronts of a task use one after the other.
  struct Desk {
    explicit Desk(const Storage& s, Index left_overs)
        : scaled(s.panel_size), grown(s.column), left_over(left_overs) {}
    Memory<T> scaled, grown, left_over;
  };
  Pivots factor_front(std::size_t front, const T* values, const RealOf<T>* given, const Desk& mine,
                      T* top, bool in_top);
  void solve_column(const T* b, T* x, Index stride, bool conjugated, RealOf<T>* bad) const;

  std::shared_ptr<const Analysis> analysis_;
  const Storage& storage_;
  Memory<T> panels_;   ///< of all fronts
  Memory<T> inverse_;  ///< 1 / d
  Pivots pivots_;
};

extern template class Factor<float>;
extern template class Factor<double>;
extern template class Factor<c64>;
extern template class Factor<c128>;

}  // namespace tessera::solvers::ldlt_detail
