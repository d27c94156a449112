// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "molecular/dynamics/case.h"

#include <filesystem>
#include <optional>
#include <string>

namespace tessera::apps::dynamics {

/// ".prmtop" of "x.prmtop.gz", in lower case.
std::string ending(const std::filesystem::path& path);

/// k_e of a word: that of a program, a number in kJ/mol nm/e^2, or `of_file`; none: it is neither.
std::optional<double> coulomb_constant_of(const std::string& word, double of_file);

/// Topology and positions of the files that the options name, by their endings.
void read_input(const data::Config& config, Case& c);

}  // namespace tessera::apps::dynamics
