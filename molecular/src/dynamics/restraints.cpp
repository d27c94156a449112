// SPDX-License-Identifier: Apache-2.0
//
// U = sum k/2 e^2, e the nearest image of x - x0(h). Under a strain of positions and box the
// positions x0 move as their scaling says, so that the virial is that of e + (x0 less the part that
// scales).
#include "tessera/autodiff/error.h"
#include "tessera/molecular/dynamics.h"

#include <algorithm>

namespace tessera::molecular {
namespace {

Vec3 moved_position(const Box& reference, const Box& now, const Vec3& p) {
  return from_fractions(now, fractions(reference, p));
}

/// The mean of all positions.
Vec3 centre_of_positions(const PositionRestraints& r) {
  Vec3 centre{};
  for (const std::int32_t row : r.row)
    for (std::size_t c = 0; c < 3; ++c)
      centre[c] += r.rows[static_cast<std::size_t>(row)][3 + c] / static_cast<double>(r.size());
  return centre;
}

}  // namespace

bool hold_any(const PositionRestraints& r) {
  return std::ranges::any_of(r.row, [&](std::int32_t row) {
    const auto& k = r.rows[static_cast<std::size_t>(row)];
    return k[0] != 0 || k[1] != 0 || k[2] != 0;
  });
}

PositionRestraints moved_with_box(PositionRestraints r, const Box& reference, const Box& now,
                                  RestraintScaling scaling) {
  if (r.size() == 0 || scaling == RestraintScaling::none || reference == now) return r;
  if (!is_periodic(reference) || !is_periodic(now))
    throw Error("[position restraints] reference positions cannot scale without a periodic box");
  const Vec3 centre = centre_of_positions(r), moved_centre = moved_position(reference, now, centre);
  for (auto& row : r.rows) {
    const Vec3 position = {row[3], row[4], row[5]}, all = moved_position(reference, now, position);
    for (std::size_t c = 0; c < 3; ++c)
      row[3 + c] =
          scaling == RestraintScaling::all ? all[c] : moved_centre[c] + (position[c] - centre[c]);
  }
  return r;
}

ForceFunction with_position_restraints(ForceFunction base, const PositionRestraints& r,
                                       const Box& reference, RestraintScaling scaling) {
  if (r.size() == 0) return base;
  if (scaling != RestraintScaling::none && !is_periodic(reference))
    throw Error("[position restraints] reference positions cannot scale without a periodic box");
  std::vector<Vec3> position;
  for (const std::int32_t row : r.row) {
    const auto& p = r.rows[static_cast<std::size_t>(row)];
    position.push_back({p[3], p[4], p[5]});
  }
  const Vec3 centre = centre_of_positions(r);
  return [=](const std::vector<Vec3>& x, const Box& box, Forces& out) {
    base(x, box, out);
    const auto moved = [&](const Vec3& p) {
      return scaling == RestraintScaling::none ? p : moved_position(reference, box, p);
    };
    const Vec3 now = scaling == RestraintScaling::centre ? moved(centre) : Vec3{};
    for (std::size_t t = 0; t < r.size(); ++t) {
      const auto i = static_cast<std::size_t>(r.atoms[t][0]);
      const auto& k = r.rows[static_cast<std::size_t>(r.row[t])];
      Vec3 stays{}, at = position[t];  // the part of the position that no strain moves
      if (scaling == RestraintScaling::none) stays = at;
      if (scaling == RestraintScaling::all) at = moved(at);
      if (scaling == RestraintScaling::centre)
        for (std::size_t c = 0; c < 3; ++c) {
          stays[c] = at[c] - centre[c];
          at[c] = now[c] + stays[c];
        }
      const Vec3 e = wrapped(box, {x[i][0] - at[0], x[i][1] - at[1], x[i][2] - at[2]});
      for (std::size_t b = 0; b < 3; ++b) {
        const double f = -k[b] * e[b];
        out.energy[static_cast<std::size_t>(Term::position_restraints)] += 0.5 * k[b] * e[b] * e[b];
        out.f[i][b] += f;
        for (std::size_t a = 0; a < 3; ++a) out.virial[a][b] += (e[a] + stays[a]) * f;
      }
    }
  };
}

}  // namespace tessera::molecular
