// SPDX-License-Identifier: Apache-2.0
//
// What compiling is measured by (timed_compile.py). It is not changed.
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>
std::map<std::string, std::vector<double>> read(const std::string& text) {
  std::map<std::string, std::vector<double>> out;
  const std::regex word("([a-z]+)=([0-9.]+)");
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at)
    out[(*at)[1]].push_back(std::stod((*at)[2]));
  for (auto& [name, values] : out) std::sort(values.begin(), values.end(), std::greater<>());
  return out;
}
