// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/outline_2d.h"

#include "cgal_plugin.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/plugin.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace tessera::inversion {
namespace {

/// Lines of numbers; what follows # is left out, and so are lines without any.
class PolyLines {
 public:
  PolyLines(const std::string& text, std::string name) : in_(text), name_(std::move(name)) {}
  std::vector<double> next(std::size_t least, const char* what) {
    for (std::string line; std::getline(in_, line);) {
      ++number_;
      std::istringstream words(line.substr(0, line.find('#')));
      std::vector<double> out;
      std::string word;
      while (words >> word) {
        std::size_t used = 0;
        double value = 0;
        try {
          value = std::stod(word, &used);
        } catch (const std::exception&) {
        }
        if (used != word.size() || !std::isfinite(value)) fail("'" + word + "' is no number");
        out.push_back(value);
      }
      if (out.empty()) continue;
      if (out.size() < least) fail(std::string("too few numbers for ") + what);
      return out;
    }
    fail(std::string("the file ends before ") + what);
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("[read_poly] " + name_ + ", line " + std::to_string(number_) + ": " + what);
  }
  Index count(double value, const char* what) const {
    if (!(value >= 0 && value <= 1e8) || value != std::floor(value))
      fail(std::string("the number of ") + what + " is none");
    return static_cast<Index>(value);
  }

 private:
  std::istringstream in_;
  std::string name_;
  int number_ = 0;
};

}  // namespace

Outline2d read_poly(const std::string& text, const std::string& name) {
  PolyLines lines(text, name);
  Outline2d out;
  const Index points = lines.count(lines.next(1, "the number of points")[0], "points");
  if (points == 0) lines.fail("points in a .node file of their own are not read");
  std::map<Index, Index> place;
  for (Index k = 0; k < points; ++k) {
    const auto p = lines.next(3, "a point");
    if (!place.emplace(static_cast<Index>(p[0]), k).second)
      lines.fail("a point's number comes twice");
    out.y.push_back(p[1]);
    out.z.push_back(p[2]);
  }
  const Index segments = lines.count(lines.next(1, "the number of segments")[0], "segments");
  for (Index k = 0; k < segments; ++k) {
    const auto s = lines.next(3, "a segment");
    const auto a = place.find(static_cast<Index>(s[1])), b = place.find(static_cast<Index>(s[2]));
    if (a == place.end() || b == place.end())
      lines.fail("a segment names a point that is not there");
    out.segments.push_back({a->second, b->second});
  }
  if (lines.count(lines.next(1, "the number of holes")[0], "holes") > 0)
    lines.fail("holes are not read: a section has none");
  const Index regions = lines.count(lines.next(1, "the number of regions")[0], "regions");
  for (Index k = 0; k < regions; ++k) {
    const auto r = lines.next(4, "a region");
    const Index region = lines.count(r[3], "a region");
    if (region < 1) lines.fail("regions are numbered from 1");
    out.seeds.push_back({r[1], r[2], region - 1});
  }
  return out;
}

bool outlines_available(std::string* why_not) { return plugin_available("cgal", why_not); }

Mesh2d triangles_of(const Outline2d& o, const std::vector<Medium2d>& of_region,
                    const OutlineMeshOptions& options) {
  if (o.y.size() != o.z.size() || o.y.size() < 3 || o.segments.size() < 3)
    throw Error(
        "[triangles_of] an outline has three points and segments or more, and as many y as z");
  for (const auto& s : o.segments)
    for (const Index p : s)
      if (p < 0 || p >= static_cast<Index>(o.y.size()))
        throw Error("[triangles_of] a segment names point " + std::to_string(p) + " of " +
                    std::to_string(o.y.size()));
  if (!(options.least_angle_deg >= 0 && options.least_angle_deg <= 33))
    throw Error("[triangles_of] the least angle lies between 0 and 33 degrees");
  const auto triangulate =
      reinterpret_cast<TriangulateOutline>(plugin_function("cgal", kTriangulateOutline));
  OutlineTriangles t = triangulate(o, options);
  Mesh2d m{.corners = 3, .y = std::move(t.y), .z = std::move(t.z), .cell = std::move(t.cell)};
  for (std::size_t c = 0; c < t.region.size(); ++c) {
    const Index r = t.region[c];
    if (r < 0) {
      double y = 0, z = 0;
      for (int k = 0; k < 3; ++k) y += m.y[m.cell[c * 3 + k]] / 3, z += m.z[m.cell[c * 3 + k]] / 3;
      throw Error("[triangles_of] the region around y = " + std::to_string(y) +
                  ", z = " + std::to_string(z) + " has no seed");
    }
    if (r >= static_cast<Index>(of_region.size()))
      throw Error("[triangles_of] region " + std::to_string(r + 1) + " has no medium; there are " +
                  std::to_string(of_region.size()));
    m.medium.push_back(of_region[r]);
  }
  require_mesh(m);
  return m;
}

std::vector<Index> line_between(const Mesh2d& m, const std::function<bool(Index)>& above) {
  std::map<std::pair<Index, Index>, std::vector<Index>> cells;
  for (Index c = 0; c < m.cells(); ++c)
    for (int k = 0; k < m.corners; ++k)
      cells[std::minmax(m.cell[c * m.corners + k], m.cell[c * m.corners + (k + 1) % m.corners])]
          .push_back(c);
  std::map<Index, std::vector<Index>> next;
  for (const auto& [edge, at] : cells)
    if (at.size() == 2 && above(at[0]) != above(at[1])) {
      next[edge.first].push_back(edge.second);
      next[edge.second].push_back(edge.first);
    }
  const auto [left, right] = std::minmax_element(m.y.begin(), m.y.end());
  const auto bad = [](const std::string& what) { return Error("[line_between] " + what); };
  Index at = -1;
  for (const auto& [v, others] : next)
    if (m.y[v] == *left) {
      if (at >= 0) throw bad("several lines begin at the left side");
      at = v;
    }
  if (at < 0) throw bad("no line begins at the left side");
  std::vector<Index> out{at};
  Index before = -1;
  while (m.y[at] != *right || out.size() == 1) {
    Index to = -1;
    for (const Index v : next.at(at))
      if (v != before) {
        if (to >= 0)
          throw bad("lines meet at y = " + std::to_string(m.y[at]) +
                    ", z = " + std::to_string(m.z[at]));
        to = v;
      }
    if (to < 0 || out.size() > m.y.size())
      throw bad("the line ends at y = " + std::to_string(m.y[at]));
    before = at;
    at = to;
    out.push_back(at);
  }
  return out;
}

}  // namespace tessera::inversion
