// SPDX-License-Identifier: Apache-2.0
#include "dynamics/bodies.h"

#include "base/whole_sums.h"
#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tessera::molecular {
namespace {

std::vector<std::int32_t> baths_of(std::size_t n, const Dynamics& o) {
  if (o.groups.empty()) return std::vector<std::int32_t>(n, 0);
  std::vector<std::int32_t> bath(n, -1);
  for (std::size_t g = 0; g < o.groups.size(); ++g)
    for (const std::int32_t a : o.groups[g].atoms) {
      if (a < 0 || static_cast<std::size_t>(a) >= n)
        dynamics_fault(
            fmt::format("temperature group '{}' names atom {} of {}", o.groups[g].name, a + 1, n));
      std::int32_t& b = bath[static_cast<std::size_t>(a)];
      if (b >= 0)
        dynamics_fault(fmt::format("atom {} is in temperature groups '{}' and '{}'", a + 1,
                                   o.groups[static_cast<std::size_t>(b)].name, o.groups[g].name));
      b = static_cast<std::int32_t>(g);
    }
  for (std::size_t i = 0; i < n; ++i)
    if (bath[i] < 0) dynamics_fault(fmt::format("atom {} is in no temperature group", i + 1));
  return bath;
}

}  // namespace

Bodies bodies_of(const System& s, const Constraints& constraints, const Dynamics& o) {
  const std::size_t n = s.n_atoms();
  if (!o.frozen.empty() && o.frozen.size() != n)
    dynamics_fault(
        fmt::format("frozen directions are given for {} of {} atoms", o.frozen.size(), n));
  Bodies p;
  p.all = n;
  p.number.resize(n);
  std::iota(p.number.begin(), p.number.end(), 0);
  p.mass = s.atoms.mass_amu;
  p.bath = baths_of(n, o);
  p.any_held = hold_any(s.position_restraints);
  p.freedom.assign(std::max<std::size_t>(o.groups.size(), 1), 0.0);
  p.rigid_of = constraints.groups();
  std::vector<bool> is_site(n, false);
  for (const VirtualSite& v : s.virtual_sites) is_site[static_cast<std::size_t>(v.site)] = true;
  for (std::size_t i = 0; i < n; ++i) {
    Vec3 w{};
    for (std::size_t c = 0; c < 3; ++c) {
      if (!(p.mass[i] > 0)) continue;
      if (!o.frozen.empty() && o.frozen[i][c]) {
        p.any_held = true;
        if (p.rigid_of[i] >= 0)
          dynamics_fault(fmt::format(
              "atom {} is frozen and part of a constraint: leave its bonds flexible", i + 1));
        continue;
      }
      w[c] = 1 / p.mass[i];
      p.total_mass[c] += p.mass[i];
      p.freedom[static_cast<std::size_t>(p.bath[i])] += 1;
    }
    p.inverse.push_back(w);
    // Sites follow the atoms that they are made from, and leave them their forces.
    if (!is_site[i] && std::ranges::any_of(w, [](double c) { return c == 0; }))
      p.still.push_back(static_cast<std::int32_t>(i));
    if (p.mass[i] > 0 && p.rigid_of[i] < 0) p.loose.push_back(static_cast<std::int32_t>(i));
  }
  for (const auto& [a, b] : s.constraints.atoms)
    p.freedom[static_cast<std::size_t>(p.bath[static_cast<std::size_t>(a)])] -= 1;
  for (const auto& w : s.rigid_waters.atoms)
    p.freedom[static_cast<std::size_t>(p.bath[static_cast<std::size_t>(w[0])])] -= 3;

  const std::int32_t groups = n == 0 ? 0 : *std::ranges::max_element(p.rigid_of) + 1;
  std::vector<std::vector<std::int32_t>> members(static_cast<std::size_t>(groups));
  for (std::size_t i = 0; i < n; ++i)
    if (p.rigid_of[i] >= 0)
      members[static_cast<std::size_t>(p.rigid_of[i])].push_back(static_cast<std::int32_t>(i));
  for (const auto& m : members) {
    for (const std::int32_t a : m)
      if (p.bath[static_cast<std::size_t>(a)] != p.bath[static_cast<std::size_t>(m[0])])
        dynamics_fault(
            fmt::format("constraints join atoms {} and {}, which are in two temperature groups",
                        m[0] + 1, a + 1));
    p.rigid.atom.insert(p.rigid.atom.end(), m.begin(), m.end());
    p.rigid.first.push_back(static_cast<std::int32_t>(p.rigid.atom.size()));
  }
  std::int32_t next = groups;
  for (std::int32_t& g : p.rigid_of)
    if (g < 0) g = next++;
  p.any_still = !p.still.empty();
  return p;
}

