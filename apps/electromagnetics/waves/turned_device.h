// SPDX-License-Identifier: Apache-2.0
// The device as the grid has it, beside where a turn takes it.
#pragma once
#include "electromagnetics/waves/grid_turn.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace tessera::apps::waves {

struct Case;

/// What of a device a turn takes to something else.
struct Unlike {
  /// Of the edges and faces that bodies, sheets and elements have, those that are made of something
  /// else where they come to.
  double part = 0;
  /// Whether some of them, a wire or a wall, are something else a cell further on, too.
  bool beyond_cells = false;
  bool media_compared = true;

  /// Whether it is the same but for rounding.
  bool none() const { return media_compared && !beyond_cells && part <= 1e-3; }
};

/// Which medium each edge and face is of, at which sheet, surface and element: what takes all of
/// these to themselves takes the fields of a run to those of another one. Refers to the case.
class TurnedDevice {
 public:
  explicit TurnedDevice(const Case& c);
  Unlike unlike(const GridTurn& l) const;
  /// Of larger grids only sheets, elements, wires and walls count: 16 bytes a cell are too many.
  static constexpr std::int64_t most_cells = 50'000'000;

 private:
  /// What is there on top of the medium.
  struct Part {
    std::array<int, 5> at;  ///< component, i, j, k, what it is
    double share;
    bool operator<(const Part& o) const { return at < o.at; }
  };
  struct Counts {
    std::int64_t seen = 0, other = 0, beyond = 0;
  };
  /// A number for each set of values, from 1.
  int number_of(const std::vector<double>& values);
  void find_media();
  void find_parts();
  std::size_t offset(const std::array<int, 3>& at, int component) const;
  int places(int component, int axis) const;
  bool joined(int axis) const;
  /// Calls look(neighbour) for it and those around it until one says yes.
  template <class F>
  bool any_near(const std::array<int, 3>& at, int component, F&& look) const;
  bool is_near(float value, const std::array<int, 3>& at, int component) const;
  Counts compare_plane(const GridTurn& l, int component, int k) const;
  Counts compare_parts(const GridTurn& l) const;
  bool same_walls(const GridTurn& l) const;
  bool same_wires(const GridTurn& l) const;

  const Case& c_;
  std::map<std::vector<double>, int> numbers_;
  std::array<std::vector<float>, 6> media_;  ///< [component] the mean number of what is there
  std::array<float, 6> background_{};
  std::vector<Part> parts_;  ///< sorted
};

}  // namespace tessera::apps::waves
