// SPDX-License-Identifier: Apache-2.0
//
// Systems for tests of forces: published configurations where they are at hand, small ones of our
// own.
#pragma once
#include "tessera/autodiff/ops.h"
#include "tessera/data/text_file.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/nonbonded.h"
#include "tessera/molecular/system.h"
#include "test_data.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace tessera::molecular::testing {

struct Case {
  System system;
  Frame frame;
};

inline Tensor flat(const std::vector<Vec3>& x) {
  std::vector<double> v;
  for (const Vec3& p : x) v.insert(v.end(), p.begin(), p.end());
  return tensor(v, {static_cast<Index>(x.size()), 3});
}
inline Tensor edges(const Box& b) { return flat({b.edge[0], b.edge[1], b.edge[2]}); }

/// A list with one term over the first atoms, its parameters 1.
template <int N, int P>
void fill(Terms<N, P>& list) {
  std::array<std::int32_t, N> atoms;
  std::iota(atoms.begin(), atoms.end(), 0);
  std::array<double, P> row;
  row.fill(1);
  list = {{atoms}, {0}, {row}};
}
inline void fill(CorrectionMaps& list) {
  list = {{{0, 1, 2, 3, 1, 2, 3, 4}}, {0}, 4, std::vector<double>(16, 1.0)};
}
/// Every kind of bonded terms that a system has none of gets one, so that a new kind is asked what
/// all are asked.
inline void fill_what_is_empty(System& s) {
  each_bonded(
      [](const BondedKind&, auto& list) {
        if (list.size() == 0) fill(list);
      },
      s);
}

inline void add_atom(System& s, const char* name, std::uint8_t element, double mass, double charge,
                     int type) {
  s.atoms.name.push_back(name);
  s.atoms.type.push_back(name);
  s.atoms.element.push_back(element);
  s.atoms.mass_amu.push_back(mass);
  s.atoms.charge_e.push_back(charge);
  s.atoms.lj_type.push_back(type);
  s.atoms.residue.push_back(static_cast<std::int32_t>(s.residues.size()) - 1);
}

/// n Lennard-Jones atoms of sigma = epsilon = 1 (lengths in units of sigma stand for nm).
inline System lennard_jones_atoms(std::size_t n) {
  System s;
  s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {1.0}, {1.0});
  for (std::size_t i = 0; i < n; ++i) {
    s.residues.push_back({"LJ", std::to_string(i + 1), "", ""});
    add_atom(s, "LJ", 18, 1, 0, 0);
  }
  return s;
}

/// Three-point waters with sites O, H, H.
inline System waters(std::size_t n, double q_h, double sigma, double epsilon) {
  System s;
  s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {sigma, 0.0}, {epsilon, 0.0});
  for (std::size_t m = 0; m < n; ++m) {
    const auto o = static_cast<std::int32_t>(3 * m);
    s.residues.push_back({"SOL", std::to_string(m + 1), "", ""});
    add_atom(s, "OW", 8, 15.9994, -2 * q_h, 0);
    add_atom(s, "HW1", 1, 1.008, q_h, 1);
    add_atom(s, "HW2", 1, 1.008, q_h, 1);
    s.connectivity.push_back({o, o + 1});
    s.connectivity.push_back({o, o + 2});
    s.exclusions.push_back({o, o + 1});
    s.exclusions.push_back({o, o + 2});
    s.exclusions.push_back({o + 1, o + 2});
  }
  return s;
}

/// The sample configurations of NIST's reference simulation website: box, number, then number x y z
/// [name].
inline bool read_nist(const std::string& name, double unit, std::vector<Vec3>& x, Box& box) {
  std::ifstream in(tessera::testing::test_data() / "md/nist" / name);
  if (!in) return false;
  Vec3 l;
  std::string line;
  std::getline(in, line);
  std::istringstream(line) >> l[0] >> l[1] >> l[2];
  box = rectangular_box({l[0] * unit, l[1] * unit, l[2] * unit});
  std::getline(in, line);
  x.clear();
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    Vec3 p;
    int k;
    if (fields >> k >> p[0] >> p[1] >> p[2]) x.push_back({p[0] * unit, p[1] * unit, p[2] * unit});
  }
  return true;
}

