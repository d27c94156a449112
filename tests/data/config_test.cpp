// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/config.h"

#include "temp_folder.h"

#include <gtest/gtest.h>

using namespace tessera::data;
using tessera::testing::TempFolder;
namespace fs = std::filesystem;

namespace {

const Value* at(const Config& c, std::initializer_list<const char*> path) {
  const Value* v = &c.root;
  for (const char* key : path) {
    const Member* m = v->get<Table>() ? find(*v->get<Table>(), key) : nullptr;
    if (!m) return nullptr;
    v = &m->value;
  }
  return v;
}

/// The first finding of a text that must not parse; a default Diagnostic if it does.
Diagnostic failure(const std::string& text, ConfigFormat format = ConfigFormat::toml) {
  try {
    const Config c = parse_config("case", text, format);
    return c.findings.empty() ? Diagnostic{} : c.findings.front();
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), ExitCode::config_invalid);
    return e.findings().at(0);
  }
}

std::string repeat(const std::string& s, std::size_t n) {
  std::string out;
  out.reserve(s.size() * n);
  for (std::size_t i = 0; i < n; ++i) out += s;
  return out;
}

}  // namespace

TEST(Config, KeepsEveryValueWithItsPlace) {
  const Config c = parse_config("em.toml",
                                "app = \"a.b\"\n"
                                "[mesh]\n"
                                "  size = [1, 2.5, \"3 m\"]  # three\n"
                                "deep.er = true\n"
                                "when = 1979-05-27\n");
  EXPECT_EQ(c.app(), "a.b");
  const Value* size = at(c, {"mesh", "size"});
  ASSERT_TRUE(size);
  EXPECT_EQ(size->origin.line, 3u);
  EXPECT_EQ(size->origin.column, 10u);
  const Array& items = *size->get<Array>();
  EXPECT_EQ(*items[0].get<std::int64_t>(), 1);
  EXPECT_EQ(*items[1].get<double>(), 2.5);
  EXPECT_EQ(*items[2].get<std::string>(), "3 m");
  EXPECT_EQ(items[2].origin.column, 19u);
  EXPECT_EQ(*at(c, {"mesh", "deep", "er"})->get<bool>(), true);
  EXPECT_EQ(at(c, {"mesh", "when"})->get<Date>()->text, "1979-05-27");
  EXPECT_EQ(find(*at(c, {"mesh"})->get<Table>(), "size")->origin.column, 3u);
}

TEST(Config, CountsColumnsInBytesBehindWideCharacters) {
  const Config c = parse_config("a.toml", "x = {\"\xc3\xa4\xe2\x82\xac\" = 1, y = 2}\n");
  EXPECT_EQ(at(c, {"x", "y"})->origin.column, 23u);
}

TEST(Config, JsonGivesTheSameTreeAsToml) {
  const Config j = parse_config("a.json",
                                "{\n \"app\": \"a.b\",\n \"mesh\": {\"size\": [1, 2.5, "
                                "\"\\u00e4\\ud83d\\ude42\\n\"], \"on\": true}\n}",
                                ConfigFormat::json);
  EXPECT_EQ(j.app(), "a.b");
  const Value* size = at(j, {"mesh", "size"});
  EXPECT_EQ(size->origin.line, 3u);
  EXPECT_EQ(size->origin.column, 19u);
  EXPECT_EQ(*size->get<Array>()->at(2).get<std::string>(), "\xc3\xa4\xf0\x9f\x99\x82\n");
  EXPECT_TRUE(*at(j, {"mesh", "on"})->get<bool>());
}

TEST(Config, RejectsWhatIsNoToml) {
  const struct {
    const char* text;
    int number;
    std::size_t line;
  } cases[] = {
      {"a = 1\na = 2\n", 113, 2},
      {"[t]\n[t]\n", 113, 2},
      {"a = 1\n[a]\n", 113, 2},
      {"a = \n", 110, 1},
      {"a = 1d5\n", 110, 1},
      {"\n\na = 0x\n", 110, 3},
      {"a = --5\n", 110, 1},
      {"a = 1,5\n", 110, 1},
      {"a = 9223372036854775808\n", 114, 1},
      {"a = [1, 2\n", 110, 1},
      {"a = \"open\nb = 1\n", 110, 1},
      {"a 1\n", 110, 1},
      {"b = 1\na = nan\n", 114, 2},
      {"a = -inf\n", 114, 1},
      {"a = 1e400\n", 114, 1},
      {"a = [1.0, [inf]]\n", 114, 1},
      {"a = 1979-13-40\n", 110, 1},
      {"a = '''x\n", 110, 1},
      {"= 1\n", 110, 1},
      {"a = 1 2\n", 110, 1},
      {"a.b = 1\na.b.c = 2\n", 113, 2},
      {"a = [}\n", 110, 1},
      {"b = 1\na = {x = [}]\n", 110, 2},
      {"\n\xce\xa9 = 1\n", 110, 2},
      {"a = \xce\xa9\n", 110, 1},
      {"a = \"\"\"\\\xce\xa9\"\"\"\n", 110, 1},
      {"a = 2.5l\"\xc3\x85, 1\n", 110, 1},
      {"a = 1]\n", 110, 1},
  };
  for (const auto& c : cases) {
    const Diagnostic d = failure(c.text);
    EXPECT_EQ(d.number, c.number) << c.text << to_string(d);
    EXPECT_GE(d.place.line, c.line) << c.text << to_string(d);
    EXPECT_GE(d.place.column, 1u) << c.text;
    EXPECT_FALSE(d.message.empty());
  }
}

