// SPDX-License-Identifier: Apache-2.0
//
// Positions as integers k = round(precision x), packed as XTC files have them ("xdr3dfcoord", F.
// van Hoesel 1995; GROMACS file formats). An atom is written in full, as its position in the box of
// all, then up to eight that follow as short steps from their predecessor; what a short step is
// changes by one notch of `notches` at a time, as the atoms ask for it. Of each run the first two
// atoms change places, so that the oxygen of a water is the one that both hydrogens are near to.
#pragma once
#include "tessera/molecular/box.h"

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::molecular::xtc {

struct Packed {
  float precision = 1000;
  std::array<std::int32_t, 3> least{}, greatest{};  ///< of the integers
  std::int32_t notch = 0;                           ///< the first one in use
  std::string bits;
};

/// Throws Error naming the atom whose position is not a number or beyond 2^31/precision.
Packed pack(std::span<const Vec3> x_nm, float precision);

/// What is wrong with packed bytes, and where.
struct Unpackable : std::runtime_error {
  Unpackable(const std::string& what, std::size_t byte) : std::runtime_error(what), at(byte) {}
  std::size_t at;
};
/// k/precision, the nearest double. Throws Unpackable.
std::vector<Vec3> unpack(const Packed& packed, std::size_t n_atoms);

}  // namespace tessera::molecular::xtc
