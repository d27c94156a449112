// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/csv_numbers.h"

#include "error_text.h"
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
using Texts = std::vector<std::string>;

CsvColumns columns_of(const std::string& text, const std::vector<std::string>& numbers,
                      const CsvNumbersOptions& options = {}) {
  return read_csv_columns(make_text_file("t.csv", text), numbers, options);
}

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

TEST(CsvNumbers, QuotesDoNotCount) {
  EXPECT_EQ(numbers_of("a,b\n\"1\",\" 2 \"\n").columns, (std::vector<Column>{{1}, {2}}));
  expect_fault(fault([] { numbers_of("a,b\n1,\"2\n"); }), 433, 2, 1, "no end");
  expect_fault(fault([] { numbers_of("a,b\n1, \"2\"\n"); }), 433, 2, 4, "expected a number");
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

TEST(CsvColumns, AreNumbersAndTexts) {
  const CsvColumns t = columns_of(
      "design, thickness_nm ,material,\"loss, dB\"\n"
      "A1, 220 , Si ,0.1\n"
      "\n"
      "\"B \"\"2\"\"\",1e3,\" SiO2,\nwet\",nan\n"
      "1,-2,,3",
      {"thickness_nm", "loss, dB"});
  EXPECT_EQ(t.rows(), 3U);
  EXPECT_EQ(t.numbers("thickness_nm"), (Column{220, 1000, -2}));
  EXPECT_EQ(t.numbers("loss, dB")[0], 0.1);
  EXPECT_TRUE(std::isnan(t.numbers("loss, dB")[1]));
  EXPECT_EQ(t.texts("design"), (Texts{"A1", "B \"2\"", "1"}));
  EXPECT_EQ(t.texts("material"), (Texts{"Si", " SiO2,\nwet", ""}));
  EXPECT_EQ(t.lines, (std::vector<std::size_t>{2, 4, 6}));
  EXPECT_EQ(message_of([&] { t.numbers("design"); }),
            "[csv] the column 'design' was read as texts");
  EXPECT_EQ(message_of([&] { t.texts("loss, dB"); }),
            "[csv] the column 'loss, dB' was read as numbers");
  EXPECT_EQ(columns_of("a,b\n", {"b"}).rows(), 0U);
  EXPECT_EQ(columns_of("a\nx\n1\n", {}).texts("a"), (Texts{"x", "1"}));
}

TEST(CsvColumns, FaultsTellWhatIsThere) {
  const auto of = [](const std::string& text, const CsvNumbersOptions& o = {}) {
    return fault([&] { columns_of(text, {"b"}, o); });
  };
  EXPECT_EQ(of("a,b\n1, warm\n").message, "expected a number, got 'warm'");
  EXPECT_EQ(of("a,b\n1,\n").message, "expected a number, the field is empty");
  const Diagnostic d = of("a,b\n1,inf\n", {.number_hint = "leave it out", .finite = true});
  EXPECT_EQ(d.message, "expected a number that is finite, got 'inf'");
  EXPECT_EQ(d.hint, "leave it out");
  EXPECT_EQ(of("a,b,c,b\n1,2,3,4\n").message, "two columns are called 'b', number 2 and number 4");
  EXPECT_EQ(of("a;b\n1;2\n").hint,
            "fields stand between commas, here they seem to stand between semicolons");
  EXPECT_EQ(of("b\tc\n1\t2\n").hint,
            "fields stand between commas, here they seem to stand between tabs");
}

TEST(CsvColumns, FaultsHavePlaces) {
  const std::string table = "material,width\nSi,1\nAu,two\n";
  expect_fault(fault([&] { columns_of(table, {"width"}); }), 433, 3, 4, "expected a number");
  expect_fault(fault([&] { columns_of("a,b\nx y, \n", {"b"}); }), 433, 2, 5, "expected a number");
  expect_fault(fault([&] { columns_of("a,b\n\"x\ny\",\"z\"\n", {"b"}); }), 433, 3, 4,
               "expected a number");
  const Diagnostic d = fault([&] { columns_of(table, {"widht"}); });
  expect_fault(d, 433, 1, 1,
               "there is no column 'widht'; the first line names 'material', 'width'");
  EXPECT_EQ(d.hint, "did you mean 'width'?");
  const CsvColumns t = columns_of(table, {});
  EXPECT_EQ(fault([&] { t.texts("materials"); }).hint, "did you mean 'material'?");
  EXPECT_EQ(fault([&] { t.texts("materials"); }).place.file, "t.csv");
  expect_fault(fault([&] { columns_of("a,b\n1,2\n3\n", {}); }), 433, 3, 1,
               "expected one field for each of 2 columns, got 1");
  expect_fault(fault([&] { columns_of("a,b\n1,2,3\n", {"a", "b"}); }), 433, 2, 1, "got 3");
  expect_fault(fault([&] { columns_of("1,2\n", {}); }), 433, 1, 1, "the first line has numbers");
  expect_fault(fault([&] { columns_of("a,b\nx,\"y\n", {}); }), 433, 2, 1, "no end");
}
