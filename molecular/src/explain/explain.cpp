// SPDX-License-Identifier: Apache-2.0
// Why a step went wrong, told by atoms: slow passes over what surrounds one of them.
#include "tessera/molecular/explain.h"

#include "tessera/autodiff/ops.h"
#include "tessera/data/median.h"
#include "tessera/molecular/bonded.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::molecular {
namespace {

double norm(const Vec3& v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }
Vec3 apart(const Frame& f, std::size_t i, std::size_t j) {
  return wrapped(f.box, {f.x_nm[i][0] - f.x_nm[j][0], f.x_nm[i][1] - f.x_nm[j][1],
                         f.x_nm[i][2] - f.x_nm[j][2]});
}

struct Finding {
  double force = 0;
  std::string text;
};

/// The row of one term as a table of its own.
template <int N, int P>
void take_row(const Terms<N, P>& terms, std::size_t k, Terms<N, P>& one) {
  one.rows = {terms.rows[static_cast<std::size_t>(terms.row[k])]};
}
void take_row(const CorrectionMaps& terms, std::size_t k, CorrectionMaps& one) {
  const auto size = static_cast<std::ptrdiff_t>(terms.points) * terms.points,
             first = terms.row[k] * size;
  one.points = terms.points;
  one.maps.assign(terms.maps.begin() + first, terms.maps.begin() + first + size);
}

/// One term as a system of its own, in its list `into`, at its atoms' positions: energy and force
/// on one of them.
template <class T>
void look_at(const System& s, const Frame& f, std::int32_t atom, const T& terms, T& into,
             System& alone, Term kind, std::vector<Finding>& out) {
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const auto& atoms = terms.atoms[k];
    if (std::ranges::find(atoms, atom) == atoms.end()) continue;
    alone.atoms = {};
    Frame here;
    here.box = f.box;
    T one;
    take_row(terms, k, one);
    one.row = {0};
    one.atoms.emplace_back();
    std::string names;
    std::vector<std::int32_t> own;  // atoms of the term, each once
    for (std::size_t a = 0; a < atoms.size(); ++a) {
      const auto i = static_cast<std::size_t>(atoms[a]);
      const auto known = std::ranges::find(own, atoms[a]);
      one.atoms[0][a] = static_cast<std::int32_t>(known - own.begin());
      if (known != own.end()) continue;
      own.push_back(atoms[a]);
      here.x_nm.push_back(f.x_nm[i]);
      alone.atoms.mass_amu.push_back(1);
      alone.atoms.charge_e.push_back(s.atoms.charge_e[i]);
      names += (a ? " - " : "") + name_of_atom(s, atoms[a]);
    }
    into = std::move(one);
    const EnergyPtr u = bonded_energy(alone, kind);
    const Tensor table = table_of(alone, kind);
    std::vector<const double*> p = {here.x_nm[0].data(), here.box.edge[0].data(),
                                    table.data<double>().data()};
    std::vector<Vec3> gradient(here.x_nm.size());
    std::vector<double*> g = {gradient[0].data(), nullptr, nullptr};
    if (u->shapes().size() > 3) {
      p.push_back(alone.atoms.charge_e.data());
      g.push_back(nullptr);
    }
    u->gradient(p, g);
    const double force =
        norm(gradient[static_cast<std::size_t>(std::ranges::find(own, atom) - own.begin())]);
    std::string length;
    if (atoms.size() == 2)
      length = fmt::format(", {:.4f} nm", norm(apart(f, static_cast<std::size_t>(atoms[0]),
                                                     static_cast<std::size_t>(atoms[1]))));
    out.push_back({force, fmt::format("{:<18} {:.4g} kJ/mol, force {:.4g} kJ/mol/nm{}: {}",
                                      name_of(kind), u->value(p), force, length, names)});
  }
}

}  // namespace

std::int32_t most_pulled(const Forces& forces) {
  std::size_t at = 0;
  double most = -1;
  for (std::size_t i = 0; i < forces.f.size(); ++i) {
    const double f = norm(forces.f[i]);
    if (!(f <= most)) {
      most = std::isfinite(f) ? f : INFINITY;
      at = i;
    }
  }
  return static_cast<std::int32_t>(at);
}

