// SPDX-License-Identifier: Apache-2.0
//
// Conductors at joined faces: a scene that is moved along them by whole cells, what leaves at one
// face coming in at the other, makes the same edges and faces.
#include "guides.h"
#include "tessera/electromagnetics/averaging.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"
#include "tessera/electromagnetics/surface_impedance.h"
#include "tessera/electromagnetics/time_domain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tessera::electromagnetics {
namespace {

using namespace guides;

constexpr double h = 0.125;  // cells, and all places, are exact
constexpr int around = 16;   // of them along y and z, from -1 to 1

struct Seams {
  std::array<Faces, 3> faces{walls, period, period};
  YeeGrid grid{.lines = {even(8, h), even(around, h), even(around, h)}};
  std::vector<Medium> media{Medium{.name = "vacuum"}, Medium{.name = "pec", .pec = true},
                            Medium{.name = "glass", .eps = {4, 4, 4}},
                            Medium{.name = "other", .pec = true}};
  double dt = 0;
  Seams() {
    for (const int d : {1, 2})
      for (double& x : grid.lines[static_cast<std::size_t>(d)]) x -= 1;
    dt = 0.9 * stable_time_step(grid);
  }

  /// By y and z, from -1 to 1; its periods are drawn, too, but not beyond what is asked.
  Scene moved(const std::vector<Structure>& bodies, int by_y, int by_z, int background,
              const std::vector<int>& periods) const {
    Scene s{.background = background};
    for (const Structure& b : bodies)
      for (const int p : periods)
        for (const int q : periods) {
          Structure next = b;
          next.shape = translate(b.shape, {0, by_y * h + 2.0 * p, by_z * h + 2.0 * q});
          s.structures.push_back(next);
        }
    return s;
  }
  static Edge moved(Edge e, int by_y, int by_z) {
    e.j = (e.j + by_y + around) % around, e.k = (e.k + by_z + around) % around;
    return e;
  }
  std::vector<Edge> edges() const {
    std::vector<Edge> out;
    for (int c = 0; c < 6; ++c)
      for (int k = 0; k < around; ++k)
        for (int j = 0; j < around; ++j)
          for (int i = 0; i < grid.cells(0) + (at_middle(c, 0) ? 0 : 1); ++i)
            out.push_back({static_cast<std::uint8_t>(c), i, j, k});
    return out;
  }
  CutCellFractions open(const Scene& scene, bool conformal) const {
    return cut_cell_fractions(SceneOrder(scene), media, grid, faces, dt, {.conformal = conformal});
  }

