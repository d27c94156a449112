// SPDX-License-Identifier: Apache-2.0
// Every malformed configuration ends with code 5, its number, its place and a few telling words,
// and nothing is written. The rows follow the lists of bad inputs for text files and for TOML and
// JSON.
#include "run_program.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <ostream>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

std::string repeat(const std::string& s, std::size_t n) {
  std::string out;
  out.reserve(s.size() * n);
  for (std::size_t i = 0; i < n; ++i) out += s;
  return out;
}

const std::string kApp = "app = \"demo.sample\"\n";

struct Row {
  std::string name;  // of the file: its extension says what it is
  std::string text;
  std::string start;  // of the message, behind the file's name
  std::string words;  // somewhere in it
};
void PrintTo(const Row& r, std::ostream* out) { *out << r.name; }

std::vector<Row> rows() {
  return {
      // all text
      {"empty.toml", "", ": error E0107", "is empty"},
      {"blank.toml", " \r\n\t\n", ": error E0107", "is empty"},
      {"header_only.toml", kApp + "[sum]\nterms", ":3:6: error E0110", ""},
      {"truncated.toml", kApp + "[sum]\nscale = \"2 k", ":3:13: error E0110", ""},
      {"binary.toml",
       std::string("\x7f"
                   "ELF\x02\x01\x01\0\0\0",
                   10),
       ":1:1: error E0105", "binary"},
      {"random.toml", "\x8b\x1f\x99\xfe\x12", ":1:2: error E0105", "control character 0x1f"},
      {"utf16.toml",
       std::string("\xff\xfe"
                   "a\0 \0=\0 \0",
                   10),
       ": error E0104", "UTF-16"},
      {"utf16_no_mark.toml", std::string("a\0 \0=\0 \0001\0", 10), ": error E0104", "UTF-16"},
      {"utf32.toml", std::string("\xff\xfe\0\0a\0\0\0", 8), ": error E0104", "UTF-16 or UTF-32"},
      {"latin1.toml", kApp + "title = \"\xe4\"\n", ":2:10: error E0106", "0xe4"},
      {"nul.toml", kApp + std::string("a = 1\0", 6), ":2:6: error E0105", "NUL"},
      {"long_line.toml", kApp + "ending = \"" + std::string(4 << 20, 'x') + "\"\n", ": error E0103",
       "larger than"},
      {"decimal_comma.toml", kApp + "memory = 1,5\n", ":2:11: error E0110", ""},
      {"comma_quantity.toml", kApp + "sum.scale = \"1,5 m\"\n", ":2:15: error E0211",
       "the decimal sign is a point"},
      {"nan.toml", kApp + "memory = nan\n", ":2:10: error E0114", "nan"},
      {"inf.toml", kApp + "memory = -inf\n", ":2:10: error E0114", "infinite"},
      {"1e400.toml", kApp + "memory = 1e400\n", ":2:15: error E0114", "out of the range"},
      {"hex_empty.toml", kApp + "sum.terms = 0x\n", ":2:15: error E0110", ""},
      {"fortran.toml", kApp + "memory = 1d5\n", ":2:11: error E0110", ""},
      {"plus.toml", kApp + "sum.scale = \"+5 m\"\n", ":2:14: error E0211",
       "expected a decimal number"},
      {"minus_minus.toml", kApp + "memory = --5\n", ":2:11: error E0110", ""},
      {"quantity_nan.toml", kApp + "sum.scale = \"nan m\"\n", ":2:14: error E0211", "no nan"},
      {"quantity_huge.toml", kApp + "sum.scale = \"1e400 m\"\n", ":2:14: error E0211",
       "out of the range"},
      {"negative_count.toml", kApp + "sum.terms = -5\n", ":2:13: error E0214", "at least 1"},
      {"zero_count.toml", kApp + "sum.terms = 0\n", ":2:13: error E0214", "at least 1"},
      {"count_1e11.toml", kApp + "sum.terms = 100000000000\n", ":2:13: error E0214",
       "at most 1000000000"},
      {"count_2_63.toml", kApp + "sum.terms = 9223372036854775808\n", ": error E0114", ""},
      {"trailing.toml", kApp + "sum.terms = 5 rubbish\n", ":2:15: error E0110", ""},
      // TOML
      {"duplicate.toml", kApp + "memory = 1\nmemory = 2\n", ":3:10: error E0113", "memory"},
      {"duplicate_table.toml", kApp + "[sum]\n[sum]\n", ":3:1: error E0113", "sum"},
      {"deep_lists.toml", kApp + "memory = " + repeat("[", 100000) + repeat("]", 100000),
       ":2:74: error E0112", "nested deeper"},
      {"deep_tables.toml", kApp + "memory = " + repeat("{a=", 100000), ": error E0112",
       "nested deeper"},
      {"deep_keys.toml", kApp + repeat("a.", 100000) + "b = 1\n", ":2:128: error E0112",
       "nested deeper"},
      {"brackets.toml", kApp + "memory = [}\n", ":2:11: error E0110", "unexpected '}'"},
      {"unknown.toml", kApp + "[sum]\nterm = 5\n", ":3:1: error E0213", "did you mean 'terms'?"},
      {"dimension.toml", kApp + "sum.scale = \"5 s\"\n", ":2:13: error E0212",
       "expected length, got time"},
      {"no_unit.toml", kApp + "sum.scale = 5\n", ":2:13: error E0212", "write \"5 m\""},
      {"date.toml", kApp + "memory = 1979-05-27\n", ":2:10: error E0210", "got a date"},
      {"string_for_number.toml", kApp + "memory = \"5\"\n", ":2:10: error E0210",
       "got a string '5'"},
      {"no_app.toml", "memory = 1\n", ":1:1: error E0201", "'app' is missing"},
      {"other_app.toml", "app = \"no.such\"\n", ":1:7: error E0202", "demo.sample"},
      {"include_etc.toml", kApp + "include = [\"../../etc/passwd\"]\n", ":2:12: error E0120",
       "leads out"},
      {"include_absolute.toml", kApp + "include = [\"/etc/passwd\"]\n", ":2:12: error E0120",
       "leads out"},
      {"include_self.toml", kApp + "include = [\"include_self.toml\"]\n", ":2:12: error E0121",
       "circle"},
      {"include_device.toml", kApp + "include = [\"zero\"]\n", ":2:12: error E0120", "leads out"},
      // lists of tables
      {"item_unknown.toml", kApp + "[[part]]\nlength = \"1 m\"\n[[part]]\nlenght = \"1 m\"\n",
       ":5:1: error E0213", "in part[1]"},
      {"item_range.toml", kApp + "[[part]]\nlength = \"0 m\"\n", ":3:10: error E0214",
       "'part[0].length' must be above 0 m"},
      {"item_missing.toml", kApp + "[[part]]\nlength = \"1 m\"\n[[part]]\n", ":4:1: error E0216",
       "'part[1].length' is missing"},
      {"item_kind.toml", kApp + "[[part]]\nkind = \"disc\"\nlength = \"1 m\"\n",
       ":4:1: error E0219", "it belongs to \"rod\""},
      {"item_single.toml", kApp + "[part]\nlength = \"1 m\"\n", ":2:1: error E0210",
       "write [[part]]"},
      {"item_inline.toml", kApp + "part = [{length = \"1 m\"}, {length = \"1 s\"}]\n",
       ":2:37: error E0212", "got time"},
      {"item_many.toml", kApp + "part = [{}, {}, {}, {}]\n", ":2:8: error E0218", "got 4"},
      {"item_unclosed.toml", kApp + "[[part]\nlength = \"1 m\"\n", ":2:8: error E0110", ""},
      {"item_then_table.toml", kApp + "[[part]]\n[part]\n", ":3:1: error E0113", "part"},
      // JSON
      {"duplicate.json", "{\"app\": \"demo.sample\",\n \"memory\": 1, \"memory\": 2}",
       ":2:15: error E0113", "twice"},
      {"deep.json", "{\"app\": " + repeat("[", 100000), ":1:73: error E0112", "nested deeper"},
      {"deep_objects.json", repeat("{\"a\":", 100000), ": error E0112", "nested deeper"},
      {"null.json", "{\"app\": \"demo.sample\", \"memory\": null}", ":1:34: error E0111", "null"},
      {"1e400.json", "{\"app\": \"demo.sample\", \"memory\": 1e400}", ":1:34: error E0114",
       "out of the range"},
      {"overflow.json", "{\"app\": \"demo.sample\", \"memory\": 9223372036854775808}",
       ":1:34: error E0114", "64 bits"},
      {"nan.json", "{\"app\": \"demo.sample\", \"memory\": NaN}", ":1:34: error E0111",
       "expected a value"},
      {"truncated.json", "{\"app\": \"demo.sam", ":1:9: error E0111", "not closed"},
      {"trailing.json", "{\"app\": \"demo.sample\"} x", ":1:24: error E0111", "after the object"},
      {"unknown.json", "{\"app\": \"demo.sample\",\n\"zebra\": 1}", ":2:1: error E0213", "zebra"},
      {"dimension.json", "{\"app\": \"demo.sample\", \"sum\": {\"scale\": \"5 s\"}}",
       ":1:41: error E0212", "got time"},
      {"item_kind.json",
       "{\"app\": \"demo.sample\",\n\"part\": [{\"length\": \"1 m\"},\n {\"kind\": \"disc\", "
       "\"length\": \"1 m\"}]}",
       ":3:19: error E0219", "'part[1].length' is no key of kind = \"disc\""},
      {"list.json", "[1, 2]", ":1:1: error E0111", "expected '{'"},
  };
}

