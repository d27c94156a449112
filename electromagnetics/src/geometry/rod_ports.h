// SPDX-License-Identifier: Apache-2.0
//
// The places by which metal enters and leaves the cells of a grid, and which of them it joins
// within each cell (metal_rods.h).
#pragma once
#include "geometry/cell_corners.h"
#include "geometry/metal.h"
#include "geometry/metal_rods.h"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace tessera::electromagnetics::detail {

/// A place where metal enters or leaves cells: an island in a face, a crossing of an edge, or a
/// node in metal.
struct RodPort {
  bool loose = true;  ///< no metal of the grid is there yet
  Edge place;         ///< the face or edge; of a node not used
  bool is_node = false;
  std::array<bool, 3> across{};  ///< axes along which cells on both of its sides differ
  std::vector<Cell> choices;     ///< nodes, the nearest first
  std::vector<double> shifts;    ///< of them, in m
  std::optional<std::size_t> body;
  // What it leads to.
  bool leads_on = false;  ///< to other loose ports, or as a pin half a cell further
  bool ends = false;      ///< half a cell further
  std::vector<std::pair<Cell, Cell>> at_known;  ///< cells in which it leads to metal of the grid,
                                                ///< and a node of that
  std::optional<std::size_t> own;               ///< the choice that was taken
};

/// Ports of one cell that metal within it joins.
struct RodGroup {
  Cell cell;
  std::vector<std::size_t> ports;
  std::vector<Point> at;  ///< where they are in this cell
  bool known = false;     ///< metal of the grid is one of them
  struct Further {
    int corner;
    double far;  ///< across the axis of the end
  };
  std::vector<Further> further;  ///< corners of the cell that an end reaches,
  bool even = false;             ///< as thick as where it enters the cell
};

class RodPorts : protected CellCorners {
 public:
  /// `closed` tells of all edges whether they are metal.
  RodPorts(const SceneOrder& scene, const std::vector<Medium>& media, const CellCorners& corners,
           std::span<const MetalIslands> islands, const std::function<bool(const Edge&)>& closed);
  /// Adds the ports and groups of a cell.
  void look_at(const Cell& cell);

 protected:
  using Key = std::tuple<int, int, int, int>;
  static Key key(const Edge& e) { return {e.component, e.k, e.j, e.i}; }
  bool flat() const { return grid.dimensions() < 3; }
  /// Whether an edge at the node was metal before.
  bool is_known(const Cell& node) const;
  /// The faces of the domain, by bits, in which a port or a node lies; in seams there is none.
  int ends_at(const RodPort& p) const;
  int ends_at(const Cell& node) const;

  const std::function<bool(const Edge&)>& closed_before;
  double hair = 0;  ///< for distances to be equal, in m
  std::vector<RodPort> ports;
  std::vector<RodGroup> groups;

 private:
  /// What metal may enter a cell by.
  struct Entry {
    std::size_t port;
    Point at;
  };
  std::size_t port(const Key& where, RodPort p);
  void set_choices(RodPort& port, const Cell& cell, const Point& p,
                   const std::vector<int>& among) const;
  std::vector<Entry> entries_of(const Cell& cell, const Metal& metal);
  void add_islands(const Cell& cell, const Metal& metal, std::vector<Entry>& out);
  void add_crossings_of(const Cell& cell, int bits, int d, const Metal& metal,
                        std::vector<Entry>& out);
  void find_ends(RodGroup& g, const Metal& metal, const Point& low, const Point& high) const;

  const SceneOrder& scene_;
  const std::vector<Medium>& media_;
  std::map<Key, std::vector<Point>> islands_;
  std::map<Key, std::size_t> numbers_;
};

}  // namespace tessera::electromagnetics::detail
