// SPDX-License-Identifier: Apache-2.0
#include "tessera/solvers/leaf_rules.h"

#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tessera::solvers {
namespace {

/// Whether a text is the pattern, `*` in which is any text. A star takes as little as it can; where
/// the rest does not fit, the last one takes more: no earlier star has to change.
bool fits(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, taken = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1, t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

void check(const LeafRule& r) {
  const auto good = [](double x) { return std::isfinite(x) && x >= 0; };
  if (!good(r.rate))
    fail("fit", "the rate of '" + r.names + "' is " + std::to_string(r.rate) + " times the rate");
  if (r.decay && !good(*r.decay))
    fail("fit", "the decay of '" + r.names + "' is " + std::to_string(*r.decay));
}

}  // namespace

std::vector<std::size_t> leaves_named(const std::string& pattern, const LeafNames& names) {
  constexpr std::size_t told = 20;
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < names.size(); ++k)
    if (fits(pattern, names[k])) found.push_back(k);
  if (!found.empty()) return found;
  std::string all;
  for (std::size_t k = 0; k < std::min(names.size(), told); ++k)
    all += (k ? ", '" : "'") + names[k] + "'";
  if (names.size() > told) all += ", ... (" + std::to_string(names.size()) + ")";
  fail("fit", "no leaf is called '" + pattern + "'; they are " + all);
}

std::vector<LeafGroup> leaf_groups(const LeafNames& names, const std::vector<LeafRule>& rules) {
  std::vector<const LeafRule*> of_leaf(names.size(), nullptr);
  for (const LeafRule& r : rules) {
    check(r);
    for (const std::size_t k : leaves_named(r.names, names)) of_leaf[k] = &r;
  }
  std::vector<LeafGroup> groups;
  for (std::size_t k = 0; k < names.size(); ++k) {
    LeafGroup g;
    if (const LeafRule* r = of_leaf[k]) g.rate = r->rate, g.decay = r->decay;
    if (g.rate == 0) continue;
    const auto same = [&](const LeafGroup& other) {
      return other.rate == g.rate && other.decay == g.decay;
    };
    auto at = std::ranges::find_if(groups, same);
    if (at == groups.end()) at = groups.insert(at, g);
    at->leaves.push_back(k);
  }
  if (groups.empty() && !names.empty())
    fail("fit", "all leaves are frozen: nothing is left to learn");
  return groups;
}

}  // namespace tessera::solvers
