// SPDX-License-Identifier: Apache-2.0
#include "geometry/grid_boxes.h"
#include "geometry/metal.h"
#include "geometry/vector.h"

#include <algorithm>

namespace tessera::electromagnetics {
using namespace detail;
namespace {

/// Leaves the fill without perfect conductors.
void drop_conductors(Fill& fill, const std::vector<Medium>& media) {
  const auto pec = [&](int medium) { return media[medium].pec; };
  std::erase_if(fill.media, [&](const Share& s) { return pec(s.medium); });
  std::erase_if(fill.interfaces,
                [&](const Interface& f) { return pec(f.inside) || pec(f.outside); });
  double left = 0;
  for (const Share& s : fill.media) left += s.fraction;
  for (Share& s : fill.media) s.fraction /= left;
}

/// Of the place of a component: whether it is metal, at one end of a seam at least.
bool in_conductor(const SceneOrder& scene, const std::vector<Medium>& media, const Point& p,
                  double tolerance, const std::vector<Twin>& twins) {
  const double about = 8 * tolerance;  // Metal looks that far from a surface
  const Metal metal(scene, media, {.centre = p, .size = {about, about, about}}, tolerance, twins);
  return metal.settled() ? metal.closed() : metal(p) <= 0;
}

/// Mixtures are neither conductors nor, alone, magnetic.
auto unmixed_end(const SceneOrder& scene, const std::vector<Medium>& media) {
  return media.begin() + static_cast<std::ptrdiff_t>(scene.scene().n_unmixed(media.size()));
}

bool tensors(Averaging averaging) {
  return averaging == Averaging::kottke || averaging == Averaging::corners;
}

/// One medium is exact on the diagonal; several are averaged by the rule that holds for them.
double inverse_along(const Fill& fill, const std::vector<Medium>& media, Point Medium::*value,
                     int axis, bool tensor) {
  if (tensor && fill.media.size() > 1) {
    const ValuedFill v = valued(fill, media, value);
    return inverse_average(v.fill, v.values)[axis];
  }
  double mean = 0;
  for (const Share& s : fill.media) mean += s.fraction * (media[s.medium].*value)[axis];
  return 1 / mean;
}

/// Mean n_axis^2 of the faces between different media, by area.
double share_across(const Fill& fill, int axis) {
  double along = 0, all = 0;
  for (const Interface& f : fill.interfaces) {
    if (f.inside == f.outside) continue;
    along += f.orientation[static_cast<std::size_t>(axis)];
    for (int k = 0; k < 3; ++k) all += f.orientation[static_cast<std::size_t>(k)];
  }
  return all > 0 ? along / all : 0;
}

/// To which shares are rounded; where they are to be exact, their own rounding goes.
double parts_of(LaminateShares laminates) {
  return laminates == LaminateShares::rounded ? 64 : 0x1p40;
}

/// Shares in so many parts that sum to one; the largest takes what is left.
std::vector<MediumWeight> rounded(const std::vector<Share>& shares, double parts) {
  std::vector<MediumWeight> out;
  double left = parts;
  for (const Share& s : shares) {
    out.push_back({s.medium, std::round(s.fraction * parts)});
    left -= out.back().weight;
  }
  std::max_element(out.begin(), out.end(), [](const MediumWeight& a, const MediumWeight& b) {
    return a.weight < b.weight;
  })->weight += left;
  std::erase_if(out, [](const MediumWeight& m) { return m.weight <= 0; });
  for (MediumWeight& m : out) m.weight /= parts;
  return out;
}

/// The parts of the edge's laminate, where it crosses faces of media with poles or conductivity. Of
/// mixtures of such, shares are enough: there is no end of them, and next to each other they are
/// nearly alike.
void find_parts(const Scene& scene, const Fill& fill, const std::vector<Medium>& media, int axis,
                LaminateShares laminates, EdgeMaterial& out) {
  if (std::any_of(fill.media.begin(), fill.media.end(),
                  [&](const Share& s) { return scene.blend_of(s.medium); }))
    return;
  if (std::any_of(fill.media.begin(), fill.media.end(), [&](const Share& s) {
        return media[s.medium].chi2 != 0 || media[s.medium].chi3 != 0;
      }))
    return;
  // The average of plasmas without losses alone has a double pole, which the sum of simple ones
  // cannot have.
  if (std::all_of(fill.media.begin(), fill.media.end(), [&](const Share& s) {
        const auto& poles = media[s.medium].poles;
        return std::any_of(poles.begin(), poles.end(),
                           [](const PoleResidue& p) { return p.a == 0.0 && p.second != 0; });
      }))
    return;
  const double across = share_across(fill, axis);
  const double parts = parts_of(laminates);
  if (across > 1 - 1e-9 && laminates == LaminateShares::rounded) {
    out.across = 1;
    for (const Share& s : fill.media) out.parts.push_back({s.medium, s.fraction});
  } else if (const double nearest = std::round(across * parts) / parts; nearest > 0) {
    std::vector<MediumWeight> media_of = rounded(fill.media, parts);
    if (media_of.size() == 1) return;  // shares are as good
    out.across = nearest;
    out.parts = std::move(media_of);
  }
}

/// Where a component is known; on an axis that is not resolved, its middle.
Point position_of(const YeeGrid& grid, const Edge& edge) {
  Point p = grid.position(edge);
  for (int k = 0; k < 3; ++k)
    if (!grid.resolved(k)) p[k] = grid.middle(k, 0);
  return p;
}

/// A hair above where the component is known, the more along the axes that come first: a point on a
/// surface, as near as rounding lets it be, is inside where the surface is the low side of a body
/// and outside at its high side, wherever on the grid that is.
Point beside_surfaces(const YeeGrid& grid, const Edge& edge) {
  Point p = position_of(grid, edge);
  const std::array<int, 3> at{edge.i, edge.j, edge.k};
  double hair = 1e-9;
  for (int k = 0; k < 3; ++k, hair /= 10)
    if (grid.resolved(k)) p[k] += hair * grid.length(k, std::min(at[k], grid.cells(k) - 1));
  return p;
}

/// What counts of the media about a component, without perfect conductors; empty if nothing else is
/// there. The medium at its place may be metal where a part of the edge or face is open.
Fill what_counts(const SceneOrder& scene, const std::vector<Medium>& media, const YeeGrid& grid,
                 const Edge& edge, Averaging averaging, const Periodic& periodic) {
  if (averaging == Averaging::none) {
    const int medium = medium_at(scene, beside_surfaces(grid, edge));
    if (!media[static_cast<std::size_t>(medium)].pec) return {{{medium, 1}}, {}, true};
  }
  Fill out = fill_of(scene, grid, edge, periodic);
  drop_conductors(out, media);
  return out;
}

/// The medium at a corner of a face that is no perfect conductor: planes in place of round metal
/// may leave nothing of a box that it leaves a sliver of.
Fill at_corner(const SceneOrder& scene, const std::vector<Medium>& media, const YeeGrid& grid,
               const Edge& face) {
  const std::array<int, 3> at{face.i, face.j, face.k};
  for (int bits = 0; bits < 8; ++bits) {
    Point p = position_of(grid, face);
    for (int k = 0; k < 3; ++k)
      if (at_middle(face.component, k) && grid.resolved(k))
        p[k] = grid.lines[k][at[k] + (bits >> k & 1)];
    if (const int medium = medium_at(scene, p); !media[medium].pec)
      return {{{medium, 1}}, {}, true};
  }
  return {};
}

}  // namespace

Fill fill_of(const SceneOrder& scene, const YeeGrid& grid, const Edge& edge,
             const Periodic& periodic) {
  std::array<bool, 3> middle;
  for (int k = 0; k < 3; ++k) middle[k] = at_middle(edge.component, k);
  return fill_spans(scene, spans_at(grid, {edge.i, edge.j, edge.k}, middle, periodic));
}

EdgeMaterial edge_material(const SceneOrder& scene, const std::vector<Medium>& media,
                           const YeeGrid& grid, const Edge& edge, Averaging averaging,
                           const Periodic& periodic, const CutCellFractions& open,
                           LaminateShares laminates) {
  const int axis = axis_of(edge.component);
  EdgeMaterial out;
  out.pec = open.fraction(edge) == 0;
  if (!out.pec && !open.conformal &&
      std::any_of(media.begin(), unmixed_end(scene, media),
                  [](const Medium& m) { return m.pec; })) {
    const double cell = grid.length(axis, std::array{edge.i, edge.j, edge.k}[axis]);
    out.pec = in_conductor(scene, media, position_of(grid, edge), 1e-6 * cell,
                           twins_of(grid, edge, periodic));
  }
  if (out.pec) return out;
  const Fill fill = what_counts(scene, media, grid, edge, averaging, periodic);
  if (fill.media.empty()) {
    out.pec = true;
    return out;
  }
  const bool lossless = std::all_of(fill.media.begin(), fill.media.end(),
                                    [&](const Share& s) { return plain(media[s.medium]); });
  out.inverse_eps = inverse_along(fill, media, &Medium::eps, axis, lossless && tensors(averaging));
  if (!lossless && fill.media.size() > 1 && tensors(averaging))
    find_parts(scene.scene(), fill, media, axis, laminates, out);
  if (!out.parts.empty()) {
    double mean = 0, mean_inverse = 0;
    for (const MediumWeight& p : out.parts) {
      mean += p.weight * media[p.medium].eps[axis];
      mean_inverse += p.weight / media[p.medium].eps[axis];
    }
    out.inverse_eps = out.across * mean_inverse + (1 - out.across) / mean;
    return out;
  }
  for (const Share& s : fill.media) {
    const Medium& m = media[s.medium];
    out.sigma += s.fraction * m.sigma[axis];
    if (!m.poles.empty() || m.chi2 != 0 || m.chi3 != 0)
      out.weights.push_back({s.medium, s.fraction});
  }
  return out;
}

FaceMaterial face_material(const SceneOrder& scene, const std::vector<Medium>& media,
                           const YeeGrid& grid, const Edge& edge, Averaging averaging,
                           const Periodic& periodic) {
  const auto magnetic = [](const Medium& m) {
    return m.mu != Point{1, 1, 1} || m.sigma_m != Point{};
  };
  if (std::none_of(media.begin(), unmixed_end(scene, media), magnetic)) return {};
  Fill fill = what_counts(scene, media, grid, edge, averaging, periodic);
  if (fill.media.empty()) fill = at_corner(scene, media, grid, edge);
  if (fill.media.empty()) return {};
  FaceMaterial out;
  const int axis = axis_of(edge.component);
  for (const Share& s : fill.media) out.sigma_m += s.fraction * media[s.medium].sigma_m[axis];
  out.inverse_mu =
      inverse_along(fill, media, &Medium::mu, axis, out.sigma_m == 0 && tensors(averaging));
  return out;
}

std::array<double, 3> node_off_diagonals(const SceneOrder& scene, const std::vector<Medium>& media,
                                         const YeeGrid& grid, const std::array<int, 3>& node,
                                         const Periodic& periodic) {
  const Fill f = fill_spans(scene, spans_at(grid, node, {false, false, false}, periodic));
  if (f.media.size() == 1) return {};
  for (const Share& s : f.media)
    if (!plain(media[s.medium])) return {};
  const ValuedFill v = valued(f, media, &Medium::eps);
  const SymmetricTensor t = inverse_average(v.fill, v.values);
  return {t[3], t[4], t[5]};
}

}  // namespace tessera::electromagnetics
