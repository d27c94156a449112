// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/checks.h"
#include "tessera/electromagnetics/media_library.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tessera::apps::waves {
namespace {

constexpr double kMostCopies = 1e6;  ///< of all structures: a scene of these takes a gigabyte

bool is_zero(const Point& p) { return p[0] == 0 && p[1] == 0 && p[2] == 0; }

/// A good conductor is known by its surface: one conductivity and permeability.
void check_conductor(const MaterialOptions& m, const std::string& at, Checks& checks) {
  if (m.pec || m.library || m.index_file || m.index || m.eps || m.loss_tangent ||
      !m.poles.empty() || !is_zero(m.sigma_m) || m.chi2 != 0 || m.chi3 != 0)
    checks.say(624, at + ".surface_impedance",
               "a good conductor takes sigma, mu and roughness alone", "leave the other keys out");
  const auto even = [](const Point& p) { return p[0] == p[1] && p[0] == p[2]; };
  if (!m.sigma || !((*m.sigma)[0] > 0) || !even(*m.sigma) || !even(m.mu))
    checks.say(624, at + ".surface_impedance",
               "a surface impedance is one of a conductivity above 0, alike along x, y and z",
               "e.g. sigma = \"5.8e7 S/m\"");
}

/// A material is one of: a conductor, of the library, of a file, or made of constants.
void check_material(const MaterialOptions& m, const std::string& at, Checks& checks) {
  const bool constants = m.index || m.eps || m.sigma || m.loss_tangent || !m.poles.empty();
  const bool magnetic = m.mu != Point{1, 1, 1} || !is_zero(m.sigma_m);
  if (m.pec && (m.library || m.index_file || constants || magnetic || m.chi2 != 0 || m.chi3 != 0))
    checks.say(624, at + ".pec", "a perfect conductor takes nothing else",
               "leave pec or the other keys out");
  if (m.surface_impedance) check_conductor(m, at, checks);
  if (m.roughness > 0 && !m.surface_impedance)
    checks.say(624, at + ".roughness", "only a surface with an impedance can be rough",
               "write surface_impedance = true");
  if (m.library && m.index_file)
    checks.say(624, at + ".index_file", "the medium is given in two ways",
               "leave this or library out");
  if ((m.library || m.index_file) && constants)
    checks.say(624, at + (m.library ? ".library" : ".index_file"),
               "already says what eps, index, sigma, loss_tangent and poles would",
               "leave this out, or those");
  if (!m.index_file && !(m.fit == IndexFitOptions{}))
    checks.say(624, at + ".fit", "there is no index_file that a medium is fitted to",
               "give index_file, or leave this out");
  if (m.index && m.eps)
    checks.say(624, at + ".index", "the permittivity is given in two ways",
               "leave this or eps out");
  if (m.sigma && m.loss_tangent)
    checks.say(624, at + ".loss_tangent", "the loss is given in two ways",
               "leave this or sigma out");
  if (m.loss_band && !m.poles.empty())
    checks.say(624, at + ".loss_band", "over a band poles and a constant loss tangent contradict",
               "leave out one of them; without loss_band poles count at loss_frequency");
  if (m.loss_tangent && !m.loss_frequency)
    checks.say(624, at + ".loss_tangent", "holds at loss_frequency, which is missing",
               "give loss_frequency");
  if (!m.loss_tangent && (m.loss_frequency || m.loss_band))
    checks.say(624, at + (m.loss_frequency ? ".loss_frequency" : ".loss_band"),
               "there is no loss_tangent", "give loss_tangent, or leave this out");
  if (m.loss_band && m.loss_frequency) {
    const auto& [low, high] = *m.loss_band;
    if (!(low < *m.loss_frequency && *m.loss_frequency < high))
      checks.say(624, at + ".loss_band", "has to rise and to hold loss_frequency within");
    if (m.eps && ((*m.eps)[0] != (*m.eps)[1] || (*m.eps)[0] != (*m.eps)[2]))
      checks.say(624, at + ".loss_band", "is for media that are alike along x, y and z");
  }
  for (std::size_t k = 0; k < m.poles.size(); ++k) {
    const std::string pole = item((at + ".poles").c_str(), k);
    const auto& model = electromagnetics::dispersion_model(m.poles[k].kind);
    if (const auto fault = model.fault ? model.fault(m.poles[k].values) : std::nullopt)
      checks.say(624, pole + "." + fault->parameter, fault->what, fault->remedy);
  }
}

/// Between corners a box has its place. Along an axis without ends the centre is what it turns
/// about.
void check_centre(const StructureOptions& s, const CaseOptions& o, const std::string& at,
                  Checks& checks) {
  for (std::size_t a = 0; a < 3; ++a) {
    const double low = (*s.low)[a], high = (*s.high)[a], middle = (low + high) / 2;
    const bool endless = !std::isfinite(low) || !std::isfinite(high) ||
                         (low == high && goes_through(o, s, static_cast<int>(a)));
    if (endless || s.centre[a] == 0 ||
        std::abs(s.centre[a] - middle) <= 1e-9 * std::max(high - low, std::abs(middle)))
      continue;
    return checks.say(626, item((at + ".centre").c_str(), a),
                      "the box lies between its low and high corners, whose middle is elsewhere",
                      "leave centre out, or give size in place of the corners");
  }
}

void check_shape(const StructureOptions& s, const CaseOptions& o, const std::string& at,
                 Checks& checks) {
  const auto wrong = [&](const char* key, std::string message, std::string hint = {}) {
    checks.say(626, at + key, std::move(message), std::move(hint));
  };
  if (s.shape == ShapeKind::box || s.shape == ShapeKind::pixels) {
    const bool corners = s.low && s.high;
    if ((s.low || s.high) && (s.size || !corners))
      wrong(s.low ? ".low" : ".high", "it has a size, or a low and a high corner",
            "leave size out and give both corners, or give size alone");
    else if (!s.size && !corners)
      wrong("", "it has a size, or a low and a high corner", "give size");
    for (std::size_t a = 0; corners && a < 3; ++a)
      if ((*s.low)[a] > (*s.high)[a]) {
        wrong(".low", "is above high", "exchange them");
        break;
      }
    if (corners && !s.size) check_centre(s, o, at, checks);
  }
  if (s.inner_radius && *s.inner_radius >= s.radius) wrong(".inner_radius", "is not below radius");
  if (s.shape == ShapeKind::torus && s.tube_radius >= s.radius)
    wrong(".tube_radius", "is not below radius, that of the ring",
          "radius runs from the axis to the middle of the tube");
  if (s.shape == ShapeKind::cone && s.radius_low == 0 && s.radius_high == 0)
    wrong(".radius_low", "both radii of the cone are 0");
  if (s.shape == ShapeKind::cone && std::isinf(s.height))
    wrong(".height", "a cone cannot be infinite");
  if ((s.shape == ShapeKind::prism || s.shape == ShapeKind::gds) && std::isinf(s.height) &&
      s.sidewall != 0)
    wrong(".height", "only a body with upright walls can be infinite", "leave sidewall out");
  const bool upright =
      s.shape == ShapeKind::cylinder || s.shape == ShapeKind::prism || s.shape == ShapeKind::gds;
  if (s.shape == ShapeKind::cone && s.height == 0) wrong(".height", "a cone has a height");
  if (upright && s.height == 0 && !goes_through(o, s, static_cast<int>(s.axis)))
    wrong(".height", "the body has no height, and its axis points where the grid is resolved",
          "give it a height; 0 stands for no end where nothing is resolved");
  if (upright && s.height == 0 && s.sidewall != 0)
    wrong(".height", "only a body with upright walls goes through", "leave sidewall out");
  if (s.shape == ShapeKind::half_space && is_zero(s.outward)) wrong(".outward", "has no direction");
  if (s.rotate && is_zero(s.rotate->axis)) wrong(".rotate.axis", "has no direction");
}

/// Pixels lie along the grid, between two media that mix, and are no part of others.
void check_pixels(const StructureOptions& s, const std::string& at, Checks& checks) {
  if (s.shape != ShapeKind::pixels) return;
  const auto wrong = [&](const char* key, std::string message, std::string hint = {}) {
    checks.say(626, at + key, std::move(message), std::move(hint));
  };
  std::array<bool, 3> named{};
  for (std::size_t k = 0; k < s.axes.size(); ++k) {
    bool& seen = named[static_cast<std::size_t>(s.axes[k].back() - 'x')];
    if (seen)
      wrong(item(".axes", k).c_str(),
            "two indices run along " + s.axes[k].substr(s.axes[k].size() - 1),
            "name each axis once");
    seen = true;
  }
  if (!s.material) wrong("", "pixels need a material, where their density is 1", "give material");
  if (s.rotate)
    wrong(".rotate", "pixels lie along the grid", "turn the data: axes = [\"y\", \"-x\"]");
  if (s.repeat)
    wrong(".repeat", "pixels are not repeated", "repeat the data, or take periodic faces");
  for (std::size_t a = 0; a < 3; ++a) {
    const double extent = s.size ? (*s.size)[a] : s.low && s.high ? (*s.high)[a] - (*s.low)[a] : 1;
    if (named[a] && !(extent > 0 && std::isfinite(extent)))
      wrong(s.size ? ".size" : ".high",
            std::string("pixels along ") + "xyz"[a] + " need a finite size");
  }
}

bool conducts_perfectly(const CaseOptions& o, const std::string& medium) {
  if (medium == "pec") return true;
  const auto named = std::find_if(o.materials.begin(), o.materials.end(),
                                  [&](const MaterialOptions& m) { return m.name == medium; });
  return named != o.materials.end() && (named->pec || named->surface_impedance);
}

/// What a body without thickness does for nothing.
struct IdleSheet {
  std::string why, way_out;
};

/// Tells of the boxes without thickness that a body is, or has as parts. `i`: that body.
void check_thickness(const CaseOptions& o, std::size_t i, const IdleSheet& idle,
                     std::set<std::size_t>& told, Checks& checks) {
  const StructureOptions& s = o.structures[i];
  for (const std::string& part : s.parts)
    for (std::size_t k = 0; k < i; ++k)
      if (o.structures[k].name == part) check_thickness(o, k, idle, told, checks);
  if (s.shape != ShapeKind::box && s.shape != ShapeKind::pixels) return;
  for (int a = 0; a < 3; ++a) {
    const auto d = static_cast<std::size_t>(a);
    const double extent = s.size ? (*s.size)[d] : s.low && s.high ? (*s.high)[d] - (*s.low)[d] : 1;
    if (extent != 0 || goes_through(o, s, a)) continue;
    if (told.insert(i).second)
      checks.say(653, item((structure_key(o, i) + (s.size ? ".size" : ".high")).c_str(), d),
                 std::string("the box has no size along ") + "xyz"[a] + ", and " + idle.why,
                 idle.way_out);
    return;
  }
}

/// Sheets are of perfect conductors: of any other medium a body without thickness is nowhere. And
/// it holds no point, so that nothing is less without it.
void check_sheets(const CaseOptions& o, std::size_t i, std::set<std::size_t>& told,
                  Checks& checks) {
  const StructureOptions& s = o.structures[i];
  if (s.material && !conducts_perfectly(o, *s.material))
    check_thickness(
        o, i,
        {"a sheet of '" + *s.material + "' does nothing: only perfect conductors may be so thin",
         "give it a thickness, with cells that resolve it"},
        told, checks);
  if (s.shape != ShapeKind::difference) return;
  for (std::size_t p = 1; p < s.parts.size(); ++p)
    for (std::size_t k = 0; k < i; ++k)
      if (o.structures[k].name == s.parts[p])
        check_thickness(o, k,
                        {"taken away it leaves no hole: it holds no point",
                         "give it a thickness; how far a hole reaches beyond a sheet is no matter"},
                        told, checks);
}

}  // namespace

