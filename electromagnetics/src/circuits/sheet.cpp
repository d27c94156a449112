// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/sheet.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/laminate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace tessera::electromagnetics {
namespace {

constexpr double kOnSheetLine = 1e-9;  // of a cell

void check_sheet(const Sheet& s, const YeeGrid& grid) {
  if (s.axis < 0 || s.axis > 2 || !grid.resolved(s.axis))
    throw Error("[sheet_edges] expected a normal along an axis that is resolved");
  if (s.resistance_ohm) {
    if (!(*s.resistance_ohm > 0 && std::isfinite(*s.resistance_ohm)))
      throw Error(
          fmt::format("[sheet_edges] expected a positive resistance, got {}", *s.resistance_ohm));
    return;
  }
  if (!(s.thickness_m > 0 && std::isfinite(s.thickness_m)))
    throw Error(fmt::format("[sheet_edges] expected a positive thickness, got {}", s.thickness_m));
  const Medium& m = s.medium;
  if (m.pec || m.chi2 != 0 || m.chi3 != 0 || m.mu != Point{1, 1, 1} || m.sigma_m != Point{})
    throw Error(fmt::format("[sheet_edges] '{}' is {}: expected a linear medium without magnetism",
                            m.name,
                            m.pec                        ? "a conductor"
                            : m.chi2 != 0 || m.chi3 != 0 ? "nonlinear"
                                                         : "magnetic"));
}

/// What an edge is made of without sheets, along itself.
Medium host_of(const EdgeMaterial& e, const SceneOrder& scene, const std::vector<Medium>& media,
               int axis) {
  if (!e.parts.empty()) return laminate(media, e.parts, axis, e.across);
  Medium out{.name = "medium"};
  out.eps.fill(1 / e.inverse_eps), out.sigma.fill(e.sigma);
  const auto add = [&](int medium, double weight) {
    const Medium& m = media[static_cast<std::size_t>(medium)];
    if (m.chi2 != 0 || m.chi3 != 0)
      throw Error(fmt::format("[sheet_edges] a film lies in '{}', which is nonlinear", m.name));
    for (PoleResidue p : m.poles) {
      p.c *= weight, p.second *= weight;
      out.poles.push_back(p);
    }
  };
  for (const MediumWeight& w : e.weights)
    if (const Blend* b = scene.scene().blend_of(w.medium)) {
      add(b->empty, w.weight * (1 - b->density));
      add(b->full, w.weight * b->density);
    } else {
      add(w.medium, w.weight);
    }
  return out;
}

/// The length that two intervals have in common.
double common(double a0, double a1, double b0, double b1) {
  return std::max(0.0, std::min(a1, b1) - std::max(a0, b0));
}

class Placing {
 public:
  Placing(const YeeGrid& grid, const std::array<Faces, 3>& faces, const SceneOrder& scene,
          const std::vector<Medium>& media, Averaging averaging, const CutCellFractions& open,
          const SymmetryFaces& symmetry)
      : grid_(grid),
        scene_(scene),
        media_(media),
        averaging_(averaging),
        open_(open),
        symmetry_(symmetry) {
    for (int d = 0; d < 3; ++d)
      periodic_[static_cast<std::size_t>(d)] =
          grid.resolved(d) && faces[static_cast<std::size_t>(d)].low == Boundary::periodic;
  }

  void add(const Sheet& s) {
    check_sheet(s, grid_);
    const auto number = static_cast<int>(out_.media.size());
    Medium added = s.medium;
    if (s.resistance_ohm)
      added = {.name = "sheet", .eps = {}}, added.sigma.fill(1 / *s.resistance_ohm);
    out_.media.push_back(std::move(added));
    std::optional<SceneOrder> outline;
    if (s.outline) outline.emplace(Scene{.structures = {{.shape = *s.outline, .medium = 1}}});
    along(s, number, outline ? &*outline : nullptr);
    if (!s.resistance_ohm) across(s, number, outline ? &*outline : nullptr);
  }

