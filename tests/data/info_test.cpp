// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/info.h"

#include "input_error.h"
#include "temp_folder.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/plot.h"
#include "tessera/data/run.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>

using namespace tessera::data;
using namespace tessera::testing;

namespace {

std::string npy(const std::string& header, const std::string& data, unsigned char version = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  return out + header + data;
}

const InfoNode* child(const InfoNode& node, const std::string& name) {
  const auto at = std::find_if(node.children.begin(), node.children.end(),
                               [&](const InfoNode& n) { return n.name == name; });
  return at == node.children.end() ? nullptr : &*at;
}
std::string value(const InfoNode& node, const std::string& name) {
  const InfoNode* n = child(node, name);
  return n ? std::get<std::string>(n->value) : "(absent)";
}

}  // namespace

TEST(Info, Hdf5ByContentWhateverTheName) {
  TempFolder dir;
  H5Writer w(dir / "results.dat");
  w.write("tessera/model", std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3}, {"ohm*m", "the model"});
  w.commit();
  const std::string text = to_text(info(dir / "results.dat"));
  EXPECT_NE(text.find("/tessera/model: float64, 2 x 3"), std::string::npos) << text;
  EXPECT_NE(text.find("units: ohm*m"), std::string::npos) << text;
}

TEST(Info, CheckpointManifestAndRunFolder) {
  TempFolder dir;
  RunFolder run = RunFolder::create(dir / "RUN");
  Manifest m = begin_manifest("a.b", {}, 1);
  m.metrics = {{"rms", 1.5}};
  run.write_manifest(m);
  Checkpoint c{.app = "a.b", .step = 4};
  c.put("x", std::vector<double>(6), {2, 3});
  const auto path = write_checkpoint(run.checkpoints(), c);
  EXPECT_NE(to_text(info(path)).find("x: float64, 2 x 3"), std::string::npos);
  EXPECT_EQ(value(info(run.path()), "app"), "a.b");
  EXPECT_NE(to_text(info(run.path())).find("ckpt/step-4.ckpt"), std::string::npos);
  EXPECT_NE(to_json(info(run.manifest_json())).find("{\"name\":\"rms\",\"value\":1.5}"),
            std::string::npos);
  const InfoNode before = info(run.path());
  for (int k = 0; k < 1100; ++k) dir.write("RUN/plots/" + std::to_string(k) + ".csv", "x\n1\n");
  const InfoNode after = info(run.path());
  EXPECT_EQ(std::get<std::int64_t>(child(after, "files")->value),
            std::get<std::int64_t>(child(before, "files")->value) + 1100);
  EXPECT_EQ(child(after, "files")->children.size(), 1000u);
  std::string bytes = read_bytes(path);
  bytes[40] ^= 1;
  expect_input_error([&] { info(dir.write("bad.ckpt", bytes)); }, ExitCode::checkpoint_damaged,
                     414);
  expect_input_error([&] { info(dir.path()); }, ExitCode::input_invalid, 402);
}

TEST(Info, ConfigurationsAndTables) {
  TempFolder dir;
  const InfoNode toml = info(dir.write("a.toml", "app = \"x.y\"\n[s]\nn = 3\nlist = [1, 2]\n"));
  EXPECT_EQ(value(toml, "app"), "x.y");
  EXPECT_EQ(std::get<std::int64_t>(child(*child(toml, "s"), "n")->value), 3);
  EXPECT_EQ(value(info(dir.write("b.txt", "{\"app\": \"x.y\"}")), "format"), "JSON");
  expect_input_error([&] { info(dir.write("c.toml", "a = = 1\n")); }, ExitCode::input_invalid, 110);
  const InfoNode csv = info(dir.write("m.csv", "i,\"a,b\"\n1,2\n3,\"x\ny\"\n"));
  EXPECT_EQ(std::get<std::int64_t>(child(csv, "rows")->value), 2);
  EXPECT_EQ(child(csv, "columns")->children[1].name, "a,b");
  const std::string text = expect_input_error([&] { info(dir.write("n.csv", "a,b\n1,2\n1\n")); },
                                              ExitCode::input_invalid, 433);
  EXPECT_NE(text.find("n.csv:3"), std::string::npos) << text;
  expect_input_error([&] { info(dir.write("o.csv", "a,b\n\"1,2\n")); }, ExitCode::input_invalid,
                     433);
}

