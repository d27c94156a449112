// SPDX-License-Identifier: Apache-2.0
// The configuration of electromagnetics.fdtd as it is read: a whole case, a small one, one that is
// written again.
#include "fdtd_options_reading.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/media_library.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace tessera::apps::fdtd;
using namespace tessera::data;
using namespace tessera::testing;

namespace {

constexpr double c0 = tessera::electromagnetics::speed_of_light;
constexpr double degree = std::numbers::pi / 180;

}  // namespace

TEST(FdtdOptions, AWholeCaseIsRead) {
  const CaseOptions o = read_fdtd(whole_case());
  EXPECT_EQ(o.title, "A ring beside a waveguide");

  EXPECT_EQ(o.grid.size, (Point{1e-5, 8e-6, 0}));
  EXPECT_EQ(o.grid.cell, (Point{2.5e-8, 5e-8, 2.5e-8}));
  EXPECT_DOUBLE_EQ(o.grid.low(0), -4e-6);
  EXPECT_DOUBLE_EQ(o.grid.high(0), 6e-6);
  EXPECT_FALSE(o.grid.resolved(2));
  ASSERT_EQ(o.grid.x.refine.size(), 1u);
  EXPECT_EQ(o.grid.x.refine[0].cell, 5e-9);
  EXPECT_EQ(o.grid.max_ratio, 1.2);
  EXPECT_EQ(o.grid.background, "SiO2");
  EXPECT_EQ(o.grid.polarization, Polarization::Ez);
  EXPECT_EQ(o.grid.averaging, Averaging::volume);
  EXPECT_EQ(o.grid.conductors, ConductorChoice::staircase);

  EXPECT_EQ(o.run.precision, Precision::f64);
  EXPECT_EQ(o.run.courant, 0.9);
  EXPECT_FALSE(o.run.dt);
  EXPECT_EQ(o.run.stop.decay_db, 60);
  EXPECT_EQ(o.run.stop.time, 5e-12);
  EXPECT_EQ(o.run.stop.check_every, 2e-14);
  EXPECT_FALSE(o.run.stop.steps || o.run.stop.dft_tolerance);

  EXPECT_EQ(o.boundary.low(0), Face::pml);
  EXPECT_EQ(o.boundary.high(0), Face::pml);
  EXPECT_EQ(o.boundary.low(1), Face::pmc);
  EXPECT_EQ(o.boundary.high(1), Face::pec);
  EXPECT_EQ(o.boundary.pml.cells, 12);
  EXPECT_EQ(o.boundary.pml.order, 4);
  EXPECT_EQ(o.boundary.pml.kappa_max, 11);
  EXPECT_EQ(o.boundary.pml.sigma_factor, 1.5);
  EXPECT_EQ(o.boundary.pml.alpha_factor, 0.5);
  EXPECT_EQ(o.boundary.pml.medium_index, 1.45);

  ASSERT_EQ(o.materials.size(), 5u);
  EXPECT_EQ(o.materials[0].index, 3.4);
  const MaterialOptions& m = o.materials[1];
  EXPECT_EQ(m.eps, (Point{4, 4, 5}));
  EXPECT_EQ(m.sigma, (Point{10, 10, 10}));
  EXPECT_EQ(m.mu, (Point{1.5, 1.5, 1.5}));
  EXPECT_EQ(m.sigma_m, (Point{0, 1, 0}));
  EXPECT_EQ(m.chi2, 2e-12);
  EXPECT_EQ(m.chi3, 1e-20);
  ASSERT_EQ(m.poles.size(), 5u);
  EXPECT_EQ(m.poles[0].kind, "lorentz");
  EXPECT_DOUBLE_EQ(m.poles[0].values("frequency"), c0 / 500e-9);
  EXPECT_EQ(m.poles[0].values("damping"), 1e12);
  EXPECT_EQ(m.poles[0].values("delta_eps"), 0.3);
  EXPECT_EQ(m.poles[1].kind, "drude");
  // e/h = 241.798924... THz per eV (exact in the SI).
  EXPECT_NEAR(m.poles[1].values("frequency"), 241.79892420849183e12, 1);
  EXPECT_NEAR(m.poles[1].values("damping"), 24.179892420849183e12, 1);
  EXPECT_EQ(m.poles[1].values("strength"), 0.7);
  EXPECT_EQ(m.poles[2].kind, "debye");
  EXPECT_EQ(m.poles[2].values("delta_eps"), 70);
  EXPECT_EQ(m.poles[3].kind, "critical_point");
  EXPECT_EQ(m.poles[3].values("amplitude"), 1.1);
  EXPECT_DOUBLE_EQ(m.poles[3].values("phase"), -45 * degree);
  EXPECT_EQ(m.poles[4].kind, "residue");
  EXPECT_EQ(m.poles[4].values.at("pole"), (std::array<double, 2>{-1e14, 3e15}));
  EXPECT_EQ(m.poles[4].values.at("residue"), (std::array<double, 2>{0, -2e15}));
  EXPECT_EQ(o.materials[2].library, "Au");
  EXPECT_EQ(o.materials[3].index_file, std::filesystem::current_path() / "data/nk.csv");
  EXPECT_EQ(o.materials[3].fit.most_poles, 6);
  EXPECT_TRUE(o.materials[3].fit.conducting);
  EXPECT_EQ(o.materials[4].loss_tangent, 0.02);
  EXPECT_EQ(o.materials[4].loss_frequency, 2.4e9);
  EXPECT_EQ(o.materials[4].loss_band, (std::array<double, 2>{1e9, 1e10}));

  ASSERT_EQ(o.structures.size(), 9u);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(o.structures[0].size, (Point{inf, 4e-7, inf}));
  EXPECT_EQ(o.structures[0].centre, (Point{0, -1.5e-6, 0}));
  EXPECT_EQ(o.structures[1].shape, ShapeKind::cylinder);
  EXPECT_EQ(o.structures[1].radius, 1e-6);
  EXPECT_EQ(o.structures[1].inner_radius, 6e-7);
  EXPECT_EQ(o.structures[1].height, inf);
  EXPECT_EQ(o.structures[1].priority, 2);
  ASSERT_TRUE(o.structures[1].repeat);
  EXPECT_EQ(o.structures[1].repeat->count, (std::array<int, 3>{2, 1, 1}));
  EXPECT_EQ(o.structures[1].repeat->step, (Point{3e-6, 0, 0}));
  EXPECT_FALSE(o.structures[2].material);
  EXPECT_EQ(o.structures[2].high, (Point{1e-6, 1e-6, 1e-6}));
  EXPECT_EQ(o.structures[3].corners,
            (std::vector<std::array<double, 2>>{{0, 0}, {1e-6, 0}, {0, 1e-6}}));
  EXPECT_EQ(o.structures[3].base, -1.1e-7);
  EXPECT_DOUBLE_EQ(o.structures[3].sidewall, 10 * degree);
  EXPECT_EQ(o.structures[4].shape, ShapeKind::difference);
  EXPECT_EQ(o.structures[4].parts, (std::vector<std::string>{"plate", "wedge"}));
  ASSERT_TRUE(o.structures[4].rotate);
  EXPECT_EQ(o.structures[4].rotate->axis, (Point{0, 0, 1}));
  EXPECT_DOUBLE_EQ(o.structures[4].rotate->angle, 30 * degree);
  EXPECT_EQ(o.structures[5].axis, Axis::x);
  EXPECT_EQ(o.structures[5].radius_high, 1e-6);
  EXPECT_EQ(o.structures[6].semi_axes, (Point{1e-6, 2e-6, 3e-6}));
  EXPECT_EQ(o.structures[7].radius, 1e-7);
  EXPECT_EQ(o.structures[8].outward, (Point{0, 1, 0}));

  ASSERT_EQ(o.sources.size(), 5u);
  EXPECT_EQ(o.sources[0].component, Component::Ez);
  EXPECT_EQ(o.sources[0].position, (Point{0, 0, 0}));
  EXPECT_EQ(o.sources[0].amplitude, 2.5);
  EXPECT_DOUBLE_EQ(*o.sources[0].waveform.frequency, c0 / 1.55e-6);
  EXPECT_EQ(o.sources[0].waveform.bandwidth, 4e13);
  EXPECT_EQ(o.sources[0].waveform.delay, 6e-14);
  EXPECT_EQ(o.sources[0].waveform.phase, -90 * degree);
  EXPECT_EQ(o.sources[1].kind, SourceKind::line);
  EXPECT_EQ(o.sources[1].component, Component::Hx);
  EXPECT_EQ(o.sources[1].size, (Point{2e-6, 0, 0}));
  EXPECT_EQ(o.sources[1].waveform.kind, WaveformKind::ricker);
  EXPECT_EQ(o.sources[2].kind, SourceKind::plane_wave);
  EXPECT_EQ(o.sources[2].position, (Point{1e-6, 0, 0})) << "the middle of the domain";
  EXPECT_FALSE(o.sources[2].size);
  EXPECT_EQ(o.sources[2].direction, (Point{1, 1, 0}));
  EXPECT_EQ(o.sources[2].waveform.kind, WaveformKind::gaussian);
  EXPECT_DOUBLE_EQ(*o.sources[2].waveform.frequency_min, c0 / 1.6e-6);
  EXPECT_EQ(o.sources[2].waveform.phase, 0);
  EXPECT_EQ(o.sources[3].waist, 1e-6);
  EXPECT_EQ(o.sources[3].focus, 2e-6);
  EXPECT_EQ(o.sources[3].waveform.ramp, 1e-14);
  EXPECT_EQ(o.sources[4].waveform.order, 2);
  EXPECT_EQ(o.sources[4].waveform.width, 3e-15);

  ASSERT_EQ(o.monitors.size(), 12u);
  EXPECT_EQ(o.monitors[0].components, (std::vector<Component>{Component::Ez, Component::Hx}));
  const std::vector<double> band = o.monitors[1].all_frequencies();
  ASSERT_EQ(band.size(), 11u);
  EXPECT_EQ(band.front(), 190e12);
  EXPECT_EQ(band[3], 193e12);
  EXPECT_EQ(band.back(), 200e12);
  EXPECT_EQ(o.monitors[2].all_frequencies(), (std::vector<double>{c0 / 1.55e-6, 193e12}));
  EXPECT_EQ(o.monitors[2].relative_to, "base");
  EXPECT_EQ(o.monitors[2].subtract, std::filesystem::current_path() / "straight.run");
  EXPECT_TRUE(o.monitors[2].reverse);
  EXPECT_EQ(o.monitors[3].position, (Point{1e-6, 0, 0}));
  EXPECT_EQ(o.monitors[3].size, (Point{4e-6, 4e-6, 0}));
  EXPECT_DOUBLE_EQ(o.monitors[4].phi.at(1), 90 * degree);
  ASSERT_EQ(o.monitors[4].mirrors.size(), 1u);
  EXPECT_EQ(o.monitors[4].mirrors[0].axis, Axis::y);
  EXPECT_EQ(o.monitors[4].mirrors[0].position, -3e-6);
  EXPECT_EQ(o.monitors[5].source, "sun");
  EXPECT_EQ(o.monitors[7].orders, (std::vector<std::array<int, 2>>{{-1, 0}, {0, 0}}));
  EXPECT_EQ(o.monitors[8].min_quality, 20);
  EXPECT_EQ(o.monitors[10].every, 1e-14);
  EXPECT_EQ(o.monitors[10].start, 5e-14);
  EXPECT_FALSE(o.output.vtk);
  EXPECT_TRUE(o.output.pictures);
  ASSERT_EQ(o.expectations.size(), 1u);
  EXPECT_EQ(o.expectations[0].value, 0.5036);
  EXPECT_EQ(o.expectations[0].tolerance, 0.01);
}

