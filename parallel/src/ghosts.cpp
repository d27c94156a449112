// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/ghosts.h"

#include "tessera/autodiff/ops/shape.h"
#include "tessera/parallel/exchanges.h"

#include <algorithm>

namespace tessera::parallel {
namespace {

/// Row-major numbers of the points begin ... end - 1 of a grid, of which each axis goes round.
std::vector<Index> points_of(const std::vector<Index>& grid, const std::vector<Index>& begin,
                             const Shape& extent) {
  std::vector<Index> points;
  const Index count = extent.count();
  points.reserve(static_cast<std::size_t>(count));
  const int axes = extent.size();
  Shape at = Shape::filled(axes, 0);
  for (Index k = 0; k < count; ++k) {
    Index number = 0;
    for (int d = 0; d < axes; ++d) {
      const auto axis = static_cast<std::size_t>(d);
      const Index n = grid[axis], p = (begin[axis] + at[d]) % n;
      number = number * n + (p < 0 ? p + n : p);
    }
    points.push_back(number);
    for (int d = axes - 1; d >= 0 && ++at[d] == extent[d]; --d) at[d] = 0;
  }
  return points;
}

/// The first axes of x are `box`; they become one, f takes it to one of `to`.
Tensor over_box(const char* op, const Shape& box, const Shape& to, const Arg& x,
                const std::function<Tensor(const Arg&)>& f) {
  if (!x.tensor) fail(op, "takes a tensor, got a number", x.line);
  const Shape& s = x.tensor->shape();
  if (s.size() < box.size() || !std::equal(box.begin(), box.end(), s.begin()))
    fail(op,
         "takes a box " + to_string(box) + " and further axes, got " + to_string(x.tensor->type()),
         x.line);
  Shape flat{box.count()}, wide = to;
  for (int d = box.size(); d < s.size(); ++d) flat.push_back(s[d]), wide.push_back(s[d]);
  const Tensor y = f(Arg(reshape(Arg(*x.tensor, x.line), flat), x.line));
  return reshape(Arg(y, x.line), wide);
}

}  // namespace

Ghosts ghosts(Communicator& c, const GridBox& mine, SourceLine line) {
  const std::size_t axes = mine.grid.size();
  for (const std::size_t n : {mine.begin.size(), mine.end.size(), mine.low.size(), mine.high.size(),
                              mine.periodic.size()})
    if (n != axes)
      fail("ghosts",
           "takes a number for each of " + std::to_string(axes) + " axes, got " + std::to_string(n),
           line);
  Ghosts g;
  for (std::size_t d = 0; d < axes; ++d) {
    const Index n = mine.grid[d], begin = mine.begin[d], end = std::max(begin, mine.end[d]);
    if (n < 0 || begin < 0 || end > n || mine.low[d] < 0 || mine.high[d] < 0)
      fail("ghosts",
           "axis " + std::to_string(d) + ": points " + std::to_string(begin) + " to " +
               std::to_string(end) + " of " + std::to_string(n) + " with " +
               std::to_string(mine.low[d]) + " and " + std::to_string(mine.high[d]) +
               " ghosts; boxes lie in the grid and widths are not negative",
           line);
    const bool round = mine.periodic[d], empty = begin == end;
    const Index first = round ? begin - mine.low[d] : std::max<Index>(0, begin - mine.low[d]),
                last = round ? end + mine.high[d] : std::min(n, end + mine.high[d]);
    g.owned.push_back(end - begin);
    g.copies.push_back(empty ? 0 : last - first);
    g.origin.push_back(first);
  }
  const std::vector<Index> owned = points_of(mine.grid, mine.begin, g.owned),
                           wanted = points_of(mine.grid, g.origin, g.copies);
  g.plan = ExchangePlan::make(c, {.owned = owned, .wanted = wanted}, line);
  return g;
}

Tensor with_ghosts(const Ghosts& g, Arg x) {
  return over_box("with_ghosts", g.owned, g.copies, x,
                  [&](const Arg& v) { return push(g.plan, v); });
}
Tensor add_ghosts(const Ghosts& g, Arg y) {
  return over_box("add_ghosts", g.copies, g.owned, y,
                  [&](const Arg& v) { return pull_add(g.plan, v); });
}

}  // namespace tessera::parallel
