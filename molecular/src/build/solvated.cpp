// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"
#include "build/room.h"
#include "build/water_positions.h"
#include "system/near_points.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/joined_sets.h"
#include "tessera/data/random.h"
#include "tessera/molecular/build.h"
#include "tessera/molecular/structure.h"
#include "tessera/molecular/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace tessera::molecular {
namespace {

constexpr double per_mol_per_l = 0.602214076;  // nm^-3
/// How far charges of three or four digits may be off a whole number of ions together.
constexpr double rounded_e = 0.05;

/// How far an edge may be off that of a file, which has few digits.
constexpr double edge_rounded_nm = 1e-3;

/// As near as molecules come to each other that lie side by side.
constexpr double touching_nm = 0.5;

/// Molecules that touch as they lie, bound to each other.
System with_touching_bound(System system, const std::vector<Vec3>& x,
                           const std::vector<std::int32_t>& group) {
  const std::vector<std::int32_t> molecule = molecules(system);
  data::JoinedSets bodies(system.n_atoms());
  NearPoints near({}, touching_nm);
  for (const std::int32_t i : group) {
    const Vec3& at = x[static_cast<std::size_t>(i)];
    near.each(at, [&](std::int32_t j, double) {
      if (bodies.join(molecule[static_cast<std::size_t>(i)], molecule[static_cast<std::size_t>(j)]))
        system.connectivity.push_back({i, j});
      return true;
    });
    near.add(i, at);
  }
  return system;
}

/// Where the box of a solute is left behind: molecules that lie across its faces whole, and the
/// images of molecules that belong together. What touches as it lies stays so (in a crystal another
/// image may be nearer), all else is put to the nearest images, waters last, which touch
/// everything.
std::vector<Vec3> in_one_piece(const System& system, const Frame& frame, bool leaves_box) {
  std::vector<Vec3> whole = frame.x_nm;
  MoleculeMap(system).make_whole(whole, frame.box);
  if (leaves_box && is_periodic(frame.box)) {
    std::vector<std::int32_t> all(system.n_atoms()), dry;
    std::iota(all.begin(), all.end(), 0);
    std::ranges::copy_if(all, std::back_inserter(dry), [&](std::int32_t i) {
      const auto residue = system.atoms.residue[static_cast<std::size_t>(i)];
      return !is_water(system.residues[static_cast<std::size_t>(residue)].name);
    });
    System bodies = with_touching_bound(system, whole, dry);
    Complex(bodies, dry).gather(whole, frame.box);
    for (std::size_t k = 1; k < dry.size(); ++k)
      bodies.connectivity.push_back({dry[k - 1], dry[k]});
    Complex(bodies, all).gather(whole, frame.box);
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const Vec3 &a = whole[i], &b = frame.x_nm[i];
    if (std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) < 1e-9)
      whole[i] = b;  // positions that need no move keep their bits
  }
  return whole;
}

/// Throws where a molecule comes closer than this to its own image across faces of the box that
/// `before` did not have: a membrane or a polymer may go on through those that it had.
void expect_to_hold(const Box& box, const Box& before, const System& solute,
                    const std::vector<Vec3>& whole, double closer_nm) {
  constexpr double far = std::numeric_limits<double>::infinity();
  const std::vector<std::int32_t> molecule = molecules(solute);
  std::vector<Vec3> low(static_cast<std::size_t>(std::ranges::max(molecule)) + 1, {far, far, far}),
      high(low.size(), {-far, -far, -far});
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const Vec3 s = fractions(box, whole[i]);
    const auto k = static_cast<std::size_t>(molecule[i]);
    for (std::size_t a = 0; a < 3; ++a) {
      low[k][a] = std::min(low[k][a], s[a]);
      high[k][a] = std::max(high[k][a], s[a]);
    }
  }
  const Vec3 width = widths_nm(box);
  for (std::size_t a = 0; a < 3; ++a) {
    const Vec3 &now = box.edge[a], &old = before.edge[a];
    if (std::hypot(now[0] - old[0], now[1] - old[1], now[2] - old[2]) < edge_rounded_nm) continue;
    double length = 0;
    for (std::size_t k = 0; k < low.size(); ++k)
      length = std::max(length, (high[k][a] - low[k][a]) * width[a]);
    if (width[a] - length < closer_nm)
      throw BuildError(fmt::format(
          "[solvated] a molecule is {:.3f} nm long along {}, the box {:.3f} nm: it lies across its "
          "own image; {:.3f} nm would hold it",
          length, "xyz"[a], width[a], length + closer_nm));
  }
}

}  // namespace

