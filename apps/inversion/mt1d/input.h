// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt1d/options.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/input_files.h"
#include "tessera/inversion/survey.h"

#include <vector>

namespace tessera::apps::mt1d {

/// The soundings of a case as they are inverted, and what its files gave to say.
struct Input {
  inversion::Survey survey;
  std::vector<data::Diagnostic> findings;  ///< warnings, and the errors of the files left out
};

/// The files of all soundings, in their order.
std::vector<data::InputFile> files_of(const Input& in);

/// Reads everything that `o` names and never stops at the first error: they are all among the
/// findings.
Input read_input(const Mt1dOptions& o);

}  // namespace tessera::apps::mt1d
