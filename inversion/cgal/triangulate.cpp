// SPDX-License-Identifier: Apache-2.0
//
// Calls CGAL's Mesh_2, which is under the GNU GPL 3 or later; so is what this file makes with it.
#include "outline_2d/cgal_plugin.h"
#include "tessera/autodiff/error.h"

#include <CGAL/Constrained_Delaunay_triangulation_2.h>
#include <CGAL/Delaunay_mesh_face_base_2.h>
#include <CGAL/Delaunay_mesh_vertex_base_2.h>
#include <CGAL/Delaunay_mesher_2.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>

namespace tessera::inversion {
namespace {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Vertex = CGAL::Delaunay_mesh_vertex_base_2<Kernel>;
using Face = CGAL::Delaunay_mesh_face_base_2<Kernel>;
using Triangulation =
    CGAL::Constrained_Delaunay_triangulation_2<Kernel,
                                               CGAL::Triangulation_data_structure_2<Vertex, Face>>;

/// A triangle is bad where an edge is longer than the size at its middle, or an angle is too small;
/// the longest for their size are worked on first.
class Criteria {
 public:
  Criteria(std::function<double(double, double)> size, double least_sine_squared)
      : size_(std::move(size)), sine_squared_(least_sine_squared) {}
  struct Quality {
    double too_long = 0, sine_squared = 1;
    bool operator<(const Quality& o) const {
      if (too_long > 1 || o.too_long > 1) return too_long > o.too_long;
      return sine_squared < o.sine_squared;
    }
  };
  class Is_bad {
   public:
    explicit Is_bad(const Criteria* c) : c_(c) {}
    CGAL::Mesh_2::Face_badness operator()(const Quality& q) const {
      if (q.too_long > 1) return CGAL::Mesh_2::IMPERATIVELY_BAD;
      return q.sine_squared < c_->sine_squared_ ? CGAL::Mesh_2::BAD : CGAL::Mesh_2::NOT_BAD;
    }
    CGAL::Mesh_2::Face_badness operator()(const Triangulation::Face_handle& f, Quality& q) const {
      double y = 0, z = 0, length[3], longest = 0, shortest_product = 0;
      for (int k = 0; k < 3; ++k) {
        const auto &a = f->vertex(k)->point(), &b = f->vertex((k + 1) % 3)->point();
        y += a.x() / 3, z += a.y() / 3;
        length[k] = std::hypot(a.x() - b.x(), a.y() - b.y());
        longest = std::max(longest, length[k]);
      }
      const auto &a = f->vertex(0)->point(), &b = f->vertex(1)->point(), &c = f->vertex(2)->point();
      const double twice_area =
          std::abs((b.x() - a.x()) * (c.y() - a.y()) - (b.y() - a.y()) * (c.x() - a.x()));
      // The least angle is opposite the shortest edge, between the other two.
      shortest_product = length[0] * length[1] * length[2] / *std::min_element(length, length + 3);
      q.sine_squared = std::pow(twice_area / shortest_product, 2);
      q.too_long = c_->size_ ? longest / c_->size_(y, z) : 0;
      return (*this)(q);
    }

   private:
    const Criteria* c_;
  };
  Is_bad is_bad_object() const { return Is_bad(this); }