/// Ten charged atoms of two types at least 0.25 nm apart in a slanted box, some excluded pairs.
inline Case small_mixture() {
  Case c;
  c.system.residues = {{"MIX", "1", "", ""}};
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3, 0.25}, {0.6, 0.2});
  c.system.exclusions = {{0, 1}, {0, 2}, {3, 7}, {8, 9}};
  c.frame.box = box_of_angles({1.9, 2.1, 2.0}, {75, 80, 70});
  std::mt19937 random(5);
  std::uniform_real_distribution<double> any(0, 1);
  while (c.frame.x_nm.size() < 10) {
    const Vec3 p = from_fractions(c.frame.box, {any(random), any(random), any(random)});
    bool apart = true;
    for (const Vec3& o : c.frame.x_nm) {
      const Vec3 d = shortest(c.frame.box, {p[0] - o[0], p[1] - o[1], p[2] - o[2]});
      apart = apart && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > 0.0625;
    }
    if (!apart) continue;
    add_atom(c.system, "X", 6, 12, 0.3 * (static_cast<double>(c.frame.x_nm.size()) - 4),
             static_cast<int>(c.frame.x_nm.size() % 2));
    c.frame.x_nm.push_back(p);
  }
  return c;
}

/// Argon on a face-centred grid of 4 m^3 atoms, 1.4 g/cm^3.
inline Case argon(int m) {
  Case c;
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3405}, {0.9960});
  const double a = 0.574;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j)
      for (int k = 0; k < m; ++k)
        for (const Vec3 s :
             {Vec3{0, 0, 0}, Vec3{0.5, 0.5, 0}, Vec3{0.5, 0, 0.5}, Vec3{0, 0.5, 0.5}}) {
          c.system.residues.push_back({"AR", "1", "", ""});
          add_atom(c.system, "AR", 18, 39.948, 0, 0);
          c.frame.x_nm.push_back({a * (i + s[0]), a * (j + s[1]), a * (k + s[2])});
        }
  c.frame.box = rectangular_box({a * m, a * m, a * m});
  return c;
}
inline const Nonbonded argon_forces = {.coulomb = Nonbonded::Coulomb::none,
                                       .lj_modifier = Nonbonded::Modifier::force_switch,
                                       .cutoff_lj_nm = 0.85,
                                       .lj_switch_nm = 0.6};
/// 27 rigid SPC/E waters on a grid, 0.93 nm.
inline Case rigid_waters() {
  Case c;
  c.system = waters(27, 0.4238, 0.31656, 0.6502);
  c.system.rigid_waters.rows = {{0.1, 0.16329931618554522}};
  for (std::int32_t m = 0; m < 27; ++m) {
    c.system.rigid_waters.atoms.push_back({3 * m, 3 * m + 1, 3 * m + 2});
    c.system.rigid_waters.row.push_back(0);
    const Vec3 o = {0.31 * (m % 3), 0.31 * (m / 3 % 3), 0.31 * (m / 9)};
    c.frame.x_nm.push_back(o);
    c.frame.x_nm.push_back({o[0] + 0.0577350269, o[1] + 0.0816496581, o[2]});
    c.frame.x_nm.push_back({o[0] + 0.0577350269, o[1] - 0.0816496581, o[2]});
  }
  c.frame.box = rectangular_box({0.93, 0.93, 0.93});
  return c;
}
inline const Nonbonded rigid_water_forces = {.lj_modifier = Nonbonded::Modifier::force_switch,
                                             .cutoff_coulomb_nm = 0.46,
                                             .cutoff_lj_nm = 0.46,
                                             .lj_switch_nm = 0.3,
                                             .ewald_rtol = 1e-6,
                                             .pme_order = 6,
                                             .fourier_spacing_nm = 0.05};

}  // namespace tessera::molecular::testing
