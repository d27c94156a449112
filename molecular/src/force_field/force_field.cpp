// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/force_field.h"

#include "force_field/patched_templates.h"
#include "force_field/template_match.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/elements.h"
#include "tessera/molecular/virtual_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tessera::molecular {
namespace {

using Ordering = ForceField::Ordering;
using data::Diagnostic;

std::string shown(const Residue& r) {
  return fmt::format("{} {}{}", r.name, r.number, r.chain.empty() ? "" : " of chain " + r.chain);
}

class Builder {
 public:
  Builder(ForceField ff, const Structure& structure)
      : ff_(std::move(ff)),
        in_(structure),
        matcher_(ff_, structure),
        bonded_(neighbours(structure)) {}

  ParametrizedSystem build() {
    match_residues();
    set_atoms();
    set_bonds_and_angles();
    set_dihedrals();
    set_correction_maps();
    set_impropers();
    set_virtual_sites();
    set_lennard_jones();
    set_exclusions();
    give_up_on_errors();
    return std::move(out_);
  }

 private:
  std::int32_t type(std::int32_t atom) const { return type_[static_cast<std::size_t>(atom)]; }
  const ForceField::Type& type_row(std::int32_t t) const {
    return ff_.types[static_cast<std::size_t>(t)];
  }
  std::size_t residue_of(std::size_t atom) const {
    return static_cast<std::size_t>(in_.residue[atom]);
  }

  void error(int number, std::size_t residue, std::string message, std::string hint = {}) {
    Diagnostic d;
    d.number = number;
    d.place.file = in_.source.empty() ? "structure" : in_.source;
    if (residue < in_.line.size()) d.place.line = in_.line[residue];
    d.message = std::move(message);
    d.hint = std::move(hint);
    errors_.push_back(std::move(d));
    if (errors_.size() == 20) give_up_on_errors();
  }
  void give_up_on_errors() {
    if (!errors_.empty()) throw data::InputError(data::ExitCode::input_invalid, std::move(errors_));
  }

  void match_residues() {
    const std::size_t n = in_.n_atoms();
    // Angles go with the square of an atom's bonds, impropers with their cube.
    constexpr std::size_t most_bonds = 64;
    for (std::size_t i = 0; i < n; ++i)
      if (bonded_[i].size() > most_bonds)
        error(702, residue_of(i),
              fmt::format("atom {} of {} has {} bonds; at most {} are read", in_.name[i],
                          shown(in_.residues[residue_of(i)]), bonded_[i].size(), most_bonds));
    give_up_on_errors();
    template_.resize(n);
    template_atom_.resize(n);
    type_.resize(n);
    for (std::size_t first = 0, last = 0; first < n; first = last) {
      while (last < n && in_.residue[last] == in_.residue[first]) ++last;
      const Residue& r = in_.residues[residue_of(first)];
      const TemplateMatcher::Match m = matcher_.match(first, last);
      if (m.of < 0) {
        const bool without_sites = matcher_.match(first, last, false).of >= 0;
        error(731, residue_of(first),
              fmt::format("no template of the force field matches residue {} of {} atoms: {}",
                          shown(r), last - first, matcher_.explain(first, last)),
              without_sites ? "it would match with its virtual sites: add them first"
                            : "missing hydrogens or caps, missing CONECT records, or a residue "
                              "that this force field does not know");
        continue;
      }
      if (!m.rivals.empty()) {
        std::string names = ff_.templates[static_cast<std::size_t>(m.of)].name;
        for (const std::int32_t k : m.rivals)
          names += ", " + ff_.templates[static_cast<std::size_t>(k)].name;
        error(732, residue_of(first),
              fmt::format("several templates match residue {} and differ: {}", shown(r), names),
              "name the residue as the template you mean");
        continue;
      }
      const ForceField::Template& t = ff_.templates[static_cast<std::size_t>(m.of)];
      for (std::size_t i = first; i < last; ++i) {
        template_[i] = m.of;
        template_atom_[i] = m.atom[i - first];
        type_[i] = t.atoms[static_cast<std::size_t>(m.atom[i - first])].type;
      }
      for (const ForceField::Template::Site& site : t.sites) {
        std::vector<std::int32_t> atom_of(t.atoms.size());
        for (std::size_t i = first; i < last; ++i)
          atom_of[static_cast<std::size_t>(m.atom[i - first])] = static_cast<std::int32_t>(i);
        const auto there = [&](std::int32_t a) {
          return a < 0 ? a : atom_of[static_cast<std::size_t>(a)];
        };
        VirtualSite v = site.site;
        v.site = there(v.site);
        for (std::int32_t& p : v.parents) p = there(p);
        sites_.push_back({v, there(site.excluded_with)});
      }
    }
    give_up_on_errors();
    check_bound_patches();
    give_up_on_errors();
  }