TEST(Config, RejectsWhatIsNoJson) {
  const char* cases[] = {"[1]",
                         "{",
                         "{\"a\"}",
                         "{\"a\":}",
                         "{\"a\":1,}",
                         "{\"a\":[1,]}",
                         "{\"a\":01}",
                         "{\"a\":+5}",
                         "{\"a\":.5}",
                         "{\"a\":5.}",
                         "{\"a\":--5}",
                         "{\"a\":1e}",
                         "{\"a\":nan}",
                         "{\"a\":Infinity}",
                         "{\"a\":null}",
                         "{\"a\":\"x}",
                         "{\"a\":\"\\x\"}",
                         "{\"a\":\"\\u12\"}",
                         "{\"a\":\"\\ud800\"}",
                         "{\"a\":\"\\udc00\"}",
                         "{\"a\":\"\\u0000\"}",
                         "{\"a\":\"\t\"}",
                         "{\"a\":1} x",
                         "{a:1}",
                         "{'a':1}",
                         "{\"a\":tru}",
                         "// c\n{}",
                         "{\"a\":0x1}",
                         "{\"a\" 1}",
                         "{\"a\":1 \"b\":2}"};
  for (const char* text : cases) EXPECT_EQ(failure(text, ConfigFormat::json).number, 111) << text;
  EXPECT_EQ(failure("{\"a\":1e400}", ConfigFormat::json).number, 114);
  EXPECT_EQ(failure("{\"a\":9223372036854775808}", ConfigFormat::json).number, 114);
  const Diagnostic twice = failure("{\"a\":1,\n\"b\":2,\n \"a\":3}", ConfigFormat::json);
  EXPECT_EQ(twice.number, 113);
  EXPECT_EQ(twice.place.line, 3u);
  EXPECT_EQ(twice.place.column, 2u);
}

TEST(Config, SurvivesDeepNesting) {
  const std::size_t n = 100000;
  EXPECT_EQ(failure("a = " + repeat("[", n) + repeat("]", n)).number, 112);
  EXPECT_EQ(failure("a = " + repeat("{b = ", n)).number, 112);
  EXPECT_EQ(failure(repeat("a.", n) + "b = 1").number, 112);
  EXPECT_EQ(failure("[" + repeat("a.", n) + "b]").number, 112);
  EXPECT_EQ(failure("a = {" + repeat("\"x\".", n) + "b = 1}").number, 112);
  EXPECT_EQ(failure("{\"a\":" + repeat("[", n), ConfigFormat::json).number, 112);
  EXPECT_EQ(failure(repeat("{\"a\":", n), ConfigFormat::json).number, 112);
  EXPECT_EQ(failure("a = " + repeat("[", 60) + "1" + repeat("]", 60)).number, 0);
  // Brackets and points inside strings and comments do not count.
  EXPECT_EQ(failure("a = \"" + repeat("[.", 1000) + "\" # " + repeat("[", 1000) + "\nb = '" +
                    repeat("{", 1000) + "'\nc = \"\"\"\n" + repeat("[", 1000) + "\\\"\"\"\"\"\n")
                .number,
            0);
}

TEST(Config, RefusesBinaryWideAndOversizedText) {
  EXPECT_EQ(failure("").number, 107);
  EXPECT_EQ(failure(std::string("a = 1\0", 6)).number, 105);
  EXPECT_EQ(failure("a = \"\xff\"").number, 106);
  EXPECT_EQ(failure(std::string("\xff\xfe"
                                "a\0",
                                4))
                .number,
            104);
  EXPECT_EQ(failure("a = \"" + std::string(4 << 20, 'x') + "\"").number, 103);
  EXPECT_EQ(parse_config("bom",
                         "\xef\xbb\xbf"
                         "a = 1\r\nb = 2\r")
                .table()
                .size(),
            2u);
}

