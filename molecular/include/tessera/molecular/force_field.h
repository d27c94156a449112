// SPDX-License-Identifier: Apache-2.0
//
// A force field as rules by which atoms get their terms, and what makes a System of a Structure:
//
//   1. every residue is matched with a template: a graph of atoms that are the same by element,
//      bonds and bonds to other residues. Names of atoms do not matter; the residue's name decides
//      only between templates that match alike. What matches none is matched with templates
//      changed by patches.
//   2. the template gives the types of the atoms, and their charges where the force field keeps
//      them there
//   3. bonds, angles, torsions get the first rule that fits their types; torsions a rule with
//      wildcards only where no other fits. An improper's rule names the middle atom first, the
//      three around it in any order.
//   4. pairs at most two bonds apart are excluded, those three apart scaled
//
// as OpenMM's application layer does (OpenMM User Guide, "Creating Force Fields"; Eastman et al.,
// PLoS Comput. Biol. 13 (2017) e1005659). Units as in system.h.
#pragma once
#include "tessera/data/diagnostic.h"
#include "tessera/molecular/constraints.h"
#include "tessera/molecular/structure.h"
#include "tessera/molecular/system.h"

#include <limits>
#include <map>
#include <optional>

namespace tessera::molecular {

struct ForceField {
  struct Type {
    std::string name, class_name;
    std::uint8_t element = 0;  ///< 0: a site without mass
    double mass_amu = 0;
  };
  std::vector<Type> types;
  std::map<std::string, std::int32_t> type_of;  ///< row of a type's name

  struct Template {
    struct Atom {
      std::string name;
      std::int32_t type = 0;
      std::optional<double> charge_e;
    };
    struct Site {
      VirtualSite site;            ///< atoms are those of the template
      std::int32_t excluded_with;  ///< the atom whose exclusions it shares
    };
    std::string name;
    std::string base;  ///< of a patched template: the name of the one that was patched
    std::vector<Atom> atoms;
    std::vector<std::array<std::int32_t, 2>> bonds;
    std::vector<std::int32_t> external;  ///< atoms with a bond to another residue, once for each
    std::vector<Site> sites;
    int override_level = 0;
    std::vector<std::array<std::int32_t, 2>>
        patches;  ///< that may change it: row of `patches`, residue of the patch
    std::vector<std::array<std::int32_t, 2>> applied;  ///< those that have changed it
  };
  std::vector<Template> templates;

  /// What turns templates into others: ends of chains, protonated forms, bonds between residues.
  struct Patch {
    struct NamedAtom {
      int residue = 0;  ///< of the patch, counted from 0
      std::string name;
    };
    struct Atom {
      int residue = 0;
      Template::Atom atom;
    };
    std::string name;
    int residues = 1;
    std::vector<Atom> added, changed;
    std::vector<NamedAtom> removed;
    std::vector<std::array<NamedAtom, 2>> added_bonds, removed_bonds;
    std::vector<NamedAtom> added_external, removed_external;
  };
  std::vector<Patch> patches;

  /// What a rule says of one of its atoms.
  struct Pattern {
    enum class Kind : std::uint8_t { any, type, class_name, none } kind = Kind::any;
    std::int32_t type = 0;
    std::string class_name;
    bool fits(const Type& t, std::int32_t row) const {
      return kind == Kind::any || (kind == Kind::type && row == type) ||
             (kind == Kind::class_name && t.class_name == class_name);
    }
  };
  template <std::size_t N, class Parameters>
  struct Rule {
    std::array<Pattern, N> on;
    Parameters parameters;
    bool has_wildcard() const {
      for (const Pattern& p : on)
        if (p.kind == Pattern::Kind::any) return true;
      return false;
    }
  };
  /// How the three atoms around the middle of an improper are ordered where its rule leaves that
  /// open.
  enum class Ordering : std::uint8_t { standard, charmm, amber, smirnoff };
  /// What atoms get that a rule fits: a term with each of these rows, whose columns are those of
  /// the kind in terms.h.
  struct TermRows {
    std::vector<std::array<double, 6>> rows;
    Ordering ordering = Ordering::charmm;
  };
  /// Rules for one kind of bonded terms, of which the first that fits counts.
  template <std::size_t N>
  struct Rules {
    Term kind = Term::bonds;
    std::vector<Rule<N, TermRows>> rules;
    bool thrice = false;  ///< impropers in the order of smirnoff are three terms
    bool beside = false;  ///< angles that have such terms alone are told to have none
  };
  std::vector<Rules<2>> bonds;               ///< of atoms that are bonded
  std::vector<Rules<3>> angles;              ///< of two bonds at an atom; kinds over two: the ends
  std::vector<Rules<4>> propers, impropers;  ///< of chains; of three atoms around the first
  std::vector<Rule<5, std::int32_t>> cmap;   ///< the map on a chain of five atoms
  int map_points = 0;                        ///< 0: no maps
  std::vector<double> maps;                  ///< as in CorrectionMaps

  /// Of each type; `given` is false where the force field has none.
  struct NonbondedType {
    bool given = false;
    bool charge_of_residue = false;
    double charge_e = 0, sigma_nm = 0, epsilon = 0;
    double sigma14_nm = 0, epsilon14 = 0;  ///< for scaled pairs
  };
  std::vector<NonbondedType> nonbonded;
  double coulomb14_scale = 1, lj14_scale = 1;
  std::map<std::array<std::int32_t, 2>, std::array<double, 2>>
      nbfix;  ///< of two types, the lesser first: {sigma, epsilon}

  std::vector<data::Diagnostic> remarks;
  const Template* find_template(const std::string& name) const;
};

struct ApplyOptions {
  Rigid constraints = Rigid::none;
  bool rigid_water = true;
};
struct ParametrizedSystem {
  System system;
  std::vector<data::Diagnostic> remarks;
};

/// Throws InputError: E0731 no template matches a residue (the message says what the nearest
/// lacks), E0732 several that differ match it, E0702 a type has no non-bonded parameters. Remark
/// E0733: bonds or angles for which there is no rule.
ParametrizedSystem apply(const ForceField& force_field, const Structure& structure,
                         const ApplyOptions& options = {});

/// The structure with the massless sites that templates have and it lacks, at their positions;
/// sites follow the last atom of their residue. Residues that match as they are stay so.
Structure with_virtual_sites(const ForceField& force_field, const Structure& structure);

/// The structure with the hydrogens that templates have and it lacks, behind the heavy atoms of
/// their residue, at the force field's lengths where the heavy atoms leave room: starts to minimize
/// from. Of several templates that differ in hydrogens alone the one named as the residue, or as
/// its form at an end of a chain; HIS becomes HIE, CYS with a bridge CYX. Residues that match none
/// stay as they are.
Structure with_hydrogens(const ForceField& force_field, const Structure& structure);

}  // namespace tessera::molecular
