// SPDX-License-Identifier: Apache-2.0
// Virtual sites of templates.
#include "io/openmm_reader.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::molecular {

using data::shown;

void OpenmmXmlReader::site(OpenmmFile& f, pugi::xml_node e, ForceField::Template& t,
                           const AtomOf& atom_of) {
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
    const auto all = [&](std::size_t first) {
      return v.weights[first] + v.weights[first + 1] + v.weights[first + 2];
    };
    if (std::abs(all(0) - 1) > 1e-6 || std::abs(all(3)) > 1e-6 || std::abs(all(6)) > 1e-6)
      f.error(
          702, e,
          fmt::format("the weights wo of a localCoords site must add up to 1, wx and wy to 0, got "
                      "{}, {} and {}",
                      all(0), all(3), all(6)));
  } else {
    f.error(703, e.attribute("type"), e, "the virtual site " + shown(kind) + " is not read",
            "average2, average3, outOfPlane and localCoords are");
  }
  const std::int32_t with =
      e.attribute("excludeWith") ? f.index(e, "excludeWith", t.atoms.size(), "atom") : v.parents[0];
  t.sites.push_back({v, with});
}

}  // namespace tessera::molecular
