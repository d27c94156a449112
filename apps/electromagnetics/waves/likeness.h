// SPDX-License-Identifier: Apache-2.0
// Ports that are alike by a symmetry of the device (same_as): which takes whose place, and with
// which sign.
#pragma once
#include "electromagnetics/waves/options.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace tessera::apps::waves {

struct Case;

/// A turn or mirroring of the grid: r goes to sign r along other axes, moved by `shift`.
struct GridTurn {
  std::array<std::size_t, 3> axis{0, 1, 2};
  std::array<double, 3> sign{1, 1, 1};
  Point shift{};

  /// Of a vector.
  Point turned(const Point& v) const;
  Point of(const Point& r) const;
  Point back(const Point& r) const;
  /// How many axes it changes.
  int changes() const;
  /// The edge or face nearest to where it takes this one; nothing outside of the grid.
  std::optional<electromagnetics::Edge> of(const electromagnetics::YeeGrid& grid,
                                           const electromagnetics::Edge& e) const;
};

/// What of a port's run is that of the one that it is like: what channel q shows there channel
/// `place[q]` shows here, times `sign[q]`: of waves of a mode that of its field beside the other
/// one's, turned, of a lumped port -1 where its direction is turned round. All signs at once may be
/// the other ones.
struct Likeness {
  std::size_t port = 0, like = 0;
  std::vector<std::size_t> place;  ///< [channel]
  std::vector<double> sign;        ///< [channel]
  std::vector<GridTurn> turns;     ///< that fit; maybe none, of two ports and lumped ones
};

/// Who stands where each port does for one that has same_as.
std::vector<std::size_t> places_of(const CaseOptions& o, std::size_t port);

/// Of all ports that have same_as, once ports and channels are made. Throws InputError where ports
/// are not alike on the grid, and where no symmetry takes them to each other.
void make_likenesses(Case& c, const data::Config& config);

}  // namespace tessera::apps::waves
