// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/openmm_xml.h"

#include "io/openmm_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

namespace tessera::molecular {

using data::shown;

const OpenmmXmlReader::Element OpenmmXmlReader::elements[] = {
    {"Info", nullptr},
    {"AtomTypes", nullptr},
    {"Residues", nullptr},
    {"Patches", nullptr},
    {"Include", &OpenmmXmlReader::include},
    {"InitializationScript", &OpenmmXmlReader::version_check},
    {"CMAPTorsionForce", &OpenmmXmlReader::correction_maps},
    {"NonbondedForce", &OpenmmXmlReader::nonbonded},
    {"LennardJonesForce", &OpenmmXmlReader::lennard_jones},
};

const OpenmmXmlReader::Element* OpenmmXmlReader::element(std::string_view name) {
  for (const Element& e : elements)
    if (name == e.name) return &e;
  return nullptr;
}

OpenmmXmlReader::OpenmmXmlReader(std::span<const data::TextFile> files) {
  if (files.empty()) throw Error("[read_openmm_xml] expected at least one file, got none");
  for (const data::TextFile& f : files) files_.emplace_back(f);
}

ForceField OpenmmXmlReader::read() {
  each([&](OpenmmFile& f, pugi::xml_node n) { refuse(f, n); });
  finish_pass();
  each([&](OpenmmFile& f, pugi::xml_node n) {
    if (std::string_view(n.name()) == "AtomTypes")
      for (const pugi::xml_node t : n.children("Type")) type(f, t);
  });
  finish_pass();
  ff_.nonbonded.resize(ff_.types.size());
  each([&](OpenmmFile& f, pugi::xml_node n) {
    if (std::string_view(n.name()) == "Patches")
      for (const pugi::xml_node p : n.children("Patch")) patch(f, p);
  });
  finish_pass();
  each([&](OpenmmFile& f, pugi::xml_node n) {
    if (std::string_view(n.name()) == "Residues")
      for (const pugi::xml_node r : n.children("Residue")) residue(f, r);
  });
  finish_pass();
  allow_patches();
  each([&](OpenmmFile& f, pugi::xml_node n) { force(f, n); });
  finish_pass();
  lennard_jones_alone();
  for (OpenmmFile& f : files_)
    for (data::Diagnostic& d : f.findings().take_remarks()) ff_.remarks.push_back(std::move(d));
  return std::move(ff_);
}

namespace {

std::string unread_hint(std::string_view kind) {
  if (kind == "Script") return "scripts change forces in ways that this program cannot follow";
  if (kind.starts_with("GB"))
    return "water is explicit here; leave the file with the implicit solvent out";
  std::set<std::string> read = {"CMAPTorsionForce", "NonbondedForce"};
  for (const OpenmmForce& o : openmm_forces()) read.insert(o.element);
  std::string names;
  for (const std::string& name : read) names += name + ", ";
  return names.substr(0, names.size() - 2) + " and LennardJonesForce are";
}
/// An element of bonded terms.
bool is_bonded(std::string_view name) {
  return std::ranges::any_of(openmm_forces(),
                             [&](const OpenmmForce& o) { return name == o.element; });
}

}  // namespace

void OpenmmXmlReader::refuse(OpenmmFile& f, pugi::xml_node n) {
  if (!element(n.name()) && !is_bonded(n.name()))
    f.error(703, n, "the element " + shown(n.name()) + " is not read", unread_hint(n.name()));
}
void OpenmmXmlReader::force(OpenmmFile& f, pugi::xml_node n) {
  if (const Element* e = element(n.name()); e && e->read) (this->*e->read)(f, n);
  if (is_bonded(n.name())) bonded(f, n);
}

void OpenmmXmlReader::include(OpenmmFile& f, pugi::xml_node n) {
  const std::string wanted = std::filesystem::path(f.text(n, "file")).filename().string();
  const bool here = std::ranges::any_of(files_, [&](const OpenmmFile& o) {
    return std::filesystem::path(o.path()).filename() == wanted;
  });
  if (!here)
    f.error(703, n,
            "the file includes " + shown(wanted) + ", and files that others name are not opened",
            "give that file as well");
}

/// Of the scripts, only the one by which OpenMM's CHARMM files see to it that they are of one
/// version.
void OpenmmXmlReader::version_check(OpenmmFile& f, pugi::xml_node n) {
  std::istringstream lines(n.text().get());
  std::string version, first, line;
  bool known = true;
  while (std::getline(lines, line)) {
    const std::string_view s = data::trim(line);
    constexpr std::string_view mark = "EXPECTED_VERSION = \"";
    if (s.starts_with(mark) && s.ends_with('"'))
      version = s.substr(mark.size(), s.size() - mark.size() - 1);
    else
      known =
          known && (s.empty() || s == "else:" || s == "if hasattr(self, \"_charmm_ff_version\"):" ||
                    s == "if self._charmm_ff_version != EXPECTED_VERSION:" ||
                    s.starts_with("raise RuntimeError(f\"CHARMM force field versions") ||
                    s == "self._charmm_ff_version = EXPECTED_VERSION");
  }
  if (!known || version.empty())
    return f.error(703, n, "the element 'InitializationScript' is not read",
                   "scripts change forces in ways that this program cannot follow");
  if (charmm_version_.empty()) charmm_version_ = version;
  if (charmm_version_ != version)
    f.error(702, n,
            fmt::format("this file is of the force field {}, another one of {}", shown(version),
                        shown(charmm_version_)),
            "take files of one version");
}

ForceField read_openmm_xml(std::span<const data::TextFile> files) {
  return OpenmmXmlReader(files).read();
}

}  // namespace tessera::molecular