std::string structure_key(const CaseOptions& o, std::size_t structure) {
  return structure < o.first_truth ? item("structure", structure)
                                   : item("truth", structure - o.first_truth);
}

std::vector<std::string> media_names(const CaseOptions& o) {
  std::vector<std::string> names;
  for (const MaterialOptions& m : o.materials) names.push_back(m.name);
  names.insert(names.end(), {"vacuum", "pec"});
  for (std::string& name : electromagnetics::list_media()) names.push_back(std::move(name));
  return names;
}

namespace {

void check_walls(const CaseOptions& o, Checks& checks) {
  const std::optional<std::string>& name = o.boundary.wall_material;
  if (!name) return;
  const auto named = std::find_if(o.materials.begin(), o.materials.end(),
                                  [&](const MaterialOptions& m) { return m.name == *name; });
  if (named == o.materials.end() || !named->surface_impedance)
    return checks.say(625, "boundary.wall_material",
                      "'" + *name + "' is no [[material]] with surface_impedance",
                      "give one: surface_impedance = true, and its sigma");
  for (int a = 0; a < 3; ++a)
    for (const bool high : {false, true})
      if (o.grid.resolved(a) && (high ? o.boundary.high(a) : o.boundary.low(a)) == Face::pec &&
          !o.boundary.is_symmetry(a, high))
        return;
  checks.say(623, "boundary.wall_material", "no face is a wall of pec", "leave it out");
}

}  // namespace

