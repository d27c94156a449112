// SPDX-License-Identifier: Apache-2.0
#include "matches.h"

#include <regex>

std::vector<std::vector<std::string>> matches(const std::string& text,
                                              const std::string& expression) {
  const std::regex compiled(expression);
  std::vector<std::vector<std::string>> out;
  for (std::sregex_iterator at(text.begin(), text.end(), compiled), end; at != end; ++at)
    out.emplace_back(at->begin(), at->end());
  return out;
}
