// SPDX-License-Identifier: Apache-2.0
// What to write for a unit that is none here. Private to data/.
#pragma once
#include "tessera/data/quantity.h"

#include <optional>
#include <string>
#include <string_view>

namespace tessera::data::detail {

struct UnitHint {
  std::string hint;        ///< how it is written here; may be empty
  bool ambiguous = false;  ///< people read it in different ways
};
UnitHint hint_for_unit(std::string_view symbol);

/// The text with angstroms for 'A', ampere, where it is of the expected dimension then.
std::optional<std::string> with_angstroms(std::string_view text, const Dimension& expected);

}  // namespace tessera::data::detail
