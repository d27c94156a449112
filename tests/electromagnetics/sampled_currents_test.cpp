// SPDX-License-Identifier: Apache-2.0
//
// Far fields by the scheme's own waves: of a current alone they are even to the fourth order of the
// cells, and their integral is the power by the scheme.
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/monitors.h"
#include "tessera/electromagnetics/time_domain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;
constexpr double kLine = 5e-3;  ///< the length of a cell

/// Mean, least and largest of a pattern's directivity.
struct Evenness {
  double mean = 0, least = INFINITY, most = 0;
};
struct FarCase {
  int dimensions = 2;
  double per_wave = 15;  ///< cells
  double eps = 1;
  int component = Ez;
  bool mirrored = false;  ///< the lower half of y is an image
  int half = 8;           ///< of the box, in cells
  double uneven = 0;      ///< of cells
  Point at{}, off{};      ///< of the current and of the box, in cells
  bool body = false;
};

class Emitter {
 public:
  explicit Emitter(const FarCase& c)
      : c_(c), frequency_(speed_of_light / std::sqrt(c.eps) / kLine / c.per_wave) {
    YeeGrid grid;
    const int reach = c.half + 16;
    for (std::size_t d = 0; d < 3; ++d) {
      if (static_cast<int>(d) >= c.dimensions) {
        grid.lines[d] = {-kLine / 2, kLine / 2};
        continue;
      }
      for (int i = c.mirrored && d == 1 ? 0 : -reach; i <= reach; ++i)
        grid.lines[d].push_back((i + c.uneven * std::sin(0.5 * i)) * kLine);
      faces_[d] = {};
    }
    // The image of a current along the mirror that goes on is that of a magnetic one.
    if (c.mirrored) faces_[1].low = Boundary::pmc;
    std::vector<Medium> media(2);
    media[0].eps.fill(c.eps), media[1].eps.fill(4 * c.eps);
    Scene scene;
    if (c.body)
      scene.structures = {{box(point({-4.2, -3.1, -2.3}), point({-1.1, 2.2, 1.9})), 1, 0, ""}};
    YeeModel m = yee_model(grid, faces_, {.cells = 12}, 0.9 * stable_time_step(grid), Dtype::f64,
                           scene, media);
    std::array<bool, 6> active{true, true, true, true, true, true};
    if (c.dimensions == 2)
      active = c.component == Ez ? std::array{false, false, true, true, true, false}
                                 : std::array{true, true, false, false, false, true};
    m.active = active;
    const Point at = point(c.at);
    const Waveform pulse = gaussian_pulse(frequency_, 0.7 * frequency_);
    SampleList samples(grid, faces_, active);
    const double h = c.half * kLine;
    Point low = point(c.off), high = low;
    for (std::size_t d = 0; d < 3; ++d)
      if (grid.resolved(static_cast<int>(d))) low[d] -= h, high[d] += h;
    if (c.mirrored) low[1] = 0;
    flux_ = sampled_flux(samples, box_sides(grid, faces_, low, high));
    TimeDomain run(m, {current_source(grid, faces_, m.dt_s, c.component, at, at, 1, pulse)},
                   samples.edges());
    RunningDft dft({frequency_}, m.dt_s, samples.edges());
    run.advance(static_cast<std::int64_t>(run.sources_end_s() / m.dt_s) + 30 * reach,
                [&](const Records& r) { dft.add(r); });
    values_ = dft.values(samples);
    exterior_ = {.dimensions = c.dimensions, .eps = c.eps};
    exterior_.dt_s = m.dt_s;
    for (int d = 0; d < c.dimensions; ++d) exterior_.cell_m[static_cast<std::size_t>(d)] = kLine;
    if (c.mirrored) exterior_.mirrors = {{.axis = 1, .position = 0, .magnetic = true}};
  }
  double frequency() const { return frequency_; }
  double power() const { return flux_.power(values_).item() * (c_.mirrored ? 2 : 1); }
  std::vector<double> directivity(const std::vector<Direction>& at) const {
    const Exterior one[] = {exterior_};
    const double f[] = {frequency_};
    const Tensor far = far_field(SampledCurrents(flux_.links).components(values_), f, at, one);
    return electromagnetics::directivity(far, tensor(std::vector{power()}), exterior_)
        .to_vector<double>();
  }
  /// Over all directions.
  Evenness evenness() const {
    Evenness out;
    std::vector<double> theta{pi / 2}, phi, weight{1};
    const int n = 48;
    for (int k = 0; k < n; ++k) phi.push_back(2 * pi * k / n);
    if (c_.dimensions == 3) {
      theta.clear(), weight.clear();  // sines of a Chebyshev sum: Fejer's weights
      for (int i = 0; i < n; ++i) {
        theta.push_back(pi * (i + 0.5) / n);
        double w = 1;
        for (int q = 1; q <= n / 2; ++q)
          w -= 2 * std::cos(2 * q * theta.back()) / (4.0 * q * q - 1);
        weight.push_back(w / n);
      }
    }
    const std::vector<double> all = directivity(directions(theta, phi));
    for (std::size_t q = 0; q < all.size(); ++q) {
      out.mean += all[q] * weight[q / n] / n;
      out.least = std::min(out.least, all[q]), out.most = std::max(out.most, all[q]);
    }
    return out;
  }

