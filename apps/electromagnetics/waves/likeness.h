// SPDX-License-Identifier: Apache-2.0
// Ports that are alike by a symmetry of the device (same_as): which takes whose place, and with
// which sign.
#pragma once
#include "electromagnetics/waves/grid_turn.h"
#include "electromagnetics/waves/options.h"

#include <complex>
#include <cstddef>
#include <vector>

namespace tessera::apps::waves {

struct Case;

/// What of a port's run is that of the one that it is like: what channel q shows there channel
/// `place[q]` shows here, times `factor[q]`: of waves of a mode 1 or -1, by its field beside the
/// other one's, turned; of a lumped port -1 where its direction is turned round; and the phase of
/// joined faces that it comes through. All factors at once may be so many times others.
struct Likeness {
  struct Turn {
    GridTurn turn;
    std::vector<std::complex<double>> factor;  ///< [channel]
  };
  std::size_t port = 0, like = 0;
  std::vector<std::size_t> place;            ///< [channel]
  std::vector<std::complex<double>> factor;  ///< [channel]
  /// By which the device comes to itself, the best first, or as nearly as there are any; maybe
  /// none, of two ports and lumped ones.
  std::vector<Turn> turns;
};

/// Who stands where each port does for one that has same_as.
std::vector<std::size_t> places_of(const CaseOptions& o, std::size_t port);

/// Of all ports that have same_as, once ports and channels are made. Throws InputError where ports
/// are not alike on the grid, where no symmetry takes them to each other, and where several would
/// with other signs, of which none is one of the device; warns where none is.
void make_likenesses(Case& c, const data::Config& config);
/// Columns of S that are taken over are so with their derivatives, once these are there. Throws
/// InputError where something moves otherwise than what the symmetry takes it to.
void check_moved_likenesses(Case& c, const data::Config& config);

}  // namespace tessera::apps::waves
