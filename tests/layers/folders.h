// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "layers.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// Inside of a module, no two folders use each other, in one step or by way of others.
///
/// A source belongs to the folder that it lies in; sub-folders are folders of their own. A public
/// header belongs to the folder that implements it, for that is what its includers use: src/x/ of
/// x.h, src/x/ of x/y.h, or the folder of the only x.cpp in src/. Where no name tells it,
/// cmake/folders.txt does. Headers of values, which nothing implements, belong to nobody: whoever
/// includes one uses what it includes.
namespace layers {

/// What cmake/folders.txt says, each with its line there:
///
///     headers FOLDER: x.h y.h          these are implemented there
///     values MODULE: x.h               these by nobody
///     except FOLDER -> FOLDER: why     may use it although it is used by it
struct FolderRules {
  struct Exception {
    std::string from, to, why;
    int line;
  };
  /// Public header ("module/include/tessera/module/x.h") -> its folder, empty for values; and the
  /// line.
  std::map<std::string, std::pair<std::string, int>> headers;
  std::vector<Exception> exceptions;
};

/// Throws std::runtime_error, with file and line, on what is none of these; an exception needs its
/// reason.
FolderRules read_folder_rules(const std::filesystem::path& file);

/// Folders that use each other: both, and an include of each direction (of three and more, of each
/// step). Also public headers whose folder nothing tells; and rules that name what there is not, or
/// that nothing needs any more.
std::vector<Violation> check_folders(const std::filesystem::path& root, const Order& order,
                                     const FolderRules& rules);

}  // namespace layers