  /// Residues that a patch binds to each other have it both.
  void check_bound_patches() {
    const auto has = [&](std::int32_t atom, std::int32_t patch) {
      const auto& applied =
          ff_.templates[static_cast<std::size_t>(template_[static_cast<std::size_t>(atom)])]
              .applied;
      return std::ranges::any_of(applied, [&](const auto& a) { return a[0] == patch; });
    };
    for (std::size_t i = 0; i < in_.n_atoms(); ++i) {
      const ForceField::Template& t = ff_.templates[static_cast<std::size_t>(template_[i])];
      for (const auto& [row, residue] : t.applied) {
        const ForceField::Patch& patch = ff_.patches[static_cast<std::size_t>(row)];
        for (const auto& [p, q] : patch.added_bonds) {
          if (p.residue == q.residue) continue;
          const bool here = (p.residue == residue &&
                             p.name == t.atoms[static_cast<std::size_t>(template_atom_[i])].name) ||
                            (q.residue == residue &&
                             q.name == t.atoms[static_cast<std::size_t>(template_atom_[i])].name);
          const bool met = std::ranges::any_of(bonded_[i], [&, patch_row = row](std::int32_t n) {
            return residue_of(static_cast<std::size_t>(n)) != residue_of(i) && has(n, patch_row);
          });
          if (here && !met)
            error(731, residue_of(i),
                  fmt::format("residue {} matches {} alone, but what its atom {} is bound to has "
                              "not that patch",
                              shown(in_.residues[residue_of(i)]), t.name, in_.name[i]));
        }
      }
    }
  }

  void set_atoms() {
    System& s = out_.system;
    s.title = in_.title;
    s.residues = in_.residues;
    s.connectivity = in_.bonds;
    s.atoms.name = in_.name;
    s.atoms.element = in_.element;
    s.atoms.residue = in_.residue;
    std::set<std::int32_t> complained;
    for (std::size_t i = 0; i < in_.n_atoms(); ++i) {
      const ForceField::Type& t = type_row(type_[i]);
      const ForceField::NonbondedType& p = ff_.nonbonded[static_cast<std::size_t>(type_[i])];
      const auto& charge = ff_.templates[static_cast<std::size_t>(template_[i])]
                               .atoms[static_cast<std::size_t>(template_atom_[i])]
                               .charge_e;
      if (!p.given && complained.insert(type_[i]).second)
        error(702, residue_of(i),
              fmt::format("the type {} of atom {} in {} has no non-bonded parameters", t.name,
                          in_.name[i], shown(in_.residues[residue_of(i)])));
      if (p.given && p.charge_of_residue && !charge && complained.insert(type_[i]).second)
        error(702, residue_of(i),
              fmt::format(
                  "atom {} of {} takes its charge from the residue's template, which gives none",
                  in_.name[i], shown(in_.residues[residue_of(i)])));
      s.atoms.type.push_back(t.name);
      s.atoms.mass_amu.push_back(t.mass_amu);
      s.atoms.charge_e.push_back(p.charge_of_residue ? charge.value_or(0) : p.charge_e);
    }
    give_up_on_errors();
  }

