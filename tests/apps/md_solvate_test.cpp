// SPDX-License-Identifier: Apache-2.0
// [solvate]: what it does with charges that are no whole numbers, and what it says, at which key,
// where ions cannot be had.
#include "md_case.h"
#include "test_paths.h"

#include <gtest/gtest.h>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class MdSolvate : public Md {
 protected:
  static std::string of_source(const char* name) {
    std::ostringstream all;
    all << std::ifstream(fs::path(TESSERA_SOURCE_DIR) / "apps/examples/molecular" / name).rdbuf();
    return all.str();
  }
  /// An aspartate of this charge of OD1 in water, -0.8014 e for -1 e in all.
  Outcome checked(const std::string& charge, const std::string& solvate) {
    std::string field = of_source("peptides.xml");
    const std::string old = "name=\"OD1\" type=\"O2\" charge=\"-0.8014\"";
    field.replace(field.find(old), old.size(),
                  "name=\"OD1\" type=\"O2\" charge=\"" + charge + "\"");
    write("field.xml", field);
    write("aspartate.pdb", of_source("aspartate.pdb"));
    write("case.toml",
          "app = \"molecular.dynamics\"\nforcefield = [\"field.xml\"]\nstructure = "
          "\"aspartate.pdb\"\nadd_hydrogens = true\nrcoulomb = \"0.7 nm\"\nrvdw = \"0.7 "
          "nm\"\nconstraints = \"h-bonds\"\nnsteps = 0\n[solvate]\n" +
              solvate);
    return tessera({"check", "case.toml"});
  }
  void refused(const std::string& charge, const std::string& solvate, const char* place,
               const char* says, const char* hint) {
    const Outcome o = checked(charge, solvate);
    EXPECT_EQ(o.code, 5) << solvate << o.err;
    EXPECT_TRUE(holds(o.err, std::string("case.toml:") + place + ": error E0702: " + says) &&
                holds(o.err, hint))
        << solvate << o.err;
    for (const char* name : {"[with_ions]", "[ion]", "an Ion of your own", "smaller distance"})
      EXPECT_FALSE(holds(o.err, name)) << o.err;
  }
};

const char *const kRoom = "box = \"2 nm\"\n", *const kWhole = "-0.8014";

TEST_F(MdSolvate, NetChargesAreWholeButForTheirDigits) {
  for (const char* more : {"", "concentration = \"0.5 mol/L\"\n"}) {
    Outcome o = checked("-0.7994", std::string(kRoom) + more);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(holds(o.out, "net charge 0.002 e")) << o.out;
    EXPECT_TRUE(holds(o.out + o.err, "ions leave a net charge of 0.002 e")) << o.out << o.err;
    o = checked(kWhole, std::string(kRoom) + more);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_FALSE(holds(o.out + o.err, "ions leave")) << o.out << o.err;
  }
  refused("-0.7", kRoom, "9:2", "a net charge of -0.8986", "neutralise = false");
}

TEST_F(MdSolvate, FaultsOfIonsAreToldAtTheirKeys) {
  for (const char* water : {"spc", "tip4p", "tip4p2005"}) {
    const std::string model = std::string("model = \"") + water + "\"\n";
    refused(kWhole, model + kRoom, "10:1", "no parameters of 'NA' for the water",
            "neutralise = false");
    EXPECT_EQ(checked(kWhole, model + kRoom + "neutralise = false\n").code, 0);
  }
  refused(kWhole, "box = \"1.5 nm\"\nconcentration = \"5 mol/L\"\n", "11:1", "21 ions",
          "a lower concentration");
}

TEST_F(MdSolvate, BoxesThatHoldTooLittleOrTooMuchAreToldAtTheirKeys) {
  refused(kWhole, "box = \"0.6 nm\"\n", "10:1", "a molecule is", "across its own image");
  refused(kWhole, "padding = \"1 m\"\n", "10:1", "8e+29 atoms are more than", "unit");
  refused(kWhole, "box = \"1 m\"\n", "10:1", "1e+29 atoms are more than", "unit");
}

}  // namespace
