// SPDX-License-Identifier: Apache-2.0
// Types, patches and templates of residues.
#include "io/openmm_reader.h"
#include "tessera/molecular/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace tessera::molecular {

using data::shown;

void OpenmmXmlReader::type(OpenmmFile& f, pugi::xml_node n) {
  ForceField::Type t{f.text(n, "name"), n.attribute("class").value(), 0, f.number(n, "mass")};
  if (t.mass_amu < 0) f.error(702, n.attribute("mass"), n, "a negative mass");
  if (const pugi::xml_attribute e = n.attribute("element"); e && *e.value()) {
    t.element = element_of(e.value());
    if (t.element == 0 && std::string_view(e.value()) != "EP")
      f.error(702, e, n, "there is no element called " + shown(e.value()));
  }
  if (!ff_.type_of.try_emplace(t.name, static_cast<std::int32_t>(ff_.types.size())).second)
    f.error(701, n.attribute("name"), n, "the type " + shown(t.name) + " is defined twice");
  else {
    of_class_[t.class_name].push_back(static_cast<std::int32_t>(ff_.types.size()));
    ff_.types.push_back(std::move(t));
  }
}

/// "2:SG" is the atom SG of the second residue, "SG" that of the first.
ForceField::Patch::NamedAtom OpenmmXmlReader::named_atom(OpenmmFile& f, pugi::xml_node e,
                                                         const char* attribute, int residues) {
  std::string name = f.text(e, attribute);
  int residue = 0;
  if (const std::size_t colon = name.find(':'); colon != std::string::npos) {
    const auto [end, code] = std::from_chars(name.data(), name.data() + colon, residue);
    if (code != std::errc{} || end != name.data() + colon || residue < 1 || residue > residues) {
      f.error(702, e.attribute(attribute), e,
              fmt::format("{} names no residue of a patch of {}", shown(name), residues));
      residue = 1;
    }
    --residue;
    name.erase(0, colon + 1);
  }
  return {residue, std::move(name)};
}
void OpenmmXmlReader::patch(OpenmmFile& f, pugi::xml_node n) {
  ForceField::Patch p;
  p.name = f.text(n, "name");
  if (n.attribute("residues")) p.residues = f.index(n, "residues", 101, "the number of residues");
  if (p.residues < 1) return f.error(702, n.attribute("residues"), n, "a patch of no residues");
  const auto row = static_cast<std::int32_t>(ff_.patches.size());
  std::set<std::pair<int, std::string>> known;
  for (const pugi::xml_node e : n.children()) {
    const std::string_view kind = e.name();
    const auto once = [&](const ForceField::Patch::NamedAtom& at) {
      if (!known.insert({at.residue, at.name}).second)
        f.error(701, e,
                fmt::format("the patch {} names the atom {} twice", shown(p.name), shown(at.name)));
    };
    if (kind == "AddAtom" || kind == "ChangeAtom") {
      ForceField::Patch::NamedAtom at = named_atom(f, e, "name", p.residues);
      once(at);
      (kind == "AddAtom" ? p.added : p.changed)
          .push_back({at.residue, template_atom(f, e, std::move(at.name))});
    } else if (kind == "RemoveAtom") {
      p.removed.push_back(named_atom(f, e, "name", p.residues));
      once(p.removed.back());
    } else if (kind == "AddBond" || kind == "RemoveBond") {
      (kind == "AddBond" ? p.added_bonds : p.removed_bonds)
          .push_back({named_atom(f, e, "atomName1", p.residues),
                      named_atom(f, e, "atomName2", p.residues)});
    } else if (kind == "AddExternalBond" || kind == "RemoveExternalBond") {
      (kind == "AddExternalBond" ? p.added_external : p.removed_external)
          .push_back(named_atom(f, e, "atomName", p.residues));
    } else if (kind == "ApplyToResidue") {
      ForceField::Patch::NamedAtom at = named_atom(f, e, "name", p.residues);
      allowed_.push_back({&f, e, std::move(at.name), p.name, at.residue});
    } else if (!kind.empty()) {
      f.error(703, e, "the element " + shown(kind) + " of a patch is not read");
    }
  }
  if (!of_patch_.try_emplace(p.name, row).second)
    f.error(701, n, "the patch " + shown(p.name) + " is defined twice");
  else
    ff_.patches.push_back(std::move(p));
}
/// Which patches go with which templates. OpenMM lets files speak of templates and patches that
/// are in none of them.
void OpenmmXmlReader::allow_patches() {
  std::map<std::string, std::set<std::array<std::int32_t, 2>>>
      of;  // in the order of the patches, each once
  for (const Allowed& a : allowed_) {
    const auto at = of_patch_.find(a.patch);
    if (at == of_patch_.end()) {
      a.file->error(702, a.node, "no file defines the patch " + shown(a.patch),
                    "give the file that does as well");
      continue;
    }
    if (a.residue >= ff_.patches[static_cast<std::size_t>(at->second)].residues)
      a.file->error(702, a.node,
                    fmt::format("the patch {} has no residue {}", shown(a.patch), a.residue + 1));
    else
      of[a.tmplt].insert({at->second, a.residue});
  }
  finish_pass();
  for (ForceField::Template& t : ff_.templates)
    if (const auto at = of.find(t.name); at != of.end())
      t.patches.assign(at->second.begin(), at->second.end());
}

