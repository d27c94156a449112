// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/csv.h"

#include "error_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

using namespace tessera::data;
using namespace tessera::testing;

TEST(Csv, NumbersReadBackExactly) {
  for (double v :
       {0.1, 1.0 / 3, 1e300, 5e-324, -0.0, 123456789.0, std::numeric_limits<double>::max()}) {
    const double back = std::strtod(number_text(v).c_str(), nullptr);
    EXPECT_EQ(back, v);
    EXPECT_EQ(std::signbit(back), std::signbit(v));
  }
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(NAN), "nan");
  EXPECT_EQ(number_text(-INFINITY), "-inf");
}

TEST(Csv, QuotesOnlyWhereNeeded) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
}

TEST(Csv, ATableHasItsNamesAndItsRows) {
  CsvTable t({"name", "value, best", "count", "error"});
  t.add("a,b").add(0.1).add(std::uint64_t{18446744073709551615u}).add(std::optional<double>());
  t.end_row();
  t.add(std::string("c")).add(NAN).add(100000).add(std::optional(2.5)).end_row();
  EXPECT_EQ(t.text(),
            "name,\"value, best\",count,error\n"
            "\"a,b\",0.1,18446744073709551615,\n"
            "c,nan,100000,2.5\n");
}

TEST(Csv, ARowOfAnotherLengthIsRefused) {
  CsvTable t({"x", "y"});
  t.add(1.0);
  EXPECT_NE(message_of([&] { t.end_row(); }).find("a row of 1 fields for 2 columns"),
            std::string::npos);
}
