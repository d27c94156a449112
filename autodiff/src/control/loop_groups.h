// SPDX-License-Identifier: Apache-2.0
//
// Operands, results and flags of a sweep in their groups.
#pragma once
#include "loops_internal.h"

#include <algorithm>

namespace tessera::detail {

/// Walks operands (or anything parallel to them) in groups.
template <class T>
class Cursor {
 public:
  explicit Cursor(std::span<const T> all) : rest_(all) {}
  std::span<const T> take(std::size_t n) {
    const auto head = rest_.first(n);
    rest_ = rest_.subspan(n);
    return head;
  }

 private:
  std::span<const T> rest_;
};

/// Members of `x` whose flag is `wanted`.
template <class T>
std::vector<T> picked(std::span<const T> x, const Flags& flags, std::size_t begin,
                      std::size_t count, bool wanted = true) {
  std::vector<T> out;
  for (std::size_t k = 0; k < count; ++k)
    if (flags[begin + k] == wanted) out.push_back(x[begin + k]);
  return out;
}
inline std::size_t counted(const Flags& f, std::size_t begin, std::size_t count) {
  return static_cast<std::size_t>(std::count(f.begin() + static_cast<std::ptrdiff_t>(begin),
                                             f.begin() + static_cast<std::ptrdiff_t>(begin + count),
                                             true));
}
/// Number of flagged (or unflagged) members before `k`.
inline std::size_t rank(const Flags& f, std::size_t k, bool wanted = true) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < k; ++i) n += f[i] == wanted;
  return n;
}
template <class T>
void append(std::vector<T>& a, const std::vector<T>& b) {
  a.insert(a.end(), b.begin(), b.end());
}

/// Inputs of a sweep's body in their groups, and the flags of those that come from earlier sweeps.
inline void flag_sources(const Sweep& s, const std::vector<Flags>& kept, Flags& in) {
  for (const Source& f : s.from) in.push_back(kept[f.sweep][f.kept]);
}

}  // namespace tessera::detail
