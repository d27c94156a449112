// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace layers {

struct Include {
  std::string path;
  bool quoted;
  int line;  ///< from 1
};

/// C++, CUDA, and what they include.
bool is_source(const std::filesystem::path& file);

/// Those of a source's text that count: not in comments, not in strings.
std::vector<Include> includes_of(const std::string& text);

/// Throws std::runtime_error where the file cannot be read.
std::string slurp(const std::filesystem::path& file);

}  // namespace layers
