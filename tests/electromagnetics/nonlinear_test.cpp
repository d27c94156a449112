// SPDX-License-Identifier: Apache-2.0
//
// Nonlinear media with conductivity and poles: against a naive loop that solves for the new field
// by bisection, against the growth of a third harmonic in an absorbing medium, by the energy that
// is left, by mirrors, and by the step that small waves on a strong field stand.
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/flux.h"
#include "tessera/electromagnetics/time_domain.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>
#include <vector>

namespace tessera::electromagnetics {
namespace {

constexpr std::array<int, 3> n{4, 5, 6};
constexpr int cell_count = n[0] * n[1] * n[2];

YeeGrid uneven_grid() {
  YeeGrid grid;
  for (int d = 0; d < 3; ++d) {
    grid.lines[d] = {0};
    for (int i = 0; i < n[d]; ++i)
      grid.lines[d].push_back(grid.lines[d].back() + 1e-3 * (1 + 0.2 * std::sin(1.7 * i + d)));
  }
  return grid;
}
Medium lossy_kerr() {
  Medium m{.name = "kerr",
           .eps = {2, 2.5, 1.7},
           .sigma = {0.3, 0.2, 0.4},
           .poles = lorentz(40e9, 6e9, 0.7),
           .chi2 = 0.1,
           .chi3 = 0.3};
  for (const PoleResidue& p : debye(15e9, 0.5)) m.poles.push_back(p);
  return m;
}

/// Yee's scheme between joined faces, field by field in V/m: edges with i >= 1, j <= 2 lie in
/// `medium`, others in vacuum. H is Z0 H.
struct Naive {
  YeeGrid grid;
  Medium medium;
  double dt;
  std::array<std::vector<double>, 3> e, h, d, known;
  std::array<std::vector<std::vector<std::complex<double>>>, 3> q;

  Naive(YeeGrid g, Medium m, double dt_s) : grid(std::move(g)), medium(std::move(m)), dt(dt_s) {
    for (int c = 0; c < 3; ++c) {
      e[c] = h[c] = d[c] = known[c] = std::vector<double>(cell_count, 0.0);
      q[c].assign(medium.poles.size(), std::vector<std::complex<double>>(cell_count, 0.0));
    }
  }
  static int at(const std::array<int, 3>& i) { return (i[2] * n[1] + i[1]) * n[0] + i[0]; }
  static std::array<int, 3> moved(std::array<int, 3> i, int axis, int by) {
    i[axis] = (i[axis] + by + n[axis]) % n[axis];
    return i;
  }
  static bool filled(const std::array<int, 3>& i) { return i[0] >= 1 && i[1] <= 2; }
  static void each(const std::function<void(int, std::array<int, 3>)>& body) {
    for (int c = 0; c < 3; ++c)
      for (int k = 0; k < n[2]; ++k)
        for (int j = 0; j < n[1]; ++j)
          for (int i = 0; i < n[0]; ++i) body(c, {i, j, k});
  }

  /// P/eps0 after the step, with the new field x.
  double polarization(int c, int p, double x) const {
    double sum = 0;
    for (std::size_t m = 0; m < medium.poles.size(); ++m) {
      const PoleUpdate u = pole_update(medium.poles[m], dt);
      sum += (is_real(medium.poles[m]) ? 1 : 2) *
             (u.alpha * q[c][m][p] + u.beta * (x + e[c][p])).real();
    }
    return sum;
  }
  double polarization_now(int c, int p) const {
    double sum = 0;
    for (std::size_t m = 0; m < medium.poles.size(); ++m)
      sum += (is_real(medium.poles[m]) ? 1 : 2) * q[c][m][p].real();
    return sum;
  }
  /// D' + P' + conduction for the new field x, |E|^2 across being `across`; `chi` 0: the linear
  /// part.
  double left_side(int c, int p, double x, double across, double chi) const {
    const double r = medium.sigma[c] * dt / (2 * vacuum_permittivity);
    return medium.eps[c] * x + chi * (medium.chi2 * x * x + medium.chi3 * (x * x + across) * x) +
           polarization(c, p, x) + r * (x + e[c][p]);
  }
  double linear_solution(int c, const std::array<int, 3>& i) const {
    const int p = at(i);
    if (!filled(i)) return known[c][p];
    const double at0 = left_side(c, p, 0, 0, 0), at1 = left_side(c, p, 1, 0, 0);
    return (known[c][p] - at0) / (at1 - at0);
  }

