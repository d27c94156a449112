// SPDX-License-Identifier: Apache-2.0
// What ports and far fields say of an antenna together. Terms are those of IEEE Std 145-2013.
#pragma once
#include "electromagnetics/fdtd/scattering.h"
#include "tessera/data/log.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace tessera::apps::fdtd {

/// Power of transforms that a run takes, W s^2 (in two dimensions W s^2/m), [frequency] of S.
struct PortPower {
  std::vector<double> incident;  ///< of the wave that drives, as S has it
  std::vector<double> accepted;  ///< what comes in at all ports less what leaves through them
};
/// Of the run of an excitation, images behind symmetries included.
PortPower port_power(const MonitoredCase& made, std::size_t run);

/// The same of waves at all channels, complex [frequency, channel], whose |a|^2 - |b|^2 is power of
/// the whole (with_images), and of those of S that come in, by channel `driven` or by all.
PortPower port_power(const Case& c, const PortWaves& all, const Tensor& in,
                     std::optional<std::size_t> driven);

/// Adds to far fields, which are per bandwidth still, powers, gain over the angles and
/// efficiencies:
///
///   gain = directivity P / accepted,   realised_gain = directivity P / incident,
///   radiation_efficiency = P / accepted,   total_efficiency = P / incident,
///
/// P the radiated power. Nothing where a far field has frequencies that S has not.
void add_antenna_figures(const Case& c, const PortPower& power, Results& results);
/// Says of each of these what it is where the antenna sends most of what comes in.
void say_antenna_figures(const Results& results, data::Log& log);

/// What becomes of waves that come in at several ports at once (ScatteringOptions::arrays): the far
/// fields of the runs, summed with the weights A^-1 w that make these waves, as MONITOR.ARRAY; and
/// at each port of the array the active reflection, as ARRAY.
void add_arrays(const MonitoredCase& made, data::Log& log, Results& results);

/// Of a port whose column of S is known: `input_impedance`, ohm (where its waves have an
/// impedance), and `vswr`, each [frequency] or [frequency, mode]. `s` complex [frequency, channel,
/// column], `columns` the channels of its columns; `impedance` is what S refers to, [frequency,
/// channel], 0 for none.
void add_input_figures(const Case& c, std::size_t port, const Tensor& s,
                       const std::vector<std::size_t>& columns, const Tensor& impedance,
                       MonitorResult& result);

}  // namespace tessera::apps::fdtd
