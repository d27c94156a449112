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

/// As data::create_boxes.
void create(const std::filesystem::path& file, const Type& type);
/// A map of `value`, [rows, columns], top row first, with neither ticks nor labels.
data::Panel panel(const std::string& title, Index rows, Index columns, std::vector<double> value);

}  // namespace tessera::apps::section_file
