// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/near_to_far.h"

#include "analytic_sources.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/electromagnetics/flux.h"

#include <gtest/gtest.h>

namespace tessera::electromagnetics {
namespace {

using namespace analytic;

const std::vector<double> kFarHz{0.8e9, 1.7e9};

struct FarPair {
  Complex theta, phi;
};
/// lim r e^{ikr} E of a dipole: -i w mu/(4 pi) of the transverse part of its moment, e^{i k r^.r'}.
FarPair dipole_far(double f, const Pos& at, const Vec& il, const Direction& d, double eps = 1,
                   double mu = 1) {
  const double w = 2 * pi * f, k = w * std::sqrt(eps * mu) / speed_of_light;
  const double st = std::sin(d.theta), ct = std::cos(d.theta), sp = std::sin(d.phi),
               cp = std::cos(d.phi);
  const Complex wave = -i * w * mu * vacuum_permeability / (4 * pi) *
                       std::exp(i * k * (st * cp * at[0] + st * sp * at[1] + ct * at[2]));
  return {wave * (ct * cp * il[0] + ct * sp * il[1] - st * il[2]),
          wave * (-sp * il[0] + cp * il[1])};
}

double far_error(const Tensor& far, const std::vector<double>& frequencies,
                 const std::vector<Direction>& d,
                 const std::function<FarPair(double, const Direction&)>& want) {
  const auto got = far.to_vector<Complex>();
  double error = 0, largest = 0;
  for (std::size_t f = 0; f < frequencies.size(); ++f)
    for (std::size_t k = 0; k < d.size(); ++k) {
      const FarPair w = want(frequencies[f], d[k]);
      const std::size_t at = 2 * (f * d.size() + k);
      error = std::max({error, std::abs(got[at] - w.theta), std::abs(got[at + 1] - w.phi)});
      largest = std::max({largest, std::abs(w.theta), std::abs(w.phi)});
    }
  return error / largest;
}

std::vector<Direction> all_round() {
  std::vector<Direction> d;
  for (double t = 0.1; t < 3.1; t += 0.5)
    for (double p = -3.0; p < 3.2; p += 0.7) d.push_back({t, p});
  return d;
}
std::vector<Direction> circle() {
  std::vector<double> phi;
  for (double p = 0; p < 6.2; p += 0.3) phi.push_back(p);
  return directions(phi);
}

const Vec kMoment{Complex(0.3, 0.1), 0.2, Complex(1.0, -0.4)};
const Pos kPosition{0.012, -0.02, 0.015};
EH my_dipole(double f, const Pos& r) { return dipole(f, kPosition, kMoment, r, 2.0, 1.5); }

TEST(FarField, OfADipoleConvergesAtSecondOrder) {
  const Exterior exterior{.eps = 2.0, .mu = 1.5};
  const auto d = all_round();
  const auto error = [&](double spacing) {
    const auto box = box_patches({-0.06, -0.07, -0.05}, {0.06, 0.06, 0.07}, spacing);
    return far_error(far_field(box, on_patches(box, kFarHz, my_dipole), kFarHz, d, exterior),
                     kFarHz, d, [](double f, const Direction& x) {
                       return dipole_far(f, kPosition, kMoment, x, 2.0, 1.5);
                     });
  };
  const double coarse = error(0.01), fine = error(0.005);
  EXPECT_LT(fine, 0.01);
  EXPECT_NEAR(coarse / fine, 4, 0.5);
}

TEST(FarField, SourcesOutsideOfTheSurfaceGiveNone) {
  const auto d = all_round();
  const auto box = box_patches({0.1, -0.06, -0.06}, {0.22, 0.06, 0.06}, 0.0025);
  const Exterior exterior{.eps = 2.0, .mu = 1.5};
  const auto none = far_field(box, on_patches(box, kFarHz, my_dipole), kFarHz, d, exterior);
  double largest = 0, scale = 0;
  for (const Complex& v : none.to_vector<Complex>()) largest = std::max(largest, std::abs(v));
  for (const Direction& x : d)
    scale = std::max(scale, std::abs(dipole_far(1.7e9, kPosition, kMoment, x, 2.0, 1.5).theta));
  EXPECT_LT(largest, 2e-3 * scale);  // the error of the midpoint rule
}

// Two dimensions: sqrt(r) e^{ikr} H0(k r) -> sqrt(2i/(pi k)).
TEST(FarField, OfLinesInBothPolarisations) {
  const double eps = 1.44;
  const Exterior exterior{.dimensions = 2, .eps = eps};
  const Pos at{0.03, -0.05, 0};
  const auto d = circle();
  const auto wave = [&](double f, const Direction& x) {
    const double k = 2 * pi * f * std::sqrt(eps) / speed_of_light;
    return std::sqrt(2.0 * i / (pi * k)) *
           std::exp(i * k * (std::cos(x.phi) * at[0] + std::sin(x.phi) * at[1]));
  };
  const auto error = [&](double spacing, bool magnetic) {
    const auto box = box_patches({-0.1, -0.15, 0}, {0.12, 0.1, 0}, spacing);
    const auto fields = on_patches(box, kFarHz, [&](double f, const Pos& r) {
      return magnetic ? magnetic_line(f, at, 1.0, r, eps) : line(f, at, 1.0, r, eps);
    });
    return far_error(
        far_field(box, fields, kFarHz, d, exterior), kFarHz, d, [&](double f, const Direction& x) {
          const Complex amplitude = -2 * pi * f / 4.0 * wave(f, x);  // E_z / mu, H_z / eps
          if (!magnetic) return FarPair{-vacuum_permeability * amplitude, 0};
          return FarPair{0,
                         vacuum_permittivity * eps * amplitude * vacuum_impedance / std::sqrt(eps)};
        });
  };
  for (const bool magnetic : {false, true}) {
    EXPECT_LT(error(0.005, magnetic), 0.01);
    EXPECT_NEAR(error(0.01, magnetic) / error(0.005, magnetic), 4, 0.5);
  }
}

// Radiated power is the same on the box and at infinity; a short dipole has directivity 3/2.
TEST(FarField, PowerAndDirectivity) {
  const auto box = box_patches({-0.05, -0.05, -0.05}, {0.05, 0.05, 0.05}, 0.005);
  const auto fields = on_patches(box, kFarHz, [](double f, const Pos& r) {
    return dipole(f, {0, 0, 0}, {0, 0, 1}, r);
  });
  constexpr int n_theta = 90, n_phi = 100;  // more than one block of directions
  std::vector<double> theta, phi;
  for (int k = 0; k < n_theta; ++k) theta.push_back(pi * (k + 0.5) / n_theta);
  for (int k = 0; k < n_phi; ++k) phi.push_back(2 * pi * k / n_phi);
  const auto d = directions(theta, phi);
  const Tensor far = far_field(box, fields, kFarHz, d);
  const auto u = radiation_intensity(far).to_vector(), p = flux(box, fields).to_vector();
  for (int f = 0; f < 2; ++f) {
    double power = 0;
    for (int t = 0; t < n_theta; ++t)
      for (int k = 0; k < n_phi; ++k)
        power += u[(f * n_theta + t) * n_phi + k] * std::sin(theta[t]) * (pi / n_theta) *
                 (2 * pi / n_phi);
    EXPECT_NEAR(power / p[f], 1, 0.01);
  }
  EXPECT_NEAR(max(directivity(far, flux(box, fields))).item(), 1.5, 0.02);
}

/// One exterior for each frequency: what each alone gives.
TEST(FarField, InAMediumThatDiffersFromFrequencyToFrequency) {
  const auto box = box_patches({-0.06, -0.07, -0.05}, {0.06, 0.06, 0.07}, 0.01);
  const auto fields = on_patches(box, kFarHz, my_dipole);
  const auto d = all_round();
  const std::vector<Exterior> each{{.eps = 2.0, .mu = 1.5}, {.eps = 1.8, .mu = 1.5}};
  const Tensor far = far_field(box, fields, kFarHz, d, each), power = flux(box, fields);
  const auto f = far.to_vector<Complex>();
  const auto u = radiation_intensity(far, each).to_vector(),
             g = directivity(far, power, each).to_vector();
  for (std::size_t k = 0; k < 2; ++k) {
    const Tensor alone = far_field(box, fields, kFarHz, d, each[k]);
    const auto f_k = alone.to_vector<Complex>();
    const auto u_k = radiation_intensity(alone, each[k]).to_vector(),
               g_k = directivity(alone, power, each[k]).to_vector();
    for (std::size_t n = k * d.size(); n < (k + 1) * d.size(); ++n) {
      EXPECT_LT(std::abs(f[2 * n] - f_k[2 * n]), 1e-12 * (1 + std::abs(f_k[2 * n])));
      EXPECT_DOUBLE_EQ(u[n], u_k[n]);
      EXPECT_DOUBLE_EQ(g[n], g_k[n]);
    }
  }
  const std::vector<Exterior> three(3);
  EXPECT_THROW(far_field(box, fields, kFarHz, d, three), Error);
}

/// A vertical or horizontal dipole over a conducting plane: fields above it by its image.
EH over_mirror(double f, const Pos& at, const Vec& il, const Mirror& m, const Pos& r) {
  Pos image = at;
  image[m.axis] = 2 * m.position - at[m.axis];
  Vec turned = il;
  for (int c = 0; c < 3; ++c)
    if ((c == m.axis) == m.magnetic) turned[c] = -turned[c];
  const EH a = dipole(f, at, il, r), b = dipole(f, image, turned, r);
  EH sum;
  for (int c = 0; c < 3; ++c) {
    sum.e[c] = a.e[c] + b.e[c];
    sum.h[c] = a.h[c] + b.h[c];
  }
  return sum;
}

TEST(FarField, MirrorsActByImages) {
  for (const bool magnetic : {false, true})
    for (const int axis : {0, 1, 2}) {
      const Mirror mirror{.axis = axis, .position = -0.08, .magnetic = magnetic};
      const Exterior exterior{.mirrors = {mirror}};
      Pos low{-0.06, -0.06, -0.06};
      auto box = box_patches(low, {0.06, 0.06, 0.06}, 0.005);
      const auto d = all_round();
      std::vector<Direction> above;
      for (const Direction& x : d) {
        const double r[] = {std::sin(x.theta) * std::cos(x.phi),
                            std::sin(x.theta) * std::sin(x.phi), std::cos(x.theta)};
        if (r[axis] > 0) above.push_back(x);
      }
      Pos image = kPosition;
      image[axis] = 2 * mirror.position - kPosition[axis];
      Vec turned = kMoment;
      for (int c = 0; c < 3; ++c)
        if ((c == axis) == magnetic) turned[c] = -turned[c];
      const auto want = [&](double f, const Direction& x) {
        const FarPair a = dipole_far(f, kPosition, kMoment, x), b = dipole_far(f, image, turned, x);
        return FarPair{a.theta + b.theta, a.phi + b.phi};
      };
      const auto source = [&](double f, const Pos& r) {
        return over_mirror(f, kPosition, kMoment, mirror, r);
      };
      EXPECT_LT(far_error(far_field(box, on_patches(box, kFarHz, source), kFarHz, above, exterior),
                          kFarHz, above, want),
                0.01)
          << axis;
      // A box that stands on the plane needs no floor: currents there and their images cancel.
      low[axis] = mirror.position;
      box = box_patches(low, {0.06, 0.06, 0.06}, 0.005);
      box.erase(box.begin() + 2 * axis);
      EXPECT_LT(far_error(far_field(box, on_patches(box, kFarHz, source), kFarHz, above, exterior),
                          kFarHz, above, want),
                0.01)
          << axis;
    }
}

double field_error(const PointFields& got, const std::vector<double>& frequencies,
                   const std::vector<Pos>& points,
                   const std::function<EH(double, const Pos&)>& want) {
  const auto e = got.e.to_vector<Complex>(), h = got.h.to_vector<Complex>();
  double error = 0, largest = 0;
  for (std::size_t f = 0; f < frequencies.size(); ++f)
    for (std::size_t p = 0; p < points.size(); ++p) {
      const EH w = want(frequencies[f], points[p]);
      for (int c = 0; c < 3; ++c) {
        const std::size_t at = (f * points.size() + p) * 3 + c;
        error = std::max(
            {error, std::abs(e[at] - w.e[c]), vacuum_impedance * std::abs(h[at] - w.h[c])});
        largest = std::max({largest, std::abs(w.e[c]), vacuum_impedance * std::abs(w.h[c])});
      }
    }
  return error / largest;
}

TEST(NearField, OfADipoleConvergesAtSecondOrder) {
  const Exterior exterior{.eps = 2.0, .mu = 1.5};
  const std::vector<Pos> points{
      {0.2, 0.1, -0.15}, {-0.3, 0.0, 0.0}, {0.02, 0.01, 0.14}, {0.0, -5.0, 7.0}};
  const auto error = [&](double spacing) {
    const auto box = box_patches({-0.06, -0.07, -0.05}, {0.06, 0.06, 0.07}, spacing);
    return field_error(
        near_field(box, on_patches(box, kFarHz, my_dipole), kFarHz, points, exterior), kFarHz,
        points, my_dipole);
  };
  const double coarse = error(0.01), fine = error(0.005);
  EXPECT_LT(fine, 0.01);
  EXPECT_NEAR(coarse / fine, 4, 0.6);
  // Inside there is none, though the source is.
  const auto box = box_patches({-0.06, -0.07, -0.05}, {0.06, 0.06, 0.07}, 0.0025);
  const std::vector<Pos> inside{{-0.02, 0.01, 0.0}};
  const auto none = near_field(box, on_patches(box, kFarHz, my_dipole), kFarHz, inside, exterior);
  EXPECT_LT(max(abs(none.e)).item(), 2e-3 * std::abs(my_dipole(0.8e9, inside[0]).e[2]));
}

TEST(NearField, OfLinesInBothPolarisations) {
  const double eps = 1.44;
  const Exterior exterior{.dimensions = 2, .eps = eps};
  const Pos at{0.03, -0.05, 0};
  const std::vector<Pos> points{{0.3, 0.1, 0}, {-0.2, 0.05, 0}, {4.0, -7.0, 0}};
  for (const bool magnetic : {false, true}) {
    const auto source = [&](double f, const Pos& r) {
      return magnetic ? magnetic_line(f, at, 1.0, r, eps) : line(f, at, vacuum_impedance, r, eps);
    };
    const auto error = [&](double spacing) {
      const auto box = box_patches({-0.1, -0.15, 0}, {0.12, 0.1, 0}, spacing);
      return field_error(near_field(box, on_patches(box, kFarHz, source), kFarHz, points, exterior),
                         kFarHz, points, source);
    };
    EXPECT_LT(error(0.005), 0.01);
    EXPECT_NEAR(error(0.01) / error(0.005), 4, 0.6);
  }
}

TEST(NearField, BecomesTheFarFieldAndSeesMirrors) {
  const Mirror mirror{.axis = 2, .position = -0.08};
  const Exterior exterior{.mirrors = {mirror}};
  const auto box = box_patches({-0.06, -0.06, -0.06}, {0.06, 0.06, 0.06}, 0.01);
  const auto fields = on_patches(box, kFarHz, [&](double f, const Pos& r) {
    return over_mirror(f, kPosition, kMoment, mirror, r);
  });
  const Direction d{0.8, 0.3};
  const double r = 1e4;
  const std::vector<Pos> far_away{
      {r * std::sin(0.8) * std::cos(0.3), r * std::sin(0.8) * std::sin(0.3), r * std::cos(0.8)}};
  const auto e = near_field(box, fields, kFarHz, far_away, exterior).e.to_vector<Complex>();
  const auto far =
      far_field(box, fields, kFarHz, std::vector<Direction>{d}, exterior).to_vector<Complex>();
  for (int f = 0; f < 2; ++f) {
    const double k = 2 * pi * kFarHz[f] / speed_of_light;
    const Complex phi = -std::sin(0.3) * e[3 * f] + std::cos(0.3) * e[3 * f + 1];
    EXPECT_LT(std::abs(phi * r * std::exp(i * k * r) - far[2 * f + 1]),
              1e-4 * std::abs(far[2 * f + 1]));  // |r'|^2 k / r
  }
}

TEST(NearToFar, DifferentiatesInEveryMode) {
  const auto box = box_patches({-0.05, -0.05, -0.05}, {0.05, 0.05, 0.05}, 0.05);
  const Exterior exterior{.mirrors = {{.axis = 2, .position = -0.07}}};
  const std::vector<double> one{1e9};
  const auto fields = on_patches(box, one, my_dipole);
  const std::vector<Direction> d{{0.4, 0.2}, {1.1, 2.0}};
  const std::vector<Pos> points{{0.1, 0.2, 0.3}, {-0.2, 0.0, 0.1}};
  const auto far = [&](const std::vector<SurfaceFields>& x) {
    return far_field(box, x, one, d, exterior);
  };
  const auto near = [&](const std::vector<SurfaceFields>& x) {
    return near_field(box, x, one, points, exterior);
  };
  EXPECT_TRUE(transpose_check(far, fields)) << to_string(transpose_check(far, fields));
  EXPECT_TRUE(transpose_check(near, fields)) << to_string(transpose_check(near, fields));
  const auto objective = [&](const std::vector<SurfaceFields>& x) {
    const PointFields p = near(x);
    return sum(radiation_intensity(far(x))) / sum(square(real(p.e)) + square(imag(p.h)));
  };
  EXPECT_TRUE(gradcheck(objective, fields)) << to_string(gradcheck(objective, fields));
  const auto box2 = box_patches({-0.05, -0.05, 0}, {0.05, 0.05, 0}, 0.025);
  const auto fields2 = on_patches(box2, one, [](double f, const Pos& r) {
    return line(f, {0.01, 0, 0}, 1.0, r);
  });
  const auto near2 = [&](const std::vector<SurfaceFields>& x) {
    return near_field(box2, x, one, points, {.dimensions = 2});
  };
  EXPECT_TRUE(transpose_check(near2, fields2)) << to_string(transpose_check(near2, fields2));
}

TEST(NearToFar, ThreadsChangeNoBit) {
  const auto box = box_patches({-0.05, -0.05, -0.05}, {0.05, 0.05, 0.05}, 0.005);
  const auto fields = on_patches(box, kFarHz, my_dipole);
  std::vector<Pos> points;
  for (int k = 0; k < 40; ++k) points.push_back({0.2 + 0.01 * k, 0.1, -0.02 * k});
  const auto run = [&] {
    const auto f = [&](const std::vector<SurfaceFields>& x) {
      return sum(square(real(near_field(box, x, kFarHz, points).e)));
    };
    const auto [value, gradient] = value_and_grad(f)(fields);
    auto all = gradient[3].h.to_vector<Complex>();
    all.push_back(value.item());
    return all;
  };
  const int before = num_threads();
  set_num_threads(1);
  const auto serial = run();
  set_num_threads(4);
  EXPECT_EQ(serial, run());
  set_num_threads(before);
  // One direction at a time, or all at once.
  const auto d = all_round();
  const auto all = far_field(box, fields, kFarHz, d).to_vector<Complex>();
  for (std::size_t k = 0; k < d.size(); k += 17) {
    const auto one =
        far_field(box, fields, kFarHz, std::vector<Direction>{d[k]}).to_vector<Complex>();
    EXPECT_LT(std::abs(one[0] - all[2 * k]), 1e-12 * std::abs(all[2 * k]) + 1e-12);
  }
}

// The cross-section of a sphere much smaller than the wave, by its induced dipole p = 4 pi eps0 a^3
// E0 (Rayleigh): the monostatic one of a metal sphere is 9 pi a^2 (ka)^4 with the magnetic dipole m
// = -2 pi a^3 H0 added; here the electric part, 4 pi a^2 (ka)^4.
TEST(ScatteringCrossSection, OfAnInducedDipole) {
  const double f = 1e8, a = 0.01, k = 2 * pi * f / speed_of_light;
  const Complex incident{2.0, 1.0};
  const Complex il = i * 2.0 * pi * f * 4.0 * pi * vacuum_permittivity * a * a * a * incident;
  const auto box = box_patches({-0.05, -0.05, -0.05}, {0.05, 0.05, 0.05}, 0.0025);
  const std::vector<double> one{f};
  const auto fields = on_patches(box, one, [&](double, const Pos& r) {
    return dipole(f, {0, 0, 0}, {0, 0, il}, r);
  });
  const Tensor far = far_field(box, fields, one, std::vector<Direction>{{pi / 2, 0.0}});
  const double sigma = scattering_cross_section(far, full({1}, incident, Dtype::c128)).item();
  EXPECT_NEAR(sigma / (4 * pi * a * a * std::pow(k * a, 4)), 1, 0.01);
  // A dipole scatters |sin|^2, of which the mean is 2/3 of that at the equator.
  const double total =
      total_cross_section(flux(box, fields), full({1}, incident, Dtype::c128)).item();
  EXPECT_NEAR(total / (sigma * 2 / 3), 1, 0.01);
  const Tensor unit = full({1, 1, 2}, Complex(0, 2), Dtype::c128);
  EXPECT_NEAR(scattering_cross_section(unit, full({1}, 2.0, Dtype::c128), {.dimensions = 2}).item(),
              2 * pi * 8 / 4, 1e-12);
}

TEST(NearToFar, RefusesWhatDoesNotFit) {
  const auto box = box_patches({-1, -1, -1}, {1, 1, 1}, 1.0);
  const auto fields = on_patches(box, kFarHz, my_dipole);
  const std::vector<Direction> d{{1, 1}};
  const std::vector<Pos> on_face{points_of(box[2])[1]};
  EXPECT_THROW(near_field(box, fields, kFarHz, on_face), Error);
  EXPECT_THROW(far_field(box, fields, std::vector<double>{1e9}, d), Error);
  EXPECT_THROW(far_field(box, fields, std::vector<double>{1e9, -1e9}, d), Error);
  EXPECT_THROW(far_field(box, fields, kFarHz, d, {.dimensions = 2}), Error);
  EXPECT_THROW(far_field(box, fields, kFarHz, d, {.eps = -1}), Error);
  EXPECT_THROW(far_field(box, fields, kFarHz, d, {.mirrors = {{.axis = 2}, {.axis = 2}}}), Error);
  EXPECT_THROW(far_field(box, fields, kFarHz, std::vector<Direction>{}), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
