// SPDX-License-Identifier: Apache-2.0
#include "convolution_boxes.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace tessera::kernels {
namespace {

using Index = std::int64_t;

Index floor_of_quotient(Index x, Index y) { return x >= 0 ? x / y : -((-x + y - 1) / y); }
Index ceil_of_quotient(Index x, Index y) { return -floor_of_quotient(-x, y); }

/// The least t >= 0 with (c + v t) divisible by z, below `window`; -1 if there is none.
Index first_meeting(Index c, Index v, Index z, Index window) {
  c %= z, v %= z;
  for (Index t = 0, end = std::min(window, z); t < end; ++t, c = (c + v) % z)
    if (c == 0) return t;
  return -1;
}

/// Of c, `count` results from the q-th on, whose windows meet the operand like that of the first.
MeetingClass clipped(const Meeting& m, MeetingClass c, Index q, Index count) {
  const Index here = c.at + c.q_moves * q, rise = std::abs(c.t_moves);
  // 0 <= here + t_moves t < positions
  const Index low = c.t_moves > 0 ? -here : here - m.positions + 1,
              high = c.t_moves > 0 ? m.positions - 1 - here : here;
  const Index begin = std::max<Index>(0, ceil_of_quotient(low, rise)),
              end = std::min(c.taps, floor_of_quotient(high, rise) + 1);
  return {c.first + c.step * q,       c.step,     count,
          c.tap + c.tap_step * begin, c.tap_step, std::max<Index>(0, end - begin),
          here + c.t_moves * begin,   c.q_moves,  c.t_moves};
}

/// Result r and those `step` apart after it, with all that they could meet in an endless operand.
MeetingClass endless(const Meeting& m, Index r) {
  const Index of_u = std::gcd(m.u, m.z), of_v = std::gcd(m.v, m.z), step = m.z / of_u;
  const Index count = (m.results - 1 - r) / step + 1;
  const Index start = m.u * r + m.e, tap = first_meeting(start, m.v, m.z, m.window);
  const Index tap_step = m.z / of_v;
  if (tap < 0) return {r, step, count, 0, tap_step, 0, 0, m.u / of_u, m.v / of_v};
  const Index taps = (m.window - 1 - tap) / tap_step + 1;
  return {r, step, count, tap, tap_step, taps, (start + m.v * tap) / m.z, m.u / of_u, m.v / of_v};
}

}  // namespace

MeetingClass meeting_of(const Meeting& m, Index r) { return clipped(m, endless(m, r), 0, 1); }

detail::List<MeetingClass> meeting_classes(const Meeting& m) {
  detail::List<MeetingClass> out;
  detail::List<Index> cuts;
  for (Index r = 0; r < std::min(m.z / std::gcd(m.u, m.z), m.results); ++r) {
    const MeetingClass c = endless(m, r);
    cuts.assign({0, c.count});
    for (Index t = 0; t < c.taps; ++t) {  // q at which tap t comes in, and goes
      const Index here = c.at + c.t_moves * t;
      for (const Index q :
           {ceil_of_quotient(-here, c.q_moves), ceil_of_quotient(m.positions - here, c.q_moves)})
        if (q > 0 && q < c.count) cuts.push_back(q);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (std::size_t k = 0; k + 1 < cuts.size(); ++k)
      out.push_back(clipped(m, c, cuts[k], cuts[k + 1] - cuts[k]));
  }
  return out;
}

}  // namespace tessera::kernels
