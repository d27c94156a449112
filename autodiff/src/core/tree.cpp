// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/tree.h"

#include <algorithm>

namespace tessera::detail {

std::vector<std::string> member_names(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, comma);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    name = name.substr(0, name.find_last_not_of(" _") + 1);
    names.emplace_back(name);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

}  // namespace tessera::detail