ForceField::Template::Atom OpenmmXmlReader::template_atom(OpenmmFile& f, pugi::xml_node a,
                                                          std::string name) {
  ForceField::Template::Atom atom{std::move(name), 0, std::nullopt};
  const std::string type = f.text(a, "type");
  if (const auto at = ff_.type_of.find(type); at != ff_.type_of.end())
    atom.type = at->second;
  else if (a.attribute("type"))
    f.error(702, a.attribute("type"), a, "no file defines the type " + shown(type),
            "give the file that does as well");
  if (const pugi::xml_attribute q = a.attribute("charge")) atom.charge_e = f.number(a, q);
  return atom;
}
void OpenmmXmlReader::residue(OpenmmFile& f, pugi::xml_node n) {
  ForceField::Template t;
  t.name = f.text(n, "name");
  if (n.attribute("override"))
    t.override_level = f.index(n, "override", 1000000, "the override level");
  std::map<std::string, std::int32_t> of_name;
  for (const pugi::xml_node a : n.children("Atom")) {
    ForceField::Template::Atom atom = template_atom(f, a, f.text(a, "name"));
    if (!of_name.try_emplace(atom.name, static_cast<std::int32_t>(t.atoms.size())).second)
      f.error(701, a, "the atom " + shown(atom.name) + " is given twice");
    t.atoms.push_back(std::move(atom));
  }
  if (t.atoms.size() > 5000) f.error(702, n, "more than 5000 atoms in one residue");
  if (t.atoms.empty()) f.error(701, n, "the residue " + shown(t.name) + " has no atoms");
  const auto atom_of = [&](pugi::xml_node e, const char* by_index, const char* by_name) {
    const pugi::xml_attribute name = e.attribute(by_name);
    if (!name) return f.index(e, by_index, t.atoms.size(), "atom");
    const auto at = of_name.find(name.value());
    if (at == of_name.end())
      f.error(702, name, e, "the residue has no atom " + shown(name.value()));
    return at == of_name.end() ? 0 : at->second;
  };
  for (const pugi::xml_node e : n.children()) {
    const std::string_view kind = e.name();
    if (kind == "Bond") {
      const std::int32_t a = atom_of(e, "from", "atomName1"), b = atom_of(e, "to", "atomName2");
      if (a == b)
        f.error(702, e, "an atom bound to itself");
      else
        t.bonds.push_back({std::min(a, b), std::max(a, b)});
    } else if (kind == "ExternalBond") {
      t.external.push_back(atom_of(e, "from", "atomName"));
    } else if (kind == "VirtualSite") {
      site(f, e, t, atom_of);
    } else if (kind == "AllowPatch") {
      std::string patch = f.text(e, "name");
      int part = 1;
      if (const std::size_t colon = patch.find(':'); colon != std::string::npos) {
        if (std::from_chars(patch.data() + colon + 1, patch.data() + patch.size(), part).ptr !=
                patch.data() + patch.size() ||
            part < 1 || part > 100) {
          f.error(702, e.attribute("name"), e,
                  "expected NAME or NAME:residue of a patch, got " + shown(patch));
          part = 1;
        }
        patch.erase(colon);
      }
      allowed_.push_back({&f, e, t.name, std::move(patch), part - 1});
    } else if (kind != "Atom" && !kind.empty()) {
      f.error(703, e, "the element " + shown(kind) + " of a residue is not read");
    }
  }
  std::ranges::sort(t.bonds);
  t.bonds.erase(std::unique(t.bonds.begin(), t.bonds.end()), t.bonds.end());

  const auto [at, fresh] = of_template_.try_emplace(t.name, ff_.templates.size());
  if (fresh) return ff_.templates.push_back(std::move(t));
  ForceField::Template& other = ff_.templates[at->second];
  if (other.override_level == t.override_level)
    f.error(701, n, "the residue " + shown(t.name) + " is defined twice",
            "one of them needs a greater `override`");
  else if (other.override_level < t.override_level)
    other = std::move(t);
}

}  // namespace tessera::molecular