  template <std::size_t N, class P>
  bool fits(const ForceField::Rule<N, P>& rule, const std::array<std::int32_t, N>& types,
            bool reversed) const {
    for (std::size_t k = 0; k < N; ++k)
      if (const std::int32_t t = types[reversed ? N - 1 - k : k]; !rule.on[k].fits(type_row(t), t))
        return false;
    return true;
  }
  template <std::size_t N, class P>
  bool fits(const ForceField::Rule<N, P>& rule, const std::array<std::int32_t, N>& types) const {
    return fits(rule, types, false) || fits(rule, types, true);
  }
  /// First rule that fits, one without wildcards before those with; -1: none. Remembered by types.
  template <std::size_t N, class P>
  std::int64_t find(const std::vector<ForceField::Rule<N, P>>& rules,
                    const std::array<std::int32_t, N>& types,
                    std::map<std::array<std::int32_t, N>, std::int64_t>& known) const {
    const auto [at, fresh] = known.try_emplace(types, -1);
    if (!fresh) return at->second;
    for (std::size_t r = 0; r < rules.size(); ++r) {
      if (!fits(rules[r], types)) continue;
      const bool wild = N >= 4 && rules[r].has_wildcard();
      if (at->second < 0 || !wild) at->second = static_cast<std::int64_t>(r);
      if (!wild) break;
    }
    return at->second;
  }
  void miss(const char* what, const std::string& types) {
    if (!missed_.insert(what + types).second) return;
    Diagnostic d;
    d.severity = data::Severity::warning;
    d.number = 733;
    d.place.file = in_.source.empty() ? "structure" : in_.source;
    d.message = fmt::format("the force field has no {} between {}: such {}s have no energy", what,
                            types, what);
    out_.remarks.push_back(std::move(d));
  }

  /// Rules of one kind at work: what was found for types, and which rows are in use.
  template <std::size_t N>
  struct Finder {
    const ForceField::Rules<N>& of;
    std::map<std::array<std::int32_t, N>, std::int64_t> known{};
    std::map<std::array<std::size_t, 2>, std::int32_t> rows{};  ///< of {rule, row of the rule}
  };
  template <std::size_t N>
  static std::vector<Finder<N>> finders(const std::vector<ForceField::Rules<N>>& all) {
    std::vector<Finder<N>> out;
    for (const ForceField::Rules<N>& rules : all) out.push_back({rules});
    return out;
  }
  /// Terms of a rule on atoms, whose ends they are where the kind has two and the rule three.
  template <std::size_t N>
  void add(Finder<N>& f, std::size_t rule, const std::array<std::int32_t, N>& atoms) {
    each_bonded(
        [&](const BondedKind& kind, auto& list) {
          if constexpr (requires { list.rows; })
            if (kind.first == f.of.kind) add_terms(f, rule, atoms, list);
        },
        out_.system);
  }
  template <std::size_t N, int M, int P>
  void add_terms(Finder<N>& f, std::size_t rule, const std::array<std::int32_t, N>& atoms,
                 Terms<M, P>& list) {
    const auto& rows = f.of.rules[rule].parameters.rows;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if constexpr (M == static_cast<int>(N))
        list.atoms.push_back(atoms);
      else if constexpr (M == 2 && N == 3)
        list.atoms.push_back({atoms[0], atoms[2]});
      else
        throw Error(fmt::format("[apply] a rule of {} atoms gives no {}", N, name_of(f.of.kind)));
      const auto [at, fresh] =
          f.rows.try_emplace({rule, k}, static_cast<std::int32_t>(list.rows.size()));
      if (fresh) {
        list.rows.emplace_back();
        std::copy_n(rows[k].begin(), P, list.rows.back().begin());
      }
      list.row.push_back(at->second);
    }
  }
  /// All that rules have for some atoms; false: none, kinds aside that do not count as such.
  template <std::size_t N>
  bool add_all(std::vector<Finder<N>>& all, const std::array<std::int32_t, N>& atoms) {
    std::array<std::int32_t, N> t;
    for (std::size_t k = 0; k < N; ++k) t[k] = type(atoms[k]);
    bool any = false;
    for (Finder<N>& f : all)
      if (const std::int64_t r = find(f.of.rules, t, f.known); r >= 0) {
        add(f, static_cast<std::size_t>(r), atoms);
        any = any || !f.of.beside;
      }
    return any;
  }

