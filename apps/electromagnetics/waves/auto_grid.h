// SPDX-License-Identifier: Apache-2.0
// Lines that grid.auto makes.
#pragma once
#include "electromagnetics/waves/case.h"

#include <string>
#include <vector>

namespace tessera::apps::waves {

/// The lines of axes that have none yet, as options, and what there is to say about them. Of a case
/// that has its media and scene. Throws InputError.
void make_automatic_lines(Case& c, const data::Config& config);

/// Lines that the program has chosen, as `--set` would give them.
std::vector<std::string> chosen_lines(const Case& c);
/// "grid.x.lines" with the lines of all axes that are resolved, to be pasted into a case.
std::string lines_as_toml(const Case& c);

}  // namespace tessera::apps::waves
