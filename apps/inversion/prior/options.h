// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/options.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace tessera::apps::prior {

/// Everything that case.toml may say. The keys and their documentation are in options.cpp.
struct PriorOptions {
  std::filesystem::path sections;
  double validation = 0.05, test = 0.05;

  std::vector<std::int64_t> widths{16, 32, 64};
  std::int64_t codes = 64;
  double noise = 0.2;
  std::int64_t couplings = 0, flow_width = 192;

  std::int64_t epochs = 15, batch = 64;
  double rate = 2e-3;
  std::int64_t flow_epochs = 12;
  std::uint64_t seed = 1;
  bool pictures = true;

  std::optional<double> expect_error_max;
};

const data::Options<PriorOptions>& prior_options();

}  // namespace tessera::apps::prior
