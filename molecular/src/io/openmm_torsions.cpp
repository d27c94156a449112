// SPDX-License-Identifier: Apache-2.0
// Forces of four and five atoms.
#include "io/openmm_reader.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::molecular {

using data::shown;

void OpenmmXmlReader::periodic(OpenmmFile& f, pugi::xml_node n) {
  const ForceField::Ordering order = ordering(f, n, ForceField::Ordering::standard);
  for (const pugi::xml_node e : n.children()) {
    const std::string_view kind = e.name();
    if (kind != "Proper" && kind != "Improper") continue;
    const auto on = patterns<4>(f, e);
    ForceField::Periodic p;
    p.ordering = order;
    for (int k = 1; e.attribute(fmt::format("phase{}", k).c_str()); ++k) {
      const std::string number = std::to_string(k);
      const double fold = f.number(e, ("periodicity" + number).c_str()),
                   phase = f.number(e, ("phase" + number).c_str()),
                   height = f.number(e, ("k" + number).c_str());
      if (fold != std::floor(fold) || fold < 0 || fold > 100)
        f.error(702, e.attribute(("periodicity" + number).c_str()), e,
                fmt::format("the periodicity {} is no whole number", fold));
      p.terms.push_back({phase, height, fold});
      if (p.terms.size() > most_terms) {
        f.error(702, e, fmt::format("{} has more than {} terms", kind, most_terms));
        break;
      }
    }
    if (p.terms.empty()) f.error(701, e, fmt::format("{} needs periodicity1, phase1 and k1", kind));
    if (on) (kind == "Proper" ? ff_.propers : ff_.impropers).push_back({*on, std::move(p)});
  }
}
void OpenmmXmlReader::ryckaert_bellemans(OpenmmFile& f, pugi::xml_node n) {
  const ForceField::Ordering order = ordering(f, n, ForceField::Ordering::charmm);
  for (const pugi::xml_node e : n.children()) {
    const std::string_view kind = e.name();
    if (kind != "Proper" && kind != "Improper") continue;
    const auto on = patterns<4>(f, e);
    ForceField::RyckaertBellemansTerm t;
    t.ordering = order;
    for (std::size_t k = 0; k < 6; ++k) t.c[k] = f.number(e, fmt::format("c{}", k).c_str());
    if (on) (kind == "Proper" ? ff_.rb_propers : ff_.rb_impropers).push_back({*on, t});
  }
}

/// CHARMM's impropers: k (theta - theta0)^2 [kJ/mol/rad^2], half of our k.
void OpenmmXmlReader::harmonic_torsions(OpenmmFile& f, pugi::xml_node n) {
  std::string energy = f.text(n, "energy");
  std::erase(energy, ' ');
  const double half = energy == "k*(theta-theta0)^2"       ? 2
                      : energy == "0.5*k*(theta-theta0)^2" ? 1
                                                           : 0;
  if (half == 0)
    return f.error(703, n.attribute("energy"), n,
                   "the energy " + shown(energy) + " of a torsion is not read",
                   "k*(theta-theta0)^2 is");
  const ForceField::Ordering order = ordering(f, n, ForceField::Ordering::charmm);
  for (const pugi::xml_node e : n.children()) {
    const std::string_view kind = e.name();
    if (kind == "Proper" || kind == "GlobalParameter")
      f.error(703, e, fmt::format("{} of CustomTorsionForce is not read", kind), "Improper is");
    if (kind != "Improper") continue;
    const auto on = patterns<4>(f, e);
    const double k = f.number(e, "k"), phi0 = f.number(e, "theta0");
    if (on) ff_.harmonic_impropers.push_back({*on, {phi0, half * k, order}});
  }
}

/// Maps have phi running fastest there, both angles from 0; here psi runs fastest, both from -180
/// degrees.
void OpenmmXmlReader::correction_maps(OpenmmFile& f, pugi::xml_node n) {
  std::vector<std::int32_t> row;  // of the maps of this element
  for (const pugi::xml_node e : n.children("Map")) {
    const std::string_view text = e.text().get();
    const std::size_t at =
        static_cast<std::size_t>(std::max<std::ptrdiff_t>(e.first_child().offset_debug(), 0));
    std::vector<double> v;
    for (const data::Token& t : data::split_tokens(text, 0, text.size()))
      v.push_back(data::parse_number({t.text, at + t.offset}, data::Exponent::e_only, f.findings())
                      .value_or(0));
    const auto points = static_cast<int>(std::lround(std::sqrt(static_cast<double>(v.size()))));
    row.push_back(0);
    if (points < 4 || points > 1000 ||
        static_cast<std::size_t>(points) * static_cast<std::size_t>(points) != v.size()) {
      f.error(702, e,
              fmt::format("a map of {} values; expected the square of a number from 4 to 1000",
                          v.size()));
    } else if (points % 2 != 0 || (ff_.map_points != 0 && ff_.map_points != points)) {
      f.error(703, e,
              fmt::format("a map of {} points a side is not read{}", points,
                          ff_.map_points ? fmt::format(" beside one of {}", ff_.map_points) : ""),
              "maps of one even number of points are");
    } else {
      ff_.map_points = points;
      row.back() = static_cast<std::int32_t>(ff_.maps.size() / v.size());
      const int half = points / 2;
      for (int i = 0; i < points; ++i)
        for (int j = 0; j < points; ++j)
          ff_.maps.push_back(
              v[static_cast<std::size_t>((i + half) % points + points * ((j + half) % points))]);
    }
  }
  for (const pugi::xml_node e : n.children("Torsion")) {
    const auto on = patterns<5>(f, e);
    const std::int32_t map = f.index(e, "map", row.size(), "map");
    if (on && !row.empty()) ff_.cmap.push_back({*on, row[static_cast<std::size_t>(map)]});
  }
}

}  // namespace tessera::molecular
