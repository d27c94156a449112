// SPDX-License-Identifier: Apache-2.0
// MARE2DEM's data, by the structure of the program's examples.
#include "tessera/inversion/sounding_read.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace tessera::inversion {
namespace {

int refusal_of_emdata(const std::string& text) {
  try {
    parse_stations(text, "a.emdata", {});
  } catch (const data::InputError& e) {
    return e.findings().front().number;
  }
  return 0;
}

TEST(Emdata, WhatIsNotReadIsRefusedByItsNumber) {
  const std::string good =
      "Format: EMData_2.2\n# MT Frequencies: 1\n0.1\n# MT Receivers: 1\n0 5 1 0 0 2 0 0 r1\n"
      "# Data: 2\n! Type\n123 1 1 1 1.5 0.01\n104 1 0 1 40 1\n";
  const auto number = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return refusal_of_emdata(text);
  };
  EXPECT_EQ(number("r1", "r1"), 0);
  EXPECT_EQ(number("123 1", "133 1"), 363);
  EXPECT_EQ(number("123 1 1", "123 1 7"), 363);
  EXPECT_EQ(number("123 1 1 1", "123 2 1 1"), 362);
  EXPECT_EQ(number("123 1 1 1", "123 1 1 0"), 362);
  EXPECT_EQ(number("# Data: 2", "# Data: 3"), 362);
  EXPECT_EQ(number("104 1 0", "123 1 0"), 362);  // twice
  EXPECT_EQ(number("# Data: 2", "# Data: two"), 309);
  EXPECT_EQ(number("1.5 0.01", "1.5"), 362);
  EXPECT_EQ(number("1.5 0.01", "x 0.01"), 303);
  EXPECT_EQ(number("# MT Receivers: 1", "# CSEM Receivers: 1"), 363);
  EXPECT_EQ(number("EMData_2.2", "other"), 301);
  EXPECT_EQ(number("# Data: 2", "# MT Frequencies: 1\n1\n# Data: 2"), 362);  // twice
  EXPECT_EQ(number("# Data: 2", "# MT Receivers: 1\n0 9 1 0 0 2 0 0 r2\n# Data: 2"), 362);
  EXPECT_EQ(number("0.1\n", "0\n"), 305);
}

// A list has all stations of a survey; of one alone eight MiB are no sounding.
TEST(Emdata, CommentsMayStandAboveTheFormatAndListsMayBeLong) {
  const std::string good =
      "Format: EMData_2.2\n# MT Frequencies: 1\n0.1\n# MT Receivers: 1\n0 5 1 0 0 2 0 0 r1\n"
      "# Data: 2\n! Type\n123 1 1 1 1.5 0.01\n104 1 0 1 40 1\n";
  EXPECT_EQ(sniff_sounding_format("! made by hand\n\n  ! twice\n" + good), "MARE2DEM");
  EXPECT_EQ(sniff_sounding_format("! made by hand"), "");
  EXPECT_EQ(sniff_sounding_format("! made by hand\n" + std::string("Format: other\n")), "");
  EXPECT_EQ(parse_stations("! made by hand\n" + good, "a.emdata", {}).size(), 1u);
  std::string padding;
  while (padding.size() < (std::size_t{9} << 20)) padding += "! " + std::string(100, 'x') + "\n";
  EXPECT_EQ(parse_stations(good + padding, "a.emdata", {}).size(), 1u);
  EXPECT_EQ(refusal_of_emdata(">HEAD\n" + padding), 103);
}

// Receivers before frequencies, and one that is measured at some of the frequencies alone.
TEST(Emdata, SectionsMayStandInAnyOrder) {
  const std::string format = "Format: EMData_2.2\n",
                    frequencies = "# MT Frequencies: 3\n10\n1\n0.1\n",
                    receivers = "# MT Receivers: 2\n0 5 1 0 0 0 0 0 a\n0 9 1 0 0 0 0 0 b\n",
                    data =
                        "# Data: 5\n123 1 0 1 2 0.01\n104 1 0 1 40 1\n123 3 0 1 1 0.01\n"
                        "104 3 0 1 50 1\n125 2 0 2 2 0.01\n";
  const auto one = parse_stations(format + frequencies + receivers + data, "a.emdata", {}),
             other = parse_stations(format + receivers + frequencies + data, "a.emdata", {});
  ASSERT_EQ(one.size(), 2u);
  ASSERT_EQ(other.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(one[k].frequency_hz, other[k].frequency_hz);
    EXPECT_EQ(one[k].frequency_hz, k ? std::vector<double>{1} : std::vector<double>({10, 0.1}));
    for (std::size_t i = 0; i < one[k].size(); ++i) {
      const int row = k ? 1 : 0;
      EXPECT_EQ(one[k].resistivity.rho[i][row][1 - row], other[k].resistivity.rho[i][row][1 - row]);
      EXPECT_EQ(one[k].resistivity.rho[i][row][1 - row], std::pow(10.0, k || i == 0 ? 2 : 1));
    }
  }
}

}  // namespace
}  // namespace tessera::inversion
