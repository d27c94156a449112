// SPDX-License-Identifier: Apache-2.0
#include "convolution_plan.h"

#include "tessera/autodiff/forall.h"

#include <algorithm>
#include <tuple>

namespace tessera::kernels {
namespace {

using Index = std::int64_t;

Box make_box(const GatherShape& s, std::array<const MeetingClass*, 3> axis, Index max_rows) {
  Box box{axis, 3, 1, 0};
  // The last axis where it fills tiles or nothing does so better.
  double best = 0;
  for (const int d : {3, 2, 1, 0}) {
    const Index n = box.extent(s, d), tiles = (n + max_rows - 1) / max_rows;
    const double rows = static_cast<double>(n) / static_cast<double>(tiles);
    if (rows > 1.25 * best) best = rows, box.along = d, box.tiles_per_line = tiles;
    if (best >= 0.6 * static_cast<double>(max_rows)) break;
  }
  box.tiles = box.tiles_per_line;
  for (int d = 0; d < 4; ++d)
    if (d != box.along) box.tiles *= box.extent(s, d);
  return box;
}

Place place_of(const GatherShape& s, const Box& box, Index tile) {
  const Index n = box.extent(s, box.along), q = tile % box.tiles_per_line,
              each = n / box.tiles_per_line, more = n % box.tiles_per_line;
  Index line = tile / box.tiles_per_line, at[4];
  for (int d = 3; d >= 0; --d) {
    if (d == box.along) continue;
    at[d] = line % box.extent(s, d);
    line /= box.extent(s, d);
  }
  at[box.along] = q * each + std::min(q, more);  // rows are dealt out evenly
  Place p{at[0] * s.in_lead, at[0] * s.out_lead, static_cast<int>(each + (q < more))};
  for (std::size_t a = 0; a < 3; ++a) {
    const MeetingClass& c = *box.axis[a];
    p.in += (c.at + c.q_moves * at[a + 1]) * s.in_axis[a];
    p.out += (c.first + c.step * at[a + 1]) * s.out_axis[a];
  }
  return p;
}

}  // namespace

Index Box::in_row(const GatherShape& s) const {
  if (along == 0) return s.in_lead;
  const auto a = static_cast<std::size_t>(along - 1);
  return axis[a]->q_moves * s.in_axis[a];
}
Index Box::out_row(const GatherShape& s) const {
  if (along == 0) return s.out_lead;
  const auto a = static_cast<std::size_t>(along - 1);
  return axis[a]->step * s.out_axis[a];
}

void list_places(const GatherShape& s, const Box& box, const Unit& unit, detail::List<Place>& out) {
  out.clear();
  const Index n = box.extent(s, box.along), each = n / box.tiles_per_line,
              more = n % box.tiles_per_line, in_row = box.in_row(s), out_row = box.out_row(s);
  for (Index tile = unit.first, q = tile % box.tiles_per_line; tile < unit.last; ++tile) {
    const int rows = static_cast<int>(each + (q < more));
    if (tile > unit.first && q > 0) {
      const Place& p = out.back();
      out.push_back({p.in + p.rows * in_row, p.out + p.rows * out_row, rows});
    } else {
      out.push_back(place_of(s, box, tile));
    }
    if (++q == box.tiles_per_line) q = 0;
  }
}

GatherPlan::GatherPlan(const GatherShape& s, Index max_rows, Index columns, Index terms) {
  for (std::size_t a = 0; a < 3; ++a) classes_[a] = meeting_classes(s.axis[a]);
  for (const MeetingClass& i : classes_[0])
    for (const MeetingClass& j : classes_[1])
      for (const MeetingClass& k : classes_[2]) {
        boxes_.push_back(make_box(s, {&i, &j, &k}, max_rows));
        work_ += static_cast<double>(s.batch * i.count * j.count * k.count) *
                 static_cast<double>(columns * (boxes_.back().taps() * terms + 1));
      }
  // Units of an eighth of a thread's share, of 2^16 to 2^22 products; where B is long, of tiles
  // enough for what it takes to come.
  const double per_unit = std::clamp(work_ / (8.0 * num_threads()), 0x1p16, 0x1p22);
  const Index least = columns * s.window() * terms > (1 << 16) ? 16 : 1;
  for (std::size_t b = 0; b < boxes_.size(); ++b) {
    const double tile = static_cast<double>(max_rows * columns * (boxes_[b].taps() * terms + 1));
    const Index tiles = std::max(least, static_cast<Index>(per_unit / tile));
    for (Index first = 0; first < boxes_[b].tiles; first += tiles)
      units_.push_back({b, first, std::min(boxes_[b].tiles, first + tiles)});
  }
  // Boxes that read the same part of the operand take it one after the other.
  std::sort(units_.begin(), units_.end(), [&](const Unit& u, const Unit& v) {
    const double of_u = static_cast<double>(u.first) * static_cast<double>(boxes_[v.box].tiles),
                 of_v = static_cast<double>(v.first) * static_cast<double>(boxes_[u.box].tiles);
    return std::tie(of_u, u.box, u.first) < std::tie(of_v, v.box, v.first);
  });
}

void list_window(const GatherShape& s, const Box& box, Index terms, Index depth, Runs& runs) {
  detail::List<Segment>& all = runs.segments;
  all.clear(), runs.begin.assign(1, 0);
  Index room = depth;
  const auto add = [&](Index a, Index b) {
    for (Index rest = terms; rest > 0;) {
      if (room == 0) {
        runs.begin.push_back(static_cast<Index>(all.size()));
        room = depth;
      }
      const Index here = std::min(rest, room);
      const bool begins = runs.begin.back() == static_cast<Index>(all.size());
      if (!begins && all.back().a + all.back().terms == a && all.back().b + all.back().terms == b)
        all.back().terms += here;
      else
        all.push_back({a, b, here});
      a += here, b += here, rest -= here, room -= here;
    }
  };
  const auto& [x, y, z] = box.axis;
  for (Index i = 0; i < x->taps; ++i)
    for (Index j = 0; j < y->taps; ++j)
      for (Index k = 0; k < z->taps; ++k)
        add(x->t_moves * i * s.in_axis[0] + y->t_moves * j * s.in_axis[1] +
                z->t_moves * k * s.in_axis[2],
            terms * (((x->tap + x->tap_step * i) * s.axis[1].window + y->tap + y->tap_step * j) *
                         s.axis[2].window +
                     z->tap + z->tap_step * k));
  runs.begin.push_back(static_cast<Index>(all.size()));
}

}  // namespace tessera::kernels
