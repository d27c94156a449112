// SPDX-License-Identifier: Apache-2.0
// Files of drawn sections, and how a section is drawn in a picture.
#pragma once
#include "tessera/autodiff/box.h"
#include "tessera/data/plot.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::apps::section_file {

inline constexpr const char* kFile = "sections.h5";
/// log10 of the resistivity in ohm m, [section, row, column].
inline constexpr const char* kDataset = "log10_resistivity";

/// As data::create_boxes. `aspect`: how many times the region is as wide as deep; it is kept in the
/// array's long_name.
void create(const std::filesystem::path& file, const Type& type, double aspect);
/// 0 where the file does not say. Throws as data::list_h5.
double aspect_of(const std::filesystem::path& file);
/// A map of `value`, [rows, columns], top row first, with neither ticks nor labels.
data::Panel panel(const std::string& title, Index rows, Index columns, std::vector<double> value);

}  // namespace tessera::apps::section_file