  /// How many values of edges and faces differ; those within metal, away from its surface, are
  /// known by their media alone.
  int differences(const Scene& a, const Scene& b, int by_y, int by_z, Averaging averaging,
                  bool conformal) const {
    const SceneOrder of_a(a), of_b(b);
    const CutCellFractions open_a = open(a, conformal), open_b = open(b, conformal);
    const Periodic joined{false, true, true};
    int out = 0, metal = 0;
    for (const Edge& e : edges()) {
      const Edge there = moved(e, by_y, by_z);
      const auto differ = [](double x, double y) { return std::abs(x - y) > 1e-9; };
      bool differs = false;
      if (open_a.listed(e) && open_b.listed(there))
        differs = differ(open_a.fraction(e), open_b.fraction(there)) ||
                  differ(open_a.share(e), open_b.share(there));
      else if (open_a.listed(e) || open_b.listed(there))
        differs = open_a.fraction(e) != 0 && open_b.fraction(there) != 0;  // rounded away from it
      if (is_electric(e.component)) {
        const EdgeMaterial x = edge_material(of_a, media, grid, e, averaging, joined, open_a),
                           y = edge_material(of_b, media, grid, there, averaging, joined, open_b);
        metal += x.pec;
        differs = differs || x.pec != y.pec || (!x.pec && differ(x.inverse_eps, y.inverse_eps));
      }
      out += differs;
    }
    EXPECT_GT(metal, 0);
    return out;
  }
};

struct Bodies {
  std::string name;
  std::vector<Structure> structures;
  int background = 0;
  /// By how many cells along y and z it is moved; which periods of it are drawn then.
  std::array<int, 2> by{};
  std::vector<int> periods{0};
};

std::vector<Bodies> bodies() {
  const auto metal = [](const Shape& s) { return Structure{s, 1, 0, "metal"}; };
  const auto slab = [&](double low, double high) {
    return metal(box({-9, low, -9}, {9, high, 9}));
  };
  const auto part = [&](double low, double high) {
    return metal(box({0.25, low, -0.5}, {0.75, high, 0.5}));
  };
  const std::vector<int> both{0, -1};
  return {
      {"a slab that ends on the upper face", {slab(-0.5, 0)}, 0, {8, 0}, {0}},
      {"a slab that begins on the lower face", {slab(0, 0.5)}, 0, {-8, 0}, {0}},
      {"a slab across the seam", {slab(-0.3, 0.4)}, 0, {8, 0}, both},
      {"half of a cell below the upper face", {slab(-0.05, 0)}, 0, {8, 0}, {0}},
      {"a thin slab across the seam", {slab(-0.04, 0.03)}, 0, {8, 0}, both},
      {"a sheet on the upper face", {slab(0, 0)}, 0, {8, 0}, {0}},
      {"a patch on the upper face", {part(0, 0)}, 0, {8, 0}, {0}},
      {"a patch across the seam",
       {metal(box({0.5, -0.45, -0.4}, {0.5, 0.3, 0.4}))},
       0,
       {8, 0},
       both},
      {"a block that ends on the upper face", {part(-0.35, 0)}, 0, {8, 0}, {0}},
      {"a block in the corner of both", {part(-0.5, 0)}, 0, {8, 4}, {0}},
      {"a ball in the corner", {metal(sphere({0.5, 0.01, 0.02}, 0.33))}, 0, {8, 8}, both},
      {"a turned block in the corner",
       {metal(rotate(box({0.2, -0.3, -0.2}, {0.7, 0.4, 0.3}), rotation_about({1, 2, 3}, 0.6)))},
       0,
       {8, 8},
       both},
      {"a block with glass over a part of it",
       {part(-0.25, 0.25), {box({0, -0.125, -9}, {0.5, 0.25, 0.125}), 2, 1, "glass"}},
       0,
       {8, 0},
       both},
      {"a hole along the joined axis",
       {{cylinder({0.5, 0, 0}, 0.31, 9, {0, 1, 0}), 0, 0, "hole"}},
       1,
       {8, 0},
       {0}},
  };
}

TEST(SeamsOfMetal, MoveWithTheScene) {
  const Seams s;
  for (const Bodies& b : bodies())
    for (const auto& [conformal, averaging] :
         {std::pair(true, Averaging::kottke), std::pair(false, Averaging::none)}) {
      const Scene still = s.moved(b.structures, 0, 0, b.background, {0}),
                  moved = s.moved(b.structures, b.by[0], b.by[1], b.background, b.periods);
      EXPECT_EQ(s.differences(still, moved, b.by[0], b.by[1], averaging, conformal), 0)
          << b.name << (conformal ? ", conformal" : ", staircase");
    }
}

/// A hole that is drawn from one joined face to the other has no wall there.
TEST(SeamsOfMetal, HolesAreDrawnToTheFaces) {
  const Seams s;
  for (const bool conformal : {true, false}) {
    const auto hole = [&](double height) {
      return Scene{.structures = {{cylinder({0.5, 0, 0}, 0.31, height, {0, 1, 0}), 0, 0, "hole"}},
                   .background = 1};
    };
    EXPECT_EQ(s.differences(hole(20), hole(2), 0, 0, Averaging::kottke, conformal), 0) << conformal;
  }
}

/// What the losses of a body's surface add to faces moves with it, too, with its medium.
TEST(SeamsOfMetal, LossesMoveWithTheScene) {
  const Seams s;
  const SurfaceImpedance z = fit_surface_impedance(1e3, 1, 1e9, 1e10),
                         other = fit_surface_impedance(1e4, 1, 1e9, 1e10);
  using Key = std::tuple<int, int, int, int, int>;
  const auto losses = [&](const Scene& scene, int by_y, int by_z) {
    const YeeModel m = yee_model(s.grid, s.faces, {}, s.dt, Dtype::f64, scene, s.media,
                                 Averaging::kottke, s.open(scene, true));
    std::map<Key, double> out;
    for (const AddedMedia::Part& p :
         surface_losses(m, scene, s.media, {.media = {{}, z, {}, other}, .walls = {}}).parts) {
      const Edge e = Seams::moved(p.edge, by_y, by_z);
      out[{e.component, e.i, e.j, e.k, p.medium}] += p.share;
    }
    return out;
  };
  for (const Bodies& b : bodies()) {
    std::vector<Structure> structures = b.structures;
    structures.push_back({box({0, -9, -0.875}, {0.25, 9, -0.75}), 3, -1, "other"});
    const auto still = losses(s.moved(structures, 0, 0, b.background, {0}), b.by[0], b.by[1]),
               moved = losses(s.moved(structures, b.by[0], b.by[1], b.background, b.periods), 0, 0);
    EXPECT_EQ(still.size(), moved.size()) << b.name;
    for (const auto& [key, share] : still) {
      const auto found = moved.find(key);
      ASSERT_NE(found, moved.end()) << b.name;
      EXPECT_NEAR(found->second, share, 1e-6 * share) << b.name;
    }
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
