// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/index_table.h"

#include "input_error.h"
#include "temp_folder.h"
#include "tessera/electromagnetics/constants.h"

#include <gtest/gtest.h>

namespace tessera::electromagnetics {
namespace {

IndexTable read(const char* text) {
  return parse_index_table(data::make_text_file("gold.csv", text));
}

std::string refused(const char* text, int number) {
  return testing::expect_input_error([&] { read(text); }, data::ExitCode::input_invalid, number);
}

TEST(IndexTable, NAndKByWavelength) {
  const IndexTable t = read("wl,n,k\n0.5, 1.5, 0.25\n1.0, 2, 0\n");
  EXPECT_EQ(t.name, "gold");
  ASSERT_EQ(t.f_hz.size(), 2u);
  EXPECT_DOUBLE_EQ(t.f_hz[0], speed_of_light / 1e-6);  // sorted by frequency
  EXPECT_DOUBLE_EQ(t.f_hz[1], speed_of_light / 0.5e-6);
  EXPECT_EQ(t.eps[0], std::complex<double>(4, 0));
  EXPECT_EQ(t.eps[1], std::complex<double>(1.5 * 1.5 - 0.0625, -0.75));  // (1.5 - 0.25 i)^2
}

TEST(IndexTable, TwoTablesBelowEachOther) {
  const IndexTable t = read("wl,n\n0.5,1.5\n1.0,2\n\nwl,k\n0.5,0.25\n1.0,0\n");
  EXPECT_EQ(t.eps, read("wl,n,k\n0.5,1.5,0.25\n1.0,2,0\n").eps);
}

TEST(IndexTable, UnitsAndSeparators) {
  const double f = speed_of_light / 500e-9;
  for (const char* text :
       {"Wavelength (nm)\tn\n500\t2\n", "lambda [nm] n\n500 2\n", "wavelength_um;n\n0.5;2\n",
        "# a comment\nwl_m,eps1\n5e-7,4\n", "\"wl\",\"n\"\n+0.5,2\r\n", "lambda_A n k\n5000 2 0\n",
        "wl(\xC2\xB5m),n\n0.5,2\n"}) {
    const IndexTable t = read(text);
    ASSERT_EQ(t.f_hz.size(), 1u) << text;
    EXPECT_NEAR(t.f_hz[0] / f, 1, 1e-15) << text;
    EXPECT_EQ(t.eps[0], 4.0) << text;
  }
  EXPECT_DOUBLE_EQ(read("f_thz,eps1,eps2\n2,3,1\n").f_hz[0], 2e12);
  EXPECT_EQ(read("f_thz,eps_re,eps_im\n2,3,1\n").eps[0], std::complex<double>(3, -1));
  EXPECT_NEAR(read("energy (eV) n\n1 1\n").f_hz[0], 2.417989242e14, 1e5);
}

TEST(IndexTable, EveryFaultIsNamedAtItsLine) {
  EXPECT_NE(refused("wl,n,k\n0.5,1.5,x\n", 303).find("gold.csv:2:9"), std::string::npos);
  EXPECT_NE(refused("wl,n\n0.5,\n", 303).find("gold.csv:2"), std::string::npos);
  EXPECT_NE(refused("wl,n\n0.5,1\n0.6,1,2\n", 433).find("gold.csv:3"), std::string::npos);
  EXPECT_NE(refused("wl,n\n0,1\n", 305).find("gold.csv:2"), std::string::npos);
  EXPECT_NE(refused("wl,n\n1,1\n2,1\n1,2\n", 306).find("given twice"), std::string::npos);
  EXPECT_NE(refused("wl,n,k\n1,1,-0.1\n", 361).find("gold.csv:2:5"), std::string::npos);
  EXPECT_NE(refused("wl,index\n1,1\n", 360).find("'index'"), std::string::npos);
  refused("0.5,1.5\n", 360);
  refused("n,k\n1,1\n", 360);
  refused("wl,k\n1,1\n", 360);
  refused("wl,n,eps1\n1,1,1\n", 360);
  refused("wl,n,n\n1,1,1\n", 360);
  refused("wl,n\n", 360);
  refused("f,n\n1,1\n", 360);  // no unit
  refused("wl_furlong,n\n1,1\n", 360);
  refused("wl,n\n1,1\n\nwl,k\n2,1\n", 360);
  refused("wl,n\n1,1\nwl,n\n2,1\n", 360);
  refused("wl,n\n1,nan\n", 303);
  refused("wl,n\n1,1e200\n", 303);
  refused("wl,n\n1e-320,1\n", 303);
}

TEST(IndexTable, ReadsFiles) {
  const testing::TempFolder folder;
  EXPECT_EQ(read_index_table(folder.write("glass.csv", "wl,n\n1,1.5\n")).name, "glass");
  testing::expect_input_error([&] { read_index_table(folder / "none.csv"); },
                              data::ExitCode::input_invalid, 101);
}

}  // namespace
}  // namespace tessera::electromagnetics
