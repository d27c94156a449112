// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tessera::data {

/// Those of `known` that `text` may have been meant to be, nearest first: within a third of their
/// length in insertions, deletions, replacements and swaps of neighbours.
std::vector<std::string> nearest_names(std::string_view text,
                                       const std::vector<std::string>& known);
/// "did you mean 'x'?" or nothing.
std::string nearest_hint(std::string_view text, const std::vector<std::string>& known);

}  // namespace tessera::data
