// SPDX-License-Identifier: Apache-2.0
//
// Virtual sites of topologies; GROMACS reference manual, "Virtual interaction sites". Formulas at
// VirtualSite.
#include "io/top_molecule.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace tessera::molecular {
namespace {

using Kind = VirtualSite::Kind;

struct Form {
  std::string_view section;
  int function;
  Kind kind;
  std::size_t parents;
  int parameters;
};
constexpr Form forms[] = {
    {"virtual_sites1", 1, Kind::linear2, 1, 0}, {"virtual_sites2", 1, Kind::linear2, 2, 1},
    {"virtual_sites2", 2, Kind::fixed2, 2, 1},  {"virtual_sites3", 1, Kind::linear3, 3, 2},
    {"virtual_sites3", 2, Kind::fixed3, 3, 2},  {"virtual_sites3", 3, Kind::angle3, 3, 2},
    {"virtual_sites3", 4, Kind::cross3, 3, 3},  {"virtual_sites4", 2, Kind::normal4, 4, 3},
};

}  // namespace

void TopMoleculeReader::virtual_site(std::string_view section, const TopLine& line,
                                     TopMolecule& m) {
  const auto n = static_cast<std::size_t>(section.back() - '0');
  std::array<std::int32_t, 5> a{};
  if (!atoms_of(section, line, n + 1, m, a.data())) return;
  if (line.size() < n + 2)
    return findings_.error(701, line.back(),
                           fmt::format("expected the function after the atoms of [ {} ]", section));
  const auto function = findings_.integer(line[n + 1], 1, 100, "the function");
  if (!function) return;
  const Form* form = nullptr;
  for (const Form& f : forms)
    if (f.section == section && f.function == *function) form = &f;
  if (!form) return not_read(section, line[n + 1], *function);
  double p[3] = {};
  if (form->parameters > 0 && line.size() == n + 2)
    return findings_.error(
        703, line.back(),
        fmt::format("a virtual site without its {} parameters is not read", form->parameters),
        "GROMACS finds them from bonds and angles of the molecule: write them on the line");
  if (!findings_.parameters(line, n + 2, {form->parameters, 0}, p)) return;
  VirtualSite v{form->kind, a[0], {-1, -1, -1, -1}, {}};
  for (std::size_t k = 0; k < form->parents; ++k) v.parents[k] = a[k + 1];
  for (std::size_t k = 0; k < 3; ++k) v.weights[k] = p[k];
  if (n == 1) v.parents[1] = v.parents[0];  // linear2 with a = 0 between an atom and itself
  if (form->kind == Kind::fixed3) std::swap(v.weights[0], v.weights[1]);  // the file has a, d
  if (form->kind == Kind::angle3) v.weights = {p[1], p[0] * std::numbers::pi / 180};
  m.virtual_sites.push_back(v);
}

void TopMoleculeReader::virtual_site_of_many(const TopLine& line, TopMolecule& m) {
  std::int32_t site = 0;
  if (!atoms_of("virtual_sitesn", line, 1, m, &site)) return;
  if (line.size() < 3)
    return findings_.error(701, line.back(), "expected: site function atoms ...");
  const auto function = findings_.integer(line[1], 1, 100, "the function");
  if (!function) return;
  if (*function > 3) return not_read("virtual_sitesn", line[1], *function);
  const std::size_t step = *function == 3 ? 2 : 1, n = (line.size() - 2) / step;
  if (step == 2 && line.size() % 2 != 0)
    return findings_.error(701, line.back(), "expected a weight after each atom");
  if (n > 3)
    return findings_.error(703, line[2],
                           fmt::format("a virtual site of {} atoms is not read; at most 3 are", n));
  TopLine words = {line[0]};
  for (std::size_t k = 0; k < n; ++k) words.push_back(line[2 + step * k]);
  std::array<std::int32_t, 4> a{};
  if (!atoms_of("virtual_sitesn", words, n + 1, m, a.data())) return;
  std::array<double, 3> w{};
  for (std::size_t k = 0; k < n; ++k) {
    w[k] = *function == 1   ? 1
           : *function == 2 ? m.mass[static_cast<std::size_t>(a[k + 1])]
                            : findings_.number(line[3 + 2 * k]).value_or(1);
    if (!(w[k] >= 0)) return findings_.error(702, line[2 + step * k], "a weight is negative");
  }
  const double sum = std::accumulate(w.begin(), w.end(), 0.0);
  if (!(sum > 0))
    return findings_.error(702, line[2], "the weights of a virtual site are all zero");
  VirtualSite v{n == 3 ? Kind::linear3 : Kind::linear2,
                site,
                {a[1], n > 1 ? a[2] : a[1], n > 2 ? a[3] : -1, -1},
                {}};
  v.weights[0] = w[1] / sum;
  v.weights[1] = w[2] / sum;
  m.virtual_sites.push_back(v);
}

}  // namespace tessera::molecular
