// SPDX-License-Identifier: Apache-2.0
// The tree holds the order of cmake/layers.txt, and of folders within modules; and the check itself
// finds each planted violation.
#include "layers.h"

#include "folders.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <fstream>

namespace fs = std::filesystem;
namespace {

std::string listing(const std::vector<layers::Violation>& found) {
  std::string all;
  for (const layers::Violation& v : found)
    all += v.file + ":" + std::to_string(v.line) + ": " + v.why + "\n";
  return all;
}

/// A tree of two modules, `low` and `high` (which may use low), in a folder of its own.
class Planted : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("tessera_layers_" + std::to_string(::getpid()));
    fs::remove_all(root_);
    write("cmake/layers.txt", "low:\nautodiff: low\nhigh: low autodiff\n", false);
    write("low/include/tessera/low/a.h", "#pragma once\n#include <vector>\n");
    write("low/src/a.cpp", "#include \"tessera/low/a.h\"\n#include <hdf5.h>\n");
    write("high/include/tessera/high/b.h", "#pragma once\n#include \"tessera/low/a.h\"\n");
    write("high/src/b.cpp", "#include \"tessera/high/b.h\"\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text, bool spdx = true) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << (spdx ? "// SPDX-License-Identifier: Apache-2.0\n" : "") << text;
  }
  std::vector<layers::Violation> check() {
    return layers::check(root_, layers::read_order(root_ / "cmake/layers.txt"));
  }
  /// Exactly one violation, in this file and line, whose text holds `why`.
  void expect_only(const std::string& file, int line, const std::string& why) {
    const auto found = check();
    ASSERT_EQ(found.size(), 1u) << listing(found);
    EXPECT_EQ(found[0].file, file);
    EXPECT_EQ(found[0].line, line);
    EXPECT_NE(found[0].why.find(why), std::string::npos) << found[0].why;
  }
  fs::path root_;
};

}  // namespace

TEST(Layers, OurTreeHoldsTheOrder) {
  const fs::path root = TESSERA_SOURCE_DIR;
  const auto found = layers::check(root, layers::read_order(root / "cmake/layers.txt"));
  EXPECT_TRUE(found.empty()) << listing(found);
}

TEST(Layers, NoTwoFoldersOfOurTreeUseEachOther) {
  const fs::path root = TESSERA_SOURCE_DIR;
  const auto found = layers::check_folders(root, layers::read_order(root / "cmake/layers.txt"),
                                           layers::read_folder_rules(root / "cmake/folders.txt"));
  EXPECT_TRUE(found.empty()) << listing(found);
}

TEST_F(Planted, CleanTreePasses) { EXPECT_EQ(listing(check()), ""); }

TEST_F(Planted, UpwardIncludeIsFound) {
  write("low/src/up.cpp", "#include <vector>\n#include \"tessera/high/b.h\"\n");
  expect_only("low/src/up.cpp", 3, "low may not include high");
}

TEST_F(Planted, RelativeNamesStayInTheModule) {
  write("low/src/ops/x.cpp", "#include \"../a.h\"\n");
  write("low/src/a.h", "#pragma once\n");
  EXPECT_EQ(listing(check()), "");
  write("low/src/ops/x.cpp", "#include \"../../../high/include/tessera/high/b.h\"\n");
  expect_only("low/src/ops/x.cpp", 2, "leads out of low");
}

TEST_F(Planted, SidewaysIncludeIsFound) {
  write("cmake/layers.txt", "low:\nautodiff: low\nhigh: low autodiff\nside: low\n", false);
  write("side/include/tessera/side/s.h", "#pragma once\n#include \"tessera/high/b.h\"\n");
  expect_only("side/include/tessera/side/s.h", 3, "side may not include high");
}

TEST_F(Planted, ThirdPartyInPublicHeaderIsFound) {
  for (const char* header :
       {"petscksp.h", "hdf5.h", "vtkNew.h", "mpi.h", "nccl.h", "cuda_runtime.h", "toml++/toml.h",
        "CLI/CLI.hpp", "nlohmann/json.hpp", "spdlog/spdlog.h", "cairo/cairo.h", "pugixml.hpp"}) {
    write("low/include/tessera/low/t.h",
          std::string("#pragma once\n#  include <") + header + ">\n");
    expect_only("low/include/tessera/low/t.h", 3, header);
  }
}

TEST_F(Planted, EigenOnlyInAutodiffsBridge) {
  write("autodiff/include/tessera/autodiff/eigen.h", "#pragma once\n#include <Eigen/Core>\n");
  EXPECT_EQ(listing(check()), "");
  write("autodiff/include/tessera/autodiff/other.h", "#pragma once\n#include <Eigen/Core>\n");
  expect_only("autodiff/include/tessera/autodiff/other.h", 3, "eigen.h");
}

TEST_F(Planted, CycleOfHeadersIsFound) {
  write("low/include/tessera/low/a.h", "#pragma once\n#include \"tessera/low/c.h\"\n");
  write("low/include/tessera/low/c.h", "#pragma once\n#include \"tessera/low/a.h\"\n");
  expect_only("low/include/tessera/low/c.h", 0, "cycle");
}

