// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt1d/options.h"
#include "inversion/survey/input.h"

namespace tessera::apps::mt1d {

using survey::Input;

/// Soundings with three periods at least, of which one response is taken, along their profile.
Input read_input(const Mt1dOptions& o);

/// What is inverted of a station.
inversion::Response response_of(const Mt1dOptions& o, const Input& in, std::size_t station);

}  // namespace tessera::apps::mt1d
