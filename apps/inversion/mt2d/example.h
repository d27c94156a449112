// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>

namespace tessera::apps::mt2d {

/// A line of soundings over hills with a conductor below, computed by `truth.toml`, which is beside
/// them; returns the case that inverts them.
std::filesystem::path make_example(const std::filesystem::path& dir, std::uint64_t seed);

}  // namespace tessera::apps::mt2d
