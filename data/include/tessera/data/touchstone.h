// SPDX-License-Identifier: Apache-2.0
// Touchstone files: parameters of n-ports over frequency (.s2p, .ts).
//
// Versions 1.0, 1.1, 2.0 and 2.1 of the IBIS Open Forum's "Touchstone File Format Specification"
// are read, 1.1 and 2.0 written. What the versions say in different ways is the same here:
// elements stand as [frequency, row, column], Z in ohm and Y in S (version 1 divides by the
// reference), noise resistances in ohm, angles are gone.
#pragma once
#include "tessera/data/diagnostic.h"

#include <complex>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::data {

enum class NetworkKind { S, Y, Z, H, G };
inline constexpr const char* kNetworkKinds[] = {"S", "Y", "Z", "H", "G"};

/// One port of a mixed-mode matrix: a port as it is, or the difference or sum of two.
struct NetworkMode {
  enum class Kind { single, differential, common };
  Kind kind = Kind::single;
  std::size_t port = 0;   ///< from 0
  std::size_t minus = 0;  ///< the other one of a pair, taken with the minus sign
  bool operator==(const NetworkMode&) const = default;
};

/// Of a 2-port, at one frequency.
struct NetworkNoise {
  double frequency_hz = 0;
  double least_figure_db = 0;  ///< least noise figure
  std::complex<double>
      optimal_reflection;     ///< of the source that has it, beside `noise_reference_ohm`
  double resistance_ohm = 0;  ///< effective noise resistance
};

struct Touchstone {
  NetworkKind kind = NetworkKind::S;
  std::size_t ports = 0;
  std::vector<double> frequency_hz;          ///< rising
  std::vector<std::complex<double>> values;  ///< [frequency, row, column]; H and G: see NetworkKind
  std::vector<double> reference_ohm;         ///< of each port, above 0
  double noise_reference_ohm = 50;           ///< that of the option line
  std::vector<NetworkMode> modes;            ///< rows and columns; empty: port after port
  std::vector<NetworkNoise> noise;           ///< rising in frequency
  std::vector<std::string> comments;  ///< lines of their own in front of the data, without '!'

  std::complex<double>& at(std::size_t f, std::size_t row, std::size_t column) {
    return values[(f * ports + row) * ports + column];
  }
  const std::complex<double>& at(std::size_t f, std::size_t row, std::size_t column) const {
    return values[(f * ports + row) * ports + column];
  }
};

/// What was read, and what is worth telling: a second option line, no [End].
struct TouchstoneFile {
  Touchstone network;
  std::vector<Diagnostic> remarks;
};

/// Reads a file. Of version 1 the name says how many ports there are (.s3p); without such a name
/// the first record does. Throws InputError (exit 4) at line and column with what was expected:
/// E0366 text that is not due, E0367 the option line, E0368 frequencies that do not rise, E0369
/// counts and ports, E0370 keywords, E0303 a number; and what read_text_file throws.
TouchstoneFile read_touchstone(const std::filesystem::path& path);
/// The same from memory; `name` is told in messages and its ending is looked at.
TouchstoneFile parse_touchstone(std::string name, std::string text);

struct TouchstoneStyle {
  int version = 1;  ///< 1: 1.1, for everybody; 2: 2.0
  enum class Numbers { RI, MA, DB } numbers = Numbers::RI;
  std::string unit = "GHz";  ///< of frequencies: Hz, kHz, MHz or GHz
  enum class Matrix { full, lower, upper } matrix = Matrix::full;  ///< version 2
  bool rows_first = true;  ///< version 2, 2-ports: 12_21, rows first; false: 21_12 as in version 1
};

/// The text of a file. Numbers are the shortest that read back as the same double; RI and version 2
/// keep all bits. Throws Error for what a version cannot say: mixed modes, or other parameters than
/// S at references that differ, in version 1; half of a matrix that is not symmetric; H and G of
/// other than 2-ports; sizes that do not fit, numbers that are not finite.
std::string touchstone_text(const Touchstone& network, const TouchstoneStyle& style = {});
/// Writes it whole or not at all. Throws Error, too, where the name ends in .sNp with another N.
void write_touchstone(const std::filesystem::path& path, const Touchstone& network,
                      const TouchstoneStyle& style = {});

}  // namespace tessera::data
