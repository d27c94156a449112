// SPDX-License-Identifier: Apache-2.0
//
// How OpenMM's force fields (XML) have a kind of bonded terms: by which element, and what its
// attributes are. OpenMM User Guide, "Creating Force Fields".
#pragma once
#include "tessera/molecular/terms.h"

#include <array>
#include <string>
#include <vector>

namespace tessera::molecular {

/// A child of the element, with what it says of atoms: `<Angle class1="C" ... angle="1.9"
/// k="400"/>`.
struct OpenmmRule {
  /// Atoms that are bonded in a row, two, three or four, or three around the first of four.
  enum class On { bond, angle, chain, centre };
  const char* name;  ///< "Angle"
  On on;
  Term kind;  ///< over two atoms on an angle: its ends
};

/// As terms.h has it; the first columns count.
using OpenmmRow = std::array<double, 6>;

struct OpenmmForce {
  const char* element;  ///< "HarmonicAngleForce"
  std::vector<OpenmmRule> rules;
  std::vector<const char*> parameters;  ///< attributes
  /// Of the attributes, in this order.
  OpenmmRow (*row)(const double* p);
  /// Of a Custom force the expression that it is known by, without blanks; else null.
  const char* energy = nullptr;
  bool numbered = false;  ///< attributes are phase1, k1, phase2, k2, ...: a term each
  /// What is wrong with the parameters of a term, or nothing, and the attribute that is at fault.
  std::string (*fault)(const double* p) = nullptr;
  const char* at_fault = nullptr;
  bool (*is_none)(const OpenmmRow& row) = nullptr;  ///< a term that is left out
  bool openmm_order = false;  ///< of impropers where the element does not say; else that of CHARMM
  bool thrice = false;        ///< impropers in the order of smirnoff are three terms
  bool beside = false;        ///< angles that have such terms alone are told to have none
};

/// The forces that are read. Each stands in the file of its terms.
std::vector<OpenmmForce>& openmm_forces();
struct RegisterOpenmm {
  explicit RegisterOpenmm(OpenmmForce f) { openmm_forces().push_back(std::move(f)); }
};

}  // namespace tessera::molecular
