// SPDX-License-Identifier: Apache-2.0
//
// Cuts of a mesh of some 10^6 tetrahedra, a cube with a ball taken out of one corner, by METIS and
// along Hilbert's curve: edges between pieces, the largest piece over the mean, seconds.
//   pieces_bench [--side N] [--graph FILE]     FILE: its graph as gpmetis reads it
#include "measure.h"
#include "tessera/data/file_io.h"
#include "tessera/parallel/pieces.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::parallel;
using tessera::benchmarks::print_figure;
using tessera::benchmarks::seconds_of;

int main(int argc, char** argv) {
  int n = 56;
  std::string file;
  for (int k = 1; k + 1 < argc; k += 2) {
    if (!std::strcmp(argv[k], "--side")) n = std::atoi(argv[k + 1]);
    if (!std::strcmp(argv[k], "--graph")) file = argv[k + 1];
  }
  const auto node = [&](const std::array<int, 3>& p) {
    return static_cast<std::int32_t>((p[0] * (n + 1) + p[1]) * (n + 1) + p[2]);
  };
  constexpr int paths[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  std::vector<std::int32_t> mesh;
  std::vector<std::array<double, 3>> centres;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) {
        if (std::hypot(i + 0.5, j + 0.5, k + 0.5) < 0.4 * n) continue;
        for (const auto& path : paths) {  // from one corner to the opposite, edge by edge
          std::array<int, 3> p = {i, j, k};
          std::array<double, 3> centre = {0.25 * i, 0.25 * j, 0.25 * k};
          mesh.push_back(node(p));
          for (const int a : path) {
            ++p[static_cast<std::size_t>(a)];
            mesh.push_back(node(p));
            for (std::size_t d = 0; d < 3; ++d) centre[d] += 0.25 * p[d];
          }
          centres.push_back(centre);
        }
      }
  Graph g;
  print_figure("graph_seconds", seconds_of([&] { g = dual_graph(mesh, 4); }), "s");
  print_figure("elements", static_cast<double>(g.size()), "1");
  if (!file.empty()) {
    std::string text = fmt::format("{} {}\n", g.size(), g.next.size() / 2);
    for (Index i = 0; i < g.size(); ++i) {
      for (Index k = g.first[static_cast<std::size_t>(i)];
           k < g.first[static_cast<std::size_t>(i) + 1]; ++k)
        text += fmt::format("{} ", g.next[static_cast<std::size_t>(k)] + 1);
      text += '\n';
    }
    data::replace_file(file, text);
  }
  for (const int pieces : {2, 8, 60}) {
    std::vector<int> by_metis, by_curve;
    print_figure(fmt::format("metis_{}_seconds", pieces),
                 seconds_of([&] { by_metis = cut_graph(g, pieces); }), "s");
    print_figure(fmt::format("curve_{}_seconds", pieces),
                 seconds_of([&] { by_curve = cut_curve(centres, pieces); }), "s");
    for (const auto& [name, piece] : {std::pair{"metis", &by_metis}, {"curve", &by_curve}}) {
      const CutQuality q = quality_of(g, *piece, pieces);
      print_figure(fmt::format("{}_{}_edges", name, pieces), static_cast<double>(q.edges), "1");
      print_figure(fmt::format("{}_{}_imbalance", name, pieces), q.imbalance, "1");
    }
  }
}
