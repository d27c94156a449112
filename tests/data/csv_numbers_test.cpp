// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/csv_numbers.h"

#include "input_error.h"
#include "temp_folder.h"
#include "tessera/data/csv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

using namespace tessera::data;
using namespace tessera::testing;

namespace {

CsvNumbers numbers_of(const std::string& text, const CsvNumbersOptions& options = {}) {
  return read_csv_numbers(make_text_file("t.csv", text), options);
}
using Column = std::vector<double>;

}  // namespace

TEST(CsvNumbers, AreThoseThatATableHas) {
  CsvTable t({"step", "energy, total"});
  t.add(std::int64_t{0}).add(0.1).end_row();
  t.add(std::int64_t{10}).add(-INFINITY).end_row();
  t.add(std::int64_t{20}).add(NAN).end_row();
  const TempFolder folder;
  const CsvNumbers read = read_csv_numbers(folder.write("t.csv", t.text()));
  EXPECT_EQ(read.names, (std::vector<std::string>{"step", "energy, total"}));
  EXPECT_EQ(read.rows(), 3U);
  EXPECT_EQ(*read.find("step"), (Column{0, 10, 20}));
  const Column& energy = *read.find("energy, total");
  EXPECT_EQ(energy[0], 0.1);
  EXPECT_EQ(energy[1], -INFINITY);
  EXPECT_TRUE(std::isnan(energy[2]));
  EXPECT_EQ(read.find("energy"), nullptr);
}

TEST(CsvNumbers, BlanksAndEmptyLinesDoNotCount) {
  const CsvNumbers t = numbers_of("inf,b\n\n 1 ,\t2\n\n3,4");
  EXPECT_EQ(t.columns, (std::vector<Column>{{1, 3}, {2, 4}}));
  EXPECT_EQ(numbers_of("a,b\n").rows(), 0U);
  EXPECT_EQ(numbers_of("a,b\n").columns.size(), 2U);
  EXPECT_EQ(numbers_of("x").rows(), 0U);
  // Where the number of columns is known, the first line may have fewer names.
  EXPECT_EQ(numbers_of("fields\n1,2,3\n", {.columns = 3}).columns,
            (std::vector<Column>{{1}, {2}, {3}}));
}

TEST(CsvNumbers, FaultsHavePlaces) {
  const auto refused = [](const std::string& text, const CsvNumbersOptions& options = {}) {
    return fault([&] { numbers_of(text, options); });
  };
  expect_fault(refused("1,2\n3,4\n"), 433, 1, 1, "the first line has numbers");
  expect_fault(refused("\"a,b\n1,2\n"), 433, 1, 1, "no end");
  expect_fault(refused("a,b\n1,2\n3, x\n"), 433, 3, 4, "expected a number");
  expect_fault(refused("a,b\n1,2x\n"), 433, 2, 3, "expected a number");
  expect_fault(refused("a,b\n1,1e999\n"), 433, 2, 3, "expected a number");
  expect_fault(refused("a,b\n1,\n"), 433, 2, 3, "expected a number");
  expect_fault(refused("a,b\n1,2\n3\n"), 433, 3, 1, "each of 2 columns, got 1");
  expect_fault(refused("a,b\n1,2,3\n"), 433, 2, 1, "each of 2 columns, got 3");
  const CsvNumbersOptions o{
      .number = 651, .columns = 2, .row_hint = "two", .names_hint = "names", .finite = true};
  expect_fault(refused("a\n1,2\n1\n", o), 651, 3, 1, "each of 2 columns, got 1");
  EXPECT_EQ(refused("a\n1\n", o).hint, "two");
  EXPECT_EQ(refused("0\n1,2\n", o).hint, "names");
  expect_fault(refused("a\n1,nan\n", o), 651, 2, 3, "expected a number");
  expect_fault(refused("a\n-inf,1\n", o), 651, 2, 1, "expected a number");
  const std::string many(std::size_t{1} << 20, ',');
  const TextFile wide = make_text_file("t.csv", many + "\n", {.max_line_bytes = 1 << 24});
  expect_fault(fault([&] { read_csv_numbers(wide); }), 433, 1, 1 << 20, "more fields than 2^20");
}
