// SPDX-License-Identifier: Apache-2.0
//
// Forces of runs, energies and virial give the same bits in vectors of 256 and of 512 bits: pairs,
// their lists, and particle-mesh sums.
#include "../support/both_widths.h"
#include "molecular_cases.h"
#include "tessera/molecular/forces.h"

namespace tessera::molecular {
namespace {

void print_forces(const testing::Case& c, const Nonbonded& o, Precision precision,
                  const std::string& name) {
  Forces f;
  ForceEvaluator(c.system, o, {.precision = precision})(c.frame.x_nm, c.frame.box, f);
  std::uint64_t h = tessera::testing::hash_of(f.f.data(), f.f.size() * sizeof(Vec3));
  h = tessera::testing::hash_of(&f.energy, sizeof f.energy, h);
  tessera::testing::print_hash(name, tessera::testing::hash_of(&f.virial, sizeof f.virial, h));
}

}  // namespace

TEST(VectorWidths, DISABLED_PrintHashesOfForces) {
  for (const auto& [precision, word] :
       {std::pair{Precision::f64, "f64"}, std::pair{Precision::mixed, "mixed"}}) {
    for (const int order : {4, 5, 6}) {
      Nonbonded o = testing::rigid_water_forces;
      o.pme_order = order;
      print_forces(testing::rigid_waters(), o, precision,
                   "waters/order_" + std::to_string(order) + "/" + word);
    }
    print_forces(testing::small_mixture(), {.cutoff_coulomb_nm = 0.8, .cutoff_lj_nm = 0.8},
                 precision, std::string("slanted/") + word);
    print_forces(testing::argon(4), testing::argon_forces, precision, std::string("argon/") + word);
  }
}
TEST(VectorWidths, ForcesAreTheSameBitsAtBothWidths) {
  tessera::testing::expect_same_at_both_widths("VectorWidths.DISABLED_PrintHashesOfForces");
}

}  // namespace tessera::molecular
