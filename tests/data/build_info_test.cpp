// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/build_info.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace tessera::data;

TEST(BuildInfo, NamesWhatARunNeedsToBeRepeated) {
  const BuildInfo& info = build_info();
  EXPECT_EQ(std::count(info.version.begin(), info.version.end(), '.'), 2) << info.version;
  EXPECT_FALSE(info.compiler.empty());
  EXPECT_FALSE(info.build_type.empty());
  // The flag that fixes how sums of products are rounded must be on record.
  EXPECT_NE(info.flags.find("-ffp-contract=off"), std::string_view::npos) << info.flags;
  if (!info.git_hash.empty()) {
    EXPECT_EQ(info.git_hash.size(), 40u);
    EXPECT_EQ(info.git_hash.find_first_not_of("0123456789abcdef"), std::string_view::npos);
  }
}

TEST(BuildInfo, EveryPartHasAVersionOrAPackageToInstall) {
  std::set<std::string_view> names;
  for (const Part& part : build_info().parts) {
    EXPECT_TRUE(names.insert(part.name).second) << part.name << " is listed twice";
    EXPECT_EQ(part.found, !part.version.empty()) << part.name;
    EXPECT_FALSE(part.package.empty()) << part.name;
    EXPECT_FALSE(part.purpose.empty()) << part.name;
  }
  for (const char* expected :
       {"Eigen", "OpenBLAS", "OpenMP", "HDF5", "VTK", "MPI", "PETSc", "CUDA", "NCCL"})
    EXPECT_TRUE(names.count(expected)) << expected;
}
