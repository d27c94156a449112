// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/memory.h"

#include "data/src/files/control_group.h"
#include "in_child.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
namespace data = tessera::data;

namespace {

/// A hierarchy of control groups as the kernel shows it.
class ControlGroups : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((folder.path() / file).parent_path());
    std::ofstream(folder.path() / file) << text;
  }
  data::GroupMemory memory(const std::string& of_process) {
    write("cgroup", of_process);
    return data::group_memory(folder.path() / "cgroup", folder.path() / "mounted");
  }
  tessera::testing::TempFolder folder;
};

constexpr auto none = data::GroupMemory{}.limit;

}  // namespace

TEST_F(ControlGroups, TheLeastOfAGroupAndThoseAboveIsTheLimit) {
  write("mounted/memory.current", "900\n");
  write("mounted/jobs/memory.max", "5000\n");
  write("mounted/jobs/memory.current", "4500\n");
  write("mounted/jobs/memory.stat", "anon 1500\nactive_file 1000\ninactive_file 1800\n");
  write("mounted/jobs/7/memory.max", "max\n");
  write("mounted/jobs/7/memory.current", "40\n");
  const data::GroupMemory m = memory("0::/jobs/7\n");
  EXPECT_EQ(m.limit, 5000U);
  EXPECT_EQ(m.free, 5000U - (4500U - 2800U));  // pages of files are given back
}

TEST_F(ControlGroups, AGroupThatIsNotSeenIsTheRootOfWhatIs) {
  write("mounted/memory.max", "3000\n");
  write("mounted/memory.current", "1000\n");
  const data::GroupMemory m = memory("0::/machine/of/others\n");
  EXPECT_EQ(m.limit, 3000U);
  EXPECT_EQ(m.free, 2000U);
}

TEST_F(ControlGroups, TheFirstVersionIsRead) {
  write("mounted/memory/box/memory.limit_in_bytes", "7000\n");
  write("mounted/memory/box/memory.usage_in_bytes", "2000\n");
  write("mounted/memory/box/memory.stat", "active_file 9\ntotal_active_file 500\n");
  const data::GroupMemory m = memory("8:cpu,cpuacct:/box\n4:blkio,memory:/box\n0::/\n");
  EXPECT_EQ(m.limit, 7000U);
  EXPECT_EQ(m.free, 5500U);
}

TEST_F(ControlGroups, WhereNothingIsToldThereIsNoLimit) {
  EXPECT_EQ(memory("").limit, none);
  EXPECT_EQ(memory("0::/\nnonsense\n").free, none);
}

TEST(Memory, IsWhatTheMachineHasOrLess) {
  const auto machine = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                       static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_GT(data::memory_limit(), 0U);
  EXPECT_LE(data::memory_limit(), machine);
  EXPECT_GT(data::memory_free(), 0U);
  EXPECT_LE(data::memory_free(), data::memory_limit());
}

TEST(Memory, LimitsOfTheProcessCount) {
  EXPECT_EQ(tessera::testing::in_child([] {
              const struct rlimit few { 1u << 30, RLIM_INFINITY };
              return ::setrlimit(RLIMIT_AS, &few) == 0 && data::memory_limit() == 1u << 30 ? 0 : 1;
            }),
            0);
}
