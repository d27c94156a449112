// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/boundary.h"
#include "tessera/electromagnetics/time_domain.h"

#include <utility>
#include <vector>

namespace tessera::electromagnetics::guides {

inline constexpr Faces walls{Boundary::pec, Boundary::pec}, mirrors{Boundary::pmc, Boundary::pmc},
    layers{Boundary::pml, Boundary::pml}, period{Boundary::periodic, Boundary::periodic};

/// Lines of so many cells, from 0.
inline std::vector<double> even(int cells, double cell) {
  std::vector<double> out;
  for (int i = 0; i <= cells; ++i) out.push_back(i * cell);
  return out;
}

/// Axes turned so that the guide runs along `axis`: u, v, n of the guide.
inline YeeModel guide(int axis, std::vector<double> u, std::vector<double> v, std::vector<double> n,
                      Faces at_u = walls, Faces at_v = walls) {
  YeeModel m;
  m.grid.lines[axis] = std::move(n);
  m.grid.lines[(axis + 1) % 3] = std::move(u);
  m.grid.lines[(axis + 2) % 3] = std::move(v);
  m.faces = {period, period, period};
  m.faces[(axis + 1) % 3] = at_u;
  m.faces[(axis + 2) % 3] = at_v;
  m.dtype = Dtype::f64;
  m.dt_s = 0.95 * stable_time_step(m.grid);
  return m;
}

}  // namespace tessera::electromagnetics::guides