BuiltSystem solvated(const System& solute, const Frame& frame, const Solvation& o) {
  const WaterModel& m = water_model(o.model);
  if (frame.x_nm.size() != solute.n_atoms() || solute.n_atoms() == 0)
    throw Error(
        fmt::format("[solvated] {} positions for {} atoms", frame.x_nm.size(), solute.n_atoms()));
  const std::vector<Vec3> whole = in_one_piece(solute, frame, !(o.box == frame.box));
  Vec3 low = whole[0], high = low;
  for (const Vec3& x : whole)
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = std::min(low[a], x[a]);
      high[a] = std::max(high[a], x[a]);
    }
  BuiltSystem out;
  out.frame.time_ps = frame.time_ps;
  Box& box = out.frame.box;
  box = o.box;
  if (!is_periodic(box)) {
    if (!(o.padding_nm > 0))
      throw Error(
          fmt::format("[solvated] expected a box or a positive padding, got {} nm", o.padding_nm));
    box = rectangular_box({high[0] - low[0] + 2 * o.padding_nm, high[1] - low[1] + 2 * o.padding_nm,
                           high[2] - low[2] + 2 * o.padding_nm});
  }
  expect_to_hold(box, frame.box, solute, whole, o.closer_nm);
  const double room = std::round(volume_nm3(box) * o.density_per_nm3);
  expect_room("solvated", static_cast<double>(solute.n_atoms()) + room * m.sites(), room);
  const Vec3 centre = from_fractions(box, {0.5, 0.5, 0.5});
  const auto moved = [&](double x, std::size_t a) {
    return x + centre[a] - (low[a] + high[a]) / 2;
  };
  for (const Vec3& x : whole)
    out.frame.x_nm.push_back({moved(x[0], 0), moved(x[1], 1), moved(x[2], 2)});

  const double look = std::max(o.distance_nm, o.closer_nm);
  NearPoints near(box, look);
  for (std::size_t i = 0; i < solute.n_atoms(); ++i)
    near.add(static_cast<std::int32_t>(i), out.frame.x_nm[i]);
  const std::vector<Vec3> positions = grid_positions(box, static_cast<std::size_t>(room));
  const std::vector<Vec3> all = turned_waters(m, positions, box, o.seed);
  const auto sites = static_cast<std::size_t>(m.sites());
  std::size_t n = 0;
  for (std::size_t k = 0; k < positions.size(); ++k) {
    bool clear = true;
    for (std::size_t i = 0; i < 3 && clear; ++i)
      clear = near.each(all[k * sites + i], [&](std::int32_t j, double d2) {
        const double least = i > 0 || solute.atoms.element[static_cast<std::size_t>(j)] == 1
                                 ? o.closer_nm
                                 : o.distance_nm;
        return d2 >= least * least;
      });
    if (!clear) continue;
    ++n;
    for (std::size_t i = 0; i < sites; ++i) out.frame.x_nm.push_back(all[k * sites + i]);
  }
  out.system = joined(solute, water_system(m, n));
  // What holds an atom goes with its image.
  PositionRestraints& held = out.system.position_restraints;
  auto rows = std::move(held.rows);
  held.rows.clear();
  for (std::size_t t = 0; t < held.size(); ++t) {
    const auto i = static_cast<std::size_t>(held.atoms[t][0]);
    auto row = rows[static_cast<std::size_t>(held.row[t])];
    for (std::size_t a = 0; a < 3; ++a)
      row[3 + a] = moved(row[3 + a] + (whole[i][a] - frame.x_nm[i][a]), a);
    held.row[t] = static_cast<std::int32_t>(t);
    held.rows.push_back(row);
  }
  out.system.title = solute.title;
  return out;
}

