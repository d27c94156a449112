// SPDX-License-Identifier: Apache-2.0
//
// Static shift: small bodies near a station multiply an impedance by a real factor at all
// frequencies. Unknown is g, in decades of apparent resistivity, one for each station and mode:
//
//   log10 rho_a = g + that of the section,   Z = 10^(g/2) times that of the section.
//
// Phases, tippers and phase tensors do not have it. The determinant has half of each mode's.
#pragma once
#include "tessera/inversion/data_table.h"
#include "tessera/inversion/forward_map.h"
#include "tessera/inversion/occam.h"

#include <cstdint>
#include <vector>

namespace tessera::inversion {

struct StaticShifts {
  struct Of {
    std::int64_t station = 0;
    Element mode = Element::xy;  ///< xy or yx
  };
  std::vector<Of> unknown;
  /// [rows of the table, shifts]: decades of rho_a of a row for a decade of a shift.
  SparseMatrix decades;
  std::vector<bool>
      factor;  ///< of a row: it is multiplied by 10^(decades / 2); else they are added

  /// [rows]: what rows are multiplied by, and their derivatives by the section with them, where the
  /// unknown have these decades. Empty where there are no shifts.
  std::vector<double> factors(const std::vector<double>& of_unknown) const;
};
/// Those that rows of a table have: one of every station and mode with an apparent resistivity or
/// an impedance. `stations`, where not empty, says of which. Throws Error for rows of the average,
/// which is no product of factors.
StaticShifts static_shifts_of(const DataTable& data, const std::vector<bool>& stations = {});

/// The map with shifts behind its parameters.
ForwardMap with_shifts(ForwardMap forward, StaticShifts shifts);
/// The prior with them: independent, of mean 0 and this standard deviation in decades.
Smoothing with_shifts(Smoothing smoothing, std::size_t shifts, double std_decades);

}  // namespace tessera::inversion
