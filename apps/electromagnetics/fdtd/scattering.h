// SPDX-License-Identifier: Apache-2.0
// Scattering parameters of a device from the waves at its ports.
#pragma once
#include "electromagnetics/fdtd/run.h"
#include "tessera/data/log.h"
#include "tessera/electromagnetics/networks.h"

#include <complex>
#include <cstddef>
#include <vector>

namespace tessera::apps::fdtd {

/// Waves at all channels in all runs, complex [frequency, channel, run].
struct PortWaves {
  Tensor in, out;
};

PortWaves waves_of(const MonitoredCase& made);

/// The waves of each port together with those of its images behind symmetries that do not cut it,
/// which come in and leave alike: their |a|^2 - |b|^2 is power of the whole, and S is of them.
PortWaves with_images(const Case& c, const PortWaves& waves);

/// Of channels, complex [frequency, channel]: what shifts planes, of guides along their direction,
/// 0 else; what the waves of the ports refer to, as given or of the line, 0 of modes without an
/// impedance; and what S refers to, which is the same where the case asks for no other.
struct PortConstants {
  Tensor propagation, impedance, reference;
};

/// Which channels are driven, each in a run or as one that is alike: the columns of S.
std::vector<std::size_t> columns_of(const Case& c);

/// The channel of each run.
std::vector<std::size_t> driven_channels(const Case& c);
/// Waves of those channels alone that are told at a frequency (told_channels), with a column for
/// each of `columns`; of others 1 comes in in their own column, and nothing else, so that S is 0.
PortWaves told_alone(const Case& c, const PortWaves& waves,
                     const std::vector<std::size_t>& columns);

/// The kind of waves that S has at each channel: travelling ones of a mode, where no other
/// reference and no complex impedance is said; else those of ScatteringOptions::waves.
std::vector<electromagnetics::Waves> waves_of_s(const Case& c);
/// The waves of S, images included, at its planes and of its references, from those of the ports,
/// both [frequency, channel, run]. Differentiates in the waves and in what they refer to.
PortWaves seen_waves(const Case& c, const PortWaves& waves, const PortConstants& constants);

/// S = B A^-1 of such waves where each channel has a column, so that what comes back from layers
/// and other ports does not count; else b over the a of the channel that is driven. At each
/// frequency of the channels that are told there (told_channels), 0 of others: complex [frequency,
/// channel, column].
Tensor scattering_matrix(const Case& c, const PortWaves& waves, const PortConstants& constants);

PortConstants constants_of(const MonitoredCase& made);

/// Power waves of a lumped port at `from` as those at `from` + `change`, which is a number.
PortWaves at_impedance(const PortWaves& waves, std::complex<double> from, const Tensor& change);

/// The largest wave that comes in at a channel that is not driven over that of the one that is,
/// real [frequency]; 0 where one of both is not told.
Tensor echoes(const Case& c, const PortWaves& waves);

/// Adds S, and of each port what is known of it; says what speaks against them.
void add_port_results(const MonitoredCase& made, data::Log& log, Results& results);

}  // namespace tessera::apps::fdtd
