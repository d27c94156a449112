// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt1d/options.h"
#include "tessera/data/input_files.h"
#include "tessera/inversion/profile.h"
#include "tessera/inversion/response_1d.h"
#include "tessera/inversion/sounding.h"

#include <string>
#include <vector>

namespace tessera::apps::mt1d {

/// One sounding, read, turned, cut and reduced to the response that is inverted.
struct Item {
  std::string id;  ///< file name without its ending: names files and groups, unique in the folder
  data::InputFile file;
  inversion::Sounding sounding;
  inversion::Response1d response;
  double distance_m = 0;
};

struct Input {
  std::vector<Item> items;  ///< in the order of the profile
  bool has_coordinates = false;
  std::vector<std::string> remarks;
  std::vector<data::Diagnostic> findings;  ///< warnings, and the errors of the files left out
};

/// The files of all items, in their order.
std::vector<data::InputFile> files_of(const Input& in);

/// Reads everything that `o` names and never stops at the first error: they are all among the
/// findings.
Input read_input(const Mt1dOptions& o);

}  // namespace tessera::apps::mt1d
