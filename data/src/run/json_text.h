// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace tessera::data {

/// `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD, so that the
/// output always parses.
std::string json_quote(std::string_view text);
/// Shortest round-trip number; JSON has no NaN or infinity, so these become null.
std::string json_number(double value);

}  // namespace tessera::data