std::optional<Overlap> find_overlap(const System& s, const Frame& f) {
  // 12 c12/r^13 = 2e9; sites without Lennard-Jones may lie anywhere.
  const auto types = static_cast<std::size_t>(s.lj.types);
  std::vector<double> least(types * types);  // distances of pairs of types
  double reach_nm = 0;
  for (std::size_t k = 0; k < least.size(); ++k) {
    least[k] = std::pow(12 * std::max(s.lj.c12[k], 0.0) / 2e9, 1.0 / 13);
    reach_nm = std::max(reach_nm, least[k]);
  }
  if (reach_nm == 0) return {};
  const auto least_of = [&](std::size_t i, std::size_t j) {
    return least[static_cast<std::size_t>(s.atoms.lj_type[i]) * types +
                 static_cast<std::size_t>(s.atoms.lj_type[j])];
  };
  std::map<std::array<std::int64_t, 3>, std::vector<std::size_t>> cells;
  const auto cell_of = [reach_nm](const Vec3& x) {
    return std::array<std::int64_t, 3>{static_cast<std::int64_t>(std::floor(x[0] / reach_nm)),
                                       static_cast<std::int64_t>(std::floor(x[1] / reach_nm)),
                                       static_cast<std::int64_t>(std::floor(x[2] / reach_nm))};
  };
  std::optional<Overlap> worst;
  // Atoms near a face are found across it at their image shifted by the box.
  std::vector<std::pair<Vec3, std::size_t>> positions;
  for (std::size_t i = 0; i < f.x_nm.size(); ++i) {
    if (!std::isfinite(f.x_nm[i][0] + f.x_nm[i][1] + f.x_nm[i][2])) continue;
    Vec3 x = f.x_nm[i];
    if (is_periodic(f.box)) {
      Vec3 frac = fractions(f.box, x);
      for (double& c : frac) c -= std::floor(c);
      const Vec3 width = widths_nm(f.box);
      std::vector<Vec3> images = {frac};
      for (std::size_t a = 0; a < 3; ++a)
        if (frac[a] * width[a] < reach_nm) {
          const std::size_t n = images.size();
          for (std::size_t m = 0; m < n; ++m) {
            images.push_back(images[m]);
            images.back()[a] += 1;
          }
        }
      for (const Vec3& image : images) positions.emplace_back(from_fractions(f.box, image), i);
    } else {
      positions.emplace_back(x, i);
    }
  }
  for (const auto& [x, i] : positions) {
    const auto at = cell_of(x);
    for (std::int64_t a = -1; a <= 1; ++a)
      for (std::int64_t b = -1; b <= 1; ++b)
        for (std::int64_t c = -1; c <= 1; ++c) {
          const auto found = cells.find({at[0] + a, at[1] + b, at[2] + c});
          if (found == cells.end()) continue;
          for (const std::size_t j : found->second) {
            if (i == j) continue;
            const double r = norm(apart(f, i, j));
            const std::array<std::int32_t, 2> pair = {static_cast<std::int32_t>(std::min(i, j)),
                                                      static_cast<std::int32_t>(std::max(i, j))};
            if (r < least_of(i, j) && (!worst || r < worst->distance_nm) &&
                !std::ranges::binary_search(s.exclusions, pair))
              worst = Overlap{pair[0], pair[1], r};
          }
        }
    cells[at].push_back(i);
  }
  return worst;
}