  void set_bonds_and_angles() {
    const auto name = [&](std::int32_t t) { return type_row(t).name; };
    std::vector<Finder<2>> bonds = finders(ff_.bonds);
    for (const auto& b : out_.system.connectivity)
      if (!add_all(bonds, b)) {
        const std::int32_t i = type(b[0]), j = type(b[1]);
        miss("bond", name(std::min(i, j)) + " and " + name(std::max(i, j)));
      }
    for (std::size_t j = 0; j < bonded_.size(); ++j)
      for (std::size_t a = 0; a < bonded_[j].size(); ++a)
        for (std::size_t c = a + 1; c < bonded_[j].size(); ++c)
          angles_.push_back({bonded_[j][a], static_cast<std::int32_t>(j), bonded_[j][c]});
    std::ranges::sort(angles_);
    std::vector<Finder<3>> angles = finders(ff_.angles);
    for (const auto& a : angles_)
      if (!add_all(angles, a)) {
        const std::int32_t i = type(a[0]), k = type(a[2]);
        miss("angle", fmt::format("{}, {} and {}", name(std::min(i, k)), name(type(a[1])),
                                  name(std::max(i, k))));
      }
  }

  /// On chains of five atoms, in the direction in which the rule fits.
  void set_correction_maps() {
    CorrectionMaps& list = out_.system.cmap;
    if (ff_.cmap.empty()) return;
    list.points = ff_.map_points;
    std::map<std::array<std::int32_t, 5>, std::int64_t> known;
    std::map<std::size_t, std::int32_t> rows;  // of maps
    const auto square = static_cast<std::ptrdiff_t>(list.points) * list.points;
    for (const auto& [i, j, k] : angles_)
      for (const std::int32_t front : bonded_[static_cast<std::size_t>(i)])
        for (const std::int32_t end : bonded_[static_cast<std::size_t>(k)]) {
          if (front == j || front == k || front == end || end == j || end == i) continue;
          std::array<std::int32_t, 5> c = {front, i, j, k, end};
          const std::array<std::int32_t, 5> t = {type(c[0]), type(c[1]), type(c[2]), type(c[3]),
                                                 type(c[4])};
          const std::int64_t r = find(ff_.cmap, t, known);
          if (r < 0) continue;
          const auto& rule = ff_.cmap[static_cast<std::size_t>(r)];
          if (!fits(rule, t, false)) std::ranges::reverse(c);
          const auto [at, fresh] = rows.try_emplace(static_cast<std::size_t>(rule.parameters),
                                                    static_cast<std::int32_t>(rows.size()));
          if (fresh)
            list.maps.insert(list.maps.end(), ff_.maps.begin() + rule.parameters * square,
                             ff_.maps.begin() + (rule.parameters + 1) * square);
          list.atoms.push_back({c[0], c[1], c[2], c[3], c[1], c[2], c[3], c[4]});
          list.row.push_back(at->second);
        }
  }

  void set_dihedrals() {
    std::vector<std::array<std::int32_t, 4>> all;
    for (const auto& [i, j, k] : angles_)
      for (const bool front : {true, false})
        for (const std::int32_t end : bonded_[static_cast<std::size_t>(front ? i : k)]) {
          if (end == i || end == j || end == k) continue;
          const std::array<std::int32_t, 4> d =
              front ? std::array{end, i, j, k} : std::array{i, j, k, end};
          all.push_back(d[0] < d[3] ? d : std::array{d[3], d[2], d[1], d[0]});
        }
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::vector<Finder<4>> propers = finders(ff_.propers);
    for (const auto& d : all) add_all(propers, d);
  }

