// SPDX-License-Identifier: Apache-2.0
// Which atoms a rule is of, and in which order.
#include "io/openmm_reader.h"

#include <fmt/format.h>

namespace tessera::molecular {

using data::shown;

/// type1 or class1 and so on; none where a type is of no file's, so that nothing can fit.
ForceField::Pattern OpenmmXmlReader::pattern(OpenmmFile& f, pugi::xml_node e,
                                             const std::string& number) {
  const pugi::xml_attribute type = e.attribute(("type" + number).c_str()),
                            group = e.attribute(("class" + number).c_str());
  if (!type && !group)
    f.error(701, e,
            fmt::format("{} needs the attribute type{} or class{}", e.name(), number, number));
  if (type && group)
    f.error(701, e, fmt::format("{} gives both type{} and class{}", e.name(), number, number));
  const std::string name = (type ? type : group).value();
  if (name.empty()) return {Pattern::Kind::any, 0, {}};
  if (group) return {Pattern::Kind::class_name, 0, name};
  const auto at = ff_.type_of.find(name);
  return at == ff_.type_of.end() ? Pattern{Pattern::Kind::none, 0, {}}
                                 : Pattern{Pattern::Kind::type, at->second, {}};
}
/// Of an Atom: `type` or `class`, no wildcard.
ForceField::Pattern OpenmmXmlReader::one_pattern(OpenmmFile& f, pugi::xml_node e) {
  const Pattern p = pattern(f, e, "");
  if (p.kind == Pattern::Kind::any) f.error(701, e, "an Atom needs the name of a type or class");
  return p.kind == Pattern::Kind::any ? Pattern{Pattern::Kind::none, 0, {}} : p;
}

ForceField::Ordering OpenmmXmlReader::ordering(OpenmmFile& f, pugi::xml_node n,
                                               ForceField::Ordering usual) {
  using Ordering = ForceField::Ordering;
  const pugi::xml_attribute a = n.attribute("ordering");
  const std::string_view s = a.value();
  if (!a) return usual;
  if (s == "default") return Ordering::standard;
  if (s == "charmm") return Ordering::charmm;
  if (s == "amber") return Ordering::amber;
  if (s == "smirnoff") return Ordering::smirnoff;
  f.error(702, a, n, "expected the ordering default, charmm, amber or smirnoff, got " + shown(s));
  return usual;
}

}  // namespace tessera::molecular