Outcome command(const fs::path& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TESSERA_SAMPLE_PROGRAM);
  return RunningProgram(std::move(arguments), folder).wait();
}

void expect_refused(const TempFolder& t, const Row& r) {
  for (const std::string verb : {"run", "check"}) {
    const Outcome o = command(t.path(), {verb, r.name});
    EXPECT_EQ(o.code, 5) << r.name << "\n" << o.err.substr(0, 500);
    EXPECT_EQ(o.out, "") << r.name;
    const std::size_t at = o.err.find(r.start);
    EXPECT_NE(at, std::string::npos) << r.name << ": expected '" << r.start << "' in\n"
                                     << o.err.substr(0, 500);
    EXPECT_EQ(o.err.rfind(r.name, 0), 0u) << o.err.substr(0, 500);
    EXPECT_NE(o.err.find(r.words), std::string::npos)
        << r.name << ": expected '" << r.words << "' in\n"
        << o.err.substr(0, 500);
    EXPECT_LT(o.err.size(), 4000u) << r.name;
    EXPECT_FALSE(fs::exists(t.path() / fs::path(r.name).stem().concat(".run"))) << r.name;
  }
}

class BadConfiguration : public ::testing::TestWithParam<Row> {};

TEST_P(BadConfiguration, IsRefusedWithItsPlace) {
  const TempFolder t;
  fs::create_symlink("/dev/zero", t.path() / "zero");
  t.write(GetParam().name, GetParam().text);
  expect_refused(t, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Files, BadConfiguration, ::testing::ValuesIn(rows()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(BadConfigurationFile, WhatIsNoRegularFileIsRefused) {
  const TempFolder t;
  fs::create_directory(t.path() / "folder.toml");
  ASSERT_EQ(::mkfifo((t.path() / "fifo.toml").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", t.path() / "zero.toml");
  fs::create_symlink("loop_b.toml", t.path() / "loop_a.toml");
  fs::create_symlink("loop_a.toml", t.path() / "loop_b.toml");
  t.write("huge.toml", "app");
  fs::resize_file(t.path() / "huge.toml", std::uintmax_t{1} << 30);
  t.write("secret.toml", kApp);
  fs::permissions(t.path() / "secret.toml", fs::perms::none);
  const std::vector<Row> cases = {{"folder.toml", "", ": error E0102", "folder"},
                                  {"fifo.toml", "", ": error E0102", "FIFO"},
                                  {"zero.toml", "", ": error E0102", "device"},
                                  {"loop_a.toml", "", ": error E0101", "cannot be opened"},
                                  {"absent.toml", "", ": error E0101", "No such file"},
                                  {"huge.toml", "", ": error E0103", "larger"}};
  for (const Row& r : cases) expect_refused(t, r);
  if (::geteuid() != 0)
    expect_refused(t, {"secret.toml", "", ": error E0101", "Permission denied"});
}

TEST(BadConfigurationFile, CrlfLoneCrAndAByteOrderMarkAreFine) {
  const TempFolder t;
  for (const std::string text :
       {"app = \"demo.sample\"\r\nmemory = 5\r\n", "app = \"demo.sample\"\rmemory = 5\r",
        "\xef\xbb\xbf"
        "app = \"demo.sample\"\n"}) {
    t.write("good.toml", text);
    EXPECT_EQ(command(t.path(), {"check", "good.toml"}).code, 0) << text;
  }
}

}  // namespace
