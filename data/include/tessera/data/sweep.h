// SPDX-License-Identifier: Apache-2.0
// [sweep] of a configuration: values for some of its parameters, and the points that are made of
// them. It stands beside the case: what takes one case reads past it.
//
//     [sweep]
//     kind = "grid"                        # the default; "together", "latin_hypercube"
//     [sweep.over]
//     length = ["38 mm", "40 mm"]                              # values as they are
//     width = {from = "1 mm", to = "3 mm", count = 5}          # or step = "0.5 mm"
//     cells = {from = 10, to = 40, count = 3, spacing = "log"}
#pragma once
#include "tessera/data/config.h"
#include "tessera/data/quantity.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::data {

/// One parameter with the values that it takes, as the configuration has them or would, and in SI
/// units.
struct SweptParameter {
  std::string name;
  Dimension dimension;
  std::vector<Value> given;
  std::vector<double> value;
};

struct Sweep {
  std::vector<SweptParameter> over;  ///< in the order of the file
  /// Which value of each parameter a point has. A grid has every one with every other, the last
  /// parameter fastest; the values of "together" go side by side; those of a Latin hypercube lie in
  /// as many equal parts of each range, each part taken once (McKay, Beckman & Conover,
  /// Technometrics 21 (1979) 239).
  std::vector<std::vector<std::uint32_t>> points;
};

/// The sweep of a configuration that has passed its app's table; empty where it has none. Throws
/// InputError (exit 5) with every finding: a name that is no parameter or follows from others
/// (E0226), values of another dimension (E0212), misspelt (E0211, E0220 to E0223), of another type
/// (E0210) or kind (E0213 to E0216), too many points (E0218: 10,000).
std::optional<Sweep> read_sweep(const Config& config);

/// The case of one point: its parameters have that point's values, and [sweep] is gone.
Config at_point(const Config& config, const Sweep& sweep, std::size_t point);

/// "length = 10 mm, width = 2 mm"
std::string label_of_point(const Sweep& sweep, std::size_t point);

/// The sweep as TOML that reads back to the same points; a Latin hypercube as its values.
std::string to_toml(const Sweep& sweep);

}  // namespace tessera::data
