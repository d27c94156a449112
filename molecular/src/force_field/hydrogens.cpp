// SPDX-License-Identifier: Apache-2.0
//
// Hydrogens where the heavy atoms leave room for them. Around an atom with u_1 .. u_k unit vectors
// to its k neighbours and m hydrogens to come, of k + m = 4 (tetrahedron), 3 (plane), 2 (bent), 1:
//
//   k = 3, m = 1   -(u_1 + u_2 + u_3)
//   k = 2, m = 2   -b cos(a) +- n sin(a),  b along u_1 + u_2, n along u_1 x u_2, 2 a = 109.5 deg
//   k = 2, m = 1   -(u_1 + u_2)
//   k = 1          at the force field's angle X-A-H to u_1, turned about it from the neighbour's
//                  neighbour: 60, 180, 300 degrees for m = 3, 0 and 180 for m = 2, 180 for m = 1
//   k = 0          corners of a tetrahedron, or two at the force field's angle H-A-H
//
// Bond lengths are those of the force field.
#include "base/vec.h"
#include "force_field/patched_templates.h"
#include "force_field/template_match.h"
#include "tessera/molecular/force_field.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <span>

namespace tessera::molecular {
namespace {

Vec3 unit_or_x(const Vec3& a) {
  const double n = std::sqrt(dot(a, a));
  return n > 1e-9 ? scaled(a, 1 / n) : Vec3{1, 0, 0};
}
/// Some unit vector across a unit vector.
Vec3 across(const Vec3& u) {
  return unit_or_x(cross(u, std::abs(u[0]) < 0.7 ? Vec3{1, 0, 0} : Vec3{0, 1, 0}));
}

/// Directions of m hydrogens on an atom with the neighbours u; `behind`: where the first
/// neighbour's own neighbour lies from it.
std::vector<Vec3> directions(const std::vector<Vec3>& u, std::size_t m, double angle,
                             const Vec3* behind) {
  constexpr double half_tetrahedral = 54.7356103 * std::numbers::pi / 180;
  if (u.empty() && m == 2) return {{1, 0, 0}, {std::cos(angle), std::sin(angle), 0}};
  if (u.empty())
    return {unit_or_x({1, 1, 1}), unit_or_x({1, -1, -1}), unit_or_x({-1, 1, -1}),
            unit_or_x({-1, -1, 1})};
  if (u.size() == 1) {
    const Vec3 along = u[0];
    Vec3 side = across(along);
    if (behind) {
      const Vec3 d = sum(*behind, scaled(along, -dot(*behind, along)));
      if (dot(d, d) > 1e-6) side = unit_or_x(d);
    }
    const Vec3 normal = cross(along, side);
    std::vector<Vec3> out;
    for (std::size_t k = 0; k < m; ++k) {
      const double turn = (m >= 3   ? 60 + 120.0 * static_cast<double>(k)
                           : m == 2 ? 180.0 * static_cast<double>(k)
                                    : 180) *
                          std::numbers::pi / 180;
      out.push_back(sum(scaled(along, std::cos(angle)),
                        scaled(sum(scaled(side, std::cos(turn)), scaled(normal, std::sin(turn))),
                               std::sin(angle))));
    }
    return out;
  }
  Vec3 all{};
  for (const Vec3& v : u) all = sum(all, v);
  Vec3 normal = u.size() == 2 ? cross(u[0], u[1])
                              : cross(sum(u[0], scaled(u[1], -1.0)), sum(u[0], scaled(u[2], -1.0)));
  if (dot(normal, normal) < 1e-9) normal = across(u[0]);
  const Vec3 away = dot(all, all) > 1e-6 ? scaled(unit_or_x(all), -1.0) : unit_or_x(normal);
  if (u.size() == 2 && m == 2)
    return {sum(scaled(away, std::cos(half_tetrahedral)),
                scaled(unit_or_x(normal), std::sin(half_tetrahedral))),
            sum(scaled(away, std::cos(half_tetrahedral)),
                scaled(unit_or_x(normal), -std::sin(half_tetrahedral)))};
  return {away};
}

/// How well a template's name answers a residue's; the lesser the better. Histidine is taken as
/// HIE, an acid as charged. Ends of chains are NALA and CALA of amino acids, DA5 and DA3 of
/// nucleotides, DAN one that stands alone.
int rank(const std::string& residue, const std::string& name) {
  static const std::map<std::string, std::string> usual = {
      {"HIS", "HIE"}, {"CYS", "CYX"}, {"WAT", "HOH"}, {"SOL", "HOH"}, {"TIP3", "HOH"}};
  const auto at = usual.find(residue);
  for (const std::string& wanted : {residue, at == usual.end() ? residue : at->second}) {
    const int base = wanted == residue ? 0 : 3;
    if (name == wanted) return base;
    if (name == "N" + wanted) return base + 1;
    if (name == "C" + wanted) return base + 2;
    if (is_nucleotide(residue) &&
        (name == wanted + "5" || name == wanted + "3" || name == wanted + "N"))
      return base + 1;
  }
  return 100;
}

/// Those of one kind.
template <std::size_t N>
std::span<const ForceField::Rule<N, ForceField::TermRows>> rules_of(
    const std::vector<ForceField::Rules<N>>& all, Term kind) {
  const auto at = std::ranges::find(all, kind, &ForceField::Rules<N>::kind);
  if (at == all.end()) return {};
  return at->rules;
}

}  // namespace

Structure with_hydrogens(const ForceField& unpatched, const Structure& s) {
  const ForceField ff = unpatched.patches.empty()
                            ? unpatched
                            : with_patched_templates(unpatched, s, Matched::heavy_atoms);
  const std::vector<std::vector<std::int32_t>> bonded = neighbours(s);
  std::vector<ResidueGraph> whole;
  std::vector<std::vector<std::int32_t>> rows(ff.templates.size());
  std::map<std::string, std::vector<std::size_t>> by_composition;
  std::vector<ResidueGraph> heavy;
  for (std::size_t k = 0; k < ff.templates.size(); ++k) {
    whole.push_back(graph_of(ff, ff.templates[k], true));
    heavy.push_back(heavy_graph(whole[k], rows[k]));
    by_composition[composition(heavy[k])].push_back(k);
  }
  const auto bond_length = [&](std::int32_t a, std::int32_t b) {
    for (const auto& r : rules_of(ff.bonds, Term::bonds))
      for (const bool turned : {false, true})
        if (r.on[0].fits(ff.types[static_cast<std::size_t>(turned ? b : a)], turned ? b : a) &&
            r.on[1].fits(ff.types[static_cast<std::size_t>(turned ? a : b)], turned ? a : b))
          return r.parameters.rows.at(0)[0];
    return 0.1;
  };
  const auto bond_angle = [&](std::int32_t a, std::int32_t b, std::int32_t c) {
    for (const auto& r : rules_of(ff.angles, Term::angles))
      for (const bool turned : {false, true}) {
        const std::array<std::int32_t, 3> t = turned ? std::array{c, b, a} : std::array{a, b, c};
        if (r.on[0].fits(ff.types[static_cast<std::size_t>(t[0])], t[0]) &&
            r.on[1].fits(ff.types[static_cast<std::size_t>(t[1])], t[1]) &&
            r.on[2].fits(ff.types[static_cast<std::size_t>(t[2])], t[2]))
          return r.parameters.rows.at(0)[0];
      }
    return 1.91;
  };

  Structure out = s;
  out.name.clear(), out.element.clear(), out.residue.clear(), out.x_nm.clear(), out.bonds.clear();
  out.isotope_amu.clear();  // masses are those of the force field
  std::vector<std::int32_t> moved(s.n_atoms(), -1);
  const auto keep = [&](const std::string& name, std::uint8_t element, std::int32_t residue,
                        const Vec3& x) {
    out.name.push_back(name), out.element.push_back(element), out.residue.push_back(residue),
        out.x_nm.push_back(x);
    return static_cast<std::int32_t>(out.n_atoms()) - 1;
  };
  for (std::size_t first = 0, last = 0; first < s.n_atoms(); first = last) {
    while (last < s.n_atoms() && s.residue[last] == s.residue[first]) ++last;
    const Residue& residue = s.residues[static_cast<std::size_t>(s.residue[first])];
    std::vector<std::int32_t> own;  // heavy atoms of the residue
    const ResidueGraph mine = heavy_graph(graph_of(s, first, last, bonded), own);
    // The template by heavy atoms; its hydrogens must cover those that are there.
    std::size_t best = ff.templates.size();
    std::vector<std::int32_t> image;
    int best_rank = std::numeric_limits<int>::max();
    const auto candidates = by_composition.find(composition(mine));
    if (candidates != by_composition.end() && mine.size() > 0)
      for (const std::size_t k : candidates->second) {
        const ForceField::Template& t =
            ff.templates[k];  // patched ones come after all others, fewer patches first
        const int r = t.base.empty() ? rank(residue.name, t.name)
                                     : 200 + rank(residue.name, t.base) +
                                           200 * static_cast<int>(t.applied.size());
        if (r >= best_rank) continue;
        std::vector<std::int32_t> m = isomorphism(mine, heavy[k]);
        if (m.empty()) continue;
        const auto hydrogens = [](const ResidueGraph& g, std::int32_t i) {
          return std::ranges::count_if(g.near[static_cast<std::size_t>(i)], [&](std::int32_t n) {
            return g.element[static_cast<std::size_t>(n)] == 1;
          });
        };
        bool covers = true;
        const ResidueGraph full = graph_of(s, first, last, bonded);
        for (std::size_t i = 0; i < own.size(); ++i)
          covers = covers && hydrogens(full, own[i]) <=
                                 hydrogens(whole[k], rows[k][static_cast<std::size_t>(m[i])]);
        if (covers) best = k, best_rank = r, image = std::move(m);
      }
    for (std::size_t i = first; i < last; ++i)
      moved[i] = keep(s.name[i], s.element[i], s.residue[i], s.x_nm[i]);
    if (best == ff.templates.size()) continue;  // apply() will say what it lacks

    const ForceField::Template& t = ff.templates[best];
    for (std::size_t h = 0; h < own.size(); ++h) {
      const std::size_t i = first + static_cast<std::size_t>(own[h]);
      const std::int32_t centre = rows[best][static_cast<std::size_t>(image[h])],
                         centre_type = t.atoms[static_cast<std::size_t>(centre)].type;
      std::vector<std::int32_t> wanted;  // hydrogens of the template that are to come: those whose
                                         // names are there already first left out
      for (const std::int32_t n : whole[best].near[static_cast<std::size_t>(centre)])
        if (whole[best].element[static_cast<std::size_t>(n)] == 1) wanted.push_back(n);
      std::vector<Vec3> towards;
      const auto displacement = [&](std::size_t from, std::size_t to) {
        const Vec3 &a = s.x_nm[from], &b = s.x_nm[to];
        return shortest(s.box, {b[0] - a[0], b[1] - a[1], b[2] - a[2]});
      };
      Vec3 behind{};
      const Vec3* has_behind = nullptr;
      std::int32_t neighbour_type = -1;
      for (const std::int32_t n : bonded[i]) {
        const auto j = static_cast<std::size_t>(n);
        towards.push_back(unit_or_x(displacement(i, j)));
        if (s.element[j] == 1) {
          const auto named = std::ranges::find_if(wanted, [&](std::int32_t w) {
            return t.atoms[static_cast<std::size_t>(w)].name == s.name[j];
          });
          if (!wanted.empty()) wanted.erase(named == wanted.end() ? wanted.begin() : named);
        } else if (!has_behind) {
          for (const std::int32_t far : bonded[j])
            if (static_cast<std::size_t>(far) != i &&
                s.element[static_cast<std::size_t>(far)] > 1) {
              behind = displacement(j, static_cast<std::size_t>(far));
              has_behind = &behind;
              break;
            }
          for (std::size_t q = 0; q < own.size(); ++q)
            if (first + static_cast<std::size_t>(own[q]) == j)
              neighbour_type =
                  t.atoms[static_cast<std::size_t>(rows[best][static_cast<std::size_t>(image[q])])]
                      .type;
        }
      }
      if (wanted.empty()) continue;
      const std::int32_t h_type = t.atoms[static_cast<std::size_t>(wanted[0])].type;
      const double angle =
          bond_angle(neighbour_type >= 0 ? neighbour_type : h_type, centre_type, h_type);
      const std::vector<Vec3> where = directions(towards, wanted.size(), angle, has_behind);
      for (std::size_t k = 0; k < std::min(wanted.size(), where.size()); ++k) {
        const auto& atom = t.atoms[static_cast<std::size_t>(wanted[k])];
        const std::int32_t row =
            keep(atom.name, 1, s.residue[i],
                 sum(s.x_nm[i], scaled(where[k], bond_length(centre_type, atom.type))));
        out.bonds.push_back({moved[i], row});
      }
    }
  }
  for (const auto& [i, j] : s.bonds)
    out.bonds.push_back({moved[static_cast<std::size_t>(i)], moved[static_cast<std::size_t>(j)]});
  for (auto& [i, j] : out.bonds)
    if (i > j) std::swap(i, j);
  std::ranges::sort(out.bonds);
  return out;
}

}  // namespace tessera::molecular