TEST(Info, CommentsRangesAndSeveralTables) {
  TempFolder dir;
  const InfoNode csv =
      info(dir.write("a.csv", "# plot\n# x in s\nx,y,name\n-1,+2.5,a\n3,,b\n\nx,k\n1,2\n"));
  EXPECT_EQ(value(csv, "comment"), "plot");
  EXPECT_EQ(value(*child(csv, "columns"), "x"), "-1 to 3");
  EXPECT_EQ(value(*child(csv, "columns"), "y"), "2.5 to 2.5");
  EXPECT_EQ(child(*child(csv, "columns"), "name")->value.index(), 0U);
  EXPECT_EQ(value(csv.children.back(), "k"), "2 to 2");
  const InfoNode columns = info(dir.write("b.txt", "# c\ntime\n 0 1e-3\n 1; 2e-3\n"));
  EXPECT_EQ(value(columns, "format"), "columns");
  EXPECT_EQ(value(*child(columns, "columns"), "column 2"), "0.001 to 0.002");
  EXPECT_EQ(value(info(dir.write("c.dat", "1 2\n")), "format"), "columns");
  expect_input_error([&] { info(dir.write("d.txt", "1 2\n3\n")); }, ExitCode::input_invalid, 433);
  expect_input_error([&] { info(dir.write("e.txt", "1 2\n3 x\n")); }, ExitCode::input_invalid, 433);
  expect_input_error([&] { info(dir.write("f.txt", "words\n")); }, ExitCode::input_invalid, 433);
}

TEST(Info, PlotsAndLogs) {
  TempFolder dir;
  const Figure figure{
      .width = 120, .height = 80, .panels = {{.series = {Line{.x = {0, 1}, .y = {0, 1}}}}}};
  for (const char* name : {"a.svg", "a.png"}) save(figure, dir / name);
  const InfoNode png = info(dir / "a.png");
  EXPECT_EQ(value(png, "format"), "PNG");
  EXPECT_GT(std::get<std::int64_t>(child(png, "width")->value),
            std::get<std::int64_t>(child(png, "height")->value));
  EXPECT_EQ(value(info(dir / "a.svg"), "format"), "SVG");
  std::string bytes = read_bytes(dir / "a.png");
  expect_input_error([&] { info(dir.write("cut.png", bytes.substr(0, bytes.size() - 6))); },
                     ExitCode::input_invalid, 434);
  expect_input_error([&] { info(dir.write("short.png", bytes.substr(0, 20))); },
                     ExitCode::input_invalid, 434);
  bytes[60] ^= 1;
  expect_input_error([&] { info(dir.write("bad.png", bytes)); }, ExitCode::input_invalid, 434);
  for (const char* no_png : {"abc", "\xff\xd8\xff\xe0 a photograph of something else"})
    expect_input_error([&] { info(dir.write("other.png", no_png)); }, ExitCode::input_invalid, 434);
  expect_input_error([&] { info(dir.write("bad.svg", "<svg><g></svg>")); }, ExitCode::input_invalid,
                     434);
  const InfoNode log = info(
      dir.write("log.txt",
                "2026-01-31T12:00:00.000Z info    began\nand went on\n2026-01-31T12:00:01.500Z "
                "warning hm\n2026-01-31T12:00:02.000Z info    ended\n"));
  EXPECT_EQ(value(log, "format"), "log");
  EXPECT_EQ(value(log, "last"), "2026-01-31T12:00:02.000Z");
  EXPECT_EQ(std::get<std::int64_t>(child(log, "info")->value), 2);
  EXPECT_EQ(std::get<std::int64_t>(child(log, "warning")->value), 1);
}

