// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/options.h"
#include "tessera/inversion/geology.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::apps::sections {

/// Everything that case.toml may say. The keys and their documentation are in options.cpp.
struct SectionsOptions {
  inversion::Geology geology;
  std::int64_t count = 1000;
  std::uint64_t seed = 1;

  std::optional<double> expect_mean_min, expect_mean_max;
};

const data::Options<SectionsOptions>& sections_options();

/// The options, of which sections can be drawn. Throws data::InputError (exit 5) with the place of
/// the key.
SectionsOptions read_options(const data::Config& config);

}  // namespace tessera::apps::sections
