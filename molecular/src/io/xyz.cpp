// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/xyz.h"

#include "tessera/data/text_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace tessera::molecular {

Frame read_xyz(const data::TextFile& text) {
  data::Findings findings(text);
  const auto line = [&](std::size_t n) {
    const std::size_t begin = text.line_starts[n - 1];
    return data::split_tokens(text.text, begin, begin + text.line(n).size());
  };
  const auto first = line(1);
  std::optional<std::size_t> n;
  if (first.size() == 1)
    n = data::parse_count(first[0], 100000000, "number of atoms", findings);
  else
    findings.error(701, 0, "the first line of an XYZ file is the number of atoms");
  findings.throw_if_errors();
  if (text.n_lines() < *n + 2)
    findings.error(701, text.text.size() - 1,
                   fmt::format("the file ends before its {} atoms do", *n));
  findings.throw_if_errors();
  Frame f;
  std::array<Vec3, 3> turn{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const std::string_view comment = text.line(2);
  /// Where what follows a key in quotation marks begins and ends; at 0: it is not there.
  const auto quoted = [&](std::string_view key) {
    const std::size_t at = comment.find(key), begin = text.line_starts[1] + at + key.size();
    return at == std::string_view::npos
               ? std::pair<std::size_t, std::size_t>{}
               : std::pair{begin, std::min(text.text.find('"', begin),
                                           text.line_starts[1] + comment.size())};
  };
  if (const auto [begin, end] = quoted("Lattice=\""); end > 0) {
    const auto numbers = data::split_tokens(text.text, begin, end);
    std::array<Vec3, 3> edges{};
    if (numbers.size() != 9)
      findings.error(701, begin, fmt::format("a lattice has nine numbers, got {}", numbers.size()));
    else
      for (std::size_t k = 0; k < 9; ++k)
        edges[k / 3][k % 3] =
            0.1 * data::parse_number(numbers[k], data::Exponent::e_only, findings).value_or(0);
    findings.throw_if_errors();
    try {
      f.box = box_of_vectors(edges, &turn);
    } catch (const Error& e) {
      findings.error(702, begin, e.what());
      findings.throw_if_errors();
    }
  }
  if (const auto [begin, end] = quoted("pbc=\""); end > 0) {
    const auto words = data::split_tokens(text.text, begin, end);
    const auto open = std::ranges::count_if(words, [](const data::Token& t) {
      return t.text.starts_with('F') || t.text.starts_with('f') || t.text == "0";
    });
    if (open > 0 && open < std::ssize(words))
      findings.error(703, begin, "a box is periodic in all directions or in none",
                     "pbc=\"T T T\" or pbc=\"F F F\"");
    else if (open > 0)
      f.box = {};
  }
  for (std::size_t i = 0; i < *n; ++i) {
    const auto t = line(i + 3);
    if (t.size() < 4) {
      findings.error(701, text.line_starts[i + 2], "an atom has a symbol and three numbers");
      continue;
    }
    Vec3 x{};
    for (std::size_t k = 0; k < 3; ++k) {
      x[k] = 0.1 * data::parse_number(t[k + 1], data::Exponent::e_only, findings).value_or(0);
      if (std::abs(x[k]) > 1e6)
        findings.error(702, t[k + 1].offset,
                       "an atom lies more than a millimetre away from the origin",
                       "positions are in angstrom");
    }
    Vec3& turned = f.x_nm.emplace_back();
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) turned[a] += turn[a][b] * x[b];
  }
  // Further frames may follow, each with its number; other text is an atom that the number did not
  // count.
  if (*n + 3 <= text.n_lines())
    if (const auto next = line(*n + 3); next.size() > 1)
      findings.error(701, next[0].offset, fmt::format("text after the {} atoms of the file", *n),
                     "is the number of atoms right?");
  findings.throw_if_errors();
  return f;
}

}  // namespace tessera::molecular