  /// The order of the four atoms of an improper around atom `centre`, whose rule fits the others as
  /// around[order[0]], around[order[1]], around[order[2]]. Where types or wildcards leave an order
  /// open, it is that of OpenMM, which follows the programs that made the force fields.
  std::array<std::int32_t, 4> ordered(Ordering ordering, bool wild, std::int32_t centre,
                                      std::array<std::int32_t, 3> a) const {
    const auto element = [&](std::int32_t i) { return in_.element[static_cast<std::size_t>(i)]; };
    /// Whether atom i stands behind j by residue, then by the template's order.
    const auto behind = [&](std::int32_t i, std::int32_t j) {
      const auto key = [&](std::int32_t k) {
        return std::pair{in_.residue[static_cast<std::size_t>(k)],
                         template_atom_[static_cast<std::size_t>(k)]};
      };
      return key(i) > key(j);
    };
    if (ordering == Ordering::amber) {
      const std::array<std::int32_t, 3> t = {type(a[0]), type(a[1]), type(a[2])};
      const auto same = [&](std::size_t p, std::size_t q) {
        return wild ? element(a[p]) == element(a[q]) : t[p] == t[q];
      };
      if (same(0, 2) && behind(a[0], a[2])) std::swap(a[0], a[2]);
      if (same(1, 2) && behind(a[1], a[2])) std::swap(a[1], a[2]);
      if ((wild || t[0] == t[1]) && behind(a[0], a[1])) std::swap(a[0], a[1]);
      return {a[0], a[1], centre, a[2]};
    }
    if (ordering == Ordering::smirnoff || (ordering == Ordering::charmm && !wild))
      return {centre, a[0], a[1], a[2]};
    const std::uint8_t e1 = element(a[0]), e2 = element(a[1]);
    if (e1 == e2 ? a[0] > a[1] : e1 != 6 && (e2 == 6 || mass_of(e1) < mass_of(e2)))
      std::swap(a[0], a[1]);
    return {a[0], a[1], centre, a[2]};
  }
  /// The rule of an improper at `centre` and its atoms in order.
  template <class P>
  std::optional<std::pair<std::size_t, std::array<std::int32_t, 4>>> find_improper(
      const std::vector<ForceField::Rule<4, P>>& rules, std::int32_t centre,
      const std::array<std::int32_t, 3>& around) const {
    std::optional<std::pair<std::size_t, std::array<std::int32_t, 4>>> best;
    for (std::size_t r = 0; r < rules.size(); ++r) {
      const auto& on = rules[r].on;
      const bool wild = rules[r].has_wildcard();
      if ((best && wild) || !on[0].fits(type_row(type(centre)), type(centre))) continue;
      std::array<std::size_t, 3> order = {0, 1, 2};
      do {
        const std::array<std::int32_t, 3> a = {around[order[0]], around[order[1]],
                                               around[order[2]]};
        bool fit = true;
        for (std::size_t k = 0; k < 3; ++k)
          fit = fit && on[k + 1].fits(type_row(type(a[k])), type(a[k]));
        if (fit) {
          best = {r, ordered(rules[r].parameters.ordering, wild, centre, a)};
          break;
        }
      } while (std::next_permutation(order.begin(), order.end()));
    }
    return best;
  }

  void set_impropers() {
    if (ff_.impropers.empty()) return;
    std::vector<Finder<4>> impropers = finders(ff_.impropers);
    for (std::size_t c = 0; c < bonded_.size(); ++c) {
      const auto& near = bonded_[c];
      for (std::size_t i = 0; i < near.size(); ++i)
        for (std::size_t j = i + 1; j < near.size(); ++j)
          for (std::size_t k = j + 1; k < near.size(); ++k)
            for (Finder<4>& f : impropers)
              add_improper(f, static_cast<std::int32_t>(c), {near[i], near[j], near[k]});
    }
  }
  void add_improper(Finder<4>& f, std::int32_t centre, const std::array<std::int32_t, 3>& around) {
    const std::array<std::int32_t, 4> t = {type(centre), type(around[0]), type(around[1]),
                                           type(around[2])};
    if (f.known.contains(t)) return;  // types for which there is no rule
    const auto found = find_improper(f.of.rules, centre, around);
    if (!found) {
      f.known.emplace(t, -1);
      return;
    }
    const auto& [rule, a] = *found;
    add(f, rule, a);
    if (f.of.thrice && f.of.rules[rule].parameters.ordering == Ordering::smirnoff) {
      add(f, rule, {a[0], a[2], a[3], a[1]});  // all three around the middle
      add(f, rule, {a[0], a[3], a[1], a[2]});
    }
  }

  void set_virtual_sites() {
    for (const ForceField::Template::Site& s : sites_) out_.system.virtual_sites.push_back(s.site);
    std::ranges::sort(out_.system.virtual_sites, {}, &VirtualSite::site);
    order_virtual_sites(out_.system.virtual_sites, in_.n_atoms());
  }