double wrong_unit(const System& s, const Frame& f) {
  std::vector<double> ratio,
      of_heavy;  // squared; hydrogens may have been added at the right lengths
  const auto add = [&](std::int32_t i, std::int32_t j, double length) {
    const Vec3 &a = f.x_nm[static_cast<std::size_t>(i)], &b = f.x_nm[static_cast<std::size_t>(j)];
    // As they lie, without images: a box in another unit would hide long bonds.
    if (!(length > 0)) return;
    ratio.push_back(((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                     (a[2] - b[2]) * (a[2] - b[2])) /
                    (length * length));
    if (s.atoms.element[static_cast<std::size_t>(i)] > 1 &&
        s.atoms.element[static_cast<std::size_t>(j)] > 1)
      of_heavy.push_back(ratio.back());
  };
  for (std::size_t k = 0; k < s.bonds.size(); ++k)
    add(s.bonds.atoms[k][0], s.bonds.atoms[k][1],
        s.bonds.rows[static_cast<std::size_t>(s.bonds.row[k])][0]);
  for (std::size_t k = 0; k < s.constraints.size(); ++k)
    add(s.constraints.atoms[k][0], s.constraints.atoms[k][1],
        s.constraints.rows[static_cast<std::size_t>(s.constraints.row[k])][0]);
  for (std::size_t k = 0; k < s.rigid_waters.size(); ++k)
    add(s.rigid_waters.atoms[k][0], s.rigid_waters.atoms[k][1],
        s.rigid_waters.rows[static_cast<std::size_t>(s.rigid_waters.row[k])][0]);
  if (!of_heavy.empty()) ratio = std::move(of_heavy);
  if (ratio.empty()) return 1;
  const double middle = std::sqrt(data::median(std::move(ratio)));
  return middle > 8 && middle < 12.5 ? 10 : middle > 0.08 && middle < 0.125 ? 0.1 : 1;
}

std::pair<std::int32_t, double> farthest_moved(const Frame& from, const Frame& to) {
  std::pair<std::int32_t, double> out = {-1, 0};
  for (std::size_t i = 0; i < from.x_nm.size() && i < to.x_nm.size(); ++i) {
    const Vec3 d =
        wrapped(from.box, {to.x_nm[i][0] - from.x_nm[i][0], to.x_nm[i][1] - from.x_nm[i][1],
                           to.x_nm[i][2] - from.x_nm[i][2]});
    const double r = norm(d);
    if (!(r <= out.second)) out = {static_cast<std::int32_t>(i), std::isfinite(r) ? r : INFINITY};
  }
  return out;
}

std::vector<std::string> explain_atom(const System& s, const Frame& f, std::int32_t atom) {
  std::vector<Finding> terms;
  System alone;
  alone.coulomb_constant = s.coulomb_constant;
  each_bonded(
      [&](const BondedKind& kind, const auto& list, auto& into) {
        for (const Term term : bonded_terms)
          if (kind.gives(term)) look_at(s, f, atom, list, into, alone, term, terms);
        into = {};
      },
      s, alone);

  const auto i = static_cast<std::size_t>(atom), types = static_cast<std::size_t>(s.lj.types);
  std::vector<std::pair<double, std::size_t>> near;
  for (std::size_t j = 0; j < s.n_atoms(); ++j) {
    const std::array<std::int32_t, 2> pair = {std::min(atom, static_cast<std::int32_t>(j)),
                                              std::max(atom, static_cast<std::int32_t>(j))};
    if (i == j || std::ranges::binary_search(s.exclusions, pair)) continue;
    near.emplace_back(norm(apart(f, i, j)), j);
  }
  const std::size_t n_near = std::min<std::size_t>(5, near.size());
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(n_near), near.end());

  std::vector<std::string> out = {fmt::format("atom {}, at ({:.4f}, {:.4f}, {:.4f}) nm",
                                              name_of_atom(s, atom), f.x_nm[i][0], f.x_nm[i][1],
                                              f.x_nm[i][2])};
  std::ranges::stable_sort(terms, std::greater{}, &Finding::force);
  for (std::size_t k = 0; k < std::min<std::size_t>(5, terms.size()); ++k)
    out.push_back("  " + terms[k].text);
  for (std::size_t k = 0; k < n_near; ++k) {
    const auto [r, j] = near[k];
    const std::size_t row = static_cast<std::size_t>(s.atoms.lj_type[i]) * types +
                            static_cast<std::size_t>(s.atoms.lj_type[j]);
    const double r6 = std::pow(r, -6);
    out.push_back(
        fmt::format("  neighbour {} at {:.4f} nm: Lennard-Jones {:.4g}, Coulomb {:.4g} kJ/mol",
                    name_of_atom(s, static_cast<std::int32_t>(j)), r,
                    s.lj.c12[row] * r6 * r6 - s.lj.c6[row] * r6,
                    s.coulomb_constant * s.atoms.charge_e[i] * s.atoms.charge_e[j] / r));
  }
  return out;
}

}  // namespace tessera::molecular