TEST(Info, AnyJson) {
  TempFolder dir;
  const InfoNode node =
      info(dir.write("a.json", "{\"eta_s\": null, \"list\": [1, 2], \"in\": {\"x\": -3}}"));
  EXPECT_EQ(value(node, "eta_s"), "null");
  EXPECT_EQ(value(node, "list"), "list of 2");
  EXPECT_EQ(std::get<std::int64_t>(child(*child(node, "in"), "x")->value), -3);
  const std::string text = expect_input_error([&] { info(dir.write("b.json", "{\n\"a\": }")); },
                                              ExitCode::input_invalid, 111);
  EXPECT_NE(text.find("b.json:2:6"), std::string::npos) << text;
  const InfoNode large = info(dir.write("d.json", "{\"seed\": 18446744073709551615}"));
  EXPECT_EQ(value(large, "seed"), "18446744073709551615");
  expect_input_error([&] { info(dir.write("e.json", "{\"x\": 1e999}")); }, ExitCode::input_invalid,
                     114);
  std::string deep = "{\"a\":";
  for (int k = 0; k < 100'000; ++k) deep += '[';
  info(dir.write("deep.json", "{\"a\": [[[[]]]]}"));
  expect_input_error([&] { info(dir.write("c.json", deep)); }, ExitCode::input_invalid, 111);
}

TEST(Info, WhatGzipPackedIsKnownByItsContentAndName) {
  TempFolder dir;
  for (const auto& [name, text, format] :
       {std::array<std::string, 3>{"a.csv.gz", "a,b\n1,2\n", "CSV"},
        {"log.txt.gz", "2026-01-31T12:00:00.000Z info    began\n", "log"}}) {
    gzFile file = gzopen((dir / name).c_str(), "wb");
    ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
              static_cast<int>(text.size()));
    gzclose(file);
    EXPECT_EQ(value(info(dir / name), "format"), format);
  }
}

TEST(Info, NpyHeadersAreParsedNotEvaluated) {
  TempFolder dir;
  const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n";
  const InfoNode node = info(dir.write("a.npy", npy(good, std::string(48, '\0'))));
  EXPECT_EQ(value(node, "type"), "<f8");
  EXPECT_EQ(value(node, "shape"), "2 x 3");
  int i = 0;
  for (const std::string& bad :
       {npy(good, std::string(47, '\0')), npy(good, std::string(48, '\0'), 9),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "x"),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", ""),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", ""),
        npy("{'descr': '<f8', 'shape': (1,)}", ""),
        npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", ""),
        npy("__import__('os').abort()", ""),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)", ""), npy("{", ""),
        std::string("\x93NUMPY\x01"), std::string("\x93NUMPY\x01\x00\xff\xff{", 11)})
    expect_input_error([&] { info(dir.write("bad" + std::to_string(i++) + ".npy", bad)); },
                       ExitCode::input_invalid, 431);
}

TEST(Info, VtkXml) {
  TempFolder dir;
  const std::string good =
      "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 1 0 1 0 0\"><Piece Extent=\"0 1 0 1 "
      "0 0\">"
      "<PointData><DataArray Name=\"rho\" type=\"Float64\"/></PointData></Piece></ImageData>";
  const std::string text = to_text(
      info(dir.write("a.vti", good + "<AppendedData encoding=\"raw\">_" +
                                  std::string("\xff\0<", 3) + "</AppendedData></VTKFile>")));
  EXPECT_NE(text.find("rho: Float64"), std::string::npos) << text;
  expect_input_error([&] { info(dir.write("b.vti", good)); }, ExitCode::input_invalid, 432);
  expect_input_error([&] { info(dir.write("c.vti", "<VTKFile type=\"Other\"></VTKFile>")); },
                     ExitCode::input_invalid, 432);
  expect_input_error([&] { info(dir.write("d.vti", good + "<AppendedData>_")); },
                     ExitCode::input_invalid, 432);
}

TEST(Info, UnknownEmptyAndOddFilesAreSaid) {
  TempFolder dir;
  expect_input_error([&] { info(dir.write("a.xyz", "hello")); }, ExitCode::input_invalid, 430);
  expect_input_error([&] { info(dir.write("empty.h5", "")); }, ExitCode::input_invalid, 430);
  expect_input_error([&] { info(dir / "missing"); }, ExitCode::input_invalid, 401);
  expect_input_error([&] { info("/dev/zero"); }, ExitCode::input_invalid, 402);
}

TEST(Info, OutputCannotSteerATerminalAndParses) {
  const InfoNode node{"a\x1b[2J\n", std::string("q\"\xff\\"), {}};
  EXPECT_EQ(to_text(node), "a?[2J : q\"\xff\\\n");
  EXPECT_EQ(to_text(InfoNode{"\u009b2J\u00e9", {}, {}}), "?2J\u00e9\n");
  EXPECT_EQ(to_json(node), "{\"name\":\"a\\u001b[2J\\n\",\"value\":\"q\\\"\xef\xbf\xbd\\\\\"}");
}

TEST(Info, OthersRegisterTheirFormats) {
  TempFolder dir;
  const RegisterFormat registered(
      {.name = "toy",
       .summary = "a toy",
       .extensions = {".toy"},
       .sniff = [](std::string_view head,
                   const std::filesystem::path&) { return head.starts_with("TOY"); },
       .summarize =
           [](const std::filesystem::path&) {
             return InfoNode{"toy", {}, {}};
           }});
  EXPECT_EQ(value(info(dir.write("x", "TOY 1")), "format"), "toy");
  const auto formats = all_formats();
  EXPECT_TRUE(std::any_of(formats.begin(), formats.end(),
                          [](const FileFormat& f) { return f.name == "toy"; }));
}
