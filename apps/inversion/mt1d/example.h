// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>

namespace tessera::apps::mt1d {

/// A profile of twelve soundings over a basin: soundings/*.edi with 3 % noise, truth.csv with the
/// layers they were computed from, and mt1d.toml. Returns the path of the latter.
std::filesystem::path make_example(const std::filesystem::path& dir, std::uint64_t seed);

}  // namespace tessera::apps::mt1d