  AddedMedia finish() {
    for (const auto& [place, share] : filled_) check_filled(share);
    for (const auto& [place, films] : across_) laminated(place, films);
    out_.sort();
    return std::move(out_);
  }

 private:
  using Place = std::tuple<int, int, int, int>;  ///< component, k, j, i
  struct Film {
    int medium;
    double share;
  };

  static void check_filled(double share) {
    if (share > 1 + 1e-6)
      throw Error(fmt::format("[sheet_edges] films of one place fill {:.3g} times a cell", share));
  }
  int places(int c, int d) const {
    return grid_.cells(d) + (grid_.resolved(d) && !at_middle(c, d) ? 1 : 0);
  }
  /// The share of an edge's box that an outline covers.
  double covered(const SceneOrder* outline, const Edge& e) const {
    if (!outline) return 1;
    double share = 0;
    for (const Share& x : fill_of(*outline, grid_, e, periodic_).media)
      if (x.medium == 1) share += x.fraction;
    return share;
  }
  /// Calls body(edge, share that the outline covers) for edges of a component at one line or
  /// middle of the normal.
  template <class F>
  void over_plane(int component, int axis, int at, const SceneOrder* outline, F&& body) const {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    for (int m = 0; m < places(component, c); ++m)
      for (int n = 0; n < places(component, b); ++n) {
        int i[3];
        i[axis] = at, i[b] = n, i[c] = m;
        const Edge e{static_cast<std::uint8_t>(component), i[0], i[1], i[2]};
        if (const double share = covered(outline, e); share > 0) body(e, share);
      }
  }

  /// Edges along the sheet, at its line or at both lines beside it.
  void along(const Sheet& s, int number, const SceneOrder* outline) {
    const auto u = static_cast<std::size_t>(s.axis);
    const int n = grid_.cells(s.axis);
    const SheetPlace place = sheet_place(grid_, s.axis, s.position);
    const auto at_line = [&](int line, double weight) {
      const bool mirror = (line == 0 && symmetry_[u][0]) || (line == n && symmetry_[u][1]);
      if (mirror && weight == 1) weight = 0.5;
      const double share = weight * (s.resistance_ohm ? 1 : s.thickness_m) /
                           grid_.dual_length(s.axis, line, periodic_[u]);
      if (!s.resistance_ohm && share > 1)
        throw Error(fmt::format("[sheet_edges] a film of {} m would fill {:.3g} times a cell",
                                s.thickness_m, share));
      for (int c = 0; c < 3; ++c)
        if (c != s.axis)
          over_plane(c, s.axis, line, outline, [&](const Edge& e, double covered) {
            const double film = s.resistance_ohm ? 0 : share * covered;
            out_.parts.push_back({e, number, share * covered, film});
            if (film > 0) filled_[{e.component, e.k, e.j, e.i}] += film;
          });
    };
    const auto at_lines = [&](int line, double weight) {
      at_line(line, weight);
      if (periodic_[u] && (line == 0 || line == n)) at_line(n - line, weight);
    };
    at_lines(place.line, 1 - place.above);
    if (place.above > 0) at_lines(place.line + 1, place.above);
  }

  /// Edges that cross the film.
  void across(const Sheet& s, int number, const SceneOrder* outline) {
    const auto u = static_cast<std::size_t>(s.axis);
    const std::vector<double>& x = grid_.lines[u];
    const double period = periodic_[u] ? x.back() - x.front() : 0;
    double centre = s.position;
    if (!periodic_[u]) {
      if (!symmetry_[u][0]) centre = std::max(centre, x.front() + s.thickness_m / 2);
      if (!symmetry_[u][1]) centre = std::min(centre, x.back() - s.thickness_m / 2);
    }
    for (int m = 0; m < grid_.cells(s.axis); ++m) {
      double length = 0;
      for (int turn = period > 0 ? -1 : 0; turn <= (period > 0 ? 1 : 0); ++turn) {
        const double middle = centre + turn * period;
        length += common(x[static_cast<std::size_t>(m)], x[static_cast<std::size_t>(m) + 1],
                         middle - s.thickness_m / 2, middle + s.thickness_m / 2);
      }
      const double share = length / grid_.length(s.axis, m);
      if (share < kOnSheetLine) continue;
      over_plane(s.axis, s.axis, m, outline, [&](const Edge& e, double covered) {
        across_[{e.component, e.k, e.j, e.i}].push_back({number, share * covered});
      });
    }
  }

