// SPDX-License-Identifier: Apache-2.0
// The ports of a case on its grid, as data: what drives each, and what tells its waves.
#pragma once
#include "electromagnetics/waves/options.h"
#include "tessera/electromagnetics/line_impedance.h"
#include "tessera/electromagnetics/line_reading.h"
#include "tessera/electromagnetics/mode_source.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::waves {

struct Case;

/// What a mode does at a frequency of S. Where it decays its port is none; near its cut-off waves
/// take for ever, no layer takes them up, and what leaks there is missed at all ports.
enum class ModeReach { travels, decays, near_cutoff };
/// So near, as a part of the cut-off.
inline constexpr double cutoff_margin = 0.02;

/// Modes of a guide through a plane: the waves are taken at the plane, and a pulse starts one line
/// behind it.
struct ModePort {
  electromagnetics::ModePlane plane, start;
  int step = 1;                                 ///< 1 or -1: into the device
  electromagnetics::ModeBand band;              ///< at frequencies of S, or nodes among them
  std::vector<std::vector<double>> cutoffs_hz;  ///< [mode] in the band, the margin around it too
  std::vector<std::vector<ModeReach>> reach;    ///< [mode][frequency of S]
  /// Of a line: what its impedance is taken from, unless one is given.
  std::vector<electromagnetics::GuideConductor> conductors;
  double position = 0;  ///< m, of the plane on the grid
};

/// Terminals of a source between two conductors.
struct LumpedPort {
  std::size_t element = 0;                  ///< of Case::elements
  std::optional<std::size_t> on_wire = {};  ///< or, on a wire between lines, of Case::wires
  double sign = 1;  ///< of V and I: its positive terminal is at the lower end of the axis, or -1
  /// Where V and I are read on a line, if not at the terminals.
  std::optional<electromagnetics::LineReading> line = {};
};

struct CasePort {
  std::string key;         ///< "port[2]"
  MonitorOptions monitor;  ///< what is transformed at it: its name, position and frequencies
  ModePort mode;           ///< of PortKind::mode
  LumpedPort lumped = {};  ///< of PortKind::lumped
};

/// A row and a column of S.
struct PortChannel {
  std::string name;
  std::size_t port = 0;
  std::size_t mode = 0;  ///< of a mode port, from 0
};

/// A run in which one of them is driven.
struct Excitation {
  std::size_t channel = 0;
  std::size_t source = 0;  ///< of Case::sources
};

/// [frequency of S, channel] 1 where waves of a channel are told, else 0: where its mode travels
/// and no channel is near its cut-off.
std::vector<double> told_channels(const Case& c);

/// The part of the band of S in which a channel is driven, up to cut-offs where these bound it.
struct DrivenBand {
  double low_hz = 0, high_hz = 0;
  bool from_cutoff = false, to_cutoff = false;
};
DrivenBand driven_band(const Case& c, const PortChannel& channel);

/// The pulse that drives a channel: a Gaussian over its band.
WaveformOptions port_waveform(const DrivenBand& band);

/// Ports, channels, the runs and the sources that drive these, of a case that has its grid, media
/// and sources. Throws InputError at the keys of what cannot be.
void make_ports(Case& c, const data::Config& config);

// Of one port, each in its file.

/// Its element, which is among those of the case, and the line that it feeds.
void make_lumped_port(Case& c, std::size_t port, const data::Config& config);
/// What drives it.
electromagnetics::Injection lumped_port_source(const Case& c, const PortChannel& channel,
                                               const electromagnetics::Waveform& waveform);

/// Its plane and modes, and warnings about them.
void make_mode_port(Case& c, std::size_t port, const data::Config& config);
/// Of all ports: refuses those of one guide that look the same way, or away from each other.
void refuse_common_guides(const Case& c, const data::Config& config);
/// Of all ports, where waves of others are told at a frequency at which a mode hardly decays.
void warn_of_tails(Case& c, const data::Config& config);
/// What drives a channel of it.
electromagnetics::Injection mode_port_source(const Case& c, const PortChannel& channel,
                                             const electromagnetics::Waveform& waveform);

}  // namespace tessera::apps::waves
