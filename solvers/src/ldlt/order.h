// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace tessera::solvers::ldlt_detail {

/// Neighbours of the vertices of an undirected graph, without loops: those of i are
/// next[first[i]] ... next[first[i + 1] - 1], rising.
struct Neighbours {
  std::vector<std::int32_t> first, next;
  std::int32_t size() const { return static_cast<std::int32_t>(first.size()) - 1; }
};

/// An order of elimination that leaves the factors sparse: vertex order[k] is the k-th. The same
/// for the same graph, whatever the threads. By METIS's nested dissections (G. Karypis, V. Kumar
/// 1998, doi:10.1137/S1064827595287997) where it was found and the graph is large enough, else by
/// approximate minimum degree (P. Amestoy, T. Davis, I. Duff 1996, doi:10.1137/S0895479894278952).
std::vector<std::int32_t> fill_reducing_order(const Neighbours& g);

/// Approximate minimum degree, by Eigen.
std::vector<std::int32_t> minimum_degree_order(const Neighbours& g);

}  // namespace tessera::solvers::ldlt_detail