void check_materials(const CaseOptions& o, Checks& checks) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < o.materials.size(); ++i) {
    const MaterialOptions& m = o.materials[i];
    const std::string at = item("material", i);
    checks.unique(at + ".name", m.name, seen);
    if (m.name == "vacuum" || m.name == "pec")
      checks.say(625, at + ".name", "'" + m.name + "' is always there", "take another name");
    check_material(m, at, checks);
  }
  checks.known("grid.background", o.grid.background, media_names(o), "medium");
  check_walls(o, checks);
}

void check_structures(const CaseOptions& o, Checks& checks) {
  const std::vector<std::string> media = media_names(o);
  std::vector<std::string> earlier;
  std::set<std::string> seen, used;
  std::set<std::size_t> without_thickness;
  for (const StructureOptions& s : o.structures) used.insert(s.parts.begin(), s.parts.end());
  std::map<std::string, double> bodies;  // that a structure is of, with all that repeats make
  double copies = 0;
  for (std::size_t i = 0; i < o.structures.size(); ++i) {
    const StructureOptions& s = o.structures[i];
    const std::string at = structure_key(o, i);
    checks.unique(at + ".name", s.name, seen);
    if (s.material)
      checks.known(at + ".material", *s.material, media, "medium");
    else if (!used.contains(s.name))
      checks.say(626, at, "has no material and is no part of another structure",
                 "give it a material");
    for (std::size_t k = 0; k < s.parts.size(); ++k)
      checks.known(item((at + ".parts").c_str(), k), s.parts[k], earlier, "earlier structure");
    check_shape(s, o, at, checks);
    check_pixels(s, at, checks);
    if (s.empty) checks.known(at + ".empty", *s.empty, media, "medium");
    check_sheets(o, i, without_thickness, checks);
    double own = s.parts.empty() ? 1 : 0;
    for (const std::string& part : s.parts) own += bodies[part];
    if (s.repeat) {
      const std::array<int, 3>& n = s.repeat->count;
      const double before = copies;
      own *= static_cast<double>(n[0]) * n[1] * n[2];
      copies += own;
      if (copies > kMostCopies && before <= kMostCopies) {
        char count[40];
        std::snprintf(count, sizeof count, "%.7g", copies);
        checks.say(626, at + ".repeat.count",
                   std::string("repeats make ") + count + " bodies together, at most 10^6 fit",
                   "repeat less, or take periodic faces");
      }
    }
    bodies[s.name] = own;
    if (!s.name.empty() && s.shape != ShapeKind::pixels) earlier.push_back(s.name);
  }
}

}  // namespace tessera::apps::waves
