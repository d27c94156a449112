// SPDX-License-Identifier: Apache-2.0
//
// Modes over a band, and pulses of one mode that run to one side of a plane.
//
// A mode's fields change with frequency. They are known at a few nodes f_m, where modes are
// followed by their products, and between them by the polynomial through these,
//
//   e(f) = sum_m c_m(f) e_m,   c_m(f) = prod_{j != m} (f - f_j) / (f_m - f_j),
//
// so that a source needs one filtered waveform w_m = F^-1[c_m W] for each node, whatever the number
// of edges. Outside of the range of more than three nodes c_m bends, and stays as it is half a
// range off; that of three is a parabola everywhere. On the side ahead fields are total: the step
// of e at the line lacks h half a cell before it, and that of h there has e too much (plane_wave.h
// has the same for boxes).
#pragma once
#include "tessera/electromagnetics/grid_modes.h"
#include "tessera/electromagnetics/time_domain.h"

#include <vector>

namespace tessera::electromagnetics {

struct ModeBand {
  std::vector<double> frequency_hz;  ///< nodes, rising
  /// [nodes] Modes of one number belong together, phases included; those of the middle node have
  /// the order that grid_modes gives.
  std::vector<GridModes> at;
};
/// `count` modes at Chebyshev's nodes from `low_hz` to `high_hz`; of one node that in the middle.
/// `index` as in ModeOptions. Throws Error as grid_modes does, and where a mode cannot be followed:
/// it mixes with another by more than a half from node to node.
ModeBand mode_band(const YeeModel& model, const ModePlane& plane, double low_hz, double high_hz,
                   int count = 1, int nodes = 5, double index = 0);

/// The same with these nodes, which rise.
ModeBand mode_band(const YeeModel& model, const ModePlane& plane, std::vector<double> frequency_hz,
                   int count = 1, double index = 0);

/// The modes of a band at a frequency: those of a node, or interpolated between nodes. What goes
/// through these are s^2, and of modes that are scaled alike e and s h (grid_modes.h): smooth also
/// where a mode has its cut-off. (Of h, e_n and h_n these are f, f^2 and f times that.)
GridModes modes_at(const ModeBand& band, double frequency_hz);
/// Modes at given frequencies, followed as those of mode_band: solved at each where these are at
/// most `nodes`, else interpolated from a band of so many nodes.
std::vector<GridModes> modes_at(const YeeModel& model, const ModePlane& plane,
                                const std::vector<double>& frequency_hz, int count = 1,
                                int nodes = 7, double index = 0);

/// From `low_hz` to `high_hz`, rising: where a mode of the band turns from travelling to decaying
/// or back (Re beta^2 = 0), by the polynomial in f^2 through the nodes; outside of these by a line.
/// Nothing of a band of one node.
std::vector<double> cutoffs(const ModeBand& band, std::size_t mode, double low_hz, double high_hz);

struct ModeSource {
  std::size_t mode = 0;
  bool forward = true;  ///< to the side of rising coordinates
  /// sqrt(W) (sqrt(W/m) in two dimensions): the wave at the line has the amplitude `amplitude`
  /// times the waveform's transform, of the modes as they are normalised.
  double amplitude = 1;
  Waveform waveform;  ///< ends; taken as zero before t = 0
  /// The spectrum is cut to what lies between `from_hz` and `to_hz`, by factors erfc((from_hz -
  /// f)/edge_hz)/2 and erfc((f - to_hz)/edge_hz)/2, where `edge_hz` is not 0: what a mode is given
  /// at its cut-off rings on, and below it other modes may that nothing takes up. The pulse then is
  /// longer, and later.
  double from_hz = 0, to_hz = 0, edge_hz = 0;
};
/// By how much later, s.
double mode_source_delay(const ModeSource& source);
/// Currents of the plane. Throws Error for a waveform without an end, where the mode does not
/// travel at one of the nodes, and for another model's modes.
Injection mode_source(const YeeModel& model, const ModePlane& plane, const ModeBand& band,
                      const ModeSource& source);

}  // namespace tessera::electromagnetics
