// SPDX-License-Identifier: Apache-2.0
// What molecular.dynamics builds, [build] and [solvate]: where it is put, and what has no room.
#include "md_words.h"

#include <gtest/gtest.h>

using namespace tessera::testing;

namespace {

/// Water fills the box of the structure, as in GROMACS and OpenMM, unless another is asked for.
TEST_F(MdWords, WaterIsPutWhereItIsAskedFor) {
  write("argon.toml",
        "output.final = [\"rst7\"]\n" +
            changed("nsteps = 300\n", "nsteps = 0\n", changed("nsteps = 300\n", "nsteps = 0\n")));
  ASSERT_EQ(tessera({"run", "argon.toml", "--output", "ARGON"}).code, 0);
  const std::string start =
      "app = \"molecular.dynamics\"\ntopology = \"ARGON/system.prmtop\"\nstructure = "
      "\"ARGON/3_free/final.rst7\"\nrcoulomb = \"0.8 nm\"\nrvdw = \"0.8 nm\"\nnsteps = "
      "0\n[solvate]\nmodel = \"spce\"\n";
  const auto box = [&](const std::string &more) {
    write("case.toml", start + more);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    return std::stod(o.out.substr(o.out.find("\nbox ") + 5));
  };
  EXPECT_NEAR(box(""), 1.74, 1e-9);
  EXPECT_NEAR(box("box = \"2.5 nm\"\n"), 2.5, 1e-9);
  const std::string both = "box = \"2.5 nm\"\npadding = \"1 nm\"\n";
  EXPECT_NEAR(box(both), 2.5, 1e-9);
  warned(start + both, "padding", "padding has no effect beside box");
  const double padded = box("padding = \"0.5 nm\"\n");
  EXPECT_GT(padded, 2);
  EXPECT_LT(padded, 1.74 + 1);
}

TEST_F(MdWords, WaterThatFindsNoRoomIsTold) {
  write("full.toml", changed("nsteps = 20\n", "nsteps = 0\n", kWater));
  ASSERT_EQ(tessera({"run", "full.toml", "--output", "FULL"}).code, 0);
  warned(
      "app = \"molecular.dynamics\"\ntopology = \"FULL/system.prmtop\"\nstructure = "
      "\"FULL/1_dynamics/final.rst7\"\nrcoulomb = \"0.6 nm\"\nrvdw = \"0.6 nm\"\nnsteps = "
      "0\n[solvate]\nmodel = \"spce\"\n",
      "[solvate]", "[solvate] adds nothing: no water finds room");
}

TEST_F(MdWords, WhatIsBuiltIsBounded) {
  const char *const one = "molecules = 64", *const says =
                                                " atoms are more than this program counts";
  refused(changed(one, "molecules = 1000000000000", kWater), "molecules", "E0702",
          std::string("3e+12") + says, "unit");
  refused(changed(one, "box = \"1 m\"", kWater), "box", "E0702", std::string("1e+29") + says);
  refused(changed(one, "box = \"0.2 nm\"", kWater), "box", "E0702", "holds no molecule");
  refused(changed("cells = 3", "cells = 1000"), "cells", "E0702", std::string("4e+09") + says);
}

}  // namespace