  /// Types of the same parameters are one, those with NBFIX stay apart.
  void set_lennard_jones() {
    System& s = out_.system;
    std::set<std::int32_t> fixed;
    for (const auto& [pair, parameters] : ff_.nbfix) fixed.insert(pair.begin(), pair.end());
    std::map<std::tuple<std::int32_t, double, double>, std::int32_t> row;
    std::vector<double> sigma, epsilon;
    std::map<std::int32_t, std::int32_t> lj_of;
    for (const std::int32_t t : type_) {
      const ForceField::NonbondedType& p = ff_.nonbonded[static_cast<std::size_t>(t)];
      const auto [at, fresh] = row.try_emplace({fixed.count(t) ? t : -1, p.sigma_nm, p.epsilon},
                                               static_cast<std::int32_t>(sigma.size()));
      if (fresh) {
        sigma.push_back(p.sigma_nm);
        epsilon.push_back(p.epsilon);
      }
      s.atoms.lj_type.push_back(at->second);
      if (fixed.count(t)) lj_of[t] = at->second;
    }
    s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, std::move(sigma), std::move(epsilon));
    for (const auto& [pair, p] : ff_.nbfix) {
      const auto i = lj_of.find(pair[0]), j = lj_of.find(pair[1]);
      if (i == lj_of.end() || j == lj_of.end()) continue;
      const std::int32_t a = std::min(i->second, j->second), b = std::max(i->second, j->second);
      const auto [c6, c12] = coefficients(p[0], p[1]);
      for (const auto& [u, v] : {std::pair{a, b}, std::pair{b, a}}) {
        const auto k = static_cast<std::size_t>(u) * static_cast<std::size_t>(s.lj.types) +
                       static_cast<std::size_t>(v);
        s.lj.c6[k] = c6;
        s.lj.c12[k] = c12;
      }
      s.lj.exceptions.push_back({a, b});
    }
    std::ranges::sort(s.lj.exceptions);
  }
  static std::pair<double, double> coefficients(double sigma, double epsilon) {
    const double s6 = std::pow(sigma, 6);
    return {4 * epsilon * s6, 4 * epsilon * s6 * s6};
  }

  void set_exclusions() {
    System& s = out_.system;
    const std::size_t n = in_.n_atoms();
    std::vector<std::vector<std::int32_t>> with(
        n);  // an atom and the sites that share its exclusions
    std::vector<bool> is_site(n, false);
    for (const auto& [v, parent] : sites_) {
      with[static_cast<std::size_t>(parent)].push_back(v.site);
      is_site[static_cast<std::size_t>(v.site)] = true;
    }
    for (std::size_t i = 0; i < n; ++i)
      if (!is_site[i]) with[i].push_back(static_cast<std::int32_t>(i));
    std::map<std::array<std::int32_t, 2>, std::int32_t> rows;  // of types
    std::vector<std::int32_t> distance(n, -1), reached;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t a = 0; a < with[i].size(); ++a)
        for (std::size_t b = a + 1; b < with[i].size(); ++b) exclude(with[i][a], with[i][b]);
      // Atoms one, two, three bonds away, near ones first.
      reached.assign(1, static_cast<std::int32_t>(i));
      distance[i] = 0;
      for (std::size_t k = 0; k < reached.size(); ++k) {
        const std::int32_t d = distance[static_cast<std::size_t>(reached[k])];
        if (d == 3) break;
        for (const std::int32_t m : bonded_[static_cast<std::size_t>(reached[k])])
          if (distance[static_cast<std::size_t>(m)] < 0) {
            distance[static_cast<std::size_t>(m)] = d + 1;
            reached.push_back(m);
          }
      }
      for (const std::int32_t j : reached) {
        if (static_cast<std::size_t>(j) > i)
          for (const std::int32_t a : with[i])
            for (const std::int32_t b : with[static_cast<std::size_t>(j)]) {
              exclude(a, b);
              if (distance[static_cast<std::size_t>(j)] == 3) scale(a, b, rows);
            }
      }
      for (const std::int32_t j : reached) distance[static_cast<std::size_t>(j)] = -1;
    }
    std::ranges::sort(s.exclusions);
    s.exclusions.erase(std::unique(s.exclusions.begin(), s.exclusions.end()), s.exclusions.end());
  }
  void exclude(std::int32_t a, std::int32_t b) {
    out_.system.exclusions.push_back({std::min(a, b), std::max(a, b)});
  }
  void scale(std::int32_t a, std::int32_t b,
             std::map<std::array<std::int32_t, 2>, std::int32_t>& rows) {
    System& s = out_.system;
    const std::array<std::int32_t, 2> types = {std::min(type(a), type(b)),
                                               std::max(type(a), type(b))};
    const auto [at, fresh] =
        rows.try_emplace(types, static_cast<std::int32_t>(s.pairs.rows.size()));
    if (fresh) {
      const ForceField::NonbondedType &p = ff_.nonbonded[static_cast<std::size_t>(types[0])],
                                      &q = ff_.nonbonded[static_cast<std::size_t>(types[1])];
      const auto fix = ff_.nbfix.find(types);
      const auto [c6, c12] = fix != ff_.nbfix.end()
                                 ? coefficients(fix->second[0], fix->second[1])
                                 : coefficients((p.sigma14_nm + q.sigma14_nm) / 2,
                                                std::sqrt(p.epsilon14 * q.epsilon14));
      s.pairs.rows.push_back({ff_.lj14_scale * c6, ff_.lj14_scale * c12, ff_.coulomb14_scale, 0});
    }
    if (const auto& r = s.pairs.rows[static_cast<std::size_t>(at->second)];
        r[0] == 0 && r[1] == 0 && r[2] == 0)
      return;
    s.pairs.atoms.push_back({std::min(a, b), std::max(a, b)});
    s.pairs.row.push_back(at->second);
  }

  const ForceField ff_;
  const Structure& in_;
  TemplateMatcher matcher_;
  std::vector<std::vector<std::int32_t>> bonded_;
  std::vector<std::int32_t> template_, template_atom_, type_;  // of each atom
  std::vector<ForceField::Template::Site> sites_;
  std::vector<std::array<std::int32_t, 3>> angles_;
  std::set<std::string> missed_;
  std::vector<Diagnostic> errors_;
  ParametrizedSystem out_;
};

}  // namespace