Ion ion(const std::string& name, const std::string& water) {
  struct Row {
    const char *water, *name;
    std::uint8_t element;
    double charge, mass, half_minimum_nm, epsilon_kcal;
  };
  static const Row table[] = {
      {"tip3p", "NA", 11, 1, 22.99, 0.1369, 0.0874393},
      {"tip3p", "K", 19, 1, 39.098, 0.1705, 0.1936829},
      {"tip3p", "CL", 17, -1, 35.45, 0.2513, 0.0355910},
      {"spce", "NA", 11, 1, 22.99, 0.1212, 0.3526418},
      {"spce", "K", 19, 1, 39.098, 0.1593, 0.4297054},
      {"spce", "CL", 17, -1, 35.45, 0.2711, 0.0127850},
      {"tip4pew", "NA", 11, 1, 22.99, 0.1226, 0.1684375},
      {"tip4pew", "K", 19, 1, 39.098, 0.1590, 0.2794651},
      {"tip4pew", "CL", 17, -1, 35.45, 0.2760, 0.0116615},
  };
  // OPC and OPC3 came later; theirs are the sets made for the free energy of hydration.
  static const Row later[] = {
      {"opc", "NA", 11, 1, 22.99, 0.1467, 0.02960343},
      {"opc", "K", 19, 1, 39.098, 0.1702, 0.13953816},
      {"opc", "CL", 17, -1, 35.45, 0.2360, 0.67878870},
      {"opc3", "NA", 11, 1, 22.99, 0.1469, 0.03012160},
      {"opc3", "K", 19, 1, 39.098, 0.1703, 0.14021803},
      {"opc3", "CL", 17, -1, 35.45, 0.2306, 0.64226672},
  };
  const auto made = [&](const Row& r, const char* source) {
    return Ion{name,
               source,
               r.element,
               r.charge,
               r.mass,
               2 * r.half_minimum_nm / std::pow(2.0, 1.0 / 6),
               r.epsilon_kcal * kcal};
  };
  for (const Row& r : later)
    if (water == r.water && name == r.name)
      return made(r, "Sengupta, Li, Song, Li & Merz, J. Chem. Inf. Model. 61 (2021) 869, HFE set");
  for (const Row& r : table)
    if (water == r.water && name == r.name)
      return made(r, "Joung & Cheatham, J. Phys. Chem. B 112 (2008) 9020");
  throw Error(
      fmt::format("[ion] no parameters of '{}' for the water '{}': there are NA, K and CL for "
                  "tip3p, spce, tip4pew, opc and opc3",
                  name, water));
}

