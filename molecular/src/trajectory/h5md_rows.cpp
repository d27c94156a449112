// SPDX-License-Identifier: Apache-2.0
#include "h5md_rows.h"

#include <algorithm>

namespace tessera::molecular {
namespace {

/// Rows that steps tell of: those of the list, or, of fixed steps, those that there are.
std::uint64_t told_rows(const H5mdRows& e) {
  return e.step->list.empty() && e.step->rows == UINT64_MAX ? e.rows : e.step->rows;
}

}  // namespace

std::optional<H5mdFrames> joined_rows(std::span<const H5mdRows> elements) {
  bool grow = true, alike = true;
  for (const H5mdRows& e : elements) {
    const std::uint64_t n = told_rows(e), common = std::min(n, told_rows(elements[0]));
    for (std::uint64_t k = 1; k < n && grow; ++k) grow = e.step->at(k) > e.step->at(k - 1);
    for (std::uint64_t k = 0; k < common && alike; ++k)
      alike = e.step->at(k) == elements[0].step->at(k);
  }
  if (!grow && !alike) return {};

  H5mdFrames out;
  out.row.resize(elements.size());
  std::vector<std::uint64_t> next(elements.size(), 0);
  for (;;) {
    std::optional<double> step;
    for (std::size_t p = 0; p < elements.size(); ++p) {
      const H5mdRows& e = elements[p];
      if (!e.makes_frames || next[p] >= told_rows(e)) continue;
      const double s = e.step->at(next[p]);
      if (!step || s < *step) step = s;
    }
    if (!step) return out;
    out.step.push_back(*step);
    for (std::size_t p = 0; p < elements.size(); ++p) {
      const H5mdRows& e = elements[p];
      const std::uint64_t n = told_rows(e);
      while (!alike && next[p] < n && e.step->at(next[p]) < *step) ++next[p];
      const bool fits = next[p] < n && e.step->at(next[p]) == *step;
      out.row[p].push_back(fits ? next[p]++ : H5mdFrames::none);
    }
  }
}

}  // namespace tessera::molecular
