// SPDX-License-Identifier: Apache-2.0
// Simulated reflection and transmission of dispersive films against their transfer matrix: the
// terms, their update and the scheme that carries them agree with the permittivity that
// `permittivity` says.
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/media_library.h"
#include "tessera/electromagnetics/yee_scheme.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;

struct Spectrum {
  std::vector<double> reflected, transmitted;  // of the power, one number a frequency
};

/// A slab of index n - i k in vacuum, normal incidence (M. Born and E. Wolf, Principles of Optics,
/// section 1.6, for e^{+i w t}).
Spectrum transfer_matrix(const Medium& medium, double thickness, const std::vector<double>& f) {
  Spectrum out;
  for (double x : f) {
    const Complex n = refractive_index(medium, 0, x);
    const Complex phase = 2 * std::numbers::pi * x / speed_of_light * n * thickness;
    const Complex i(0, 1), s = std::sin(phase), c = std::cos(phase);
    const Complex denominator = 2.0 * c + i * (n + 1.0 / n) * s;
    out.reflected.push_back(std::norm(i * (1.0 / n - n) * s / denominator));
    out.transmitted.push_back(std::norm(2.0 / denominator));
  }
  return out;
}

/// The same on a Yee line along x with `cells` cells across the slab: a Gaussian pulse with
/// `centre` and `width` in Hz, with the slab and without it. Nodes on the faces carry half of the
/// slab.
Spectrum simulate(const Medium& medium, double thickness, const std::vector<double>& f, int cells,
                  int steps, double centre, double width) {
  const double h = thickness / cells;
  const int before = 120, after = 40, n = before + cells + after;
  YeeModel model{.grid = uniform_grid({n * h, 0, 0}, h), .dtype = Dtype::f64};
  model.faces[1] = model.faces[2] = {Boundary::periodic, Boundary::periodic};
  model.pml.cells = 30;
  model.dt_s = 0.5 * h / speed_of_light;
  model.active = {false, false, true, false, true, false};
  const auto edge = [](int i) { return Edge{Ez, i, 0, 0}; };
  model.injected = {edge(40)};
  model.recorded = {edge(60), edge(before + cells + 5)};

  const auto run = [&](bool slab) {
    model.material = [&](int component, int, int, MaterialRow& row) {
      if (!slab || component != Ez) return;
      DispersiveRun dispersive{.first = before};
      for (int i = before; i <= before + cells; ++i) {
        const double share = i == before || i == before + cells ? 0.5 : 1;
        row.inverse[static_cast<std::size_t>(i)] = 1 / (1 + share * (medium.eps[0] - 1));
        dispersive.weight.push_back(share);
      }
      for (const PoleResidue& p : medium.poles) {
        const PoleUpdate u = pole_update(p, model.dt_s);
        dispersive.alpha.push_back(u.alpha);
        dispersive.beta.push_back(u.beta);
      }
      row.dispersive = {dispersive};
    };
    const YeeScheme scheme(model);
    std::vector<double> state(static_cast<std::size_t>(scheme.state_size())), current, record;
    for (int k = 0; k < steps; ++k) {
      const double t = k * model.dt_s - 5 / (2 * std::numbers::pi * width);
      current.push_back(std::exp(-std::pow(2 * std::numbers::pi * width * t, 2) / 2) *
                        std::cos(2 * std::numbers::pi * centre * t));
    }
    record.resize(static_cast<std::size_t>(2 * steps));
    scheme.advance(state.data(), steps, current.data(), record.data(), nullptr, nullptr);
    return record;
  };
  const std::vector<double> vacuum = run(false), film = run(true);

  Spectrum out;
  for (double x : f) {
    Complex incident = 0, through = 0, back = 0, transmitted = 0;
    const Complex turn = std::polar(1.0, -2 * std::numbers::pi * x * model.dt_s);
    Complex phase = 1;
    for (std::size_t k = 0; k < static_cast<std::size_t>(steps); ++k, phase *= turn) {
      incident += phase * vacuum[2 * k];
      through += phase * vacuum[2 * k + 1];
      back += phase * (film[2 * k] - vacuum[2 * k]);
      transmitted += phase * film[2 * k + 1];
    }
    out.reflected.push_back(std::norm(back / incident));
    out.transmitted.push_back(std::norm(transmitted / through));
  }
  return out;
}

