// SPDX-License-Identifier: Apache-2.0
#include "ldlt/factor.h"

#include "tessera/autodiff/forall.h"

#include <algorithm>
#include <complex>

namespace tessera::solvers::ldlt_detail {
namespace {

/// What a child left, as it meets its parent: by columns, a lower triangle.
template <class T>
struct LeftOver {
  const T* data;
  std::int32_t size, into;    ///< rows; those of them that are pivots of the parent
  const std::int32_t* place;  ///< in the parent
  Index stride() const { return padded<T>(size); }
  const T* grown() const { return data + stride() * size; }
};

template <class T>
void add_to_panel(const LeftOver<T>& c, const Panel<T>& p, T* grown) {
  const Index gap = padded<T>(p.pivots) - p.pivots;
  const T* const their = c.grown();
  for (std::int32_t i = 0; i < c.size; ++i) grown[c.place[i] + (i < c.into ? 0 : gap)] += their[i];
  for (std::int32_t j = 0; j < c.into; ++j) {
    const T* const from = c.data + j * c.stride();
    T* const to = p.data + c.place[j] * p.stride();
    for (std::int32_t i = j; i < c.into; ++i) to[c.place[i]] += from[i];
    T* const below = to + gap;
    for (std::int32_t i = c.into; i < c.size; ++i) below[c.place[i]] += from[i];
  }
}
template <class T>
void add_to_left_over(const LeftOver<T>& c, const Panel<T>& p, T* left) {
  const Index stride = padded<T>(p.below);
  for (std::int32_t j = c.into; j < c.size; ++j) {
    const T* const from = c.data + j * c.stride();
    T* const to = left + (c.place[j] - p.pivots) * stride - p.pivots;
    for (std::int32_t i = j; i < c.size; ++i) to[c.place[i]] += from[i];
  }
}

void join_pivots(Pivots& all, const Pivots& some) {
  all.zero |= some.zero;
  all.finite &= some.finite;
  all.growth = std::max(all.growth, some.growth);
}

template <class T>
T conjugate_if(T v, bool yes) {
  if constexpr (kIsComplex<T>)
    return yes ? T(v.real(), -v.imag()) : v;
  else
    return v;
}

}  // namespace

template <class T>
Pivots Factor<T>::factor_front(std::size_t front, const T* values, const RealOf<T>* given,
                               const Desk& mine, T* top, bool in_top) {
  const Analysis& a = *analysis_;
  const Front& f = a.fronts[front];
  const Panel<T> p = panel(front);
  T* const scaled = mine.scaled.get();
  T* const grown = mine.grown.get();
  std::fill(grown, grown + p.stride(), T(0));
  std::fill(p.data, p.data + p.stride() * p.pivots, T(0));
  for (Index e = a.entry_begin[front]; e < a.entry_begin[front + 1]; ++e)
    p.data[storage_.entry_at[e]] = values[a.entries[e]];
  const auto children = [&](auto&& with) {
    for (std::int32_t k = 0; k < f.children; ++k) {
      const auto c = static_cast<std::size_t>(a.children[f.first_child + k]);
      const Front& child = a.fronts[c];
      if (child.below)
        with(LeftOver<T>{(in_top ? top : mine.left_over.get()) + storage_.left_over[c], child.below,
                         child.into, a.place_of(child).data()});
    }
  };
  children([&](const LeftOver<T>& c) { add_to_panel(c, p, grown); });
  const Pivots found = factor_panel(p, given + f.first, inverse_.get() + f.first, scaled, grown);
  if (f.below == 0) return found;
  T* const left =
      (in_top || a.is_root[front] ? top : mine.left_over.get()) + storage_.left_over[front];
  // Columns of large fronts of the top are shared out.
  constexpr Index columns = 64;
  static_assert(columns % kBlock<T> == 0);
  if (in_top)
    parallel_chunks((f.below + columns - 1) / columns, [&](Index c) {
      left_over(p, scaled, left, c * columns, std::min<Index>(f.below, (c + 1) * columns));
    });
  else
    left_over(p, scaled, left, 0, f.below);
  children([&](const LeftOver<T>& c) { add_to_left_over(c, p, left); });
  std::copy_n(grown + padded<T>(f.pivots), f.below, left + padded<T>(f.below) * f.below);
  return found;
}

template <class T>
Factor<T>::Factor(std::shared_ptr<const Analysis> analysis, const T* values)
    : analysis_(std::move(analysis)),
      storage_(analysis_->storage(kBlock<T>)),
      panels_(storage_.panel.back()),
      inverse_(analysis_->n) {
  const Analysis& a = *analysis_;
  std::vector<RealOf<T>> given(a.diagonal.size());
  for (std::size_t k = 0; k < given.size(); ++k)
    given[k] = a.diagonal[k] < 0 ? RealOf<T>(0) : std::abs(values[a.diagonal[k]]);
  const Memory<T> top(storage_.top);
  std::vector<Pivots> found(a.tasks.size());
  parallel_chunks(static_cast<Index>(a.tasks.size()), [&](Index t) {
    const Desk mine(storage_, storage_.subtrees);
    for (std::int32_t k = a.tasks[t].begin; k < a.tasks[t].end; ++k)
      join_pivots(found[t], factor_front(static_cast<std::size_t>(k), values, given.data(), mine,
                                         top.get(), false));
  });
  for (const Pivots& f : found) join_pivots(pivots_, f);
  const Desk mine(storage_, 0);
  for (const std::int32_t k : a.top)
    join_pivots(pivots_, factor_front(static_cast<std::size_t>(k), values, given.data(), mine,
                                      top.get(), true));
}

template <class T>
void Factor<T>::solve(const T* b, T* x, Index count, Index stride, bool conjugated,
                      RealOf<T>* bad) const {
  if (count == 1) return solve_column(b, x, stride, conjugated, bad);
  const Analysis& a = *analysis_;
  const Index width = padded<T>(count);
  const Memory<T> memory(a.n * width);
  T* const all = memory.get();
  // conj(A)^-1 b is conj(A^-1 conj(b)).
  const auto take = [&](const Front& f) {
    for (Index k = f.first; k < f.first + f.pivots; ++k) {
      const T* const from = b + a.order[k] * stride;
      T* const row = all + k * width;
      for (Index c = 0; c < count; ++c) row[c] = conjugate_if(from[c], conjugated);
      std::fill(row + count, row + width, T(0));
    }
  };
  // Rows that children reach are there before them, others come as they are needed.
  for (const Front& f : a.fronts)
    if (f.children) take(f);
  const std::size_t fronts = a.fronts.size();
  for (std::size_t k = 0; k < fronts; ++k) {
    const Front& f = a.fronts[k];
    if (!f.children) take(f);
    T* const mine = all + f.first * width;
    // Right-hand sides of a few points leave most subtrees with nothing to do.
    if (std::all_of(mine, mine + f.pivots * width, [](const T& v) { return v == T(0); })) continue;
    eliminate(panel(k), mine, all, a.rows_of(f).data(), width);
  }
  std::fill_n(bad, count, RealOf<T>(0));
  for (std::size_t k = fronts; k-- > 0;) {
    const Front& f = a.fronts[k];
    substitute(panel(k), inverse_.get() + f.first, all + f.first * width, all, a.rows_of(f).data(),
               width);
    for (Index r = f.first; r < f.first + f.pivots; ++r) {
      const T* const row = all + r * width;
      T* const to = x + a.order[r] * stride;
      for (Index c = 0; c < count; ++c) to[c] = conjugate_if(row[c], conjugated);
      for (Index c = 0; c < count; ++c)
        bad[c] += RealOf<T>(0) * std::real(row[c]) + RealOf<T>(0) * std::imag(row[c]);
    }
  }
}

template <class T>
void Factor<T>::solve_column(const T* b, T* x, Index stride, bool conjugated,
                             RealOf<T>* bad) const {
  const Analysis& a = *analysis_;
  const Memory<T> memory(a.n), desk(3 * storage_.column);
  T* const all = memory.get();
  for (Index k = 0; k < a.n; ++k) all[k] = conjugate_if(b[a.order[k] * stride], conjugated);
  const std::size_t fronts = a.fronts.size();
  for (std::size_t k = 0; k < fronts; ++k) {
    const Front& f = a.fronts[k];
    T* const mine = all + f.first;
    if (std::all_of(mine, mine + f.pivots, [](const T& v) { return v == T(0); })) continue;
    eliminate_column(panel(k), mine, all, a.rows_of(f).data(), desk.get());
  }
  for (std::size_t k = fronts; k-- > 0;) {
    const Front& f = a.fronts[k];
    substitute_column(panel(k), inverse_.get() + f.first, all + f.first, all, a.rows_of(f).data(),
                      desk.get());
  }
  *bad = 0;
  for (Index k = 0; k < a.n; ++k) {
    x[a.order[k] * stride] = conjugate_if(all[k], conjugated);
    *bad += RealOf<T>(0) * std::real(all[k]) + RealOf<T>(0) * std::imag(all[k]);
  }
}

template class Factor<float>;
template class Factor<double>;
template class Factor<c64>;
template class Factor<c128>;

}  // namespace tessera::solvers::ldlt_detail