TEST_F(Planted, MissingSpdxPragmaAndHeaderAreFound) {
  write("low/src/bare.cpp", "int f();\n", false);
  expect_only("low/src/bare.cpp", 1, "SPDX");
  write("low/src/bare.cpp", "int f();\n");
  write("low/include/tessera/low/d.h", "int f();\n");
  expect_only("low/include/tessera/low/d.h", 0, "#pragma once");
  write("low/include/tessera/low/d.h", "#pragma once\n#include \"tessera/low/gone.h\"\n");
  expect_only("low/include/tessera/low/d.h", 3, "does not exist");
}

TEST_F(Planted, WordsInCommentsAndStringsAreNotIncludes) {
  write("low/src/text.cpp",
        "/*\n#include \"tessera/high/b.h\"\n*/\nconst char* s = R\"(\n#include "
        "\"tessera/high/b.h\"\n)\";\n"
        "// #include \"tessera/high/b.h\"\nconst char* t = \"// /*\";\n#include "
        "\"tessera/low/a.h\"\n");
  EXPECT_EQ(listing(check()), "");
}

TEST_F(Planted, AnOrderThatLooksUpIsRefused) {
  write("cmake/layers.txt", "low: high\nhigh: low\n", false);
  EXPECT_THROW(layers::read_order(root_ / "cmake/layers.txt"), std::runtime_error);
}

// ---- folders of a module ----

namespace {

/// A module of two folders, of which `up` uses `down`.
class PlantedFolders : public Planted {
 protected:
  void SetUp() override {
    Planted::SetUp();
    fs::remove_all(root_);
    write("cmake/layers.txt", "low:\n", false);
    rules("");
    write("low/src/down/d.h", "#pragma once\n");
    write("low/src/down/d.cpp", "#include \"down/d.h\"\n");
    write("low/src/up/u.h", "#pragma once\n#include \"down/d.h\"\n");
    write("low/src/up/u.cpp", "#include \"u.h\"\n");
  }
  void rules(const std::string& text) { write("cmake/folders.txt", text, false); }
  void header(const std::string& name, const std::string& text = "") {
    write("low/include/tessera/low/" + name, "#pragma once\n" + text);
  }
  std::vector<layers::Violation> check() {
    return layers::check_folders(root_, layers::read_order(root_ / "cmake/layers.txt"),
                                 layers::read_folder_rules(root_ / "cmake/folders.txt"));
  }
  /// Exactly one violation, in this file and line, that names all of these.
  void expect_only(const std::string& file, int line, const std::vector<std::string>& named) {
    const auto found = check();
    ASSERT_EQ(found.size(), 1u) << listing(found);
    EXPECT_EQ(found[0].file, file);
    EXPECT_EQ(found[0].line, line);
    for (const std::string& name : named)
      EXPECT_NE(found[0].why.find(name), std::string::npos)
          << name << " is not in: " << found[0].why;
  }
};

}  // namespace

TEST_F(PlantedFolders, OneWayPasses) { EXPECT_EQ(listing(check()), ""); }

TEST_F(PlantedFolders, TwoThatUseEachOtherAreNamedWithAnIncludeOfEach) {
  write("low/src/down/d.cpp", "#include \"down/d.h\"\n#include \"../up/u.h\"\n");
  expect_only("low/src/down/d.cpp", 3,
              {"low/src/down and low/src/up use each other",
               "low/src/down/d.cpp:3 includes '../up/u.h' of low/src/up",
               "low/src/up/u.h:3 includes 'down/d.h' of low/src/down"});
}

TEST_F(PlantedFolders, ThreeInACircleAreNamedWithEachStep) {
  write("low/src/far/f.h", "#pragma once\n#include \"up/u.h\"\n");
  EXPECT_EQ(listing(check()), "");
  write("low/src/down/d.cpp", "#include \"far/f.h\"\n");
  expect_only("low/src/down/d.cpp", 2,
              {"by way of others", "low/src/down/d.cpp:2 includes", "low/src/far/f.h:3 includes",
               "low/src/up/u.h:3 includes"});
}

TEST_F(PlantedFolders, AFolderAndItsSubFolderAreTwo) {
  write("low/src/down/deep/e.h", "#pragma once\n#include \"down/d.h\"\n");
  EXPECT_EQ(listing(check()), "");
  write("low/src/down/d.cpp", "#include \"deep/e.h\"\n");
  expect_only("low/src/down/d.cpp", 2, {"low/src/down and low/src/down/deep use each other"});
}

TEST_F(PlantedFolders, LooseSourcesAreAFolderToo) {
  write("low/src/loose.h", "#pragma once\n#include \"up/u.h\"\n");
  EXPECT_EQ(listing(check()), "");
  write("low/src/down/d.cpp", "#include \"../loose.h\"\n");
  expect_only("low/src/loose.h", 3,
              {"low/src and low/src/up use each other by way of others",
               "low/src/down/d.cpp:2 includes '../loose.h' of low/src"});
}