double largest_difference(const Spectrum& a, const Spectrum& b) {
  double worst = 0;
  for (std::size_t k = 0; k < a.reflected.size(); ++k)
    worst = std::max({worst, std::abs(a.reflected[k] - b.reflected[k]),
                      std::abs(a.transmitted[k] - b.transmitted[k])});
  return worst;
}

std::vector<double> spread(double low, double high, int n) {
  std::vector<double> f;
  for (int k = 0; k < n; ++k) f.push_back(low + (high - low) * k / (n - 1));
  return f;
}

/// Errors on the grid and on one twice as fine fall with the square of the cell.
void expect_second_order(const Medium& medium, double thickness, const std::vector<double>& f,
                         int cells, int steps, double largest_error) {
  const double centre = (f.front() + f.back()) / 2, width = (f.back() - f.front()) / 2;
  const Spectrum exact = transfer_matrix(medium, thickness, f);
  const double coarse =
      largest_difference(simulate(medium, thickness, f, cells, steps, centre, width), exact);
  const double fine = largest_difference(
      simulate(medium, thickness, f, 2 * cells, 2 * steps, centre, width), exact);
  EXPECT_LT(coarse, largest_error);
  EXPECT_GT(std::log2(coarse / fine), 1.8) << coarse << " " << fine;
}

constexpr double c = speed_of_light;  // with lengths in m a frequency of 1 c/m is c Hz

TEST(DispersiveFilm, TransferMatrixIsThatOfTheReference) {
  // {frequency, R, T} computed apart from this by a matrix program for e^{-i w t}.
  const Medium slab{.eps = {2, 2, 2}, .poles = lorentz(c, 0.02 * c, 0.5)};
  const Spectrum a = transfer_matrix(slab, 0.5, {0.5 * c, 0.98 * c, 1.06 * c, 1.5 * c});
  const double r[] = {0.071243, 0.336454, 0.728423, 0.005424};
  const double t[] = {0.920605, 0.005977, 0.000221, 0.959135};
  const Medium film{.poles = drude(2 * c, 0.01 * c)};
  const Spectrum b = transfer_matrix(film, 0.1, {0.5 * c, 1.0 * c, 1.5 * c});
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(a.reflected[k], r[k], 1e-6);
    EXPECT_NEAR(a.transmitted[k], t[k], 1e-6);
  }
  const double film_r[] = {0.896172, 0.689107, 0.463394}, film_t[] = {0.088620, 0.298386, 0.527151};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(b.reflected[k], film_r[k], 1e-6);
    EXPECT_NEAR(b.transmitted[k], film_t[k], 1e-6);
  }
}

TEST(DispersiveFilm, LorentzSlab) {
  const Medium slab{.eps = {2, 2, 2}, .poles = lorentz(c, 0.02 * c, 0.5)};
  // 200 cells per length, 150 periods: the line rings for 1/(pi 0.02) = 16 of them.
  expect_second_order(slab, 0.5, spread(0.5 * c, 1.5 * c, 51), 100, 60000, 0.005);
}

TEST(DispersiveFilm, DrudeFilm) {
  const Medium film{.poles = drude(2 * c, 0.01 * c)};
  expect_second_order(film, 0.1, spread(0.5 * c, 1.5 * c, 51), 20, 20000, 0.005);
}

TEST(DispersiveFilm, GoldLeaf) {
  // 40 nm of gold in the visible and near infrared, six oscillators in eleven terms.
  expect_second_order(find_medium("Au"), 40e-9, spread(c / 1.2e-6, c / 0.45e-6, 31), 40, 20000,
                      0.005);
}

}  // namespace
}  // namespace tessera::electromagnetics