TEST(FdtdOptions, AResolvedCaseIsTheSameCase) {
  const std::string resolved =
      fdtd_options().resolved_toml(parse_config("a.toml", kHead + whole_case()));
  const Config again = parse_config("resolved.toml", resolved);
  EXPECT_NO_THROW(read_options(again)) << resolved;
  EXPECT_EQ(fdtd_options().resolved_toml(again), resolved);
}

TEST(FdtdOptions, ASmallCaseIsSmall) {
  const CaseOptions o = read_fdtd(
      "grid = {size = [\"1 cm\", \"1 cm\", \"1 cm\"], cell = \"1 mm\"}\nrun.stop.steps = 100\n"
      "source = [{kind = \"point\", component = \"Ez\", position = [\"0 mm\", \"0 mm\", \"0 mm\"], "
      "waveform = {kind = \"ricker\", frequency = \"5 GHz\"}}]\n");
  EXPECT_EQ(o.grid.background, "vacuum");
  EXPECT_EQ(o.boundary.low(2), Face::pml);
  EXPECT_EQ(o.boundary.pml.cells, 10);
  EXPECT_EQ(o.run.courant, 0.95);
  EXPECT_EQ(o.run.precision, Precision::f32);
}

TEST(FdtdOptions, LinesGiveTheSizeOfTheirAxis) {
  const std::string rest =
      "run.stop.steps = 1\nsource = [{kind = \"point\", component = \"Ez\", position = [\"1 um\", "
      "\"0 um\", \"0 um\"], waveform = {kind = \"ricker\", frequency = \"5 THz\"}}]\n";
  const CaseOptions o = read_fdtd(rest + "[grid]\nx.lines = [\"0 um\", \"1 um\", \"3 um\"]\n");
  EXPECT_EQ(o.grid.low(0), 0);
  EXPECT_EQ(o.grid.high(0), 3e-6);
  EXPECT_TRUE(o.grid.resolved(0) && !o.grid.resolved(1));
}

TEST(FdtdOptions, EveryMediumOfTheLibraryMayBeNamed) {
  for (const std::string& name : tessera::electromagnetics::list_media())
    EXPECT_NO_THROW(read_fdtd(whole_case(), {"structure[0].material=" + name}));
}