TEST_F(PlantedFolders, InlinedSourcesCount) {
  write("low/src/down/d.inl", "#include \"up/u.h\"\n");
  expect_only("low/src/down/d.inl", 2, {"use each other"});
}

TEST_F(PlantedFolders, APublicHeaderIsOfTheFolderThatImplementsIt) {
  header("u.h");
  EXPECT_EQ(listing(check()), "");
  write("low/src/down/d.cpp", "#include \"tessera/low/u.h\"\n");
  expect_only("low/src/down/d.cpp", 2, {"includes 'tessera/low/u.h' of low/src/up"});
}

TEST_F(PlantedFolders, APublicHeaderWithTheNameOfAFolderIsOfIt) {
  header("up.h");
  header("up/part.h");
  EXPECT_EQ(listing(check()), "");
  for (const char* name : {"up.h", "up/part.h"}) {
    write("low/src/down/d.cpp", std::string("#include \"tessera/low/") + name + "\"\n");
    expect_only("low/src/down/d.cpp", 2,
                {std::string("includes 'tessera/low/") + name + "' of low/src/up"});
  }
}

TEST_F(PlantedFolders, WhatAPublicHeaderIncludesItsFolderUses) {
  header("u.h");
  header("d.h", "#include \"tessera/low/u.h\"\n");
  expect_only("low/include/tessera/low/d.h", 3, {"low/src/down and low/src/up use each other"});
}

TEST_F(PlantedFolders, APublicHeaderOfNoNameIsAskedFor) {
  header("other.h");
  expect_only("low/include/tessera/low/other.h", 0, {"headers FOLDER: other.h", "values low"});
  write("low/src/up/both.cpp", "");
  write("low/src/down/both.cpp", "");
  fs::rename(root_ / "low/include/tessera/low/other.h", root_ / "low/include/tessera/low/both.h");
  expect_only("low/include/tessera/low/both.h", 0, {"neither a folder nor one source"});
}

TEST_F(PlantedFolders, TheRulesTellOfWhichFolderAHeaderIs) {
  header("other.h");
  rules("# a word\nheaders low/src/up: other.h\n");
  EXPECT_EQ(listing(check()), "");
  write("low/src/down/d.cpp", "#include \"tessera/low/other.h\"\n");
  expect_only("low/src/down/d.cpp", 2, {"'tessera/low/other.h' of low/src/up"});
}

TEST_F(PlantedFolders, WhoIncludesValuesUsesWhatTheyInclude) {
  header("u.h");
  header("other.h", "#include \"tessera/low/u.h\"\n");
  rules("values low: other.h\n");
  write("low/src/up/u.cpp", "#include \"tessera/low/other.h\"\n");
  EXPECT_EQ(listing(check()), "");
  write("low/src/down/d.cpp", "#include \"tessera/low/other.h\"\n");
  expect_only("low/src/down/d.cpp", 2,
              {"low/src/down/d.cpp:2 includes 'tessera/low/other.h' of low/src/up"});
}

TEST_F(PlantedFolders, AnExceptionIsOfOneDirectionAndNeedsItsUse) {
  write("low/src/down/d.cpp", "#include \"up/u.h\"\n");
  rules("except low/src/down -> low/src/up: a reason\n");
  EXPECT_EQ(listing(check()), "");
  rules(
      "except low/src/down -> low/src/up: a reason\nexcept low/src/up -> low/src/far: a reason\n");
  expect_only("cmake/folders.txt", 2, {"low/src/up does not use low/src/far"});
  rules("except low/src/up -> low/src/down: a reason\n");
  EXPECT_EQ(listing(check()), "");
  write("low/src/down/d.cpp", "");
  expect_only("cmake/folders.txt", 1, {"this is no exception"});
}

TEST_F(PlantedFolders, RulesThatNameNothingAreFound) {
  header("u.h");
  rules("headers low/src/up: u.h\n");
  expect_only("cmake/folders.txt", 1, {"the name of low/include/tessera/low/u.h tells"});
  rules("headers low/src/up: gone.h\n");
  expect_only("cmake/folders.txt", 1, {"there is no low/include/tessera/low/gone.h"});
  rules("headers low/src/gone: u.h\n");
  expect_only("cmake/folders.txt", 1, {"there is no low/src/gone"});
  rules("values other: u.h\n");
  expect_only("cmake/folders.txt", 1, {"belongs to no module"});
  rules("except other/src -> other/src/x: a reason\n");
  expect_only("cmake/folders.txt", 1, {"belongs to no module"});
}

TEST_F(PlantedFolders, RulesThatCannotBeReadAreRefused) {
  for (const char* text :
       {"folder low/src/up: u.h\n", "headers low/src/up u.h\n", "headers: u.h\n",
        "except low/src/down -> low/src/up\n", "except low/src/down -> low/src/up:  \n",
        "except low/src/down low/src/up: a reason\n",
        "values low: u.h\nheaders low/src/up: u.h\n"}) {
    rules(text);
    EXPECT_THROW(check(), std::runtime_error) << text;
  }
}
