// SPDX-License-Identifier: Apache-2.0
//
// What pairs may feel, one choice of options a row: every test that asks something of each goes
// over this table.
#pragma once
#include "tessera/molecular/nonbonded.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tessera::molecular::testing {

struct PairOptions {
  const char* name;
  Nonbonded options;
};
inline std::vector<PairOptions> pair_options() {
  using Coulomb = Nonbonded::Coulomb;
  using Modifier = Nonbonded::Modifier;
  return {
      {"cut",
       {.coulomb = Coulomb::cutoff,
        .coulomb_modifier = Modifier::none,
        .lj_modifier = Modifier::none,
        .cutoff_coulomb_nm = 0.8,
        .cutoff_lj_nm = 0.7}},
      {"shifted", {.coulomb = Coulomb::cutoff, .cutoff_coulomb_nm = 0.7, .cutoff_lj_nm = 0.8}},
      {"linear",
       {.coulomb = Coulomb::cutoff,
        .coulomb_modifier = Modifier::linear_force_shift,
        .lj_modifier = Modifier::linear_force_shift,
        .cutoff_coulomb_nm = 0.8,
        .cutoff_lj_nm = 0.8}},
      {"force_switch",
       {.coulomb = Coulomb::reaction_field,
        .lj_modifier = Modifier::force_switch,
        .cutoff_coulomb_nm = 0.8,
        .cutoff_lj_nm = 0.8,
        .lj_switch_nm = 0.5,
        .epsilon_rf = 78}},
      {"potential_switch",
       {.coulomb = Coulomb::reaction_field,
        .lj_modifier = Modifier::potential_switch,
        .cutoff_coulomb_nm = 0.8,
        .cutoff_lj_nm = 0.8,
        .lj_switch_nm = 0.4,
        .reaction_field_of_excluded = false}},
      {"ewald",
       {.coulomb = Coulomb::ewald, .cutoff_coulomb_nm = 0.8, .cutoff_lj_nm = 0.8, .epsilon_r = 2}},
      {"sharp_ewald",
       {.coulomb = Coulomb::ewald,
        .cutoff_coulomb_nm = 0.8,
        .cutoff_lj_nm = 0.8,
        .ewald_rtol = 1e-10}},
      {"switched_ewald",
       {.coulomb = Coulomb::ewald,
        .lj_modifier = Modifier::force_switch,
        .cutoff_coulomb_nm = 0.8,
        .cutoff_lj_nm = 0.75,
        .lj_switch_nm = 0.5}},
      {"neutral", {.coulomb = Coulomb::none, .cutoff_lj_nm = 0.8}},
      {"neutral_switched",
       {.coulomb = Coulomb::none,
        .lj_modifier = Modifier::potential_switch,
        .cutoff_lj_nm = 0.8,
        .lj_switch_nm = 0.6}},
  };
}
inline std::string name_of_options(const ::testing::TestParamInfo<PairOptions>& row) {
  return row.param.name;
}

}  // namespace tessera::molecular::testing
