// SPDX-License-Identifier: Apache-2.0
// What a case may say of ports, [[port]], and of what they measure, [s_parameters]. SI units. The
// keys and their documentation are in options_ports.cpp.
#pragma once
#include "electromagnetics/waves/load_options.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::waves {

using Point = std::array<double, 3>;

enum class PortKind { mode, lumped };
/// A port of a device. One with several modes is as many rows and columns of S: "name.1", "name.2".
struct PortOptions {
  PortKind kind = PortKind::mode;
  std::string name;
  Point position{};
  std::optional<Point> size;
  Point direction{};  ///< into the device; of a lumped port to its positive terminal
  int modes = 1;
  std::optional<double> index;      ///< about which modes are sought
  std::optional<double> impedance;  ///< ohm, real part
  double reactance = 0;             ///< ohm, imaginary part
  CircuitOptions circuit;           ///< of a lumped port, its source behind it
  std::optional<Point> plane;       ///< of a line, where its voltage and current are read
  double shift = 0;                 ///< m along `direction`: where S has its plane
  std::optional<std::string> same_as;
  std::vector<std::string> order;  ///< who takes whose place where this one takes that of `same_as`
};

enum class WaveKind { power, pseudo };
enum class TouchstoneChoice { automatic, v1, v2, none };
enum class TouchstoneNumbers { RI, MA, DB };
/// Two ports as one with a differential and a common mode.
struct PairOptions {
  std::string name, plus, minus;
};
/// A file whose ports are joined to those of the device; "": it stays open.
struct JoinOptions {
  std::string name;
  std::filesystem::path file;
  std::vector<std::string> ports;
};
/// A file beside one of the results that S gives.
struct CompareOptions {
  std::string name;
  std::filesystem::path file;
  std::string result = "s_parameters";
};
/// Waves that come in at several ports at once.
struct ArrayOptions {
  std::string name;
  std::vector<std::string> ports;
  std::vector<double> amplitudes;  ///< sqrt(W) s; empty: 1 each
  std::vector<double> phases;      ///< rad; empty: 0
};
enum class PerWatt { no, incident, accepted };
struct ScatteringOptions {
  std::vector<double> frequencies;
  std::optional<double> frequency_min, frequency_max;
  int frequency_points = 51;
  WaveKind waves = WaveKind::power;
  std::optional<double> reference;  ///< ohm, of all ports
  TouchstoneChoice touchstone = TouchstoneChoice::automatic;
  TouchstoneNumbers numbers = TouchstoneNumbers::RI;
  PerWatt per_watt = PerWatt::no;
  std::vector<PairOptions> pairs;
  std::vector<JoinOptions> joins;
  std::vector<CompareOptions> compare;
  std::vector<ArrayOptions> arrays;
  std::vector<std::string> derivatives;  ///< names of parameters

  std::vector<double> all_frequencies() const;
};

/// What S and all that belongs to it is called among results.
inline constexpr const char* scattering_name = "s_parameters";
/// The axis of its direction.
std::size_t port_axis(const PortOptions& port);
/// The names of a port's rows and columns of S.
std::vector<std::string> channel_names(const PortOptions& port);

}  // namespace tessera::apps::waves
