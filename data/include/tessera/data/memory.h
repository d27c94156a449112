// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tessera::data {

/// Bytes that a process may take: what the machine has, or less where RLIMIT_AS or a control group
/// (cgroup v1, v2), its own or one above, says so. Machine and groups are asked once.
std::uint64_t memory_limit();
/// Bytes of it that nobody holds: MemAvailable of /proc/meminfo, or what the groups' limits leave.
/// 0 where that is unknown.
std::uint64_t memory_free();

}  // namespace tessera::data
