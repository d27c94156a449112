// SPDX-License-Identifier: Apache-2.0
//
// Cuts of small grids, and the faces that the tests of slabs run through.
#pragma once
#include "tessera/electromagnetics/boundary.h"
#include "test_constants.h"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace tessera::electromagnetics {

/// Any cut of n cells for so many ranks.
inline std::vector<int> random_cut(int n, int ranks, std::mt19937& random) {
  std::vector<int> at;
  while (static_cast<int>(at.size()) < ranks - 1) {
    const int cell = 1 + static_cast<int>(random() % static_cast<unsigned>(n - 1));
    if (std::find(at.begin(), at.end(), cell) == at.end()) at.push_back(cell);
  }
  at.push_back(0), at.push_back(n);
  std::sort(at.begin(), at.end());
  return at;
}

inline const std::array<Faces, 3> face_sets[] = {
    {pml, pml, pml},
    {pec, pmc, pml},
    {pml, joined, joined},
    {joined, joined, pmc},
    {Faces{Boundary::pmc, Boundary::pml}, pml, Faces{Boundary::pec, Boundary::pml}}};

}  // namespace tessera::electromagnetics
