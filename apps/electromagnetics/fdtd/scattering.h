// SPDX-License-Identifier: Apache-2.0
// Scattering parameters of a device from the waves at its ports.
#pragma once
#include "electromagnetics/fdtd/run.h"
#include "tessera/data/log.h"
#include "tessera/data/touchstone.h"

#include <complex>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

namespace tessera::apps::fdtd {

/// Waves at all channels in all runs, complex [frequency, channel, run].
struct PortWaves {
  Tensor in, out;
};

PortWaves waves_of(const MonitoredCase& made);

/// Of channels, complex [frequency, channel]: what shifts planes, of guides along their direction,
/// 0 else; and what the waves refer to, as given or of the line, 0 of modes without an impedance.
/// [channel]: what S is to refer to.
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

/// S = B A^-1 where each channel has a column, so that what comes back from layers and other ports
/// does not count; else b over the a of the channel that is driven. At each frequency of the
/// channels that are told there (told_channels), 0 of others. At shifted planes and of the case's
/// references: complex [frequency, channel, column]. Differentiates in the waves and in what they
/// refer to.
Tensor scattering_matrix(const Case& c, const PortWaves& waves, const PortConstants& constants);

PortConstants constants_of(const MonitoredCase& made);

/// Power waves of a lumped port at `from` as those at `from` + `change`, which is a number.
PortWaves at_impedance(const PortWaves& waves, std::complex<double> from, const Tensor& change);

/// [frequency] What a wave of 1 W is of the wave `in` that comes in where `out` goes back.
Tensor of_a_watt(PerWatt wave, const Tensor& in, const Tensor& out);

/// The largest wave that comes in at a channel that is not driven over that of the one that is,
/// real [frequency]; 0 where one of both is not told.
Tensor echoes(const Case& c, const PortWaves& waves);

/// Adds S, and of each port what is known of it; says what speaks against them.
void add_port_results(const MonitoredCase& made, data::Log& log, Results& results);

/// Turns transforms of a run's monitors into what they are for 1 W at its port, where the case asks
/// for that (ScatteringOptions::per_watt).
void per_watt(const MonitoredCase& made, std::size_t run, Results& results);

/// As a file has it, at the frequencies at which all is told; nothing where there is none, or
/// columns are missing. `s` is that result.
std::optional<data::Touchstone> touchstone_of(const Case& c, const MonitorResult& s);
/// Writes s_parameters.sNp into the run's folder, as the case wants it.
void write_touchstone_of(const std::filesystem::path& run, const Case& c, const Results& results);

}  // namespace tessera::apps::fdtd
