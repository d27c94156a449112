// SPDX-License-Identifier: Apache-2.0
//
// The force field of a topology: what is said of types, and what a term of a molecule finds there.
#pragma once
#include "bonded/gromacs_function.h"
#include "io/top_preprocessor.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::molecular {

/// A function of "bonds", "constraints", "angles" or "dihedrals", by its number in
/// gromacs_functions(). Functions 1 and 9 of dihedrals share a list.
using TopKind = std::size_t;
inline const GromacsFunction& info_of(TopKind kind) { return gromacs_functions()[kind]; }
/// A B state has as many parameters as A.
inline TopCounts counts_of(TopKind kind) {
  const GromacsFunction& f = info_of(kind);
  return {f.parameters, f.parameters, f.ends_in_0};
}
/// Nothing where it is not read.
std::optional<TopKind> kind_of(std::string_view section, std::int64_t function);
/// What GROMACS calls a function that is not read: "Morse"; "unknown" beyond.
const char* name_of_function(std::string_view section, std::int64_t function);

struct TopDefaults {
  int combination = 0;  ///< 1: c6, c12; 2: Lorentz-Berthelot; 3: geometric, both of sigma, epsilon;
                        ///< 0: not given yet
  bool generate_pairs = false;
  double fudge_lj = 1, fudge_qq = 1;
};

struct TopAtomType {
  std::string name;
  int bonded = 0;  ///< number of its name among bonded terms
  int element = -1;
  double mass = 0, charge = 0;
  char particle = 'A';  ///< A atom, V virtual site
  double v = 0, w = 0;  ///< c6, c12 or sigma, epsilon
  bool operator==(const TopAtomType&) const = default;
};

/// One line of bonded types.
struct TopEntry {
  std::array<std::int32_t, 4> types{-1, -1, -1, -1};  ///< -1: any
  std::array<double, 6> p{};
};

class TopTypes {
 public:
  explicit TopTypes(TopFindings& findings) : findings_(findings) {}

  TopDefaults defaults;
  std::vector<TopAtomType> atom_types;

  // One line of a section each.
  void read_defaults(const TopLine& line);
  void read_atom_type(const TopLine& line);
  void read_pair_type(const TopLine& line);
  void read_nonbonded(const TopLine& line);
  void read_bonded(std::string_view section, const TopLine& line);  ///< bonds, constraints, angles
  void read_dihedral(const TopLine& line);
  void read_cmap(const TopLine& line);

  int atom_type(std::string_view name) const;  ///< -1: none
  /// Entries for bonded types: one, or all lines of a dihedral of function 9; empty: none. {kind's
  /// entry number...}
  std::vector<int> find(TopKind kind, const std::array<std::int32_t, 4>& types);
  const TopEntry& entry(TopKind kind, int k) const {
    return lists_[kind].entries[static_cast<std::size_t>(k)];
  }
  /// The correction map of five bonded types in this order, as GROMACS looks for it; -1: none.
  int cmap(const std::array<std::int32_t, 5>& types) const;
  int cmap_points() const { return cmap_points_; }
  const std::vector<double>& maps() const { return maps_; }  ///< [maps, points, points]
  /// {V, W} of the pairs of atom types i, j; nothing: not given.
  std::optional<std::array<double, 2>> pair(int i, int j) const;
  std::optional<std::array<double, 2>> nonbonded_exception(int i, int j) const;
  /// {c6, c12} of {V, W}; a negative sigma means c6 = 0.
  std::array<double, 2> c6_c12(double v, double w) const;
  /// {V, W} of two types by the combination rule.
  std::array<double, 2> combined(int i, int j) const;
  std::string bonded_name(std::int32_t type) const {
    return type < 0 ? "X" : bonded_names_[static_cast<std::size_t>(type)];
  }

 private:
  using Key = std::array<std::int32_t, 4>;
  struct List {
    std::vector<TopEntry> entries;
    std::map<Key, std::vector<int>> by_types;  ///< exact ones, either direction
    std::map<Key, std::vector<int>> found;     ///< answers for dihedrals
  };
  int bonded_number(std::string_view name);
  /// Reports V and W whose c6 or c12 overflow.
  void expect_finite(double v, double w, const TopWord& at);
  void add(TopKind kind, const Key& types, const std::array<double, 6>& p, bool repeats,
           const TopWord& at);
  /// `n_b`: how many parameters a B state has.
  void read_type_pair(const TopLine& line, const char* what, int n_b,
                      std::map<std::array<int, 2>, std::array<double, 2>>& into);

  TopFindings& findings_;
  std::unordered_map<std::string, int> atom_type_of_, bonded_of_;
  std::vector<std::string> bonded_names_;
  std::vector<List> lists_ = std::vector<List>(gromacs_functions().size());  ///< by TopKind
  std::map<std::array<int, 2>, std::array<double, 2>> pairs_, nonbonded_;
  std::map<std::array<std::int32_t, 5>, int> cmaps_;
  std::vector<double> maps_;
  int cmap_points_ = 0;  ///< 0: no map yet
};

}  // namespace tessera::molecular
