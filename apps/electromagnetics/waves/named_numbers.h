// SPDX-License-Identifier: Apache-2.0
// The numbers that results are differentiated in: parameters and lengths by their names, and the
// case at other values of them.
#pragma once
#include "electromagnetics/waves/case.h"

#include <string>
#include <vector>

namespace tessera::apps::waves {

/// What the media of edges are asked for can follow more than what single lengths can.
enum class MovedBy {
  bodies,  ///< structures and permittivities
  media    ///< and losses, sheets, wires, circuits, and what waves refer to
};

/// Throws InputError at `key` where results are not differentiated in what the names say.
void check_named(const Case& c, const std::vector<std::string>& names, MovedBy by,
                 const std::string& key, const data::Config& config);

/// Whether a parameter moves R, L or C of an element; and whether nothing but these and what waves
/// refer to.
struct CircuitsMoved {
  bool any = false, alone = false;
};
CircuitsMoved circuits_moved(const CaseOptions& o, const std::string& name);

/// The numbers of some names, and the case at other values of them. Refers to all it is made of.
class NamedNumbers {
 public:
  NamedNumbers(const Case& c, const std::vector<std::string>& names, const data::Config& config);

  /// The options of these values.
  CaseOptions options(const std::vector<double>& values) const;
  /// The case with scene, media and circuits of these values; grid, time step, places of elements
  /// and sources stay. Throws Error where a wire leaves its lines of the grid.
  Case moved(const std::vector<double>& values) const;
  /// The values with one of them a step further, or back.
  std::vector<double> stepped(std::size_t name, double steps) const;

  std::vector<double> at, steps;

 private:
  struct Read {
    CaseOptions options;
    data::Config config;
    bool again;  ///< the file was read again, with other parameters
  };
  Read read(const std::vector<double>& values) const;

  const Case& case_;
  const std::vector<std::string>& names_;
  const data::Config& config_;
};

}  // namespace tessera::apps::waves