Bodies some_of(const Bodies& all, std::vector<std::int32_t> numbers, const Others& others) {
  Bodies p;
  p.all = all.all;
  p.others = others;
  p.any_held = all.any_held;
  p.freedom = all.freedom;
  p.total_mass = all.total_mass;
  p.any_still = all.any_still;
  p.number = std::move(numbers);
  std::vector<std::int32_t> place(all.n(), -1);
  for (std::size_t i = 0; i < p.number.size(); ++i) {
    const auto a = static_cast<std::size_t>(p.number[i]);
    place[a] = static_cast<std::int32_t>(i);
    p.mass.push_back(all.mass[a]);
    p.inverse.push_back(all.inverse[a]);
    p.rigid_of.push_back(all.rigid_of[a]);
    p.bath.push_back(all.bath[a]);
  }
  const auto keep = [&](const std::vector<std::int32_t>& from, std::vector<std::int32_t>& to) {
    for (const std::int32_t a : from)
      if (const std::int32_t at = place[static_cast<std::size_t>(a)]; at >= 0) to.push_back(at);
  };
  keep(all.loose, p.loose);
  keep(all.still, p.still);
  for (std::size_t g = 0; g < all.rigid.size(); ++g) {
    const auto first = static_cast<std::size_t>(all.rigid.first[g]),
               last = static_cast<std::size_t>(all.rigid.first[g + 1]);
    if (place[static_cast<std::size_t>(all.rigid.atom[first])] < 0) continue;
    for (std::size_t k = first; k < last; ++k)
      p.rigid.atom.push_back(place[static_cast<std::size_t>(all.rigid.atom[k])]);
    p.rigid.first.push_back(static_cast<std::int32_t>(p.rigid.atom.size()));
  }
  return p;
}

std::vector<double> kinetic_energies(const Bodies& p, const std::vector<Vec3>& v) {
  const bool one = p.freedom.size() == 1;
  return whole_sums(
      p.n(), p.freedom.size(), p.others, [&](std::size_t begin, std::size_t end, UnitSums& to) {
        for (std::size_t i = begin; i < end; ++i)
          to.add(one ? 0 : static_cast<std::size_t>(p.bath[i]),
                 0.5 * p.mass[i] * (v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]));
      });
}

double removed_freedom(const Bodies& p, bool angular) {
  const std::size_t atoms = p.loose.size() + p.rigid.atom.size();
  return !angular || atoms < 2 ? 3 : atoms == 2 ? 5 : 6;
}

Vec3 WholeMotion::at(const Vec3& x) const {
  const Vec3 r = {x[0] - centre[0], x[1] - centre[1], x[2] - centre[2]};
  Vec3 v = speed;
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t d = (c + 1) % 3, e = (c + 2) % 3;
    v[c] += omega[d] * r[e] - omega[e] * r[d];
  }
  return v;
}

WholeMotion remove_motion(const Bodies& p, const std::vector<Vec3>& x, std::vector<Vec3>& v,
                          bool angular) {
  const auto sum = whole_sums<6>(p.n(), p.others, [&](std::size_t i) {
    std::array<double, 6> s{};
    for (std::size_t c = 0; c < 3; ++c)
      if (p.inverse[i][c] > 0) {
        s[c] = p.mass[i] * v[i][c];
        s[3 + c] = p.mass[i] * x[i][c];
      }
    return s;
  });
  WholeMotion out;
  Vec3 &centre = out.centre, &speed = out.speed, &omega = out.omega;
  double& kinetic = out.kinetic;
  for (std::size_t c = 0; c < 3; ++c)
    if (p.total_mass[c] > 0) {
      speed[c] = sum[c] / p.total_mass[c];
      centre[c] = sum[3 + c] / p.total_mass[c];
      kinetic += 0.5 * speed[c] * sum[c];
    }
  if (angular) {
    // I omega = L, I = sum m (r^2 - r r).
    const auto s = whole_sums<9>(p.n(), p.others, [&](std::size_t i) {
      std::array<double, 9> t{};
      const Vec3 r = {x[i][0] - centre[0], x[i][1] - centre[1], x[i][2] - centre[2]},
                 u = {v[i][0] - speed[0], v[i][1] - speed[1], v[i][2] - speed[2]};
      const double m = p.mass[i];
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t d = (c + 1) % 3, e = (c + 2) % 3;
        t[c] = m * (r[d] * u[e] - r[e] * u[d]);
        t[3 + c] = m * (r[d] * r[d] + r[e] * r[e]);
        t[6 + c] = -m * r[d] * r[e];
      }
      return t;
    });
    // Cofactors: rows (0: xx xy xz) with off-diagonals s[8] = xy, s[7] = zx, s[6] = yz.
    const double xx = s[3], yy = s[4], zz = s[5], yz = s[6], zx = s[7], xy = s[8];
    const double a = yy * zz - yz * yz, b = zx * yz - xy * zz, c = xy * yz - yy * zx,
                 det = xx * a + xy * b + zx * c;
    // Atoms on one line: I = i (1 - n n), and L is across n. At one place: neither.
    const double i = 0.5 * (xx + yy + zz);
    if (det > 1e-10 * i * i * i)
      omega = {(a * s[0] + b * s[1] + c * s[2]) / det,
               (b * s[0] + (xx * zz - zx * zx) * s[1] + (xy * zx - xx * yz) * s[2]) / det,
               (c * s[0] + (xy * zx - xx * yz) * s[1] + (xx * yy - xy * xy) * s[2]) / det};
    else if (i > 0)
      omega = {s[0] / i, s[1] / i, s[2] / i};
    for (std::size_t c = 0; c < 3; ++c) kinetic += 0.5 * omega[c] * s[c];
  }
  over_blocks(p.n(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3 u = out.at(x[i]);
      for (std::size_t c = 0; c < 3; ++c)
        if (p.inverse[i][c] > 0) v[i][c] -= u[c];
    }
  });
  return out;
}