  void laminated(const Place& place, const std::vector<Film>& films) {
    const auto& [c, k, j, i] = place;
    const Edge edge{static_cast<std::uint8_t>(c), i, j, k};
    const EdgeMaterial e = edge_material(scene_, media_, grid_, edge, averaging_, periodic_, open_);
    if (e.pec) return;
    const int axis = axis_of(c);
    const Medium host = host_of(e, scene_, media_, axis);
    std::vector<double> key{static_cast<double>(c), host.eps[0], host.sigma[0]};
    for (const PoleResidue& p : host.poles)
      key.insert(key.end(), {p.a.real(), p.a.imag(), p.c.real(), p.c.imag(), p.second});
    double left = 1;
    for (const Film& f : films) {
      key.insert(key.end(), {static_cast<double>(f.medium), f.share});
      left -= f.share;
    }
    check_filled(1 - left);
    const auto [known, is_new] = laminates_.try_emplace(key, static_cast<int>(out_.media.size()));
    if (is_new) {
      std::vector<Medium> among{host};
      std::vector<MediumWeight> parts;
      if (left > 1e-9) parts.push_back({0, left});
      for (const Film& f : films) {
        parts.push_back({static_cast<int>(among.size()), f.share});
        among.push_back(out_.media[static_cast<std::size_t>(f.medium)]);
      }
      out_.media.push_back(laminate(among, parts, axis, 1));
    }
    out_.parts.push_back({edge, known->second, 1, 1});
  }

  const YeeGrid& grid_;
  const SceneOrder& scene_;
  const std::vector<Medium>& media_;
  Averaging averaging_;
  const CutCellFractions& open_;
  const SymmetryFaces& symmetry_;
  Periodic periodic_{};
  AddedMedia out_;
  std::map<Place, std::vector<Film>> across_;
  std::map<Place, double> filled_;                ///< by films along them, of the boxes of edges
  std::map<std::vector<double>, int> laminates_;  ///< their numbers in out_.media
};

}  // namespace

SheetPlace sheet_place(const YeeGrid& grid, int axis, double position) {
  const std::vector<double>& x = grid.lines[static_cast<std::size_t>(axis)];
  const double near = kOnSheetLine * grid.smallest_length(axis);
  if (!(position >= x.front() - near && position <= x.back() + near))
    throw Error(
        fmt::format("[sheet_place] {} m lies outside of the grid along {}", position, "xyz"[axis]));
  const auto above = std::upper_bound(x.begin(), x.end(), position);
  const int n = grid.cells(axis);
  SheetPlace out{.line = std::clamp(static_cast<int>(above - x.begin()) - 1, 0, n)};
  if (out.line < n) {
    out.above = (position - x[static_cast<std::size_t>(out.line)]) / grid.length(axis, out.line);
    if (out.above > 1 - kOnSheetLine) ++out.line, out.above = 0;
    if (out.above < kOnSheetLine) out.above = 0;
  }
  return out;
}

AddedMedia sheet_edges(const std::vector<Sheet>& sheets, const YeeGrid& grid,
                       const std::array<Faces, 3>& faces, const SceneOrder& scene,
                       const std::vector<Medium>& media, Averaging averaging,
                       const CutCellFractions& open, const SymmetryFaces& symmetry) {
  Placing placing(grid, faces, scene, media, averaging, open, symmetry);
  for (const Sheet& s : sheets) placing.add(s);
  return placing.finish();
}

}  // namespace tessera::electromagnetics
