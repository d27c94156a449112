// SPDX-License-Identifier: Apache-2.0
// What reading and writing share. Private to data/.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

namespace tessera::data::detail {

/// The number of ports that a name tells: 3 of "filter.s3p".
std::optional<std::size_t> ports_by_name(const std::filesystem::path& path);

struct FrequencyUnit {
  std::string_view name;
  double hz;
};
inline constexpr FrequencyUnit kFrequencyUnits[] = {
    {"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};

}  // namespace tessera::data::detail