void make_whole(const System& s, std::vector<Vec3>& x, const Box& box) {
  if (!is_periodic(box)) return;
  std::vector<std::vector<std::int32_t>> near(s.n_atoms());
  const auto join = [&](std::int32_t a, std::int32_t b) {
    near[static_cast<std::size_t>(a)].push_back(b);
    near[static_cast<std::size_t>(b)].push_back(a);
  };
  for (const auto& [a, b] : s.connectivity) join(a, b);
  for (const auto& [a, b] : s.bonds.atoms) join(a, b);
  for (const auto& [a, b] : springs(s)) join(a, b);
  for (const auto& [a, b] : s.constraints.atoms) join(a, b);
  for (const auto& [o, h1, h2] : s.rigid_waters.atoms) {
    join(o, h1);
    join(o, h2);
  }
  for (const VirtualSite& v : s.virtual_sites) join(v.site, v.parents[0]);
  std::vector<bool> done(x.size(), false);
  std::vector<std::int32_t> reached;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (done[i]) continue;
    done[i] = true;
    reached.assign(1, static_cast<std::int32_t>(i));
    for (std::size_t k = 0; k < reached.size(); ++k) {
      const auto a = static_cast<std::size_t>(reached[k]);
      for (const std::int32_t b : near[a]) {
        const auto j = static_cast<std::size_t>(b);
        if (done[j]) continue;
        done[j] = true;
        reached.push_back(b);
        const Vec3 d = {x[j][0] - x[a][0], x[j][1] - x[a][1], x[j][2] - x[a][2]},
                   w = wrapped(box, d);
        for (std::size_t c = 0; c < 3; ++c)
          if (std::abs(w[c] - d[c]) > 1e-9)
            x[j][c] = x[a][c] + w[c];  // positions that need no move keep their bits
      }
    }
  }
}

System heavy_hydrogens(System s, double mass_amu, bool waters) {
  const auto refuse = [](const std::string& what) { throw Error("[heavy_hydrogens] " + what); };
  if (!(mass_amu > 0)) refuse(fmt::format("a mass must be positive, got {} amu", mass_amu));
  const std::size_t n = s.n_atoms();
  std::vector<std::vector<std::int32_t>> near(n);
  std::vector<bool> is_site(n, false);
  for (const VirtualSite& v : s.virtual_sites) is_site[static_cast<std::size_t>(v.site)] = true;
  for (const auto& [a, b] : s.connectivity) {
    if (is_site[static_cast<std::size_t>(a)] || is_site[static_cast<std::size_t>(b)]) continue;
    near[static_cast<std::size_t>(a)].push_back(b);
    near[static_cast<std::size_t>(b)].push_back(a);
  }
  const auto is_h = [&](std::int32_t a) {
    return s.atoms.element[static_cast<std::size_t>(a)] == 1;
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (is_h(static_cast<std::int32_t>(i))) continue;
    const auto hydrogens = static_cast<std::size_t>(std::ranges::count_if(near[i], is_h));
    if (hydrogens == 0 ||
        (!waters && s.atoms.element[i] == 8 && near[i].size() == 2 && hydrogens == 2))
      continue;
    for (const std::int32_t h : near[i])
      if (is_h(h)) {
        double& m = s.atoms.mass_amu[static_cast<std::size_t>(h)];
        s.atoms.mass_amu[i] -= mass_amu - m;
        m = mass_amu;
      }
    if (!(s.atoms.mass_amu[i] >= mass_amu))
      refuse(fmt::format("atom {} ({}) would keep {:g} amu, less than its hydrogens' {:g}", i + 1,
                         s.atoms.name[i], s.atoms.mass_amu[i], mass_amu));
  }
  return s;
}

}  // namespace tessera::molecular
