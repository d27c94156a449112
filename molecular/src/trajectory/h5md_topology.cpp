// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/h5md_topology.h"

#include "h5md_particles.h"
#include "structure/structure_parts.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/hdf5.h"
#include "tessera/molecular/elements.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace tessera::molecular {
namespace {

/// What a file has, told with its name where it is not as it should be.
struct H5mdAtoms {
  const std::filesystem::path& path;

  [[noreturn]] void refuse(const std::string& what) const {
    throw data::InputError(
        data::Diagnostic{.number = 428, .place = {path.string()}, .message = what});
  }
  template <class T>
  const std::vector<T>& as(const data::H5Array& array, const std::string& wrong) const {
    const auto* v = std::get_if<std::vector<T>>(&array.data);
    if (!v) refuse(wrong);
    return *v;
  }
};

}  // namespace

System read_h5md_topology(const std::filesystem::path& path) {
  const H5mdAtoms file{path};
  const data::H5Limits limits{.being_written = true};
  const std::vector<data::H5Object> objects = data::list_h5(path, limits);
  const auto has = [&](const std::string& name) {
    return std::ranges::find(objects, name, &data::H5Object::path) != objects.end();
  };
  std::string root = h5md_particles(path, objects, "/position/value");
  if (root.empty()) root = h5md_particles(path, objects, "/species");
  if (root.empty() || !has(root + "/species"))
    file.refuse("has no particles/*/species: it cannot serve as a topology");
  const bool bonds = has("/connectivity/bonds");
  std::vector<std::string> names = {root + "/species", root + "/mass", root + "/charge"};
  if (bonds) names.push_back("/connectivity/bonds");
  const auto arrays = data::read_h5(path, names, limits);
  const auto integers = [&](const std::string& name) -> const std::vector<std::int64_t>& {
    return file.as<std::int64_t>(arrays.at(name), name + " are no integers");
  };
  const auto reals = [&](const std::string& name) -> const std::vector<double>& {
    return file.as<double>(arrays.at(name), name + " are no float64 numbers");
  };

  System s;
  Atoms& a = s.atoms;
  for (std::int64_t e : integers(names[0]))
    a.element.push_back(e >= 0 && e <= 118 ? static_cast<std::uint8_t>(e) : 0);
  a.mass_amu = reals(names[1]), a.charge_e = reals(names[2]);
  const std::size_t n = a.element.size();
  if (a.mass_amu.size() != n || a.charge_e.size() != n)
    file.refuse("has species, masses and charges of different numbers of atoms");
  a.lj_type.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    a.name.emplace_back(symbol_of(a.element[i]));
    a.residue.push_back(static_cast<std::int32_t>(i));
    s.residues.push_back({a.name.back(), std::to_string(i + 1), "", ""});
  }
  a.type = a.name;
  static const std::vector<std::int64_t> no_bonds;
  const std::vector<std::int64_t>& pairs = bonds ? integers("/connectivity/bonds") : no_bonds;
  std::vector<bool> bound(n, false);
  for (std::size_t k = 0; k + 1 < pairs.size(); k += 2) {
    const auto [i, j] = std::minmax(pairs[k], pairs[k + 1]);
    if (i < 0 || i == j || static_cast<std::size_t>(j) >= n)
      file.refuse("has bonds of atoms that are not there");
    s.connectivity.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
    bound[static_cast<std::size_t>(i)] = bound[static_cast<std::size_t>(j)] = true;
  }
  // Without a bond a virtual site, which has neither element nor mass, would be a molecule: it is
  // one with the atom before it, as water models have their sites. More than two in a row are sites
  // of several molecules.
  constexpr std::size_t most_sites = 2;
  const auto is_lone_site = [&](std::size_t i) {
    return a.element[i] == 0 && a.mass_amu[i] == 0 && !bound[i];
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_lone_site(i)) continue;
    const std::size_t first = i;
    while (i + 1 < n && is_lone_site(i + 1)) ++i;
    if (first == 0 || i + 1 - first > most_sites) continue;
    for (std::size_t k = first; k <= i; ++k)
      s.connectivity.push_back(
          {static_cast<std::int32_t>(first - 1), static_cast<std::int32_t>(k)});
  }
  tidy_bonds(s.connectivity);  // some programs write each bond from both of its atoms
  return s;
}

}  // namespace tessera::molecular
