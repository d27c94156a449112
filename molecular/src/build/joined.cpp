// SPDX-License-Identifier: Apache-2.0
#include "system/chosen_atoms.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::molecular {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Terms over atoms that come behind `atoms` others, their rows behind the `rows` that are there.
template <class List>
void append_terms(List& to, const List& from, std::int32_t atoms, std::int32_t rows) {
  for (auto t : from.atoms) {
    for (std::int32_t& i : t) i += atoms;
    to.atoms.push_back(t);
  }
  for (const std::int32_t r : from.row) to.row.push_back(r + rows);
}
template <int N, int P>
void append(Terms<N, P>& to, const Terms<N, P>& from, std::int32_t atoms) {
  append_terms(to, from, atoms, static_cast<std::int32_t>(to.rows.size()));
  append(to.rows, from.rows);
}
void append(CorrectionMaps& to, const CorrectionMaps& from, std::int32_t atoms) {
  if (to.size() == 0) to.points = from.points, to.maps.clear();
  if (from.size() == 0) return;
  if (from.points != to.points)
    throw Error(fmt::format("[joined] the systems have correction maps of {} and {} points a side",
                            to.points, from.points));
  append_terms(to, from, atoms, static_cast<std::int32_t>(to.n_maps()));
  append(to.maps, from.maps);
}

/// sigma and epsilon of a type from c6 and c12 with itself.
std::array<double, 2> sigma_epsilon(const LennardJones& lj, std::size_t type) {
  if (!lj.sigma_nm.empty()) return {lj.sigma_nm[type], lj.epsilon[type]};
  const std::size_t k = type * static_cast<std::size_t>(lj.types) + type;
  const double c6 = lj.c6[k], c12 = lj.c12[k];
  if (c12 == 0) return {0, 0};
  if (!(c6 > 0))
    throw Error(
        fmt::format("[joined] type {} of Lennard-Jones repels alone: it has no sigma and epsilon "
                    "to be mixed by",
                    type));
  return {std::pow(c12 / c6, 1.0 / 6), c6 * c6 / (4 * c12)};
}

LennardJones joined(const LennardJones& a, const LennardJones& b) {
  if (a.types == 0) return b;
  if (b.types == 0) return a;
  const auto na = static_cast<std::size_t>(a.types), nb = static_cast<std::size_t>(b.types),
             n = na + nb;
  std::vector<double> sigma, epsilon;
  for (std::size_t t = 0; t < n; ++t) {
    const auto [s, e] = t < na ? sigma_epsilon(a, t) : sigma_epsilon(b, t - na);
    sigma.push_back(s);
    epsilon.push_back(e);
  }
  LennardJones out = mixed(LennardJones::Mixing::lorentz_berthelot, sigma, epsilon);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if ((i < na) != (j < na)) continue;
      out.c6[i * n + j] = i < na ? a.c6[i * na + j] : b.c6[(i - na) * nb + j - na];
      out.c12[i * n + j] = i < na ? a.c12[i * na + j] : b.c12[(i - na) * nb + j - na];
    }
  const auto by_rule = LennardJones::Mixing::lorentz_berthelot;
  if (a.mixing != by_rule || b.mixing != by_rule) {
    out.mixing = LennardJones::Mixing::tables;
    out.sigma_nm.clear();
    out.epsilon.clear();
    return out;
  }
  out.exceptions = a.exceptions;
  for (const auto& [i, j] : b.exceptions) out.exceptions.push_back({i + a.types, j + a.types});
  return out;
}

}  // namespace

System joined(const System& a, const System& b) {
  if (std::abs(a.coulomb_constant - b.coulomb_constant) > 1e-4 * a.coulomb_constant)
    throw Error(fmt::format("[joined] the systems have different Coulomb constants, {} and {}",
                            a.coulomb_constant, b.coulomb_constant));
  System s = a;
  const auto atoms = static_cast<std::int32_t>(a.n_atoms()),
             residues = static_cast<std::int32_t>(a.residues.size());
  append(s.residues, b.residues);
  append(s.atoms.name, b.atoms.name);
  append(s.atoms.type, b.atoms.type);
  append(s.atoms.element, b.atoms.element);
  append(s.atoms.mass_amu, b.atoms.mass_amu);
  append(s.atoms.charge_e, b.atoms.charge_e);
  for (const std::int32_t t : b.atoms.lj_type) s.atoms.lj_type.push_back(t + a.lj.types);
  for (const std::int32_t r : b.atoms.residue) s.atoms.residue.push_back(r + residues);
  for (const auto& [i, j] : b.connectivity) s.connectivity.push_back({i + atoms, j + atoms});
  for (const auto& [i, j] : b.exclusions) s.exclusions.push_back({i + atoms, j + atoms});
  s.lj = joined(a.lj, b.lj);
  each_bonded([&](const BondedKind&, auto& to, const auto& from) { append(to, from, atoms); }, s,
              b);
  append(s.constraints, b.constraints, atoms);
  append(s.rigid_waters, b.rigid_waters, atoms);
  for (VirtualSite v : b.virtual_sites) {
    v.site += atoms;
    for (std::int32_t& p : v.parents)
      if (p >= 0) p += atoms;
    s.virtual_sites.push_back(v);
  }
  return s;
}

System without(const System& in, const std::vector<bool>& leave) {
  if (leave.size() != in.n_atoms())
    throw Error(fmt::format("[without] {} marks for {} atoms", leave.size(), in.n_atoms()));
  const std::vector<std::int32_t> molecule = molecules(in);
  std::vector<bool> gone(in.n_atoms(), false);  // of each molecule
  for (std::size_t i = 0; i < in.n_atoms(); ++i)
    if (leave[i]) gone[static_cast<std::size_t>(molecule[i])] = true;
  std::vector<std::int32_t> staying;
  for (std::size_t i = 0; i < in.n_atoms(); ++i)
    if (!gone[static_cast<std::size_t>(molecule[i])])
      staying.push_back(static_cast<std::int32_t>(i));
  System s = in;
  s.atoms = {};
  s.residues.clear();
  const std::vector<std::int32_t> now = add_atoms(s, in, staying);
  const auto moved = [&](auto& atoms) {  // whether all stay
    for (std::int32_t& i : atoms) {
      if (i >= 0 && now[static_cast<std::size_t>(i)] < 0) return false;
      if (i >= 0) i = now[static_cast<std::size_t>(i)];
    }
    return true;
  };
  const auto kept = [&](auto& list) { std::erase_if(list, [&](auto& t) { return !moved(t); }); };
  kept(s.connectivity);
  kept(s.exclusions);
  const auto keep_terms = [&](auto& to) {
    std::size_t k = 0;
    for (std::size_t t = 0; t < to.atoms.size(); ++t) {
      auto atoms = to.atoms[t];
      if (!moved(atoms)) continue;
      to.atoms[k] = atoms;
      to.row[k++] = to.row[t];
    }
    to.atoms.resize(k);
    to.row.resize(k);
  };
  each_bonded([&](const BondedKind&, auto& list) { keep_terms(list); }, s);
  keep_terms(s.constraints);
  keep_terms(s.rigid_waters);
  std::erase_if(s.virtual_sites, [&](VirtualSite& v) {
    std::array<std::int32_t, 1> site = {v.site};
    const bool stays = moved(site) && moved(v.parents);
    v.site = site[0];
    return !stays;
  });
  return s;
}

}  // namespace tessera::molecular
