// SPDX-License-Identifier: Apache-2.0
//
// OpenMM's force fields: all types of all files first, then patches and templates, then the forces:
// a file may use what another one defines.
#pragma once
#include "bonded/openmm_force.h"
#include "io/openmm_file.h"
#include "tessera/molecular/force_field.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::molecular {

class OpenmmXmlReader {
 public:
  explicit OpenmmXmlReader(std::span<const data::TextFile> files);
  ForceField read();

 private:
  using Pattern = ForceField::Pattern;
  /// The atom of a template that an element names, by its index or its name.
  using AtomOf =
      std::function<std::int32_t(pugi::xml_node e, const char* by_index, const char* by_name)>;
  /// What is read of an element of a file's root, those of bonded terms aside (openmm_force.h).
  struct Element {
    const char* name;
    void (OpenmmXmlReader::*read)(OpenmmFile& f,
                                  pugi::xml_node n);  ///< null: in a pass before the forces
  };
  static const Element elements[];
  static const Element* element(std::string_view name);

  void each(auto&& visit) {
    for (OpenmmFile& f : files_)
      for (const pugi::xml_node n : f.root().children())
        if (n.type() == pugi::node_element) visit(f, n);
  }
  void finish_pass() {
    for (OpenmmFile& f : files_) f.findings().throw_if_errors();
  }
  static void refuse(OpenmmFile& f, pugi::xml_node n);
  void force(OpenmmFile& f, pugi::xml_node n);
  void include(OpenmmFile& f, pugi::xml_node n);

  // ---- types, patches and templates (openmm_templates.cpp, openmm_sites.cpp)
  void type(OpenmmFile& f, pugi::xml_node n);
  /// "2:SG" is the atom SG of the second residue, "SG" that of the first.
  ForceField::Patch::NamedAtom named_atom(OpenmmFile& f, pugi::xml_node e, const char* attribute,
                                          int residues);
  void patch(OpenmmFile& f, pugi::xml_node n);
  void allow_patches();
  ForceField::Template::Atom template_atom(OpenmmFile& f, pugi::xml_node a, std::string name);
  void residue(OpenmmFile& f, pugi::xml_node n);
  void site(OpenmmFile& f, pugi::xml_node e, ForceField::Template& t, const AtomOf& atom_of);

  // ---- what rules say of atoms (openmm_patterns.cpp)
  Pattern pattern(OpenmmFile& f, pugi::xml_node e, const std::string& number);
  Pattern one_pattern(OpenmmFile& f, pugi::xml_node e);
  template <std::size_t N>
  std::optional<std::array<Pattern, N>> patterns(OpenmmFile& f, pugi::xml_node e) {
    std::array<Pattern, N> out;
    for (std::size_t k = 0; k < N; ++k) out[k] = pattern(f, e, std::to_string(k + 1));
    if (std::ranges::any_of(out, [](const Pattern& p) { return p.kind == Pattern::Kind::none; }))
      return std::nullopt;
    return out;
  }
  ForceField::Ordering ordering(OpenmmFile& f, pugi::xml_node n, ForceField::Ordering usual);

  // ---- forces (openmm_bonded.cpp, openmm_nonbonded.cpp)
  /// The force of an element; null: reported.
  static const OpenmmForce* force_of(OpenmmFile& f, pugi::xml_node n);
  void bonded(OpenmmFile& f, pugi::xml_node n);
  static std::vector<std::array<double, 6>> rows_of(OpenmmFile& f, pugi::xml_node e,
                                                    const OpenmmForce& force);
  template <std::size_t N>
  void add_rule(OpenmmFile& f, pugi::xml_node e, const OpenmmForce& force, Term kind,
                ForceField::Ordering order, std::vector<ForceField::Rules<N>>& to);
  void correction_maps(OpenmmFile& f, pugi::xml_node n);
  void version_check(OpenmmFile& f, pugi::xml_node n);
  std::vector<std::int32_t> types_of(const Pattern& p) const;
  void agree(OpenmmFile& f, pugi::xml_node n, const char* name, std::optional<double>& known);
  static void expect_lennard_jones(OpenmmFile& f, pugi::xml_node e, double sigma, double epsilon);
  void nonbonded(OpenmmFile& f, pugi::xml_node n);
  void lennard_jones(OpenmmFile& f, pugi::xml_node n);
  void lennard_jones_alone();

  static constexpr std::size_t most_pairs = 10'000'000;
  static constexpr std::size_t most_terms = 100;  ///< of a torsion: a periodicity is at most 100
  std::deque<OpenmmFile> files_;
  ForceField ff_;
  std::optional<double> coulomb14_, lj14_, lj14_alone_;
  std::string charmm_version_;
  std::map<std::size_t, std::array<double, 4>> alone_;
  std::map<std::string, std::vector<std::int32_t>> of_class_;
  std::map<std::string, std::size_t> of_template_;
  /// A patch that a template allows, or that names the template.
  struct Allowed {
    OpenmmFile* file;
    pugi::xml_node node;
    std::string tmplt, patch;
    int residue;
  };
  std::vector<Allowed> allowed_;
  std::map<std::string, std::int32_t> of_patch_;
};

}  // namespace tessera::molecular