 private:
  std::function<double(double, double)> size_;
  double sine_squared_;
};

using Point = Kernel::Point_2;
Point point_of(const Outline2d& o, Index k) { return {o.y[k], o.z[k]}; }
std::string place(const Point& p) { return fmt::format("({:.10g}, {:.10g})", p.x(), p.y()); }

/// What crosses the segment with this number, and where; segments are counted from 1, as files do.
std::string crossing_of(const Outline2d& o, std::size_t of) {
  const auto ends = [&](std::size_t k) {
    return std::pair(point_of(o, o.segments[k][0]), point_of(o, o.segments[k][1]));
  };
  const auto told = [&](std::size_t k) {
    const auto [a, b] = ends(k);
    return fmt::format("segment {} from (y, z) = {} to {}", k + 1, place(a), place(b));
  };
  const auto [a, b] = ends(of);
  for (std::size_t k = 0; k < of; ++k) {
    const auto [c, d] = ends(k);
    if (CGAL::orientation(a, b, c) * CGAL::orientation(a, b, d) >= 0 ||
        CGAL::orientation(c, d, a) * CGAL::orientation(c, d, b) >= 0)
      continue;
    const double from_c = (b.x() - a.x()) * (c.y() - a.y()) - (b.y() - a.y()) * (c.x() - a.x()),
                 from_d = (b.x() - a.x()) * (d.y() - a.y()) - (b.y() - a.y()) * (d.x() - a.x()),
                 share = from_c / (from_c - from_d);
    return fmt::format(
        "segments of the outline cross: {} meets {} at {}, and no point stands there", told(of),
        told(k), place({c.x() + share * (d.x() - c.x()), c.y() + share * (d.y() - c.y())}));
  }
  return "segments of the outline cross: " + told(of) + " meets another one";
}

OutlineTriangles triangulate(const Outline2d& o, const OutlineMeshOptions& options) {
  Triangulation t;
  std::vector<Triangulation::Vertex_handle> at;
  for (std::size_t k = 0; k < o.y.size(); ++k) at.push_back(t.insert({o.y[k], o.z[k]}));
  if (t.dimension() < 2)
    throw Error("[triangles_of] all points of the outline lie on one line: they bound nothing");
  for (std::size_t k = 0; k < o.segments.size(); ++k) {
    if (at[o.segments[k][0]] == at[o.segments[k][1]])
      throw Error(
          fmt::format("[triangles_of] segment {} has no length: both ends are at (y, z) = {}",
                      k + 1, place(point_of(o, o.segments[k][0]))));
    try {
      t.insert_constraint(at[o.segments[k][0]], at[o.segments[k][1]]);
    } catch (const Triangulation::Intersection_of_constraints_exception&) {
      throw Error("[triangles_of] " + crossing_of(o, k));
    }
  }
  const double sine = std::sin(options.least_angle_deg * std::numbers::pi / 180);
  CGAL::Delaunay_mesher_2<Triangulation, Criteria> mesher(t, Criteria(options.size, sine * sine));
  mesher.refine_mesh();

  std::map<Triangulation::Face_handle, Index> region;
  for (const Outline2d::Seed& s : o.seeds) {
    const auto start = t.locate({s.y, s.z});
    const std::string name = "seed (" + std::to_string(s.y) + ", " + std::to_string(s.z) + ")";
    if (t.is_infinite(start) || !start->is_in_domain())
      throw Error("[triangles_of] the " + name + " lies outside of the outline");
    if (const auto found = region.find(start); found != region.end()) {
      if (found->second != s.region)
        throw Error("[triangles_of] the " + name + " lies in a region that another seed calls " +
                    std::to_string(found->second + 1));
      continue;
    }
    std::vector<Triangulation::Face_handle> front{start};
    region[start] = s.region;
    while (!front.empty()) {
      const auto f = front.back();
      front.pop_back();
      for (int k = 0; k < 3; ++k) {
        const auto next = f->neighbor(k);
        if (f->is_constrained(k) || t.is_infinite(next)) continue;
        if (region.emplace(next, s.region).second) front.push_back(next);
      }
    }
  }
  OutlineTriangles out;
  std::map<Triangulation::Vertex_handle, Index> number;
  for (auto f = t.finite_faces_begin(); f != t.finite_faces_end(); ++f) {
    if (!f->is_in_domain()) continue;
    for (int k = 0; k < 3; ++k) {
      const auto v = f->vertex(k);
      const auto [found, fresh] = number.emplace(v, static_cast<Index>(out.y.size()));
      if (fresh) out.y.push_back(v->point().x()), out.z.push_back(v->point().y());
      out.cell.push_back(found->second);
    }
    const auto found = region.find(f);
    out.region.push_back(found == region.end() ? -1 : found->second);
  }
  return out;
}

}  // namespace
}  // namespace tessera::inversion

extern "C" tessera::inversion::OutlineTriangles tessera_cgal_1(
    const tessera::inversion::Outline2d& o, const tessera::inversion::OutlineMeshOptions& options) {
  return tessera::inversion::triangulate(o, options);
}
