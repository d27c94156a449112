// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>

namespace tessera::apps::training {

/// Patch antennas on three substrates with their resonances, and the case that learns them.
std::filesystem::path make_example(const std::filesystem::path& dir, std::uint64_t seed);

}  // namespace tessera::apps::training
