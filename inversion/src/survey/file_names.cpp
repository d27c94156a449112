// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/survey_files.h"

#include <cstddef>
#include <set>

namespace tessera::inversion {
namespace {

bool is_safe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
}

std::string safe(std::string id) {
  constexpr std::size_t most = 100;
  for (char& c : id)
    if (!is_safe(c)) c = '_';
  if (id.size() > most) {
    std::size_t end = most;  // not within a character of UTF-8
    while (end > 0 && (static_cast<unsigned char>(id[end]) & 0xC0) == 0x80) --end;
    id.resize(end);
  }
  if (id.empty()) return "_";
  if (id[0] == '.') id[0] = '_';
  return id;
}

}  // namespace

std::vector<std::string> file_names(const std::vector<std::string>& ids) {
  std::vector<std::string> out(ids.size());
  std::set<std::string> taken;
  // Ids that are file names already have the first choice.
  for (const bool as_it_is : {true, false})
    for (std::size_t k = 0; k < ids.size(); ++k) {
      const std::string name = safe(ids[k]);
      if ((name == ids[k]) != as_it_is) continue;
      out[k] = name;
      for (int n = 2; !taken.insert(out[k]).second; ++n) out[k] = name + "-" + std::to_string(n);
    }
  return out;
}

}  // namespace tessera::inversion
