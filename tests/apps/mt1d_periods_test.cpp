// SPDX-License-Identifier: Apache-2.0
// Periods that an inversion of soundings leaves out, and what it says of them.
#include "mt1d_case.h"

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

TEST_F(Mt1d, PeriodsThatCannotBeUsedAreCounted) {
  make_case(1, "mask_periods = [\"1000 s\"]\n");
  const fs::path edi = "site/soundings/syn01.edi";
  std::string text = read(edi);
  const auto set = [&text](const std::string& block, std::size_t first, std::size_t n,
                           const std::string& value) {
    std::size_t at = text.find('\n', text.find(block + " ")) + 1;
    for (std::size_t k = 0; k < first + n; ++k) {
      at = text.find_first_not_of(" \n", at);
      const std::size_t end = text.find_first_of(" \n", at);
      if (k >= first) text.replace(at, end - at, value);
      at = text.find_first_of(" \n", at);
    }
  };
  for (const char* block :
       {">ZXXR", ">ZXXI", ">ZXYR", ">ZXYI", ">ZYXR", ">ZYXI", ">ZYYR", ">ZYYI"}) {
    set(block, 0, 20, "0.0");
    set(block, 20, 11, "1.0E+32");
  }
  write(edi, text);
  const Outcome o = tessera({"run", "case.toml"});
  EXPECT_EQ(o.code, 4);
  EXPECT_TRUE(
      holds(o.err,
            "syn01.edi: error E0610: only 1 usable periods are left, at least 3 are needed; "
            "1 are masked, missing or zero"))
      << o.err;
  EXPECT_TRUE(holds(o.err, "warning E0359: the impedance is zero at 20 of 33 frequencies"))
      << o.err;
  EXPECT_TRUE(holds(o.err, "warning E0356: 31 of 33 frequencies are fillers")) << o.err;
}

TEST_F(Mt1d, PeriodsThatAreAllCutAwayAreNoMissingImpedance) {
  make_case(1, "shortest_period = \"1e6 s\"\n");
  const Outcome o = tessera({"run", "case.toml"});
  EXPECT_EQ(o.code, 4);
  EXPECT_TRUE(holds(o.err, "syn01.edi: error E0610: only 0 usable periods are left")) << o.err;
  EXPECT_FALSE(holds(o.err, "E0611")) << o.err;
}

TEST_F(Mt1d, APeriodToMaskThatNoSoundingHasIsNamed) {
  make_case(2, "mask_periods = [\"1000 s\", \"1000 s\", \"1.23 s\", \"1.23 s\"]\n");
  std::string one = read("site/soundings/syn02.edi");  // without 1000 s, which the other one has
  one.replace(one.find("1.000000000E-03"), 15, "1.100000000E-03");
  write("site/soundings/syn02.edi", one);
  const Outcome o = tessera({"check", "case.toml"});
  EXPECT_EQ(o.code, 0);
  EXPECT_TRUE(holds(o.err + o.out, "warning E0613: no sounding has a period of 1.23 s"))
      << o.err << o.out;
  EXPECT_FALSE(holds(o.err + o.out, "a period of 1000 s")) << o.err << o.out;
}

}  // namespace
