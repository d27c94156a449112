// SPDX-License-Identifier: Apache-2.0
//
// All types of all files first, then patches and templates, then the forces: a file may use what
// another one defines.
#include "tessera/molecular/openmm_xml.h"

#include "tessera/data/text_reader.h"
#include "tessera/data/xml_guard.h"
#include "tessera/molecular/elements.h"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <filesystem>
#include <set>
#include <sstream>

namespace tessera::molecular {
namespace {

using data::shown;
using Pattern = ForceField::Pattern;

class File {
 public:
  explicit File(const data::TextFile& text) : text_(text), findings_(text) {
    data::guard_xml(findings_);
    const auto result =
        document_.load_buffer(text.text.data(), text.text.size(),
                              pugi::parse_default & ~pugi::parse_eol, pugi::encoding_utf8);
    if (!result) {
      findings_.error(312, static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0)),
                      std::string("not well-formed XML: ") + result.description());
      findings_.throw_if_errors();
    }
    if (std::string_view(root().name()) != "ForceField") {
      error(701, root(), "expected the element ForceField, got " + shown(root().name()),
            "is this a force field of OpenMM?");
      findings_.throw_if_errors();
    }
  }
  pugi::xml_node root() const { return document_.document_element(); }
  data::Findings& findings() { return findings_; }
  const std::string& path() const { return text_.path; }

  static std::size_t offset_of(pugi::xml_node n) {
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(n.offset_debug(), 0));
  }
  /// Where the value of an attribute begins.
  std::size_t offset_of(pugi::xml_attribute a, pugi::xml_node n) const {
    const std::size_t from = offset_of(n);
    const std::string_view rest = std::string_view(text_.text).substr(from),
                           tag = rest.substr(0, rest.find('>'));
    const std::string name = std::string(a.name()) + "=";
    for (std::size_t at = tag.find(name, 1); at < tag.size(); at = tag.find(name, at + 1))
      if (std::string_view(" \t\n").find(tag[at - 1]) != std::string_view::npos)
        return from + at + name.size() + 1;
    return from;
  }
  void error(int number, pugi::xml_node n, std::string message, std::string hint = {}) {
    findings_.error(number, offset_of(n), std::move(message), std::move(hint));
  }
  void error(int number, pugi::xml_attribute a, pugi::xml_node n, std::string message,
             std::string hint = {}) {
    findings_.error(number, offset_of(a, n), std::move(message), std::move(hint));
  }

  pugi::xml_attribute required(pugi::xml_node n, const char* name) {
    const pugi::xml_attribute a = n.attribute(name);
    if (!a) error(701, n, fmt::format("{} needs the attribute {}", n.name(), name));
    return a;
  }
  std::string text(pugi::xml_node n, const char* name) { return required(n, name).value(); }
  double number(pugi::xml_node n, pugi::xml_attribute a) {
    return data::parse_number({data::trim(a.value()), offset_of(a, n)}, data::Exponent::e_only,
                              findings_)
        .value_or(0);
  }
  double number(pugi::xml_node n, const char* name) {
    const pugi::xml_attribute a = required(n, name);
    return a ? number(n, a) : 0;
  }
  double number(pugi::xml_node n, const char* name, double usual) {
    const pugi::xml_attribute a = n.attribute(name);
    return a ? number(n, a) : usual;
  }
  /// A whole number from 0 to most - 1, or `usual` where the attribute is absent.
  std::int32_t index(pugi::xml_node n, const char* name, std::size_t most, const char* what) {
    const pugi::xml_attribute a = required(n, name);
    if (!a) return 0;
    const std::string_view s = a.value();
    std::int64_t v = -1;
    const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), v);
    if (code == std::errc{} && end == s.data() + s.size() && v >= 0 &&
        static_cast<std::size_t>(v) < most)
      return static_cast<std::int32_t>(v);
    error(702, a, n, fmt::format("{} {} is not among {}", what, shown(s), most));
    return 0;
  }

 private:
  const data::TextFile& text_;
  data::Findings findings_;
  pugi::xml_document document_;
};

class OpenmmXmlReader {
 public:
  explicit OpenmmXmlReader(std::span<const data::TextFile> files) {
    if (files.empty()) throw Error("[read_openmm_xml] expected at least one file, got none");
    for (const data::TextFile& f : files) files_.emplace_back(f);
  }

