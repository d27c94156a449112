// SPDX-License-Identifier: Apache-2.0
// The tree holds the order of cmake/layers.txt; and the check itself finds each planted violation.
#include "layers.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <fstream>

namespace fs = std::filesystem;
namespace {

std::string listing(const std::vector<layers::Violation>& found) {
  std::string all;
  for (const layers::Violation& v : found) all += v.file + ":" + std::to_string(v.line) + ": " + v.why + "\n";
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
  for (const char* header : {"petscksp.h", "hdf5.h", "vtkNew.h", "mpi.h", "nccl.h", "cuda_runtime.h", "toml++/toml.h",
                             "CLI/CLI.hpp", "nlohmann/json.hpp", "spdlog/spdlog.h", "cairo/cairo.h", "pugixml.hpp"}) {
    write("low/include/tessera/low/t.h", std::string("#pragma once\n#  include <") + header + ">\n");
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
        "/*\n#include \"tessera/high/b.h\"\n*/\nconst char* s = R\"(\n#include \"tessera/high/b.h\"\n)\";\n"
        "// #include \"tessera/high/b.h\"\nconst char* t = \"// /*\";\n#include \"tessera/low/a.h\"\n");
  EXPECT_EQ(listing(check()), "");
}

TEST_F(Planted, AnOrderThatLooksUpIsRefused) {
  write("cmake/layers.txt", "low: high\nhigh: low\n", false);
  EXPECT_THROW(layers::read_order(root_ / "cmake/layers.txt"), std::runtime_error);
}