 private:
  Point point(const Point& cells) const {
    return {cells[0] * kLine, cells[1] * kLine, cells[2] * kLine};
  }
  FarCase c_;
  double frequency_;
  std::array<Faces, 3> faces_{Faces{Boundary::periodic, Boundary::periodic},
                              Faces{Boundary::periodic, Boundary::periodic},
                              Faces{Boundary::periodic, Boundary::periodic}};
  SampledFlux flux_;
  Tensor values_;
  Exterior exterior_;
};

TEST(SampledCurrents, OfALineAreEven) {
  for (const int component : {Ez, Hz})
    for (const double per_wave : {10.0, 15.0, 20.0, 40.0})
      for (const FarCase& of : {FarCase{}, FarCase{.eps = 2.1}, FarCase{.off = {1.3, -2.4, 0}},
                                FarCase{.mirrored = component == Ez}}) {
        FarCase c = of;
        c.component = component, c.per_wave = per_wave;
        if (component == Hz) c.at = {0.5, 0.5, 0};
        const Evenness e = Emitter(c).evenness();
        EXPECT_NEAR(e.mean, 1, 1e-4);
        EXPECT_NEAR(e.least, 1, 1e-3);
        EXPECT_NEAR(e.most, 1, 1e-3);
      }
}

TEST(SampledCurrents, OfOthersHaveTheirPowerAsIntegral) {
  for (const FarCase& c :
       {FarCase{.at = {2, 1, 0}, .body = true},
        FarCase{.per_wave = 10, .component = Hz, .at = {2.5, 1.5, 0}, .body = true},
        FarCase{.component = Ex, .at = {2.5, 1, 0}, .body = true},
        FarCase{.uneven = 0.1, .body = true}}) {
    const Evenness e = Emitter(c).evenness();
    EXPECT_NEAR(e.mean, 1, c.uneven > 0 ? 3e-3 : 2e-4);
    EXPECT_GT(e.most, 1.2);
  }
}

TEST(SampledCurrents, OfAShortDipoleInSpace) {
  for (const int component : {Ez, Hx}) {
    const FarCase c{.dimensions = 3,
                    .per_wave = 12,
                    .component = component,
                    .half = 4,
                    .at = component == Ez ? Point{0, 0, 0.5} : Point{0, 0.5, 0.5}};
    const Emitter dipole(c);
    const Evenness e = dipole.evenness();
    const std::vector<double> d = dipole.directivity(
        component == Ez ? directions(std::vector{0.0, 0.3, 0.5}) : directions(std::vector{pi / 2}));
    EXPECT_NEAR(e.mean, 1, 1e-3);
    for (const double x : d) EXPECT_NEAR(x, 1.5, 1.5e-3);
  }
}

TEST(SampledCurrents, WhatDoesNotFitIsRefused) {
  const double f[] = {1e9};
  const std::vector<Direction> d{{pi / 2, 0}};
  const Exterior one[] = {{.dimensions = 2}};
  const Patch line = patch_of(0, 1, 0.1, {0, 0}, {1, 0}, 0.1);
  EXPECT_THROW(far_field(std::vector<PatchComponent>{}, f, d, one), Error);
  EXPECT_NO_THROW(
      far_field(std::vector{PatchComponent{line, 3, zeros({1, 1, 10}), {{}}}}, f, d, one));
  EXPECT_THROW(far_field(std::vector{PatchComponent{line, 4, zeros({1, 1, 10}), {{}}}}, f, d, one),
               Error);
  EXPECT_THROW(far_field(std::vector{PatchComponent{line, 3, zeros({1, 1, 9}), {{}}}}, f, d, one),
               Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