BuiltSystem with_ions(const BuiltSystem& in, const Ions& o) {
  const System& s = in.system;
  if (!is_periodic(in.frame.box)) throw Error("[with_ions] ions need a periodic box");
  if (!(o.cation.charge_e > 0 && o.anion.charge_e < 0))
    throw Error(
        fmt::format("[with_ions] the cation must have a positive charge and the anion a negative "
                    "one, got {} and {}",
                    o.cation.charge_e, o.anion.charge_e));
  if (!(o.concentration_mol_per_l >= 0))
    throw Error(fmt::format("[with_ions] expected a concentration of 0 or more, got {} mol/l",
                            o.concentration_mol_per_l));
  const double pairs =
      std::round(o.concentration_mol_per_l * per_mol_per_l * volume_nm3(in.frame.box));
  // The fewest of both that are neutral together.
  std::size_t cations = 0, anions = 0;
  while (anions == 0 && ++cations <= 12) {
    const double n = static_cast<double>(cations) * o.cation.charge_e / -o.anion.charge_e;
    if (std::abs(n - std::round(n)) < 1e-6) anions = static_cast<std::size_t>(std::llround(n));
  }
  if (anions == 0 && pairs > 0)
    throw Error(fmt::format("[with_ions] ions of {} and {} e are neutral in no small numbers",
                            o.cation.charge_e, o.anion.charge_e));
  const auto units = static_cast<std::size_t>(std::min(pairs, 1e9));  // more find no room
  std::array<std::size_t, 2> count = {units * cations, units * anions};
  if (o.neutralise) {
    const double net = net_charge_e(s), each = net > 0 ? -o.anion.charge_e : o.cation.charge_e,
                 n = std::abs(net) / each;
    if (std::abs(n - std::round(n)) * each > rounded_e)
      throw Error(
          fmt::format("[with_ions] a net charge of {:.6g} e cannot be made up by ions of {} e", net,
                      net > 0 ? o.anion.charge_e : o.cation.charge_e));
    count[net > 0] += static_cast<std::size_t>(std::lround(n));
  }

  // Waters in random order; an ion keeps its distance from other molecules and ions.
  std::vector<std::pair<double, std::size_t>> waters;  // by a random key
  NearPoints near(in.frame.box, o.distance_nm);
  for (std::size_t i = 0; i < s.n_atoms(); ++i) {
    const bool water = is_water(s.residues[static_cast<std::size_t>(s.atoms.residue[i])].name);
    if (!water) near.add(static_cast<std::int32_t>(i), in.frame.x_nm[i]);
    if (water && s.atoms.element[i] == 8) waters.push_back({data::uniform({o.seed, 0}, i), i});
  }
  std::ranges::sort(waters);
  std::vector<bool> leave(s.n_atoms(), false);
  System ions;
  std::vector<Vec3> positions;
  ions.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {o.cation.sigma_nm, o.anion.sigma_nm},
                  {o.cation.epsilon, o.anion.epsilon});
  ions.coulomb_constant = s.coulomb_constant;
  auto next = waters.begin();
  for (const std::size_t kind : {0U, 1U}) {
    const Ion& ion = kind == 0 ? o.cation : o.anion;
    for (std::size_t k = 0; k < count[kind]; ++k) {
      while (next != waters.end() && near.any(in.frame.x_nm[next->second])) ++next;
      if (next == waters.end())
        throw Error(
            fmt::format("[with_ions] {} ions {} nm apart from each other and the solute find no "
                        "room among {} waters",
                        count[0] + count[1], o.distance_nm, waters.size()));
      leave[next->second] = true;
      const Vec3 x = in.frame.x_nm[next->second];
      near.add(-1, x);
      ++next;
      positions.push_back(x);
      ions.atoms.residue.push_back(static_cast<std::int32_t>(ions.residues.size()));
      ions.residues.push_back({ion.name, std::to_string(ions.residues.size() + 1), "", ""});
      ions.atoms.name.push_back(ion.name);
      ions.atoms.type.push_back(ion.name);
      ions.atoms.element.push_back(ion.element);
      ions.atoms.mass_amu.push_back(ion.mass_amu);
      ions.atoms.charge_e.push_back(ion.charge_e);
      ions.atoms.lj_type.push_back(static_cast<std::int32_t>(kind));
    }
  }
  const std::vector<std::int32_t> molecule = molecules(s);
  std::vector<bool> gone(s.n_atoms(), false);
  for (std::size_t i = 0; i < s.n_atoms(); ++i)
    if (leave[i]) gone[static_cast<std::size_t>(molecule[i])] = true;
  BuiltSystem out;
  out.system = joined(without(s, leave), ions);
  out.system.title = s.title;
  out.frame.time_ps = in.frame.time_ps;
  out.frame.box = in.frame.box;
  for (std::size_t i = 0; i < s.n_atoms(); ++i)
    if (!gone[static_cast<std::size_t>(molecule[i])]) out.frame.x_nm.push_back(in.frame.x_nm[i]);
  out.frame.x_nm.insert(out.frame.x_nm.end(), positions.begin(), positions.end());
  return out;
}

}  // namespace tessera::molecular
