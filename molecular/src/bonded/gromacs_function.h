// SPDX-License-Identifier: Apache-2.0
//
// What lines of GROMACS topologies say of bonded terms: a section, the number of its function, and
// what the numbers behind it mean.
#pragma once
#include "tessera/molecular/terms.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::molecular {

/// A term that a line gives: its atoms, and its row in the units of terms.h.
struct GromacsTerm {
  std::optional<Term> kind;  ///< nothing: a rigid bond, whose row is its length
  std::array<std::int32_t, 4> atoms;
  std::array<double, 6> row{};
};
/// A line in numbers: its atoms, and its parameters as they stand there.
struct GromacsLine {
  std::array<std::int32_t, 4> atoms;
  const double* p;
};

struct GromacsFunction {
  const char* section;  ///< of molecules: "angles"
  int function;
  int atoms, parameters;
  /// Appends the terms of a line; returns what is wrong with its parameters, or nothing.
  std::string (*read)(const GromacsLine& line, std::vector<GromacsTerm>& terms);
  int also = 0;                     ///< another number of the same function; 0: none
  bool is_bond = false;             ///< its atoms are chemically bonded
  const char* ends_in_0 = nullptr;  ///< a further number, if it is there, is 0; else this is said
};

/// The functions that are read. Those of bonded terms stand in the files of their kinds.
std::vector<GromacsFunction>& gromacs_functions();
struct RegisterGromacs {
  explicit RegisterGromacs(GromacsFunction f) { gromacs_functions().push_back(f); }
};

}  // namespace tessera::molecular
