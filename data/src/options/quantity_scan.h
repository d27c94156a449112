// SPDX-License-Identifier: Apache-2.0
// A quantity within a longer text. Private to data/.
#pragma once
#include "tessera/data/quantity.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tessera::data::detail {

struct ScannedQuantity {
  Quantity quantity;
  std::size_t end = 0;  ///< byte behind it
};

/// The number at `begin`, which is a digit, and its unit, if there is one. The unit ends in front
/// of a '*' or '/' that no unit follows. `is_name` knows what else a symbol could be: E0220 where
/// it is both. Throws QuantityError.
ScannedQuantity scan_quantity(std::string_view text, std::size_t begin,
                              const std::function<bool(std::string_view)>& is_name);

/// Whether `symbol` is a unit, with or without a prefix.
bool is_unit(std::string_view symbol);

}  // namespace tessera::data::detail
