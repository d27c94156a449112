// SPDX-License-Identifier: Apache-2.0
// What the four readers share beside strict numbers and findings: angles, numbers that may be
// words.
#pragma once
#include "tessera/data/text_reader.h"

#include <optional>
#include <string_view>

namespace tessera::inversion {

using data::Exponent, data::Findings, data::Token;
using data::kMostItems, data::parse_count, data::parse_number, data::shown, data::split_tokens,
    data::trim, data::upper;

/// `12.5`, `-30:55:49.026`, `35:33.5`, optionally with N, S, E or W behind, in degrees. Reports
/// E0310 when it is no such angle, minutes or seconds reach 60, or the size exceeds `limit`. Empty
/// text means not given.
std::optional<double> parse_angle(Token token, double limit, const char* what, Findings& findings);

/// The number that a word is; nothing where it is another word.
std::optional<double> number_if_any(std::string_view word);

}  // namespace tessera::inversion
