// SPDX-License-Identifier: Apache-2.0
// How an option speaks of itself: shared by error messages, `explain`, resolved.toml and the
// reference pages.
#pragma once
#include "tessera/data/options.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::data::detail {

std::string item_text(const OptionSpec& spec);  ///< "an integer", "electrical resistivity in ohm*m"
std::string type_text(const OptionSpec& spec);  ///< the same, "a list of ..." for a list
std::string count_text(const OptionSpec& spec);  ///< "1 to 3 items"
std::string range_text(
    const OptionSpec& spec);  ///< "above 0 % and at most 100 %"; empty where all is allowed
std::string choices_text(const OptionSpec& spec);  ///< "one of 'occam', 'gauss_newton'"
std::string example_quantity(const OptionSpec& spec);
/// A value as TOML: `"10 ohm*m"`, `[1, 2]`, `"occam"`.
std::string toml_text(const OptionSpec& spec, const OptionValue& value);
/// A TOML basic string.
std::string toml_string(std::string_view text);
/// "did you mean 'x'?" or nothing.
std::string nearest_hint(std::string_view text, const std::vector<std::string>& known);

std::pair<std::int64_t, std::int64_t> integer_range(const OptionSpec& spec);
bool in_range(const OptionSpec& spec, double si);

}  // namespace tessera::data::detail
