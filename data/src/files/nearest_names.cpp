// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/nearest_names.h"

#include <algorithm>
#include <utility>

namespace tessera::data {
namespace {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view text,
                                       const std::vector<std::string>& known) {
  if (text.size() > 100) return {};
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& k : known) {
    const auto [shorter, longer] = std::minmax({k.size(), text.size()});
    const std::size_t most = std::max<std::size_t>(1, shorter / 3);
    if (longer - shorter > most) continue;
    const std::size_t d = distance(text, k);
    if (d <= most) near.emplace_back(d, k);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (auto& [d, k] : near) out.push_back(std::move(k));
  return out;
}

std::string nearest_hint(std::string_view text, const std::vector<std::string>& known) {
  const auto near = nearest_names(text, known);
  return near.empty() ? "" : "did you mean '" + near.front() + "'?";
}

}  // namespace tessera::data
