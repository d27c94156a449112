// SPDX-License-Identifier: Apache-2.0
// The rows of the table of bonded terms, as the files of terms/ give them.
#include "bonded/amber_terms.h"
#include "bonded/bonded_term.h"
#include "bonded/gromacs_function.h"
#include "bonded/openmm_force.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/molecular/bonded.h"

#include <string>

namespace tessera::molecular {
namespace {

std::array<MakeBondedTerm, n_bonded>& makers() {
  static std::array<MakeBondedTerm, n_bonded> all{};
  return all;
}

template <int N, int P>
Tensor table(const Terms<N, P>& t) {
  std::vector<double> flat;
  for (const auto& row : t.rows) flat.insert(flat.end(), row.begin(), row.end());
  return tensor(flat, {static_cast<Index>(t.rows.size()), P});
}
Tensor table(const CorrectionMaps& c) {
  return tensor(c.maps, {static_cast<Index>(c.n_maps()), c.points, c.points});
}

}  // namespace

RegisterBonded::RegisterBonded(Term kind, MakeBondedTerm make) {
  makers()[static_cast<std::size_t>(kind)] = make;
}
std::vector<GromacsFunction>& gromacs_functions() {
  static std::vector<GromacsFunction> all;
  return all;
}

std::vector<AmberTerms>& amber_terms() {
  static std::vector<AmberTerms> all;
  return all;
}
std::vector<OpenmmForce>& openmm_forces() {
  static std::vector<OpenmmForce> all;
  return all;
}

BondedTermPtr bonded_term(const System& s, Term kind, double epsilon_r) {
  if (static_cast<std::size_t>(kind) >= n_bonded)
    throw Error(std::string("[bonded_energy] ") + name_of(kind) + " is no bonded term");
  return makers()[static_cast<std::size_t>(kind)](kind, s, epsilon_r);
}
EnergyPtr bonded_energy(const System& system, Term kind, double epsilon_r) {
  return bonded_term(system, kind, epsilon_r);
}

Tensor table_of(const System& s, Term term) {
  Tensor out;
  each_bonded(
      [&](const BondedKind& kind, const auto& list) {
        if (kind.gives(term)) out = table(list);
      },
      s);
  if (!out.defined()) throw Error(std::string("[table_of] ") + name_of(term) + " has no rows");
  return out;
}

}  // namespace tessera::molecular
