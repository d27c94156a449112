// SPDX-License-Identifier: Apache-2.0
#include "ldlt/factor.h"

#include "tessera/autodiff/forall.h"

#include <algorithm>
#include <cstring>

namespace tessera::solvers::ldlt_detail {
namespace {

/// Memory of the calling thread that stays for its next factorisation.
template <class T>
T* own_memory(Index elements) {
  thread_local std::unique_ptr<std::byte[]> memory;
  thread_local std::size_t size = 0;
  const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(T);
  if (size < bytes) {
    memory.reset(new std::byte[bytes + 64]);
    size = bytes;
  }
  return reinterpret_cast<T*>(memory.get() +
                              (64 - reinterpret_cast<std::uintptr_t>(memory.get()) % 64) % 64);
}

template <class T>
std::unique_ptr<T[]> raw(Index elements) {
  return std::unique_ptr<T[]>(new T[static_cast<std::size_t>(elements)]);
}

/// What a child left, as it meets its parent: by columns, a lower triangle.
template <class T>
struct LeftOver {
  const T* data;
  std::int32_t size, into;    ///< rows; those of them that are pivots of the parent
  const std::int32_t* place;  ///< in the parent
  Index stride() const { return padded<T>(size); }
};

template <class T>
void add_to_panel(const LeftOver<T>& c, const Panel<T>& p) {
  const Index gap = padded<T>(p.pivots) - p.pivots;
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
}

}  // namespace

template <class T>
Pivots Factor<T>::factor_front(std::size_t front, const T* values, T* mine, T* top, T* scaled,
                               bool in_top) {
  const Analysis& a = *analysis_;
  const Front& f = a.fronts[front];
  const Panel<T> p = panel(front);
  std::memset(static_cast<void*>(p.data), 0,
              static_cast<std::size_t>(p.stride() * p.pivots) * sizeof(T));
  for (Index e = a.entry_begin[front]; e < a.entry_begin[front + 1]; ++e)
    p.data[storage_.entry_at[e]] = values[a.entries[e]];
  const auto children = [&](auto&& with) {
    for (std::int32_t k = 0; k < f.children; ++k) {
      const auto c = static_cast<std::size_t>(a.children[f.first_child + k]);
      const Front& child = a.fronts[c];
      if (child.below)
        with(LeftOver<T>{(in_top ? top : mine) + storage_.left_over[c], child.below, child.into,
                         a.place_of(child).data()});
    }
  };
  children([&](const LeftOver<T>& c) { add_to_panel(c, p); });
  const Pivots found = factor_panel(p, inverse_.get() + f.first, scaled);
  if (f.below == 0) return found;
  T* const left = (in_top || a.is_root[front] ? top : mine) + storage_.left_over[front];
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
  return found;
}

template <class T>
Factor<T>::Factor(std::shared_ptr<const Analysis> analysis, const T* values)
    : analysis_(std::move(analysis)),
      storage_(analysis_->storage(kBlock<T>)),
      panels_(raw<T>(storage_.panel.back())),
      inverse_(raw<T>(analysis_->n)) {
  const Analysis& a = *analysis_;
  const std::unique_ptr<T[]> top = raw<T>(storage_.top);
  std::vector<Pivots> found(a.tasks.size());
  parallel_chunks(static_cast<Index>(a.tasks.size()), [&](Index t) {
    T* const scaled = own_memory<T>(storage_.scaled + storage_.subtrees);
    for (std::int32_t k = a.tasks[t].begin; k < a.tasks[t].end; ++k)
      join_pivots(found[t], factor_front(static_cast<std::size_t>(k), values,
                                         scaled + storage_.scaled, top.get(), scaled, false));
  });
  for (const Pivots& f : found) join_pivots(pivots_, f);
  T* const scaled = own_memory<T>(storage_.scaled + storage_.subtrees);
  for (const std::int32_t k : a.top)
    join_pivots(pivots_, factor_front(static_cast<std::size_t>(k), values, nullptr, top.get(),
                                      scaled, true));
}

template <class T>
void Factor<T>::solve(T* x, Index width) const {
  const Analysis& a = *analysis_;
  T* const held = own_memory<T>(storage_.tallest * width);
  const std::size_t fronts = a.fronts.size();
  for (std::size_t k = 0; k < fronts; ++k) {
    const Front& f = a.fronts[k];
    T* const mine = x + Index{f.first} * width;
    // Right-hand sides of a few points leave most subtrees with nothing to do.
    if (std::all_of(mine, mine + f.pivots * width, [](const T& v) { return v == T(0); })) continue;
    eliminate(panel(k), mine, x, a.rows_of(f).data(), width);
  }
  for (std::size_t k = fronts; k-- > 0;) {
    const Front& f = a.fronts[k];
    substitute(panel(k), inverse_.get() + f.first, x + Index{f.first} * width, x,
               a.rows_of(f).data(), width, held);
  }
}

template class Factor<float>;
template class Factor<double>;
template class Factor<c64>;
template class Factor<c128>;

}  // namespace tessera::solvers::ldlt_detail
