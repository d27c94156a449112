// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"
#include "build/room.h"
#include "build/water_positions.h"
#include "system/near_points.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/random.h"
#include "tessera/molecular/build.h"
#include "tessera/molecular/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::molecular {
namespace {

/// sigma and epsilon of U = A/r^12 - C/r^6.
WaterModel of_coefficients(WaterModel m, double a, double c, double length, double energy) {
  m.sigma_nm = std::pow(a / c, 1.0 / 6) * length;
  m.epsilon = c * c / (4 * a) * energy;
  return m;
}

const std::vector<WaterModel>& models() {
  constexpr double tetrahedral = 109.47122063449069;  // acos(-1/3)
  static const std::vector<WaterModel> table = {
      // U = (B/r)^12 - (A/r)^6, A = 0.37122 nm (kJ/mol)^(1/6), B = 0.3428 nm (kJ/mol)^(1/12)
      of_coefficients({"spc", "Berendsen et al., in: Intermolecular Forces (1981) 331", 0.1,
                       tetrahedral, 0, 0.41, 0, 0},
                      std::pow(0.3428, 12), std::pow(0.37122, 6), 1, 1),
      of_coefficients({"spce", "Berendsen, Grigera & Straatsma, J. Phys. Chem. 91 (1987) 6269", 0.1,
                       tetrahedral, 0, 0.4238, 0, 0},
                      std::pow(0.3428, 12), std::pow(0.37122, 6), 1, 1),
      of_coefficients({"tip3p", "Jorgensen et al., J. Chem. Phys. 79 (1983) 926", 0.09572, 104.52,
                       0, 0.417, 0, 0},
                      582e3, 595, angstrom, kcal),
      of_coefficients({"tip4p", "Jorgensen et al., J. Chem. Phys. 79 (1983) 926", 0.09572, 104.52,
                       0.015, 0.52, 0, 0},
                      600e3, 610, angstrom, kcal),
      {"tip4pew", "Horn et al., J. Chem. Phys. 120 (2004) 9665", 0.09572, 104.52, 0.0125, 0.52422,
       0.316435, 0.680946},
      {"tip4p2005", "Abascal & Vega, J. Chem. Phys. 123 (2005) 234505", 0.09572, 104.52, 0.01546,
       0.5564, 0.31589, 93.2 * gas_constant},
      {"opc", "Izadi, Anandakrishnan & Onufriev, J. Phys. Chem. Lett. 5 (2014) 3863", 0.08724,
       103.6, 0.01594, 0.6791, 0.316655, 0.2128 * kcal},
      {"opc3", "Izadi & Onufriev, J. Chem. Phys. 145 (2016) 074501", 0.097888, 109.47, 0, 0.447585,
       0.317427, 0.163406 * kcal},
  };
  return table;
}

/// A turn about a random axis: a unit quaternion from four normal numbers.
std::array<Vec3, 3> random_turn(data::RandomKey key, std::uint64_t counter) {
  std::array<double, 4> q;
  double norm = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    q[k] = data::normal(key, 4 * counter + k);
    norm += q[k] * q[k];
  }
  norm = std::sqrt(norm);
  const double w = q[0] / norm, x = q[1] / norm, y = q[2] / norm, z = q[3] / norm;
  return {{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
           {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
           {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

}  // namespace

const WaterModel& water_model(const std::string& name) {
  for (const WaterModel& m : models())
    if (m.name == name) return m;
  std::string known;
  for (const WaterModel& m : models()) known += (known.empty() ? "" : ", ") + m.name;
  throw Error(fmt::format("[water_model] there is no model of water called '{}'; known are {}",
                          name, known));
}
std::vector<std::string> water_model_names() {
  std::vector<std::string> out;
  for (const WaterModel& m : models()) out.push_back(m.name);
  return out;
}

std::vector<Vec3> molecule_of(const WaterModel& m) {
  const double half = m.hoh_deg / 2 * degree;
  std::vector<Vec3> x = {{0, 0, 0},
                         {m.oh_nm * std::cos(half), m.oh_nm * std::sin(half), 0},
                         {m.oh_nm * std::cos(half), -m.oh_nm * std::sin(half), 0}};
  if (m.sites() == 4) x.push_back({m.om_nm, 0, 0});
  return x;
}

System water_system(const WaterModel& m, std::size_t n) {
  System s;
  s.title = m.name + " water";
  s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {m.sigma_nm, 0.0}, {m.epsilon, 0.0});
  const double half = m.hoh_deg / 2 * degree;
  s.rigid_waters.rows = {{m.oh_nm, 2 * m.oh_nm * std::sin(half)}};
  const bool site = m.sites() == 4;
  const auto add = [&](const char* name, const char* type, std::uint8_t element, double charge,
                       std::int32_t lj, std::size_t residue) {
    s.atoms.name.push_back(name);
    s.atoms.type.push_back(m.name + "-" + type);
    s.atoms.element.push_back(element);
    s.atoms.mass_amu.push_back(mass_of(element));
    s.atoms.charge_e.push_back(charge);
    s.atoms.lj_type.push_back(lj);
    s.atoms.residue.push_back(static_cast<std::int32_t>(residue));
  };
  for (std::size_t k = 0; k < n; ++k) {
    const auto o = static_cast<std::int32_t>(s.n_atoms());
    s.residues.push_back({"HOH", std::to_string(k + 1), "", ""});
    add("O", "O", 8, site ? 0 : -2 * m.charge_h_e, 0, k);
    add("H1", "H", 1, m.charge_h_e, 1, k);
    add("H2", "H", 1, m.charge_h_e, 1, k);
    s.connectivity.insert(s.connectivity.end(), {{o, o + 1}, {o, o + 2}});
    s.rigid_waters.atoms.push_back({o, o + 1, o + 2});
    s.rigid_waters.row.push_back(0);
    if (site) {
      add("M", "M", 0, -2 * m.charge_h_e, 1, k);
      VirtualSite v{VirtualSite::Kind::linear3, o + 3, {o, o + 1, o + 2, -1}, {}};
      v.weights[0] = v.weights[1] = m.om_nm / (2 * m.oh_nm * std::cos(half));
      s.virtual_sites.push_back(v);
    }
    for (std::int32_t i = 0; i < m.sites(); ++i)
      for (std::int32_t j = i + 1; j < m.sites(); ++j) s.exclusions.push_back({o + i, o + j});
  }
  return s;
}

std::vector<Vec3> grid_positions(const Box& box, std::size_t n) {
  // About as many points along each edge as its length asks for, at least n in all.
  const Vec3 l = lengths_nm(box);
  const double spacing =
      std::cbrt(l[0] * l[1] * l[2] / static_cast<double>(std::max<std::size_t>(n, 1)));
  std::array<std::size_t, 3> m;
  for (std::size_t a = 0; a < 3; ++a)
    m[a] = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(l[a] / spacing)));
  while (m[0] * m[1] * m[2] < n) {  // where the points would stay farthest apart
    std::size_t best = 0;
    for (std::size_t a = 1; a < 3; ++a)
      if (l[a] / static_cast<double>(m[a] + 1) > l[best] / static_cast<double>(m[best] + 1))
        best = a;
    ++m[best];
  }
  const std::size_t all = m[0] * m[1] * m[2];
  std::vector<Vec3> out;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t at = k * all / n;  // empty positions lie evenly among the full ones
    const Vec3 s = {(static_cast<double>(at / (m[1] * m[2])) + 0.5) / static_cast<double>(m[0]),
                    (static_cast<double>(at / m[2] % m[1]) + 0.5) / static_cast<double>(m[1]),
                    (static_cast<double>(at % m[2]) + 0.5) / static_cast<double>(m[2])};
    out.push_back(from_fractions(box, s));
  }
  return out;
}

