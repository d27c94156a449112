// SPDX-License-Identifier: Apache-2.0
#include "stages/held_positions.h"

#include "tessera/molecular/transform.h"

#include <cmath>
#include <map>
#include <numbers>

namespace tessera::molecular::stages {
namespace {

/// Moves whole molecules of which atoms are held to the images nearest to the centre of what is
/// held, around the box (of fractions s the angle of sum exp(2 pi i s)), which lies near the first.
void gather(std::vector<Vec3>& x, const Box& box, const MoleculeMap& map,
            std::span<const std::int32_t> atoms) {
  std::vector<double> held(x.size(), 0);
  for (const std::int32_t i : atoms) held[static_cast<std::size_t>(i)] = 1;
  struct Part {
    const std::vector<std::int32_t>& atoms;
    Vec3 at;
  };
  std::vector<Part> parts;
  Vec3 sines{}, cosines{};
  for (const auto& molecule : map.atoms()) {
    double weight = 0;
    for (const std::int32_t i : molecule) weight += held[static_cast<std::size_t>(i)];
    if (weight == 0) continue;
    parts.push_back({molecule, fractions(box, centre_of(x, molecule))});
    for (std::size_t c = 0; c < 3; ++c) {
      sines[c] += weight * std::sin(2 * std::numbers::pi * parts.back().at[c]);
      cosines[c] += weight * std::cos(2 * std::numbers::pi * parts.back().at[c]);
    }
  }
  Vec3 centre;
  for (std::size_t c = 0; c < 3; ++c) {
    centre[c] = std::atan2(sines[c], cosines[c]) / (2 * std::numbers::pi);
    centre[c] += std::round(parts[0].at[c] - centre[c]);
  }
  for (const Part& p : parts) {
    Vec3 image;
    for (std::size_t c = 0; c < 3; ++c) image[c] = -std::round(p.at[c] - centre[c]);
    const Vec3 shift = from_fractions(box, image);
    for (const std::int32_t i : p.atoms)
      for (std::size_t c = 0; c < 3; ++c) x[static_cast<std::size_t>(i)][c] += shift[c];
  }
}

}  // namespace

std::vector<Vec3> held_positions(const System& system, const Frame& begin,
                                 std::span<const std::int32_t> atoms, RestraintScaling scaling) {
  std::vector<Vec3> x = begin.x_nm;
  if (!is_periodic(begin.box) || scaling == RestraintScaling::all || atoms.empty()) return x;
  const MoleculeMap map(system);
  map.make_whole(x, begin.box);
  if (scaling == RestraintScaling::centre)
    gather(x, begin.box, map, atoms);
  else
    map.wrap(x, begin.box);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Vec3 &a = x[i], &b = begin.x_nm[i];
    if (std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) < 1e-9) x[i] = b;
  }
  return x;
}

PositionRestraints in_one_piece(PositionRestraints r, const System& system, const Box& reference,
                                const Frame& begin) {
  if (r.size() == 0) return r;
  std::vector<Vec3> whole = begin.x_nm;
  MoleculeMap(system).make_whole(whole, begin.box);
  const std::vector<std::int32_t> molecule = molecules(system);
  std::map<std::int32_t, Vec3> first;  // the images of molecules, where their first atom is held
  PositionRestraints out{std::move(r.atoms), {}, {}};
  for (std::size_t k = 0; k < out.atoms.size(); ++k) {
    const auto i = static_cast<std::size_t>(out.atoms[k][0]);
    auto row = r.rows[static_cast<std::size_t>(r.row[k])];
    const Vec3 at = fractions(begin.box, whole[i]),
               held = fractions(reference, {row[3], row[4], row[5]});
    Vec3 image;
    for (std::size_t c = 0; c < 3; ++c) image[c] = std::round(at[c] - held[c]);
    const Vec3& of_first = first.try_emplace(molecule[i], image).first->second;
    for (std::size_t c = 0; c < 3; ++c) image[c] -= of_first[c];
    const Vec3 shift = from_fractions(reference, image);
    for (std::size_t c = 0; c < 3; ++c) row[3 + c] += shift[c];
    out.row.push_back(static_cast<std::int32_t>(out.rows.size()));
    out.rows.push_back(row);
  }
  return out;
}

}  // namespace tessera::molecular::stages
