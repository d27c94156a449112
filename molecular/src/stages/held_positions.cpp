// SPDX-License-Identifier: Apache-2.0
#include "stages/held_positions.h"

#include "tessera/molecular/transform.h"

#include <cmath>
#include <numbers>

namespace tessera::molecular::stages {
namespace {

/// What rounding makes of fractions that are equal: ties go one way, whatever images a file has.
constexpr double rounding = 1e-7;

/// A molecule of which atoms are held.
struct Part {
  const std::vector<std::int32_t>& atoms;
  Vec3 at;      ///< fractions of its centre
  double held;  ///< how many
};

/// The centre of what is held, around the box (of fractions s the angle of sum exp(2 pi i s)), as
/// fractions; the middle of the box where what is held lies evenly around it.
Vec3 centre_around(const std::vector<Part>& parts) {
  Vec3 sines{}, cosines{};
  double all = 0;
  for (const Part& p : parts) {
    all += p.held;
    for (std::size_t c = 0; c < 3; ++c) {
      sines[c] += p.held * std::sin(2 * std::numbers::pi * p.at[c]);
      cosines[c] += p.held * std::cos(2 * std::numbers::pi * p.at[c]);
    }
  }
  Vec3 centre = {0.5, 0.5, 0.5};
  for (std::size_t c = 0; c < 3; ++c)
    if (std::hypot(sines[c], cosines[c]) > rounding * all)
      centre[c] = std::atan2(sines[c], cosines[c]) / (2 * std::numbers::pi);
  return centre;
}

/// Moves whole molecules of which atoms are held to the images whose centres lie nearest to that of
/// all of them, or in the box.
void gather(std::vector<Vec3>& x, const Box& box, const MoleculeMap& map,
            std::span<const std::int32_t> atoms, bool around_centre) {
  std::vector<double> held(x.size(), 0);
  for (const std::int32_t i : atoms) held[static_cast<std::size_t>(i)] = 1;
  std::vector<Part> parts;
  for (const auto& molecule : map.atoms()) {
    double n = 0;
    for (const std::int32_t i : molecule) n += held[static_cast<std::size_t>(i)];
    if (n > 0) parts.push_back({molecule, fractions(box, centre_of(x, molecule)), n});
  }
  const Vec3 centre = around_centre ? centre_around(parts) : Vec3{0.5, 0.5, 0.5};
  for (const Part& p : parts) {
    Vec3 image;
    for (std::size_t c = 0; c < 3; ++c)
      image[c] = -std::floor(p.at[c] - centre[c] + 0.5 + rounding);
    const Vec3 shift = from_fractions(box, image);
    for (const std::int32_t i : p.atoms)
      for (std::size_t c = 0; c < 3; ++c) x[static_cast<std::size_t>(i)][c] += shift[c];
  }
}

}  // namespace

std::vector<Vec3> held_positions(const System& system, const Frame& frame,
                                 std::span<const std::int32_t> atoms, RestraintScaling scaling) {
  std::vector<Vec3> x = frame.x_nm;
  if (!is_periodic(frame.box) || scaling == RestraintScaling::all || atoms.empty()) return x;
  const MoleculeMap map(system);
  map.make_whole(x, frame.box);
  gather(x, frame.box, map, atoms, scaling == RestraintScaling::centre);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Vec3 &a = x[i], &b = frame.x_nm[i];
    if (std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) < 1e-9) x[i] = b;
  }
  return x;
}

PositionRestraints in_one_piece(PositionRestraints r, const System& system,
                                const Frame& reference) {
  std::vector<std::int32_t> atoms;
  for (const auto& [atom] : r.atoms) atoms.push_back(atom);
  const std::vector<Vec3> x = held_positions(system, reference, atoms, RestraintScaling::centre);
  PositionRestraints out{std::move(r.atoms), {}, {}};
  for (std::size_t k = 0; k < out.atoms.size(); ++k) {
    auto row = r.rows[static_cast<std::size_t>(r.row[k])];
    const Vec3 at = fractions(reference.box, x[static_cast<std::size_t>(atoms[k])]),
               held = fractions(reference.box, {row[3], row[4], row[5]});
    Vec3 image;
    for (std::size_t c = 0; c < 3; ++c) image[c] = std::round(at[c] - held[c]);
    const Vec3 shift = from_fractions(reference.box, image);
    for (std::size_t c = 0; c < 3; ++c) row[3 + c] += shift[c];
    out.row.push_back(static_cast<std::int32_t>(out.rows.size()));
    out.rows.push_back(row);
  }
  return out;
}

}  // namespace tessera::molecular::stages