  ForceField read() {
    each([&](File& f, pugi::xml_node n) { refuse(f, n); });
    finish_pass();
    each([&](File& f, pugi::xml_node n) {
      if (std::string_view(n.name()) == "AtomTypes")
        for (const pugi::xml_node t : n.children("Type")) type(f, t);
    });
    finish_pass();
    ff_.nonbonded.resize(ff_.types.size());
    each([&](File& f, pugi::xml_node n) {
      if (std::string_view(n.name()) == "Patches")
        for (const pugi::xml_node p : n.children("Patch")) patch(f, p);
    });
    finish_pass();
    each([&](File& f, pugi::xml_node n) {
      if (std::string_view(n.name()) == "Residues")
        for (const pugi::xml_node r : n.children("Residue")) residue(f, r);
    });
    finish_pass();
    allow_patches();
    each([&](File& f, pugi::xml_node n) { force(f, n); });
    finish_pass();
    lennard_jones_alone();
    for (File& f : files_)
      for (data::Diagnostic& d : f.findings().take_remarks()) ff_.remarks.push_back(std::move(d));
    return std::move(ff_);
  }

 private:
  void each(auto&& visit) {
    for (File& f : files_)
      for (const pugi::xml_node n : f.root().children())
        if (n.type() == pugi::node_element) visit(f, n);
  }
  void finish_pass() {
    for (File& f : files_) f.findings().throw_if_errors();
  }