TEST(Config, OverridesWinAndAreNamedAsTheirPlace) {
  const Config c = parse_config(
      "a.toml", "app = \"a.b\"\n[s]\nx = 1\ny = 2\n", ConfigFormat::toml,
      {"s.x=2fs", "s.z=[1, 2]", "new.on=true", "s.n=-7", "s.r=1e-3", "s.t=\"5\"", "s.e=a=b"});
  EXPECT_EQ(*at(c, {"s", "x"})->get<std::string>(), "2fs");
  EXPECT_EQ(*at(c, {"s", "y"})->get<std::int64_t>(), 2);
  EXPECT_EQ(at(c, {"s", "z"})->get<Array>()->size(), 2u);
  EXPECT_TRUE(*at(c, {"new", "on"})->get<bool>());
  EXPECT_EQ(*at(c, {"s", "n"})->get<std::int64_t>(), -7);
  EXPECT_EQ(*at(c, {"s", "r"})->get<double>(), 1e-3);
  EXPECT_EQ(*at(c, {"s", "t"})->get<std::string>(), "5");
  EXPECT_EQ(*at(c, {"s", "e"})->get<std::string>(), "a=b");
  const Diagnostic d = c.error(214, at(c, {"s", "x"})->origin, "m");
  EXPECT_EQ(to_string(d), "--set s.x=2fs: error E0214: m");
  for (const char* bad : {"", "x", "=1", "x=", "a..b=1", ".a=1", "a b=1", "x=[1", "x=\"a\" \"b\"",
                          "x=1e400", "include=[\"a\"]", "x=1\ny=2", "x=a\xff", "x=\xc3", "x\xe4=1"})
    EXPECT_THROW(parse_config("a", "app = 'a.b'", ConfigFormat::toml, {bad}), InputError) << bad;
  EXPECT_EQ(*at(parse_config("a", "app = 'a.b'", ConfigFormat::toml, {"x=\xc3\xa4"}), {"x"})
                 ->get<std::string>(),
            "\xc3\xa4");
}

TEST(Config, AnOverriddenTableHasTheKeysThatAreGivenAlone) {
  const auto with = [](const std::vector<std::string>& overrides) {
    return parse_config("a.toml",
                        "app = \"a.b\"\n"
                        "w = {kind = \"gaussian\", low = 1, high = 2}\n"
                        "[[m]]\nname = \"a\"\nx = 1\n[[m]]\nname = \"b\"\nx = 2\n",
                        ConfigFormat::toml, overrides);
  };
  const auto item = [](const Config& c, std::size_t k) -> const Table& {
    return *at(c, {"m"})->get<Array>()->at(k).get<Table>();
  };
  const Config whole = with({"w={kind=\"ricker\", f=3}"});
  EXPECT_EQ(*at(whole, {"w", "kind"})->get<std::string>(), "ricker");
  EXPECT_EQ(at(whole, {"w"})->get<Table>()->size(), 2u);
  for (const char* key : {"w", "w.kind", "w.low"})
    EXPECT_EQ(to_string(whole.error(219, key, "x")),
              "--set w={kind=\"ricker\", f=3}: error E0219: x")
        << key;
  EXPECT_TRUE(at(with({"w={}"}), {"w"})->get<Table>()->empty());
  // One key with dots is one key, also behind such a table.
  EXPECT_EQ(at(with({"w.low=5"}), {"w"})->get<Table>()->size(), 3u);
  const Config both = with({"w={}", "w.low=5"});
  EXPECT_EQ(at(both, {"w"})->get<Table>()->size(), 1u);
  EXPECT_EQ(*at(both, {"w", "low"})->get<std::int64_t>(), 5);
  // Items of lists likewise, and the others stay.
  const Config second = with({"m[1]={y=4}"});
  EXPECT_EQ(item(second, 0).size(), 2u);
  ASSERT_EQ(item(second, 1).size(), 1u);
  EXPECT_EQ(item(second, 1)[0].key, "y");
  EXPECT_EQ(second.origin("m[1].y").line, 0u);
  EXPECT_EQ(second.origin("m[0].x").line, 5u);
  EXPECT_EQ(item(with({"m[1].x=7"}), 1).size(), 2u);
  EXPECT_EQ(at(with({"m=[{name=\"c\"}]"}), {"m"})->get<Array>()->size(), 1u);
}

TEST(Config, IncludesMergeBelowTheIncludingFile) {
  const TempFolder t;
  t.write("sub/base.toml", "include = [\"more.json\"]\n[s]\nx = 1\ny = 1\nl = [1, 2, 3]\n");
  t.write("sub/more.json", "{\"s\": {\"y\": 5, \"z\": 5}}");
  const Config c = read_config(
      t.write("main.toml", "app = \"a.b\"\ninclude = [\"sub/base.toml\"]\n[s]\nx = 9\nl = [7]\n"));
  EXPECT_EQ(*at(c, {"s", "x"})->get<std::int64_t>(), 9);
  EXPECT_EQ(*at(c, {"s", "y"})->get<std::int64_t>(), 1);
  EXPECT_EQ(*at(c, {"s", "z"})->get<std::int64_t>(), 5);
  EXPECT_EQ(at(c, {"s", "l"})->get<Array>()->size(), 1u);
  EXPECT_EQ(find(c.table(), "include"), nullptr);
  ASSERT_EQ(c.sources.size(), 3u);
  EXPECT_EQ(c.error(1, at(c, {"s", "z"})->origin, "").place.file,
            (t.path() / "sub/more.json").string());
}

