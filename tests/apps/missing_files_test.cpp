// SPDX-License-Identifier: Apache-2.0
// A file that is not there is told at the key that names it, with the nearest name, by every app.
#include "app_test.h"

#include <gtest/gtest.h>

#include <tuple>

namespace tessera::testing {
namespace {

class MissingFiles : public AppTest {};

TEST_F(MissingFiles, AreToldAtTheirKeys) {
  std::filesystem::create_directories(here() / "soundings");
  for (const char* name : {"ground.csv", "chip.gro", "chip.top", "data.csv", "glass.txt"})
    write(name, "x\n");
  for (const auto& [text, place, told, hint] :
       {std::tuple{"app = \"inversion.mt1d\"\ndata.files = \"sondings\"\n", "case.toml:2:14",
                   "'sondings'", "'soundings'"},
        {"app = \"inversion.mt2d\"\n\n[data]\nfiles = \"dat.csv\"\nstrike = \"0 deg\"\n",
         "case.toml:4:9", "'dat.csv'", "'data.csv'"},
        {"app = \"inversion.mt2d\"\ntask = \"forward\"\nstations.at = [\"0 m\"]\n"
         "frequencies.at = [\"1 Hz\"]\nground = {shape = \"file\", file = \"./grund.csv\"}\n",
         "case.toml:5:34", "'./grund.csv'", "'ground.csv'"},
        {"app = \"molecular.dynamics\"\nstructure = \"chop.gro\"\ntopology = \"chip.top\"\n",
         "case.toml:2:13", "'chop.gro'", "'chip.gro'"},
        {"app = \"inversion.mt1d\"\ndata.files = \"soundngs/s01.edi\"\n", "case.toml:2:14",
         "'soundngs/s01.edi'", "'soundings'"}}) {
    write("case.toml", text);
    for (const char* verb : {"check", "run", "estimate"}) {
      const Outcome o = tessera({verb, "case.toml"});
      EXPECT_EQ(o.code, 4) << o.err;
      EXPECT_TRUE(
          holds(o.err, std::string(place) + ": error E0401: there is no file or folder " + told) &&
          holds(o.err, std::string("hint: did you mean ") + hint + "?"))
          << verb << "\n"
          << text << o.err;
    }
  }
  EXPECT_TRUE(holds(tessera({"check", "cas.toml"}).err, "hint: did you mean 'case.toml'?"));
  // One that is there and cannot be read stays what it is.
  write("case.toml", "app = \"inversion.mt1d\"\ndata.files = \"glass.txt\"\n");
  EXPECT_TRUE(holds(tessera({"check", "case.toml"}).err, "glass.txt"));
}

}  // namespace
}  // namespace tessera::testing
