// SPDX-License-Identifier: Apache-2.0
#include "io/amber_maps.h"

#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tessera::molecular {
namespace {

/// Terms of N atoms counted from 1, with the row of a table behind them.
template <int N>
struct Entries {
  std::vector<std::array<std::int32_t, N>> atoms;
  std::vector<std::int32_t> row;
};
template <int N>
Entries<N> read_entries(AmberSections& file, data::Findings& findings, const std::string& flag,
                        std::size_t n, std::size_t n_rows, std::size_t n_atoms) {
  const std::vector<std::int64_t> v = file.integers(flag, n * (N + 1));
  Entries<N> out;
  for (std::size_t t = 0; t < n; ++t) {
    std::array<std::int32_t, N> atoms;
    bool good = true;
    for (std::size_t k = 0; k < N; ++k) {
      const std::int64_t a = v[t * (N + 1) + k];
      good = good && a >= 1 && static_cast<std::size_t>(a) <= n_atoms;
      atoms[k] = static_cast<std::int32_t>(good ? a - 1 : 0);
      for (std::size_t m = 0; m < k; ++m) good = good && atoms[k] != atoms[m];
    }
    const std::int64_t row = v[t * (N + 1) + N];
    good = good && row >= 1 && static_cast<std::size_t>(row) <= n_rows;
    if (!good) {
      findings.error(
          702, file.offset(flag, t * (N + 1)),
          fmt::format("entry {} of {} names atoms or parameters that are not there", t + 1, flag));
      return out;
    }
    out.atoms.push_back(atoms);
    out.row.push_back(static_cast<std::int32_t>(row - 1));
  }
  return out;
}

/// Two numbers of a count, or one of them; each at most the size of the file.
std::vector<std::size_t> counts(AmberSections& file, data::Findings& findings,
                                const std::string& flag, std::size_t n, std::size_t most) {
  std::vector<std::size_t> out;
  const std::vector<std::int64_t> v = file.integers(flag, n);
  for (std::size_t k = 0; k < n; ++k) {
    if (v[k] < 0 || static_cast<std::size_t>(v[k]) > most)
      findings.error(
          702, file.offset(flag, k),
          fmt::format("{} counts {} entries in a file of {} characters", flag, v[k], most));
    out.push_back(static_cast<std::size_t>(
        std::clamp<std::int64_t>(v[k], 0, static_cast<std::int64_t>(most))));
  }
  findings.throw_if_errors();
  return out;
}

}  // namespace

void read_amber_maps(AmberSections& file, data::Findings& findings, std::size_t most, System& s) {
  const std::string prefix = file.has("CMAP_COUNT") ? "" : "CHARMM_";
  if (!file.has(prefix + "CMAP_COUNT")) return;
  const std::vector<std::size_t> n = counts(file, findings, prefix + "CMAP_COUNT", 2, most);
  const std::vector<std::int64_t> points = file.integers(prefix + "CMAP_RESOLUTION", n[1]);
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (points[k] < 4 || points[k] > 1000)
      findings.error(702, file.offset(prefix + "CMAP_RESOLUTION", k),
                     fmt::format("a map of {} points a side; expected 4 to 1000", points[k]));
    else if (points[k] != points[0])
      findings.error(
          703, file.offset(prefix + "CMAP_RESOLUTION", k),
          fmt::format("maps of {} and of {} points a side: only maps of one size are read",
                      points[0], points[k]));
  }
  findings.throw_if_errors();
  if (!points.empty()) s.cmap.points = static_cast<int>(points[0]);
  const auto square =
      static_cast<std::size_t>(s.cmap.points) * static_cast<std::size_t>(s.cmap.points);
  for (std::size_t m = 0; m < n[1]; ++m) {
    for (const double v : file.reals(fmt::format("{}CMAP_PARAMETER_{:02}", prefix, m + 1), square))
      s.cmap.maps.push_back(v * kcal);
    findings.throw_if_errors();  // a count of many maps that are not there takes no memory
  }
  const Entries<5> terms =
      read_entries<5>(file, findings, prefix + "CMAP_INDEX", n[0], n[1], s.n_atoms());
  for (const auto& [a, b, c, d, e] : terms.atoms) s.cmap.atoms.push_back({a, b, c, d, b, c, d, e});
  s.cmap.row = terms.row;
}

}  // namespace tessera::molecular
