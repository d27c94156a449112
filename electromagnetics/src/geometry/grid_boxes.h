// SPDX-License-Identifier: Apache-2.0
//
// The boxes of a grid that belong to its edges, faces and nodes.
#pragma once
#include "geometry/fill.h"
#include "tessera/electromagnetics/averaging.h"

namespace tessera::electromagnetics::detail {

/// An interval of one axis, and the one from which it is seen: that of the box that it is a part
/// of, beyond a mirror or a seam.
struct Span {
  double low, high;
  double box_low = low, box_high = high;
  bool mirrored = false;  ///< the rest of the box has the image of the scene
};

/// A box of the grid: along each axis one span, or two at the seam of a periodic axis, where the
/// one at the high end comes first.
using Spans = std::array<std::vector<Span>, 3>;

/// From the middle of the cell before `line` to the middle of the one behind it, as far as they
/// exist; an axis that is not resolved has its middle only.
std::vector<Span> around_line(const YeeGrid& grid, int axis, int line, const Periodic& periodic);

/// Along each axis cell `index`, where `middle`, or what is around line `index`.
Spans spans_at(const YeeGrid& grid, const std::array<int, 3>& index,
               const std::array<bool, 3>& middle, const Periodic& periodic);

/// Where a place lies in the domain: by how much it is moved, and which way along each axis leads
/// inwards from there (-1, 1, or 0 where it makes no difference).
struct Twin {
  Point moved{}, inwards{};
};
/// An edge or face on the first line of a periodic axis lies on the last one too: all such places,
/// the one on the first lines first.
std::vector<Twin> twins_of(const YeeGrid& grid, const Edge& edge, const Periodic& periodic);

Fill fill_spans(const SceneOrder& scene, const Spans& spans);

/// Whether the averaged tensor holds: a linear medium without loss or dispersion.
inline bool plain(const Medium& m) {
  return m.poles.empty() && m.chi2 == 0 && m.chi3 == 0 && m.sigma == Point{} && !m.pec;
}

std::vector<Point> values_of(const std::vector<Medium>& media, Point Medium::*value);

/// A fill whose media are numbered among themselves, with their values: of a list of many media,
/// few are in a box.
struct ValuedFill {
  Fill fill;
  std::vector<Point> values;
};
ValuedFill valued(Fill fill, const std::vector<Medium>& media, Point Medium::*value);

/// Mean of n n^T over the faces in a box, as a tensor, weighted by area and contrast; zero if there
/// is none with a contrast.
SymmetricTensor orientation(const Fill& fill, const std::vector<Point>& values);

}  // namespace tessera::electromagnetics::detail
