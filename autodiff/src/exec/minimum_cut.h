// SPDX-License-Identifier: Apache-2.0
//
// The minimum cut of a directed network by Dinitz's algorithm: of all sets of edges without which
// no path leads from source to sink the one of least capacity.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::plan {

class MinimumCut {
 public:
  using Node = std::uint32_t;
  static constexpr std::int64_t kInfinite = std::int64_t{1} << 60;
  static constexpr Node source = 0, sink = 1;

  Node add_node() {
    first_.push_back(kNoEdge);
    return static_cast<Node>(first_.size() - 1);
  }
  void add_edge(Node from, Node to, std::int64_t capacity) {
    add_half(from, to, capacity);
    add_half(to, from, 0);
  }
  /// Whether each node lies on the side of the sink, of which the least set is taken.
  std::vector<bool> on_side_of_sink() {
    while (find_levels()) block_flow();
    // What can reach the sink through what is left.
    std::vector<bool> reaches(first_.size(), false);
    std::vector<Node> open{sink};
    reaches[sink] = true;
    while (!open.empty()) {
      const Node n = open.back();
      open.pop_back();
      for (std::uint32_t e = first_[n]; e != kNoEdge; e = edges_[e].next) {
        const Node m = edges_[e].to;
        if (edges_[e ^ 1].left == 0 || reaches[m]) continue;
        reaches[m] = true;
        open.push_back(m);
      }
    }
    return reaches;
  }

 private:
  static constexpr std::uint32_t kNoEdge = ~0u;
  struct Edge {
    Node to;
    std::uint32_t next;
    std::int64_t left;
  };

  void add_half(Node from, Node to, std::int64_t capacity) {
    edges_.push_back({to, first_[from], capacity});
    first_[from] = static_cast<std::uint32_t>(edges_.size() - 1);
  }
  /// Distances from the source along edges with something left; false: the sink is out of reach.
  bool find_levels() {
    level_.assign(first_.size(), -1);
    level_[source] = 0;
    queue_.assign(1, source);
    for (std::size_t k = 0; k < queue_.size() && level_[sink] < 0; ++k) {
      const Node n = queue_[k];
      for (std::uint32_t e = first_[n]; e != kNoEdge; e = edges_[e].next)
        if (edges_[e].left > 0 && level_[edges_[e].to] < 0) {
          level_[edges_[e].to] = level_[n] + 1;
          queue_.push_back(edges_[e].to);
        }
    }
    return level_[sink] >= 0;
  }
  /// Fills all shortest paths.
  void block_flow() {
    next_ = first_;
    std::vector<std::uint32_t> path;
    Node n = source;
    for (;;) {
      if (n == sink) {
        std::int64_t flow = kInfinite;
        for (const std::uint32_t e : path) flow = std::min(flow, edges_[e].left);
        std::size_t back = path.size();
        for (std::size_t k = path.size(); k-- > 0;) {
          edges_[path[k]].left -= flow;
          edges_[path[k] ^ 1].left += flow;
          if (edges_[path[k]].left == 0) back = k;
        }
        n = edges_[path[back] ^ 1].to;
        path.resize(back);
        continue;
      }
      std::uint32_t& e = next_[n];
      while (e != kNoEdge && !(edges_[e].left > 0 && level_[edges_[e].to] == level_[n] + 1))
        e = edges_[e].next;
      if (e != kNoEdge) {
        path.push_back(e);
        n = edges_[e].to;
        continue;
      }
      if (path.empty()) return;
      n = edges_[path.back() ^ 1].to;
      path.pop_back();
      next_[n] = edges_[next_[n]].next;
    }
  }

  std::vector<Edge> edges_;  ///< each beside its reverse
  std::vector<std::uint32_t> first_{kNoEdge, kNoEdge}, next_;
  std::vector<int> level_;
  std::vector<Node> queue_;
};

}  // namespace tessera::plan
