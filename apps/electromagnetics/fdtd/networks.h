// SPDX-License-Identifier: Apache-2.0
// S of a device and what is made of it with files and other ports: results by the names of ports.
#pragma once
#include "electromagnetics/fdtd/monitor.h"
#include "tessera/data/log.h"
#include "tessera/data/touchstone.h"
#include "tessera/electromagnetics/networks.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::apps::fdtd {

/// An n-port over frequency: S [frequency, port, port] at references [frequency, port], 0 where
/// waves are what they are: those of a mode that has no impedance.
struct Network {
  std::vector<std::string> names;
  std::vector<double> frequency_hz;
  Tensor s, reference;
  std::vector<electromagnetics::Waves> waves;  ///< of each port
};

/// "S_out_in": what leaves at a port for what comes in at another.
std::string element_name(const std::string& to, const std::string& from);
/// Elements by name, S and group delay of columns `from`, [frequency, to, from].
MonitorResult network_result(std::string name, const std::vector<std::string>& to,
                             const std::vector<std::string>& from,
                             const std::vector<double>& frequency_hz, const Tensor& s);

/// A file's network as S of its single ports; of other kinds, and of mixed modes, it is turned into
/// that first. Throws Error where it has none.
Network network_of(const data::Touchstone& file);
/// At other frequencies, straight lines between its own. Throws Error outside of these.
Network at_frequencies(const Network& n, const std::vector<double>& frequency_hz);

/// The device as s_parameters has it, with what S refers to at each frequency.
Network device_of(const Case& c, const MonitorResult& s);

/// S of references `to` [frequency, port], where both have one, and of other waves.
Tensor renormalized(const Network& n, const Tensor& to,
                    const std::vector<electromagnetics::Waves>& waves);

/// With pairs of ports as differential and common modes, "NAME.d" and "NAME.c", in front of the
/// other ports.
Network mixed_modes(const Network& n, const std::vector<PairOptions>& pairs);
/// With files joined to its ports; what is left of these comes behind its own as "NAME.3". Where a
/// port has no impedance, waves go on as they are.
Network joined(const Network& n, const std::vector<JoinOptions>& joins);
/// A file beside S: its elements by the same names, within the band, and the largest difference.
/// Beside mixed modes the file's, whose ports are `ports`, by the same pairs.
MonitorResult compared(const Network& n, const CompareOptions& with,
                       const std::vector<std::string>& ports,
                       const std::vector<PairOptions>& pairs);

/// Warns where S gives more than it takes, or of reciprocal media is not reciprocal: no device
/// does. Of columns that are not all of them what each gives counts.
void doubt_network(const Case& c, const Tensor& s, data::Log& log);
/// Mixed modes, joins and comparisons that the case asks for.
void add_networks(const Case& c, const Network& device, Results& results);
/// Reads all files that these take. Throws InputError at the keys of what does not fit.
void check_networks(const Case& c, const data::Config& config);

}  // namespace tessera::apps::fdtd
