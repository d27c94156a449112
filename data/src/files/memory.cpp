// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/memory.h"

#include "files/control_group.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace tessera::data {
namespace {

namespace fs = std::filesystem;

/// The number that a file holds; `otherwise` for "max", or where there is none.
std::uint64_t number_in(const fs::path& file, std::uint64_t otherwise) {
  std::uint64_t value = 0;
  return std::ifstream(file) >> value ? value : otherwise;
}

/// The number behind `key` in a file of keys and numbers; 0 where there is none.
std::uint64_t number_of(const fs::path& file, std::string_view key) {
  std::ifstream in(file);
  std::string name, rest;
  for (std::uint64_t value = 0; in >> name; std::getline(in, rest))
    if (name == key) return in >> value ? value : 0;
  return 0;
}

/// Names of one version's files.
struct Names {
  const char *limit, *used, *cache;
};
constexpr Names v1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_"},
    v2{"memory.max", "memory.current", ""};

void take(GroupMemory& out, const fs::path& group, const Names& names) {
  const std::uint64_t limit = number_in(group / names.limit, out.limit);
  // Pages of files are given back when others ask.
  const std::string cache = names.cache;
  const std::uint64_t used = number_in(group / names.used, 0),
                      files = number_of(group / "memory.stat", cache + "active_file") +
                              number_of(group / "memory.stat", cache + "inactive_file"),
                      held = used > files ? used - files : 0;
  out.limit = std::min(out.limit, limit);
  out.free = std::min(out.free, limit > held ? limit - held : 0);
}

void take_with_those_above(GroupMemory& out, const fs::path& mounted, const std::string& group,
                           const Names& names) {
  fs::path below = fs::path(group).relative_path().lexically_normal();
  std::error_code none;
  while (!below.empty() && !fs::exists(mounted / below / names.used, none))
    below = below.parent_path();
  for (; !below.empty(); below = below.parent_path()) take(out, mounted / below, names);
  take(out, mounted, names);
}

std::uint64_t of_machine() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

GroupMemory of_groups() { return group_memory("/proc/self/cgroup", "/sys/fs/cgroup"); }

}  // namespace

GroupMemory group_memory(const fs::path& of_process, const fs::path& mounted) {
  GroupMemory out;
  std::ifstream in(of_process);
  for (std::string line; std::getline(in, line);) {  // number:controllers:path
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      group = line.substr(second + 1);
    if (controllers.empty()) take_with_those_above(out, mounted, group, v2);
    if (("," + controllers + ",").find(",memory,") != std::string::npos)
      take_with_those_above(out, mounted / "memory", group, v1);
  }
  return out;
}

std::uint64_t memory_limit() {
  static const std::uint64_t of_all = std::min(of_machine(), of_groups().limit);
  std::uint64_t out = of_all;
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    out = std::min<std::uint64_t>(out, limit.rlim_cur);
  return out;
}

std::uint64_t memory_free() {
  return std::min(number_of("/proc/meminfo", "MemAvailable:") * 1024, of_groups().free);
}

}  // namespace tessera::data
