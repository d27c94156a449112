// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/force_field.h"

#include <map>
#include <string>
#include <vector>

namespace tessera::molecular {

/// A residue or template as a graph: of each atom its element, neighbours within, and number of
/// bonds to other residues.
struct ResidueGraph {
  std::vector<std::string> name;
  std::vector<std::uint8_t> element;
  std::vector<std::vector<std::int32_t>> near;  ///< sorted
  std::vector<std::int32_t> external;
  std::size_t size() const { return element.size(); }
};
/// Of the atoms [first, last) of a structure; `bonded` are sorted neighbours of every atom.
ResidueGraph graph_of(const Structure& s, std::size_t first, std::size_t last,
                      const std::vector<std::vector<std::int32_t>>& bonded);
/// Without the massless sites, if so asked; `rows` are then the template's atoms that stay.
ResidueGraph graph_of(const ForceField& ff, const ForceField::Template& t, bool sites,
                      std::vector<std::int32_t>* rows = nullptr);
/// A graph without its hydrogens and sites; `rows`: its atoms that stay.
ResidueGraph heavy_graph(const ResidueGraph& g, std::vector<std::int32_t>& rows);
/// Sorted by element: only graphs with the same composition can be the same.
std::string composition(const ResidueGraph& g);

/// An isomorphism: the atom of `b` for every atom of `a`; empty if there is none. Atoms of equal
/// names go together where they can. Sites without element must have equal names. Throws Error
/// where it cannot be told with reasonable effort.
std::vector<std::int32_t> isomorphism(const ResidueGraph& a, const ResidueGraph& b);

/// Neighbours of every atom, sorted.
std::vector<std::vector<std::int32_t>> neighbours(const Structure& s);

class TemplateMatcher {
 public:
  TemplateMatcher(const ForceField& ff, const Structure& s);
  struct Match {
    std::int32_t of = -1;              ///< row of the templates; -1: none
    std::vector<std::int32_t> atom;    ///< the template's atom for every atom of the residue
    std::vector<std::int32_t> rivals;  ///< other templates that match and differ
  };
  /// The atoms [first, last) of one residue. `sites`: massless sites are part of the graphs.
  Match match(std::size_t first, std::size_t last, bool sites = true) const;
  /// Why nothing matches: the nearest template and what it has else.
  std::string explain(std::size_t first, std::size_t last) const;

 private:
  bool alike(const ForceField::Template& a, const std::vector<std::int32_t>& atoms_a,
             const ForceField::Template& b, const std::vector<std::int32_t>& atoms_b) const;
  const ForceField& ff_;
  const Structure& s_;
  std::vector<std::vector<std::int32_t>> bonded_;
  struct Known {
    ResidueGraph graph;
    std::vector<std::int32_t> rows;
  };
  std::vector<Known> whole_, bare_;  ///< with and without sites
  std::map<std::string, std::vector<std::int32_t>> by_composition_, by_bare_composition_;
};

}  // namespace tessera::molecular
