// SPDX-License-Identifier: Apache-2.0
// How an option speaks of itself: shared by error messages, `explain`, resolved.toml and the
// reference pages.
#pragma once
#include "tessera/data/options.h"

#include <cstdint>
#include <map>
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
std::string alternatives_text(
    const OptionSpec& spec);  ///< `, or length in um, or "inf"` or nothing
std::string quoted_list(const std::vector<std::string>& names);  ///< "occam", "gauss_newton"
std::string choices_text(const OptionSpec& spec);                ///< one of "occam", "gauss_newton"
/// The one name that a choice, or a string with choices, holds.
std::string choice_name(const OptionSpec& spec, const OptionValue& value);
std::string example_quantity(const OptionSpec& spec);
/// Expressions by the number of the item that they stand for.
using ItemTexts = std::map<std::size_t, std::string>;
/// A value as TOML: `"10 ohm*m"`, `[1, 2]`, `[[0, 0], [1, 0]]`, `"occam"`.
std::string toml_text(const OptionSpec& spec, const OptionValue& value,
                      const ItemTexts& instead = {});
/// A TOML basic string.
std::string toml_string(std::string_view text);

std::pair<std::int64_t, std::int64_t> integer_range(const OptionSpec& spec);
bool in_range(const OptionSpec& spec, double si);

/// Whether it is one of common_keys(), and not a key within one.
bool common_key(std::string_view key);
/// Whether a table of this kind takes the key. An empty kind is unknown and may be any.
bool belongs(const OptionSpec& spec, std::string_view kind);
/// Whether it has to be given for this kind. Of an unknown kind, only what all kinds need is asked.
bool required(const OptionSpec& spec, std::string_view kind);
/// Length of "[12]" in front of `text`; 0 where there is none.
std::size_t item_number_length(std::string_view text);

}  // namespace tessera::data::detail
