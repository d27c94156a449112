// SPDX-License-Identifier: Apache-2.0
//
// Modes of one speed. A solver gives any basis of them, by rounding: two equal channels, TEM modes
// of several conductors in one medium, TE and TM of one cut-off. One that depends on the guide
// alone is made of it: the pencil F a = mu P a, of
//
//   P = int e_i x h_j dA,   F = int e_n e_n dA  (TM from TE),  then  I_i I_j,
//   then  int w e_i x h_j dA
//
// of the currents I that bodies in the plane carry in all, which walls return that the guide does
// not have, and with a weight w = u^2 + 0.618 v^2 that grows over the domain. Its vectors are
// orthogonal in P, as modes of different speeds are, and come by rising |mu|, TE first, then those
// of lines whose conductors return all, and mu, of channels the lower ones first.
#pragma once
#include "modes/cross_section.h"

#include <functional>
#include <vector>

namespace tessera::electromagnetics::modes {

/// s^2 and e of a mode.
struct ModePair {
  Complex value;
  Vector vector;
};
/// Whether two have one speed, within what rounding leaves.
bool alike(const ModePair& a, const ModePair& b);

/// Of each group of neighbours of one speed that basis; others stay as they are. `unreturned`: I
/// per h of the plane's edges, asked for where there is a group.
void make_definite(const CrossSection& s, const YeeGrid& grid, int axis,
                   const std::function<Vector()>& unreturned, std::vector<ModePair>& modes);

}  // namespace tessera::electromagnetics::modes