std::vector<Vec3> turned_waters(const WaterModel& m, const std::vector<Vec3>& positions,
                                const Box& box, std::uint64_t seed) {
  constexpr int tries = 12;
  constexpr double look = 0.3;
  const std::vector<Vec3> molecule = molecule_of(m);
  const std::size_t sites = molecule.size();
  NearPoints before(box, look);
  std::vector<Vec3> out;
  out.reserve(positions.size() * sites);
  std::vector<Vec3> best(sites), now(sites);
  for (std::size_t k = 0; k < positions.size(); ++k) {
    double best_distance2 = -1;
    for (int t = 0; t < tries; ++t) {
      const std::array<Vec3, 3> turn = random_turn({seed, static_cast<std::uint64_t>(t)}, k);
      double distance2 = look * look;
      for (std::size_t i = 0; i < sites; ++i) {
        for (std::size_t a = 0; a < 3; ++a)
          now[i][a] = positions[k][a] + turn[a][0] * molecule[i][0] + turn[a][1] * molecule[i][1] +
                      turn[a][2] * molecule[i][2];
        if (i < 3)
          before.each(now[i], [&](std::int32_t, double d2) {
            return distance2 = std::min(distance2, d2), true;
          });
      }
      if (distance2 > best_distance2) {
        best_distance2 = distance2;
        best = now;
      }
      if (distance2 >= look * look) break;
    }
    for (std::size_t i = 0; i < sites; ++i) {
      out.push_back(best[i]);
      if (i < 3) before.add(static_cast<std::int32_t>(k), best[i]);
    }
  }
  return out;
}

BuiltSystem water_box(const WaterBox& o) {
  const WaterModel& m = water_model(o.model);
  if (!(o.density_per_nm3 > 0))
    throw Error(fmt::format("[water_box] the density must be positive, got {} per nm^3",
                            o.density_per_nm3));
  if (o.molecules == 0 && !is_periodic(o.box))
    throw Error("[water_box] expected a number of molecules or a box, got neither");
  BuiltSystem out;
  const double molecules = o.molecules ? static_cast<double>(o.molecules)
                                       : std::round(volume_nm3(o.box) * o.density_per_nm3);
  if (molecules == 0)
    throw BuildError(
        fmt::format("[water_box] a box of {} nm^3 holds no molecule", volume_nm3(o.box)));
  expect_room("water_box", molecules * m.sites(), molecules);
  const auto n = static_cast<std::size_t>(molecules);
  const double edge = std::cbrt(static_cast<double>(n) / o.density_per_nm3);
  out.frame.box = is_periodic(o.box) ? o.box : rectangular_box({edge, edge, edge});
  out.frame.x_nm = turned_waters(m, grid_positions(out.frame.box, n), out.frame.box, o.seed);
  out.system = water_system(m, n);
  return out;
}

}  // namespace tessera::molecular
