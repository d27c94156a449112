// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/info.h"

#include <vector>

namespace tessera::data {

/// The formats that this module itself reads or writes.
std::vector<FileFormat> own_formats();

InfoNode run_folder_info(const std::filesystem::path& run);
InfoNode vtk_xml_info(const std::filesystem::path& path);
InfoNode csv_info(const std::filesystem::path& path);
InfoNode columns_info(const std::filesystem::path& path);
InfoNode json_info(const std::filesystem::path& path);
InfoNode npy_info(const std::filesystem::path& path);
InfoNode npz_info(const std::filesystem::path& path);
InfoNode safetensors_info(const std::filesystem::path& path);
InfoNode onnx_info(const std::filesystem::path& path);
InfoNode png_info(const std::filesystem::path& path);
InfoNode svg_info(const std::filesystem::path& path);
InfoNode log_info(const std::filesystem::path& path);
/// By their first lines: `sniff` of a format.
bool is_columns(std::string_view head, const std::filesystem::path& path);
bool is_npz(std::string_view head, const std::filesystem::path& path);
bool is_safetensors(std::string_view head, const std::filesystem::path& path);
bool is_onnx(std::string_view head, const std::filesystem::path& path);
bool is_log(std::string_view head, const std::filesystem::path& path);

inline constexpr std::size_t kMaxListed = 1000;  ///< entries of one list; the rest is counted
/// The file's name and size.
InfoNode file_node(const std::filesystem::path& path);

/// "3 x 4", "one value" for a scalar.
std::string shape_text(const std::vector<std::uint64_t>& shape);

}  // namespace tessera::data