TEST(Config, IncludesStayInsideTheFolder) {
  const TempFolder t;
  t.write("secret.toml", "x = 1\n");
  t.write("project/loop_a.toml", "include = [\"loop_b.toml\"]\n");
  t.write("project/loop_b.toml", "include = [\"loop_a.toml\"]\n");
  t.write("project/self.toml", "include = [\"case.toml\"]\n");
  fs::create_symlink(t.path() / "secret.toml", t.path() / "project/link.toml");
  fs::create_directory_symlink(t.path(), t.path() / "project/up");
  fs::create_symlink("dangling", t.path() / "project/dangling.toml");
  const auto number = [&](const std::string& include) {
    try {
      read_config(t.write("project/case.toml", "app = \"a.b\"\ninclude = [" + include + "]\n"));
    } catch (const InputError& e) {
      EXPECT_EQ(e.code(), ExitCode::config_invalid);
      EXPECT_EQ(e.findings().at(0).place.line, 2u - (include.find("loop_") != std::string::npos ||
                                                     include.find("self") != std::string::npos));
      return e.findings().at(0).number;
    }
    return 0;
  };
  EXPECT_EQ(number("\"../secret.toml\""), 120);
  EXPECT_EQ(number("\"sub/../../secret.toml\""), 120);
  EXPECT_EQ(number("\"../../etc/passwd\""), 120);
  EXPECT_EQ(number("\"" + (t.path() / "project/loop.toml").string() + "\""), 120);
  EXPECT_EQ(number("\"link.toml\""), 120);
  EXPECT_EQ(number("\"up/secret.toml\""), 120);
  EXPECT_EQ(number("\"\""), 120);
  EXPECT_EQ(number("\"absent.toml\""), 101);
  EXPECT_EQ(number("\"dangling.toml\""), 101);
  EXPECT_EQ(number("\"loop_a.toml\""), 121);
  EXPECT_EQ(number("\"self.toml\""), 121);
  EXPECT_EQ(number("5"), 210);
  std::string chain = "\"c0.toml\"";
  for (int i = 0; i < 20; ++i)
    t.write("project/c" + std::to_string(i) + ".toml",
            "include = [\"c" + std::to_string(i + 1) + ".toml\"]\n");
  try {
    read_config(t.write("project/case.toml", "app = \"a.b\"\ninclude = [" + chain + "]\n"));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.findings().at(0).number, 122);
  }
}

TEST(Config, NamesAMissingApp) {
  try {
    parse_config("a.toml", "x = 1\n").app();
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.findings().at(0).number, 201);
  }
  EXPECT_THROW(parse_config("a.toml", "app = 1\n").app(), InputError);
}

TEST(Config, ReadsWideCharactersBehindAFoldedLine) {
  const Config c = parse_config("a", "a = \"\"\"x\\\n  \xce\xa9\"\"\" # \xce\xa9\n");
  EXPECT_EQ(*at(c, {"a"})->get<std::string>(), "x\xce\xa9");
}

// With every default, a case of thousands of bodies is longer than a megabyte, and each list stands
// on one line.
TEST(Config, TextsOfLargeCasesAreRead) {
  std::string bodies;
  for (int i = 0; i < 10000; ++i)
    bodies += "[[structure]]\n# name is not set\nradius = \"0.1 um\"\n# inner_radius is not set\n";
  EXPECT_EQ(at(parse_config("resolved.toml", bodies), {"structure"})->get<Array>()->size(), 10000u);
  const Config list =
      parse_config("resolved.toml", "a = [1" + repeat(", 1.25e-13", 150000) + "]\n");
  EXPECT_EQ(at(list, {"a"})->get<Array>()->size(), 150001u);
}

TEST(Config, HalfAMillionBytesOnOneLineAreReadInLinearTime) {
  // Quadratic work would be 10^10 steps here: the test's own time limit would end it.
  const Config c = parse_config("a", "a = [\"\xc3\xa4\"" + repeat(",1", 200000) + "]\n");
  const Array& items = *at(c, {"a"})->get<Array>();
  ASSERT_EQ(items.size(), 200001u);
  EXPECT_EQ(items.back().origin.column, 9u + 2 * 200000);
}
