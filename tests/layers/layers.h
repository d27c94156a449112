// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

/// Reads every `#include` of a source tree against cmake/layers.txt, the one-way order of the
/// modules.
namespace layers {

/// module -> modules it may include besides itself, in the order of the file.
struct Order {
  std::vector<std::string> modules;
  std::map<std::string, std::set<std::string>> allowed;
};

/// Throws std::runtime_error on a malformed line or when a module allows one that is not listed
/// above it: with that rule the order is one-way by construction, so no cycle can be allowed.
Order read_order(const std::filesystem::path& file);

struct Violation {
  std::string file;  ///< relative to the root
  int line;          ///< from 1; 0 when it concerns the whole file
  std::string why;
};

/// All violations in the modules' folders under `root`, sorted by file and line:
/// an include of a module that is not allowed; a file that includes itself through others (a
/// cycle); an include of our own header that does not exist, or by a relative name that leads out
/// of the module; a third-party header in an `include/` folder (Eigen is allowed in autodiff's
/// eigen.h); a header without `#pragma once`; a source without the SPDX line first.
std::vector<Violation> check(const std::filesystem::path& root, const Order& order);

}  // namespace layers
