// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/outline_2d.h"

namespace tessera::inversion {

struct OutlineTriangles {
  std::vector<double> y, z;
  std::vector<Index> cell;    ///< [cells, 3]
  std::vector<Index> region;  ///< [cells]; -1: no seed
};
/// Made together with the plug-in; the number in the symbol changes when this does.
using TriangulateOutline = OutlineTriangles (*)(const Outline2d&, const OutlineMeshOptions&);
constexpr const char* kTriangulateOutline = "tessera_cgal_1";

}  // namespace tessera::inversion
