// SPDX-License-Identifier: Apache-2.0
//
// Blocks of pixels against the same bodies drawn as one box for each pixel, and as designs.
#include "tessera/electromagnetics/pixels.h"

#include "tessera/autodiff/check.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/averaging.h"
#include "tessera/electromagnetics/corner_tensors.h"
#include "tessera/electromagnetics/design.h"
#include "tessera/electromagnetics/preview.h"
#include "tessera/electromagnetics/section.h"
#include "tessera/electromagnetics/time_domain.h"
#include "tessera/electromagnetics/yee_primitive.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

#include <limits>

namespace tessera::electromagnetics {
namespace {

Medium dielectric(const char* name, double eps) { return {.name = name, .eps = {eps, eps, eps}}; }
Medium oxide() { return dielectric("oxide", 2.25); }
Medium silicon() { return {.name = "silicon", .eps = {12, 11, 10}}; }
Medium resin() { return {.name = "resin", .eps = {2, 2, 2}, .poles = debye(20e9, 0.4)}; }
Medium metal() {
  return {.name = "metal", .eps = {1.5, 2, 2.5}, .sigma = {.4, .2, .3}, .poles = drude(3e10, 4e9)};
}

/// 5 x 4 x 3 pixels whose lines are none of the grid's of 1 mm.
Densities block(bool grey) {
  Densities d{{pixel_lines(2.3e-3, 6.1e-3, 5),
               pixel_lines(1.2e-3, 5.9e-3, 4),
               {2.1e-3, 3e-3, 3.4e-3, 5.8e-3}},
              {}};
  for (double x : noise(60, 5))
    d.values.push_back(grey && x > 0.3 ? 1 / (1 + std::exp(-x)) : x > 0);
  return d;
}

/// The same scene with a box for each pixel, of media that have its mixtures by name.
Scene drawn_as_boxes(const Scene& scene) {
  Scene out;
  out.background = scene.background;
  for (const Structure& s : scene.structures) {
    if (!s.pixels) {
      out.structures.push_back(s);
      continue;
    }
    const auto& lines = s.pixels->lines;
    for (int k = 0; k < s.pixels->count(2); ++k)
      for (int j = 0; j < s.pixels->count(1); ++j)
        for (int i = 0; i < s.pixels->count(0); ++i)
          out.structures.push_back({box({lines[0][i], lines[1][j], lines[2][k]},
                                        {lines[0][i + 1], lines[1][j + 1], lines[2][k + 1]}),
                                    s.pixels->at({i, j, k}), s.priority, s.name});
  }
  return out;
}

const YeeGrid& grid() {
  static const YeeGrid g = uniform_grid({8e-3, 8e-3, 8e-3}, 1e-3);
  return g;
}
YeeGrid shifted_grid() {
  YeeGrid g = grid();
  for (auto& lines : g.lines)
    for (double& x : lines) x += 4e-3;  // from 0
  return g;
}

void expect_same_rows(const YeeModel& a, const YeeModel& b, bool weights) {
  for (int c = 0; c < 6; ++c)
    for (int k = 0; k < 8; ++k)
      for (int j = 0; j < 8; ++j) {
        MaterialRow x, y;
        for (MaterialRow* row : {&x, &y}) row->inverse.assign(9, 1), row->loss.assign(9, 0);
        a.material(c, j, k, x), b.material(c, j, k, y);
        for (std::size_t i = 0; i < 8; ++i) {
          ASSERT_NEAR(x.inverse[i], y.inverse[i], 1e-12) << c << " " << i << " " << j << " " << k;
          ASSERT_NEAR(x.loss[i], y.loss[i], 1e-12);
        }
        if (!weights) continue;
        const auto susceptibility = [](const MaterialRow& row, int i) {  // sum of weight beta
          std::complex<double> sum = 0;
          for (const DispersiveRun& run : row.dispersive)
            if (i >= run.first && i < run.first + static_cast<int>(run.weight.size()))
              for (std::size_t p = 0; p < run.beta.size(); ++p)
                sum += run.weight[static_cast<std::size_t>(i - run.first)] * run.beta[p];
          return sum;
        };
        for (int i = 0; i < 8; ++i)
          ASSERT_NEAR(std::abs(susceptibility(x, i) - susceptibility(y, i)), 0, 1e-12);
      }
}

TEST(Pixels, AreBoxesOfTheirMedia) {
  const YeeGrid g = shifted_grid();
  for (const Averaging averaging :
       {Averaging::kottke, Averaging::corners, Averaging::volume, Averaging::none})
    for (const bool grey : {false, true})
      for (const bool covered : {false, true}) {
        std::vector<Medium> media{dielectric("vacuum", 1), oxide(), silicon()};
        Scene scene;
        scene.structures.push_back(pixel_structure(scene, 3, block(grey), 1, 2));
        if (covered)
          scene.structures.push_back(
              {box({3.4e-3, 1.9e-3, 2.7e-3}, {5.4e-3, 4.1e-3, 4.6e-3}), 0, 1, "hole"});
        media = with_blends(media, scene);
        ASSERT_EQ(media.size() > 3, grey);
        const double dt = 0.8 * stable_time_step(g);
        const auto model = [&](const Scene& s) {
          return yee_model(g, {joined, pml, pec}, {.cells = 1}, dt, Dtype::f64, s, media,
                           averaging);
        };
        const YeeModel own = model(scene), boxes = model(drawn_as_boxes(scene));
        expect_same_rows(own, boxes, false);
        ASSERT_EQ(own.tensors.size(), boxes.tensors.size());
        for (std::size_t n = 0; n < own.tensors.size(); ++n) {
          EXPECT_NEAR(own.tensors[n].xy, boxes.tensors[n].xy, 1e-12);
          EXPECT_NEAR(own.tensors[n].xz, boxes.tensors[n].xz, 1e-12);
          EXPECT_NEAR(own.tensors[n].yz, boxes.tensors[n].yz, 1e-12);
        }
      }
}

TEST(Pixels, UnderARoundBodyFillWhatItLeaves) {
  // Where its surface crosses lines between pixels, shares are not exact: against points, counted.
  Scene scene;
  scene.structures.push_back(pixel_structure(scene, 3, block(false), 1, 2));
  scene.structures.push_back({sphere({4.2e-3, 3.1e-3, 3.3e-3}, 1.4e-3), 0, 1, "hole"});
  const SceneOrder own(scene);
  const Point size{1e-3, 0.8e-3, 0.6e-3};
  double sum = 0, most = 0;
  for (unsigned trial = 0; trial < 60; ++trial) {
    const std::vector<double> x = noise(3, 100 + trial);
    const Point at{(4 + x[0]) * 1e-3, (3 + x[1]) * 1e-3, (4 + x[2]) * 1e-3};
    std::array<double, 3> share{}, counted{};
    for (const Share& s : fill(own, at, size).media) share[s.medium] += s.fraction;
    constexpr int n = 24;
    for (int k = 0; k < n * n * n; ++k) {
      Point p = at;
      const int index[3] = {k % n, k / n % n, k / n / n};
      for (int d = 0; d < 3; ++d) p[d] += size[d] * ((index[d] + 0.5) / n - 0.5);
      counted[medium_at(own, p)] += 1.0 / (n * n * n);
    }
    for (std::size_t m = 0; m < 3; ++m) {
      const double off = std::abs(share[m] - counted[m]);
      sum += off * off / 180, most = std::max(most, off);
    }
  }
  EXPECT_LT(std::sqrt(sum), 0.01);  // half of it the lattice's own
  EXPECT_LT(most, 0.03);
}

TEST(Pixels, OfDispersiveMediaMixTheirPoles) {
  const YeeGrid g = shifted_grid();
  for (const bool grey : {false, true}) {
    std::vector<Medium> media{dielectric("vacuum", 1), resin(), metal()};
    Scene scene;
    scene.structures.push_back(pixel_structure(scene, 3, block(grey), 1, 2));
    media = with_blends(media, scene);
    const double dt = 0.5 * stable_time_step(g);
    const auto model = [&](const Scene& s) {
      return yee_model(g, {joined, pml, pec}, {.cells = 1}, dt, Dtype::f64, s, media,
                       grey ? Averaging::volume : Averaging::kottke);
    };
    expect_same_rows(model(scene), model(drawn_as_boxes(scene)), true);
  }
}

TEST(Pixels, WithoutACellOfTheirOwnAreMeans) {
  // 64 pixels in a cell of the grid: the edge along them sees the mean, the one across all faces of
  // a film less.
  YeeGrid g = shifted_grid();
  const std::vector<Medium> media{dielectric("vacuum", 1), oxide(), dielectric("full", 9)};
  Scene scene;
  Densities d{{pixel_lines(1e-3, 5e-3, 32), {1e-3, 5e-3}, {-INFINITY, INFINITY}}, {}};
  for (int i = 0; i < 32; ++i) d.values.push_back(i % 2);
  scene.structures.push_back(pixel_structure(scene, 3, d, 0, 2));
  const SceneOrder order(scene);
  const auto eps = [&](const Edge& e) {
    return 1 / edge_material(order, media, g, e, Averaging::kottke).inverse_eps;
  };
  EXPECT_NEAR(eps({Ey, 3, 3, 3}), 5, 1e-12);
  EXPECT_NEAR(eps({Ex, 3, 3, 3}), 2 / (1 + 1.0 / 9), 1e-12);
  EXPECT_EQ(medium_at(order, {1.05e-3, 2e-3, 7}), 0);
  EXPECT_EQ(medium_at(order, {d.lines[0][1], 2e-3, 7}), 2);  // a pixel holds its low face
  EXPECT_EQ(medium_at(order, {5e-3, 2e-3, 7}), 0);
  EXPECT_EQ(fill(order, {1.05e-3, 2e-3, 0}, {0.02e-3, 0, 0}).media.size(), 1u);
}

TEST(Pixels, FarFromAnyFaceAreUniform) {
  const YeeGrid g = shifted_grid();
  Scene scene;
  Densities d{{pixel_lines(0, 8e-3, 16), pixel_lines(0, 8e-3, 16), {-INFINITY, INFINITY}}, {}};
  for (int n = 0; n < 256; ++n) d.values.push_back(n % 16 < 8 ? 1 : 0.25);
  scene.structures.push_back(pixel_structure(scene, 2, d, 0, 1));
  ASSERT_EQ(scene.blends.size(), 1u);
  const UniformMedia u = uniform_media(SceneOrder(scene), g);
  EXPECT_EQ(u.at(1, 3, 3), 1);
  EXPECT_EQ(u.at(3, 3, 3), -1);
  EXPECT_EQ(u.at(4, 3, 3), -1);
  EXPECT_EQ(u.at(6, 3, 3), 2);
  const auto p =
      preview(SceneOrder(scene), with_blends({dielectric("a", 1), dielectric("b", 5)}, scene), g);
  EXPECT_DOUBLE_EQ(p.fields.cells[2].values[3 * 6], 2);
}

TEST(Pixels, AreOutlinedWhereMediaMeet) {
  Scene scene;
  Densities d{{pixel_lines(1e-3, 5e-3, 4), pixel_lines(1e-3, 4e-3, 3), {-INFINITY, INFINITY}},
              {0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}};
  scene.structures.push_back(pixel_structure(scene, 2, d, 0, 1));
  const auto length = [&] {
    double sum = 0;
    for (const SectionLine& line : section_lines(
             SceneOrder(scene),
             {.axis = 2, .at = 0, .low = {0, 0}, .high = {8e-3, 8e-3}, .steps = {400, 400}}))
      for (std::size_t n = 1; n < line.size(); ++n)
        sum += std::hypot(line[n][0] - line[n - 1][0], line[n][1] - line[n - 1][1]);
    return sum;
  };
  EXPECT_NEAR(length(), 8e-3, 1e-9);  // an L of three squares, one side on the rim
  scene.structures.push_back({box({0, 0, -1}, {2.5e-3, 8e-3, 1}), 0, 1, "cover"});
  EXPECT_NEAR(length(), 7e-3, 0.05e-3);  // 2 of them the face of the cover
}

TEST(PixelRegion, IsTheVolumeMeanOfTheScene) {
  const YeeGrid g = shifted_grid();
  const Densities d = block(true);
  std::vector<Medium> media{dielectric("vacuum", 1), dielectric("low", 2), dielectric("high", 7)};
  Scene scene;
  scene.structures.push_back(pixel_structure(scene, 3, d, 1, 2));
  media = with_blends(media, scene);
  const std::array<Faces, 3> faces{joined, pml, pec};
  const DesignRegion r = pixel_region(g, faces, d.lines);
  EXPECT_EQ(r.low, (std::array<int, 3>{2, 1, 2}));
  EXPECT_EQ(r.high, (std::array<int, 3>{7, 6, 6}));
  const std::vector<double> inverse =
      inverse_permittivity(r, 2.0 + 5.0 * tensor(d.values), 1.0).to_vector();
  for (std::size_t n = 0; n < r.edges.size(); ++n)
    EXPECT_NEAR(inverse[n],
                edge_material(SceneOrder(scene), media, g, r.edges[n], Averaging::volume,
                              {true, false, false})
                    .inverse_eps,
                1e-12);
}

/// A run whose medium is that of pixels, as a function of their densities.
struct PixelRun {
  Densities d = block(true);
  DesignRegion region;
  DesignMixture mixture;
  YeeModel model;
  std::vector<Medium> media;
  Scene scene;
  PixelRun() {
    const YeeGrid g = shifted_grid();
    const std::array<Faces, 3> faces{joined, pml, pec};
    media = {dielectric("vacuum", 1), resin(), metal()};
    scene.structures.push_back(pixel_structure(scene, 3, d, 1, 2));
    media = with_blends(media, scene);
    model = yee_model(g, faces, {.cells = 1}, 0.5 * stable_time_step(g), Dtype::f64, scene, media,
                      Averaging::volume);
    model.injected = {{Ez, 1, 2, 3}};
    model.recorded = {{Ez, 6, 5, 4}, {Hy, 4, 3, 3}};
    region = pixel_region(g, faces, d.lines);
    mixture = design_mixture(region, resin(), metal(), media[0], model.dt_s);
  }
  YeeOpPtr as_scene() const { return yee_op(model); }
  YeeOpPtr as_design() const {
    YeeModel m = model;
    m.mixed = mixture.edges;
    return yee_op(std::move(m));
  }
};

TEST(PixelRegion, RunsAsItsSceneDoes) {
  const PixelRun run;
  const Tensor currents = noise_like({40, 1}, 3);
  const YeeOpPtr scene = run.as_scene(), design = run.as_design();
  const std::vector<double> a = simulate(scene, coefficients(scene), currents).to_vector(),
                            b = simulate(design,
                                         mixture_parameters(run.region, run.mixture,
                                                            tensor(run.d.values)),
                                         currents)
                                    .to_vector();
  double largest = 0;
  for (const double x : a) largest = std::max(largest, std::abs(x));
  ASSERT_GT(largest, 0);
  for (std::size_t n = 0; n < a.size(); ++n) EXPECT_NEAR(a[n], b[n], 1e-11 * largest);
}

TEST(PixelRegion, RunsDifferentiateInDensities) {
  const PixelRun run;
  const Tensor currents = noise_like({20, 1}, 3);
  const YeeOpPtr op = run.as_design();
  const CheckReport c = gradcheck(
      [&](Tensor p) {
        return sum(square(simulate(op, mixture_parameters(run.region, run.mixture, p), currents)));
      },
      0.2 + 0.6 * tensor(run.d.values), {.order = 2, .directions = 2});
  EXPECT_TRUE(c) << to_string(c);
}

TEST(Pixels, RefuseWhatIsNoBlock) {
  Scene scene;
  const auto make = [&](std::vector<double> values, std::vector<double> x) {
    return pixel_structure(scene, 2, {{std::move(x), {0, 1}, {0, 1}}, std::move(values)}, 0, 1);
  };
  EXPECT_THROW(make({0, 1, 0}, {0, 1, 2}), Error);
  EXPECT_THROW(make({0, 1.5}, {0, 1, 2}), Error);
  EXPECT_THROW(make({0, std::numeric_limits<double>::quiet_NaN()}, {0, 1, 2}), Error);
  EXPECT_THROW(make({0, 1}, {0, 1, 1}), Error);
  EXPECT_THROW(make({}, {0}), Error);
  EXPECT_NO_THROW(make({0, 1}, {0, 1, 2}));
  EXPECT_THROW(require_mixable({.name = "metal", .pec = true}, oxide()), Error);
  EXPECT_THROW(require_mixable({.name = "a", .mu = {2, 2, 2}}, oxide()), Error);
  EXPECT_THROW(require_mixable({.name = "kerr", .chi3 = 1}, oxide()), Error);
  EXPECT_THROW(pixel_region(grid(), {pml, pml, pml}, {{{1, 2}, {1, 2}, {1, 2}}}), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