  void step(int component, const std::array<int, 3>& source, double w) {
    const auto length = [&](int axis, int i) { return grid.length(axis, (i + n[axis]) % n[axis]); };
    const auto dual = [&](int axis, int i) { return (length(axis, i) + length(axis, i - 1)) / 2; };
    each([&](int c, std::array<int, 3> i) {
      const int a = (c + 1) % 3, b = (c + 2) % 3;
      h[c][at(i)] -= speed_of_light * dt *
                     ((e[b][at(moved(i, a, 1))] - e[b][at(i)]) / length(a, i[a]) -
                      (e[a][at(moved(i, b, 1))] - e[a][at(i)]) / length(b, i[b]));
    });
    each([&](int c, std::array<int, 3> i) {
      const int a = (c + 1) % 3, b = (c + 2) % 3, p = at(i);
      double curl = (h[b][p] - h[b][at(moved(i, a, -1))]) / dual(a, i[a]) -
                    (h[a][p] - h[a][at(moved(i, b, -1))]) / dual(b, i[b]);
      if (c == component && i == source) curl += w / (dual(a, i[a]) * dual(b, i[b]));
      known[c][p] = d[c][p] + (filled(i) ? polarization_now(c, p) : 0) + speed_of_light * dt * curl;
    });
    std::array<std::vector<double>, 3> next = e;
    each([&](int c, std::array<int, 3> i) {
      const int p = at(i);
      if (!filled(i)) {
        next[c][p] = d[c][p] = known[c][p];
        return;
      }
      double across = 0;
      for (const int b : {(c + 1) % 3, (c + 2) % 3}) {
        double mean = 0;
        for (const int along : {0, 1})
          for (const int back : {0, -1})
            mean += linear_solution(b, moved(moved(i, c, along), b, back)) / 4;
        across += mean * mean;
      }
      double low = -10, high = 10;
      for (int s = 0; s < 100; ++s) {
        const double middle = (low + high) / 2;
        (left_side(c, p, middle, across, 1) < known[c][p] ? low : high) = middle;
      }
      const double x = next[c][p] = (low + high) / 2;
      d[c][p] = known[c][p] - polarization(c, p, x) -
                medium.sigma[c] * dt / (2 * vacuum_permittivity) * (x + e[c][p]);
    });
    each([&](int c, std::array<int, 3> i) {
      const int p = at(i);
      if (filled(i))
        for (std::size_t m = 0; m < medium.poles.size(); ++m) {
          const PoleUpdate u = pole_update(medium.poles[m], dt);
          q[c][m][p] = u.alpha * q[c][m][p] + u.beta * (next[c][p] + e[c][p]);
        }
    });
    e = next;
  }
};

TEST(Nonlinear, LossAndPolesAgreeWithANaiveLoop) {
  const YeeGrid grid = uneven_grid();
  const Medium medium = lossy_kerr();
  const double dt = 0.9 * stable_time_step(grid);
  YeeModel m{.grid = grid, .faces = {joined, joined, joined}, .dt_s = dt, .dtype = Dtype::f64};
  m.material = [&](int c, int j, int, MaterialRow& row) {
    if (!is_electric(c) || j > 2) return;
    DispersiveRun run{.first = 1, .weight = {1, 1, 1}};
    for (const PoleResidue& p : medium.poles) {
      run.alpha.push_back(pole_update(p, dt).alpha);
      run.beta.push_back(pole_update(p, dt).beta);
    }
    row.dispersive = {run};
    row.nonlinear = {{.first = 1,
                      .chi2 = std::vector<double>(3, medium.chi2),
                      .chi3 = std::vector<double>(3, medium.chi3)}};
    for (int i = 1; i < 4; ++i) {
      row.inverse[static_cast<std::size_t>(i)] = 1 / medium.eps[static_cast<std::size_t>(c)];
      row.loss[static_cast<std::size_t>(i)] =
          medium.sigma[static_cast<std::size_t>(c)] * dt / (2 * vacuum_permittivity);
    }
  };
  m.injected = {{Ey, 2, 1, 3}};
  Naive::each([&](int c, std::array<int, 3> i) {
    m.recorded.push_back({static_cast<std::uint8_t>(c), i[0], i[1], i[2]});
  });
  const YeeScheme scheme(m);
  const std::int64_t steps = 300;
  const std::size_t edges = m.recorded.size();
  std::vector<double> state(static_cast<std::size_t>(scheme.state_size())), current,
      records(steps * edges);
  for (std::int64_t s = 0; s < steps; ++s)
    current.push_back(4 * std::exp(-std::pow((static_cast<double>(s) - 40) / 12, 2)) *
                      std::cos(0.4 * static_cast<double>(s)));
  scheme.advance(state.data(), steps, current.data(), records.data(), nullptr, nullptr);

  Naive naive(grid, medium, dt);
  double largest = 0, off = 0;
  for (std::int64_t s = 0; s < steps; ++s) {
    naive.step(Ey, {2, 1, 3}, current[static_cast<std::size_t>(s)] * scheme.reference_length());
    std::size_t r = static_cast<std::size_t>(s) * edges;
    Naive::each([&](int c, std::array<int, 3> i) {
      const double want = naive.e[c][Naive::at(i)],
                   got = records[r] / scheme.field_scale(m.recorded[r % edges]);
      largest = std::max(largest, std::abs(want));
      off = std::max(off, std::abs(got - want));
      ++r;
    });
  }
  EXPECT_GT(largest, 0.5);  // chi3 E^2 of a tenth and more
  EXPECT_LT(off, 1e-12 * largest) << largest;
}

TEST(Nonlinear, FacesJoinedWithAPhaseAreRefused) {
  const YeeGrid grid = uneven_grid();
  YeeModel m = yee_model(grid, {joined, joined, joined}, {}, 0.9 * stable_time_step(grid),
                         Dtype::f64, {}, {lossy_kerr()});
  m.bloch_phase = {0.3, 0, 0};
  EXPECT_THROW(YeeScheme{m}, Error);
}

TEST(Nonlinear, TwoNonlinearMediaShareAnEdge) {
  // In a plane between two of them the permittivities and susceptibilities are means: as in a
  // medium with those.
  const YeeGrid grid = uniform_grid({40e-3, 0, 0}, 1e-3);
  const double dt = 0.5 * stable_time_step(grid);
  const auto run = [&](const std::vector<Medium>& media, const Scene& scene) {
    YeeModel m = yee_model(grid, {pec, pec, pec}, {}, dt, Dtype::f64, scene, media);
    MaterialRow row{std::vector<double>(41, 1.0), std::vector<double>(41, 0.0), {}, {}};
    m.material(Ez, 0, 0, row);
    return row.nonlinear;
  };
  std::vector<Medium> media(2);
  media[0].chi3 = 0.1, media[1].chi3 = 0.5, media[1].chi2 = 0.2;
  Scene scene;
  scene.structures = {{box({0, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}), 1}};
  const auto runs = run(media, scene);
  ASSERT_EQ(runs.size(), 1u);
  ASSERT_EQ(runs[0].chi3.size(), 41u);
  EXPECT_NEAR(runs[0].chi3[20], 0.3, 1e-12);
  EXPECT_NEAR(runs[0].chi2[20], 0.1, 1e-12);
  EXPECT_EQ(runs[0].chi3[19], 0.1);
  EXPECT_EQ(runs[0].chi3[21], 0.5);
}

TEST(Nonlinear, ThirdHarmonicGrowsAgainstTheLoss) {
  // dE1/dz = -a E1, dE3/dz = -a E3 + g E1^3, a = sigma Z0/2: beside the lossless medium |E3| is
  // down by e^{-a L} (1 - e^{-2 a L})/(2 a L), for sigma/(w eps0) small. 60 cells in the wavelength
  // of the third harmonic; a L = 1.
  const double c = speed_of_light, f0 = c / 3, length = 20;
  const YeeGrid grid = uniform_grid({30, 0, 0}, 1.0 / 60);
  const std::array<Faces, 3> faces{};
  const std::array<bool, 6> active{false, false, true, false, true, false};
  const double dt = 0.9 * stable_time_step(grid);
  SampleList samples(grid, faces, active);
  samples.add(Ez, {-10 + length, 0, 0});
  const Waveform pulse = gaussian_pulse(f0, f0 / 8);
  const auto third = [&](double sigma) {
    std::vector<Medium> media(2);
    media[1].chi3 = 1e-3;
    media[1].sigma = {sigma, sigma, sigma};
    Scene scene;
    scene.structures = {{box({-10, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}), 1}};
    YeeModel model = yee_model(grid, faces, {.cells = 20}, dt, Dtype::f64, scene, media);
    model.active = active;
    TimeDomain run(std::move(model),
                   {current_source(grid, faces, dt, Ez, {-12, 0, 0}, {-12, 0, 0},
                                   2 / vacuum_impedance, pulse)},
                   samples.edges());
    RunningDft dft({3 * f0}, dt, samples.edges());
    run.advance(static_cast<std::int64_t>((pulse.end_s + 26 / c) / dt),
                [&](const Records& r) { dft.add(r); });
    const std::vector<std::complex<double>> x = dft.at(0);
    return std::abs(samples.value(0, x.data()));
  };
  const double a = 1 / length, ratio = third(2 * a / vacuum_impedance) / third(0);
  EXPECT_NEAR(ratio, std::exp(-1.0) * (1 - std::exp(-2.0)) / 2, 0.01 * ratio);
}

TEST(Nonlinear, EnergyIsLostAndStaysLost) {
  // A box of conductors, half of it filled: what rings in it after the source only falls.
  const YeeGrid grid = uniform_grid({12e-3, 10e-3, 8e-3}, 1e-3);
  const std::array<Faces, 3> faces{pec, pec, pec};
  std::vector<Medium> media(2);
  media[1] = lossy_kerr();
  Scene scene;
  scene.structures = {{sphere({}, 4.3e-3), 1}};
  for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
    const double dt = 0.95 * stable_time_step(grid);
    TimeDomain run(yee_model(grid, faces, {}, dt, dtype, scene, media),
                   {current_source(grid, faces, dt, Ey, {4e-3, 3e-3, 1e-3}, {4e-3, 3e-3, 1e-3},
                                   3e-7, gaussian_pulse(25e9, 20e9))},
                   {});
    run.advance(static_cast<std::int64_t>(run.sources_end_s() / dt) + 1);
    EXPECT_GT(run.peak().value, 0.5);
    double before = run.energy_j();
    for (int block = 0; block < 6; ++block) {
      run.advance(400);
      EXPECT_LT(run.energy_j(), 0.9 * before) << block;
      before = run.energy_j();
    }
  }
}

/// The largest field of a run within some steps, looked at each 20.
double peak_within(TimeDomain run, int steps) {
  double peak = 0;
  for (int n = 0; n < steps; n += 20) run.advance(20), peak = std::max(peak, run.peak().value);
  return peak;
}

TEST(Nonlinear, AWireOnLinesIsMetal) {
  // As a thin body of metal around the same edges.
  const YeeGrid grid = uniform_grid({8e-3, 8e-3, 8e-3}, 1e-3);
  const std::array<Faces, 3> faces{pec, pec, pec};
  std::vector<Medium> media(2);
  media[0].eps = {2.25, 2.25, 2.25}, media[0].chi2 = 0.1, media[0].chi3 = 0.3;
  media[1].pec = true;
  CutCellFractions wire;
  for (int i = 2; i < 6; ++i) wire.fractions.push_back({{Ex, i, 4, 4}, 0});
  Scene body;
  body.structures = {{box({-2e-3, -0.1e-3, -0.1e-3}, {2e-3, 0.1e-3, 0.1e-3}), 1}};
  const double dt = 0.9 * stable_time_step(grid);
  const auto run = [&](const Scene& scene, const CutCellFractions& open) {
    TimeDomain out(yee_model(grid, faces, {}, dt, Dtype::f64, scene, media, Averaging::none, open),
                   {current_source(grid, faces, dt, Ex, {0.5e-3, 2e-3, 1e-3}, {0.5e-3, 2e-3, 1e-3},
                                   3e-7, gaussian_pulse(25e9, 20e9))},
                   {});
    out.advance(200);
    return out;
  };
  const TimeDomain wired = run({}, wire), filled = run(body, {});
  const double peak = filled.peak().value;
  EXPECT_GT(peak, 0);
  for (std::uint8_t c = Ex; c <= Ez; ++c)
    for (int k = 0; k < 8; ++k)
      for (int j = 0; j < 8; ++j)
        for (int i = 0; i < 8; ++i)
          ASSERT_NEAR(wired.unknown({c, i, j, k}), filled.unknown({c, i, j, k}), 1e-12 * peak);
  EXPECT_EQ(wired.unknown({Ex, 3, 4, 4}), 0);
}

TEST(Nonlinear, HalfOfAMagneticMirrorIsTheWhole) {
  // On the mirror E across it is odd: nothing of |E|^2 there.
  const double h = 1e-3, dt = 0.6 * h / speed_of_light;
  const auto run = [&](bool half, double chi3) {
    const YeeGrid grid = half ? uniform_grid({16 * h, 6 * h, 0}, h, {0, 3 * h, 0})
                              : uniform_grid({16 * h, 12 * h, 0}, h);
    std::array<Faces, 3> faces{pec, pec, joined};
    if (half) faces[1].low = Boundary::pmc;
    Medium kerr{.eps = {2, 2, 2}};
    kerr.chi3 = chi3;
    YeeModel model = yee_model(grid, faces, {}, dt, Dtype::f64, {}, {kerr});
    model.active = {true, true, false, false, false, true};
    std::vector<Injection> sources;
    for (const double y : {2 * h, -2 * h})
      if (y > 0 || !half)
        sources.push_back(current_source(grid, faces, dt, Ex, {1.5 * h, y, 0}, {1.5 * h, y, 0}, 1,
                                         gaussian_pulse(25e9, 20e9)));
    return TimeDomain(std::move(model), std::move(sources), {});
  };
  const double chi3 = 0.1 / std::pow(peak_within(run(false, 0), 300), 2);
  TimeDomain whole = run(false, chi3), half = run(true, chi3);
  whole.advance(300), half.advance(300);
  const double peak = whole.peak().value;
  for (std::uint8_t c = Ex; c <= Ey; ++c)
    for (int j = 0; j < 6; ++j)
      for (int i = 0; i < 16; ++i)
        ASSERT_NEAR(half.unknown({c, i, j, 0}), whole.unknown({c, i, j + 6, 0}), 1e-10 * peak)
            << name_of(c) << ' ' << i << ' ' << j;
}

TEST(Nonlinear, ShortWavesOnAStrongFieldGrowWhereTheStepIsTooLong) {
  // Beside a field E0 small waves see dD/dE = eps + 3 chi3 E0^2, and the shortest has the largest
  // curl curl, 4/h^2: stable for (c dt)^2 < h^2 dD/dE. Here (c dt)^2 is 0.95^2 eps h^2.
  const double eps = 2.25, chi3 = -0.1, share = 0.95;
  const int edges = 20, steps = 600;
  const YeeGrid grid = uniform_grid({edges * 1e-3, 0, 0}, 1e-3);
  const double dt = share * std::sqrt(eps) * 1e-3 / speed_of_light,
               limit = std::sqrt(eps * (1 - share * share) / (-3 * chi3));
  const auto fields = [&](double chi, double current) {  // V/m, after the first step and the last
    Medium m{.eps = {eps, eps, eps}};
    m.chi3 = chi;
    YeeModel model = yee_model(grid, {joined, joined, joined}, {}, dt, Dtype::f64, {}, {m});
    model.active = {false, false, true, false, true, false};
    for (int i = 0; i < edges; ++i) model.injected.push_back({Ez, i, 0, 0});
    model.recorded = model.injected;
    const YeeScheme scheme(model);
    std::vector<double> state(static_cast<std::size_t>(scheme.state_size())),
        currents(static_cast<std::size_t>(edges * steps)), records(currents.size());
    std::fill(currents.begin(), currents.begin() + edges, current);
    currents[7] *= 1 + 1e-6;
    scheme.advance(state.data(), steps, currents.data(), records.data(), nullptr, nullptr);
    const double unit = scheme.field_scale({Ez, 0, 0, 0});
    for (double& e : records) e /= unit;
    return std::pair{records.front(), std::vector<double>(records.end() - edges, records.end())};
  };
  const double d_of_current = eps * fields(0, 1).first;  // every edge has it, and no curl
  const auto is_calm = [&](double e0) {
    const auto [first, last] = fields(chi3, (eps * e0 + chi3 * std::pow(e0, 3)) / d_of_current);
    EXPECT_NEAR(first, e0, 1e-6 * e0);
    return std::all_of(last.begin(), last.end(),
                       [&](double e) { return std::abs(e - e0) < 1e-4 * e0; });
  };
  EXPECT_TRUE(is_calm(0.97 * limit));
  EXPECT_FALSE(is_calm(1.03 * limit));
}

}  // namespace
}  // namespace tessera::electromagnetics
