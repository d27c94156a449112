// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>

namespace tessera::data {

/// What the control groups of a process let it take, bytes; the largest number where none does.
struct GroupMemory {
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max(), free = limit;
};
/// Of the groups that `of_process` names (/proc/self/cgroup), in a hierarchy that is mounted at
/// `mounted` (/sys/fs/cgroup; v1: its folder `memory`). A group that is not visible there, as from
/// within a container, is taken as the root of what is.
GroupMemory group_memory(const std::filesystem::path& of_process,
                         const std::filesystem::path& mounted);

}  // namespace tessera::data
