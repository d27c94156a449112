// SPDX-License-Identifier: Apache-2.0
// Forces between bonded atoms, as the files of the forces say what they are (openmm_force.h), and
// correction maps.
#include "io/openmm_reader.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::molecular {

using data::shown;

const OpenmmForce* OpenmmXmlReader::force_of(OpenmmFile& f, pugi::xml_node n) {
  std::string energy = n.attribute("energy").value(), known;
  std::erase(energy, ' ');
  for (const OpenmmForce& o : openmm_forces()) {
    if (std::string_view(n.name()) != o.element) continue;
    if (!o.energy || energy == o.energy) return &o;
    known += (known.empty() ? "" : " and ") + std::string(o.energy);
  }
  f.required(n, "energy");
  f.error(703, n.attribute("energy"), n,
          fmt::format("the energy {} of {} is not read", shown(energy), n.name()),
          known + (known.find(" and ") == std::string::npos ? " is" : " are"));
  return nullptr;
}

/// The row of every term of a rule.
std::vector<std::array<double, 6>> OpenmmXmlReader::rows_of(OpenmmFile& f, pugi::xml_node e,
                                                            const OpenmmForce& force) {
  std::vector<std::array<double, 6>> out;
  const auto add = [&](const std::string& number) {
    std::vector<double> p;
    for (const char* name : force.parameters) p.push_back(f.number(e, (name + number).c_str()));
    if (std::string what = force.fault ? force.fault(p.data()) : std::string(); !what.empty())
      f.error(702, e.attribute((force.at_fault + number).c_str()), e, std::move(what));
    const OpenmmRow row = force.row(p.data());
    if (!force.is_none || !force.is_none(row)) out.push_back(row);
  };
  if (!force.numbered) {
    add("");
    return out;
  }
  std::size_t k = 1;
  for (; e.attribute(fmt::format("{}{}", force.parameters[0], k).c_str()); ++k) {
    add(std::to_string(k));
    if (k <= most_terms) continue;
    f.error(702, e, fmt::format("{} has more than {} terms", e.name(), most_terms));
    break;
  }
  if (k == 1) {
    std::string names;
    for (const char* name : force.parameters)
      names += (names.empty()                     ? ""
                : name == force.parameters.back() ? "1 and "
                                                  : "1, ") +
               std::string(name);
    f.error(701, e, fmt::format("{} needs {}1", e.name(), names));
  }
  return out;
}

template <std::size_t N>
void OpenmmXmlReader::add_rule(OpenmmFile& f, pugi::xml_node e, const OpenmmForce& force, Term kind,
                               ForceField::Ordering order, std::vector<ForceField::Rules<N>>& to) {
  const auto on = patterns<N>(f, e);
  std::vector<std::array<double, 6>> rows = rows_of(f, e, force);
  if (!on) return;
  auto at = std::ranges::find(to, kind, &ForceField::Rules<N>::kind);
  if (at == to.end())
    at = to.insert(to.end(), ForceField::Rules<N>{
                                 .kind = kind, .thrice = force.thrice, .beside = force.beside});
  at->rules.push_back({*on, {std::move(rows), order}});
}

void OpenmmXmlReader::bonded(OpenmmFile& f, pugi::xml_node n) {
  using On = OpenmmRule::On;
  const OpenmmForce* force = force_of(f, n);
  if (!force) return;
  const bool ordered = std::ranges::any_of(
      force->rules, [](const OpenmmRule& r) { return r.on == On::chain || r.on == On::centre; });
  const ForceField::Ordering usual =
      force->openmm_order ? ForceField::Ordering::standard : ForceField::Ordering::charmm;
  const ForceField::Ordering order = ordered ? ordering(f, n, usual) : usual;
  for (const pugi::xml_node e : n.children()) {
    const std::string_view name = e.name();
    const auto rule =
        std::ranges::find_if(force->rules, [&](const OpenmmRule& r) { return name == r.name; });
    if (rule == force->rules.end()) {
      // Of a Custom force everything has a meaning; parameters are those of the expression.
      if (force->energy && e.type() == pugi::node_element && !name.starts_with("Per"))
        f.error(703, e, fmt::format("{} of {} is not read", name, n.name()),
                force->rules[0].name + std::string(" is"));
      continue;
    }
    switch (rule->on) {
      case On::bond:
        add_rule<2>(f, e, *force, rule->kind, order, ff_.bonds);
        break;
      case On::angle:
        add_rule<3>(f, e, *force, rule->kind, order, ff_.angles);
        break;
      case On::chain:
        add_rule<4>(f, e, *force, rule->kind, order, ff_.propers);
        break;
      case On::centre:
        add_rule<4>(f, e, *force, rule->kind, order, ff_.impropers);
        break;
    }
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