  void type(File& f, pugi::xml_node n) {
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

  // ---- patches
  // -------------------------------------------------------------------------------------------------------

  /// "2:SG" is the atom SG of the second residue, "SG" that of the first.
  ForceField::Patch::NamedAtom named_atom(File& f, pugi::xml_node e, const char* attribute,
                                          int residues) {
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
  void patch(File& f, pugi::xml_node n) {
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
          f.error(
              701, e,
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
  void allow_patches() {
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

  // ---- templates
  // -----------------------------------------------------------------------------------------------------

  ForceField::Template::Atom template_atom(File& f, pugi::xml_node a, std::string name) {
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
  void residue(File& f, pugi::xml_node n) {
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

  void site(File& f, pugi::xml_node e, ForceField::Template& t, auto&& atom_of) {
    using Kind = VirtualSite::Kind;
    const std::string kind = f.text(e, "type");
    VirtualSite v;
    v.site = atom_of(e, "index", "siteName");
    if (static_cast<std::size_t>(v.site) < t.atoms.size()) {
      const ForceField::Template::Atom& atom = t.atoms[static_cast<std::size_t>(v.site)];
      const auto type = static_cast<std::size_t>(
          atom.type);  // of no file's type: reported, and row 0 of a table that may be empty
      if (type < ff_.types.size() && ff_.types[type].mass_amu != 0)
        f.error(702, e, "the virtual site " + shown(atom.name) + " is an atom with a mass",
                "its type needs mass=\"0\"");
    }
    const auto parents = [&](std::size_t n) {
      for (std::size_t k = 0; k < n; ++k) {
        const std::string number = std::to_string(k + 1);
        v.parents[k] = atom_of(e, ("atom" + number).c_str(), ("atomName" + number).c_str());
        if (v.parents[k] == v.site) f.error(702, e, "a virtual site is its own parent");
      }
    };
    const auto weight = [&](const char* name) { return f.number(e, name); };
    if (kind == "average2") {
      parents(2);
      const double w1 = weight("weight1"), w2 = weight("weight2");
      if (std::abs(w1 + w2 - 1) > 1e-6)
        f.error(702, e,
                fmt::format("the weights of an average2 site must add up to 1, got {}", w1 + w2));
      v.kind = Kind::linear2;
      v.weights[0] = w2;
    } else if (kind == "average3") {
      parents(3);
      const double w1 = weight("weight1"), w2 = weight("weight2"), w3 = weight("weight3");
      if (std::abs(w1 + w2 + w3 - 1) > 1e-6)
        f.error(
            702, e,
            fmt::format("the weights of an average3 site must add up to 1, got {}", w1 + w2 + w3));
      v.kind = Kind::linear3;
      v.weights[0] = w2, v.weights[1] = w3;
    } else if (kind == "outOfPlane") {
      parents(3);
      v.kind = Kind::cross3;
      v.weights[0] = weight("weight12"), v.weights[1] = weight("weight13"),
      v.weights[2] = weight("weightCross");
    } else if (kind == "localCoords") {
      if (e.attribute("wo4") || e.attribute("atom4") || e.attribute("atomName4") ||
          !e.attribute("wo3"))
        f.error(703, e, "localCoords sites are read for three parents alone");
      parents(3);
      v.kind = Kind::frame3;
      for (std::size_t k = 0; k < 3; ++k) {
        const std::string number = std::to_string(k + 1);
        v.weights[k] = weight(("wo" + number).c_str());
        v.weights[3 + k] = weight(("wx" + number).c_str());
        v.weights[6 + k] = weight(("wy" + number).c_str());
        v.weights[9 + k] = weight(("p" + number).c_str());
      }
    } else {
      f.error(703, e.attribute("type"), e, "the virtual site " + shown(kind) + " is not read",
              "average2, average3, outOfPlane and localCoords are");
    }
    const std::int32_t with = e.attribute("excludeWith")
                                  ? f.index(e, "excludeWith", t.atoms.size(), "atom")
                                  : v.parents[0];
    t.sites.push_back({v, with});
  }

  // ---- forces
  // --------------------------------------------------------------------------------------------------------

  static void refuse(File& f, pugi::xml_node n) {
    static const std::set<std::string_view> read = {"Info",
                                                    "AtomTypes",
                                                    "Residues",
                                                    "Patches",
                                                    "Include",
                                                    "InitializationScript",
                                                    "HarmonicBondForce",
                                                    "HarmonicAngleForce",
                                                    "PeriodicTorsionForce",
                                                    "RBTorsionForce",
                                                    "AmoebaUreyBradleyForce",
                                                    "CustomTorsionForce",
                                                    "CMAPTorsionForce",
                                                    "NonbondedForce",
                                                    "LennardJonesForce"};
    if (const std::string_view kind = n.name(); !read.count(kind))
      f.error(703, n, "the element " + shown(kind) + " is not read", unread_hint(kind));
  }
  void force(File& f, pugi::xml_node n) {
    const std::string_view kind = n.name();
    if (kind == "HarmonicBondForce") {
      for (const pugi::xml_node e : n.children("Bond"))
        if (const auto on = patterns<2>(f, e))
          ff_.bonds.push_back({*on, {f.number(e, "length"), f.number(e, "k")}});
    } else if (kind == "HarmonicAngleForce") {
      for (const pugi::xml_node e : n.children("Angle"))
        if (const auto on = patterns<3>(f, e))
          ff_.angles.push_back({*on, {f.number(e, "angle"), f.number(e, "k")}});
    } else if (kind == "PeriodicTorsionForce") {
      periodic(f, n);
    } else if (kind == "RBTorsionForce") {
      ryckaert_bellemans(f, n);
    } else if (kind == "AmoebaUreyBradleyForce") {  // U = k (r - d)^2
      for (const pugi::xml_node e : n.children("UreyBradley"))
        if (const auto on = patterns<3>(f, e))
          ff_.urey_bradley.push_back({*on, {f.number(e, "d"), 2 * f.number(e, "k")}});
    } else if (kind == "CustomTorsionForce") {
      harmonic_torsions(f, n);
    } else if (kind == "CMAPTorsionForce") {
      correction_maps(f, n);
    } else if (kind == "InitializationScript") {
      version_check(f, n);
    } else if (kind == "NonbondedForce") {
      nonbonded(f, n);
    } else if (kind == "LennardJonesForce") {
      lennard_jones(f, n);
    } else if (kind == "Include") {
      const std::string wanted = std::filesystem::path(f.text(n, "file")).filename().string();
      const bool here = std::ranges::any_of(files_, [&](const File& o) {
        return std::filesystem::path(o.path()).filename() == wanted;
      });
      if (!here)
        f.error(
            703, n,
            "the file includes " + shown(wanted) + ", and files that others name are not opened",
            "give that file as well");
    }
  }

  static std::string unread_hint(std::string_view kind) {
    if (kind == "Script") return "scripts change forces in ways that this program cannot follow";
    if (kind.starts_with("GB"))
      return "water is explicit here; leave the file with the implicit solvent out";
    return "HarmonicBondForce, HarmonicAngleForce, PeriodicTorsionForce, RBTorsionForce, "
           "CMAPTorsionForce, AmoebaUreyBradleyForce, NonbondedForce and LennardJonesForce are";
  }

  /// CHARMM's impropers: k (theta - theta0)^2 [kJ/mol/rad^2], half of our k.
  void harmonic_torsions(File& f, pugi::xml_node n) {
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
  void correction_maps(File& f, pugi::xml_node n) {
    std::vector<std::int32_t> row;  // of the maps of this element
    for (const pugi::xml_node e : n.children("Map")) {
      const std::string_view text = e.text().get();
      const std::size_t at =
          static_cast<std::size_t>(std::max<std::ptrdiff_t>(e.first_child().offset_debug(), 0));
      std::vector<double> v;
      for (const data::Token& t : data::split_tokens(text, 0, text.size()))
        v.push_back(
            data::parse_number({t.text, at + t.offset}, data::Exponent::e_only, f.findings())
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

  /// Of the scripts, only the one by which OpenMM's CHARMM files see to it that they are of one
  /// version.
  void version_check(File& f, pugi::xml_node n) {
    std::istringstream lines(n.text().get());
    std::string version, first, line;
    bool known = true;
    while (std::getline(lines, line)) {
      const std::string_view s = data::trim(line);
      constexpr std::string_view mark = "EXPECTED_VERSION = \"";
      if (s.starts_with(mark) && s.ends_with('"'))
        version = s.substr(mark.size(), s.size() - mark.size() - 1);
      else
        known = known &&
                (s.empty() || s == "else:" || s == "if hasattr(self, \"_charmm_ff_version\"):" ||
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

  /// type1 or class1 and so on; none where a type is of no file's, so that nothing can fit.
  Pattern pattern(File& f, pugi::xml_node e, const std::string& number) {
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
  Pattern one_pattern(File& f, pugi::xml_node e) {
    const Pattern p = pattern(f, e, "");
    if (p.kind == Pattern::Kind::any) f.error(701, e, "an Atom needs the name of a type or class");
    return p.kind == Pattern::Kind::any ? Pattern{Pattern::Kind::none, 0, {}} : p;
  }
  template <std::size_t N>
  std::optional<std::array<Pattern, N>> patterns(File& f, pugi::xml_node e) {
    std::array<Pattern, N> out;
    for (std::size_t k = 0; k < N; ++k) out[k] = pattern(f, e, std::to_string(k + 1));
    if (std::ranges::any_of(out, [](const Pattern& p) { return p.kind == Pattern::Kind::none; }))
      return std::nullopt;
    return out;
  }

  ForceField::Ordering ordering(File& f, pugi::xml_node n, ForceField::Ordering usual) {
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

  void periodic(File& f, pugi::xml_node n) {
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
      if (p.terms.empty())
        f.error(701, e, fmt::format("{} needs periodicity1, phase1 and k1", kind));
      if (on) (kind == "Proper" ? ff_.propers : ff_.impropers).push_back({*on, std::move(p)});
    }
  }
  void ryckaert_bellemans(File& f, pugi::xml_node n) {
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

  /// All types that a pattern fits.
  std::vector<std::int32_t> types_of(const Pattern& p) const {
    if (p.kind == Pattern::Kind::type) return {p.type};
    if (p.kind == Pattern::Kind::class_name) {
      const auto at = of_class_.find(p.class_name);
      return at == of_class_.end() ? std::vector<std::int32_t>{} : at->second;
    }
    std::vector<std::int32_t> out;
    for (std::size_t t = 0; t < ff_.types.size() && p.kind == Pattern::Kind::any; ++t)
      out.push_back(static_cast<std::int32_t>(t));
    return out;
  }
  /// A scale factor that all elements of a kind must agree on.
  void agree(File& f, pugi::xml_node n, const char* name, std::optional<double>& known) {
    const double v = f.number(n, name);
    if (known && std::abs(*known - v) > 1e-5)
      f.error(702, n.attribute(name), n,
              fmt::format(
                  "{} is {} here and {} in another file: these force fields do not belong together",
                  name, v, *known));
    if (!known) known = v;
  }

  static void expect_lennard_jones(File& f, pugi::xml_node e, double sigma, double epsilon) {
    if (epsilon < 0 || sigma < 0) f.error(702, e, "sigma and epsilon must not be negative");
    if (!std::isfinite(4 * epsilon * std::pow(sigma, 12)))
      f.error(702, e,
              fmt::format("4 epsilon sigma^12 of sigma {} nm and epsilon {} kJ/mol is beyond the "
                          "range of double precision",
                          sigma, epsilon));
  }

  void nonbonded(File& f, pugi::xml_node n) {
    agree(f, n, "coulomb14scale", coulomb14_);
    agree(f, n, "lj14scale", lj14_);
    ff_.coulomb14_scale = coulomb14_.value_or(1);
    bool charge_of_residue = false;
    for (const pugi::xml_node u : n.children("UseAttributeFromResidue")) {
      if (f.text(u, "name") == "charge")
        charge_of_residue = true;
      else
        f.error(703, u,
                "of the attributes of a residue only charge is read, got " +
                    shown(u.attribute("name").value()));
    }
    for (const pugi::xml_node e : n.children("Atom")) {
      ForceField::NonbondedType t{
          true, charge_of_residue, 0, f.number(e, "sigma"), f.number(e, "epsilon"), 0, 0};
      if (!charge_of_residue) t.charge_e = f.number(e, "charge");
      expect_lennard_jones(f, e, t.sigma_nm, t.epsilon);
      t.sigma14_nm = t.sigma_nm;
      t.epsilon14 = t.epsilon;
      for (const std::int32_t k : types_of(one_pattern(f, e)))
        ff_.nonbonded[static_cast<std::size_t>(k)] = t;
    }
  }

  void lennard_jones(File& f, pugi::xml_node n) {
    agree(f, n, "lj14scale", lj14_alone_);
    for (const pugi::xml_node e : n.children("Atom")) {
      const double sigma = f.number(e, "sigma"), epsilon = f.number(e, "epsilon");
      expect_lennard_jones(f, e, sigma, epsilon);
      const std::array<double, 4> values = {sigma, epsilon, f.number(e, "sigma14", sigma),
                                            f.number(e, "epsilon14", epsilon)};
      for (const std::int32_t k : types_of(one_pattern(f, e)))
        alone_[static_cast<std::size_t>(k)] = values;
    }
    for (const pugi::xml_node e : n.children("NBFixPair")) {
      const auto on = patterns<2>(f, e);
      const double sigma = f.number(e, "sigma"), epsilon = f.number(e, "epsilon");
      if (!on) continue;
      if ((*on)[0].kind == Pattern::Kind::any || (*on)[1].kind == Pattern::Kind::any) {
        f.error(703, e, "NBFixPair with a wildcard is not read");
        continue;
      }
      const std::vector<std::int32_t> first = types_of((*on)[0]), second = types_of((*on)[1]);
      if (first.size() * second.size() + ff_.nbfix.size() > most_pairs) {
        f.error(702, e, fmt::format("more than {} pairs of types with NBFixPair", most_pairs));
        return;
      }
      for (const std::int32_t i : first)
        for (const std::int32_t j : second)
          ff_.nbfix[{std::min(i, j), std::max(i, j)}] = {sigma, epsilon};
    }
  }
  /// A LennardJonesForce takes the place of NonbondedForce's, whose epsilon must then be zero:
  /// OpenMM would add both.
  void lennard_jones_alone() {
    ff_.lj14_scale = lj14_alone_ ? *lj14_alone_ : lj14_.value_or(1);
    if (!lj14_alone_) return;
    for (std::size_t k = 0; k < ff_.types.size(); ++k) {
      ForceField::NonbondedType& t = ff_.nonbonded[k];
      if (t.given && t.epsilon != 0)
        files_[0].findings().error(
            703, 0,
            "the type " + shown(ff_.types[k].name) +
                " has Lennard-Jones parameters in NonbondedForce and in LennardJonesForce");
      if (const auto at = alone_.find(k); at != alone_.end())
        std::tie(t.sigma_nm, t.epsilon, t.sigma14_nm, t.epsilon14) = std::tuple_cat(at->second);
      else
        t.given = false;
    }
    finish_pass();
  }

  static constexpr std::size_t most_pairs = 10'000'000;
  static constexpr std::size_t most_terms = 100;  ///< of a torsion: a periodicity is at most 100
  std::deque<File> files_;
  ForceField ff_;
  std::optional<double> coulomb14_, lj14_, lj14_alone_;
  std::string charmm_version_;
  std::map<std::size_t, std::array<double, 4>> alone_;
  std::map<std::string, std::vector<std::int32_t>> of_class_;
  std::map<std::string, std::size_t> of_template_;
  /// A patch that a template allows, or that names the template.
  struct Allowed {
    File* file;
    pugi::xml_node node;
    std::string tmplt, patch;
    int residue;
  };
  std::vector<Allowed> allowed_;
  std::map<std::string, std::int32_t> of_patch_;
};

}  // namespace

ForceField read_openmm_xml(std::span<const data::TextFile> files) {
  return OpenmmXmlReader(files).read();
}

}  // namespace tessera::molecular