ParametrizedSystem apply(const ForceField& ff, const Structure& structure,
                         const ApplyOptions& options) {
  ParametrizedSystem out =
      Builder(ff.patches.empty() ? ff : with_patched_templates(ff, structure), structure).build();
  out.system = constrained(std::move(out.system), options.constraints, options.rigid_water);
  validate(out.system);
  return out;
}

Structure with_virtual_sites(const ForceField& ff, const Structure& s) {
  const TemplateMatcher matcher(ff, s);
  Structure out = s;
  out.name.clear(), out.element.clear(), out.residue.clear(), out.x_nm.clear();
  out.isotope_amu.clear();  // masses are those of the force field
  std::vector<std::int32_t> moved(s.n_atoms());
  System with_sites;  // to place the sites by
  for (std::size_t first = 0, last = 0; first < s.n_atoms(); first = last) {
    while (last < s.n_atoms() && s.residue[last] == s.residue[first]) ++last;
    for (std::size_t i = first; i < last; ++i) {
      moved[i] = static_cast<std::int32_t>(out.n_atoms());
      out.name.push_back(s.name[i]), out.element.push_back(s.element[i]),
          out.residue.push_back(s.residue[i]), out.x_nm.push_back(s.x_nm[i]);
    }
    if (matcher.match(first, last).of >= 0) continue;
    const TemplateMatcher::Match m = matcher.match(first, last, false);
    if (m.of < 0) continue;
    const ForceField::Template& t = ff.templates[static_cast<std::size_t>(m.of)];
    std::vector<std::int32_t> atom_of(t.atoms.size(), -1);
    for (std::size_t i = first; i < last; ++i)
      atom_of[static_cast<std::size_t>(m.atom[i - first])] = moved[i];
    for (std::size_t k = 0; k < t.atoms.size(); ++k)
      if (atom_of[k] < 0) {
        atom_of[k] = static_cast<std::int32_t>(out.n_atoms());
        out.name.push_back(t.atoms[k].name), out.element.push_back(0),
            out.residue.push_back(s.residue[first]), out.x_nm.push_back({});
      }
    for (const auto& [site, with] : t.sites) {
      VirtualSite v = site;
      v.site = atom_of[static_cast<std::size_t>(v.site)];
      for (std::int32_t& p : v.parents)
        if (p >= 0) p = atom_of[static_cast<std::size_t>(p)];
      with_sites.virtual_sites.push_back(v);
    }
  }
  for (auto& b : out.bonds)
    for (std::int32_t& i : b) i = moved[static_cast<std::size_t>(i)];
  order_virtual_sites(with_sites.virtual_sites, out.n_atoms());
  place_virtual_sites(with_sites, out.x_nm, out.box);
  return out;
}

}  // namespace tessera::molecular
