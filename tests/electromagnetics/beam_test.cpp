// SPDX-License-Identifier: Apache-2.0
//
// A Gaussian beam from a plane: waist and axis where they were asked for, and next to nothing
// backwards.
#include "tessera/electromagnetics/beam.h"

#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;

/// On one thread: threads that wait for each other cost more than these small grids.
class BeamTest : public ::testing::Test {
 protected:
  BeamTest() { set_num_threads(1); }
  ~BeamTest() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

/// |component| at the middle frequency, per unit of the waveform's spectrum.
std::vector<double> magnitudes(const YeeGrid& grid, const Beam& b, int component,
                               const std::vector<Point>& at) {
  const std::array<Faces, 3> faces{};
  const double dt = 0.95 * stable_time_step(grid);
  SampleList samples(grid, faces);
  for (const Point& p : at) samples.add(component, p);
  TimeDomain run(yee_model(grid, faces, {.cells = 6}, dt, Dtype::f64, {}, {Medium{}}),
                 {beam(grid, faces, dt, b)}, samples.edges());
  RunningDft dft({b.frequency_hz}, dt, samples.edges(), 2);
  run.advance(static_cast<std::int64_t>(run.sources_end_s() / dt) + 160,
              [&](const Records& r) { dft.add(r); });
  std::vector<double> out;
  for (const c128& v : dft.values(samples).to_vector<c128>())
    out.push_back(std::abs(v) / std::abs(spectrum(b.waveform, b.frequency_hz)));
  return out;
}

/// Radius at which the amplitude is 1/e, and centre, of a Gaussian with these values: by the
/// moments of the intensity, whose standard deviation is half of the radius.
struct Spot {
  double centre, radius, peak;
};
Spot spot(const std::vector<double>& s, const std::vector<double>& amplitude) {
  double sum = 0, first = 0, second = 0, peak = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const double w = amplitude[i] * amplitude[i];
    sum += w, first += w * s[i], second += w * s[i] * s[i];
    peak = std::max(peak, amplitude[i]);
  }
  const double centre = first / sum;
  return {centre, 2 * std::sqrt(second / sum - centre * centre), peak};
}

TEST_F(BeamTest, HasItsWaistAndAxisInTwoDimensions) {
  // Wavelength 15 cells, waist 2 wavelengths, the plane upright or flat, the beam at an angle to
  // it, the focus 70 cells ahead.
  const double frequency = speed_of_light / (15 * cell), waist = 30 * cell;
  for (const double degrees : {0.0, 20.0, 245.0}) {
    const double a = degrees * pi / 180;
    const bool flat = degrees > 200;
    const Point u{std::cos(a), std::sin(a), 0},
        start = flat ? cells(25, 50, 0) : cells(-50, -15, 0);
    const YeeGrid grid = uniform_grid({190 * cell, 190 * cell, 0}, cell);
    for (const Point& polarization : {Point{0, 0, 1}, Point{-u[1], u[0], 0}}) {
      const bool along_z = polarization[2] != 0;
      const Beam b{.axis = flat ? 1 : 0,
                   .position = start,
                   .direction = u,
                   .polarization = polarization,
                   .waist = waist,
                   .focus = 70 * cell,
                   .frequency_hz = frequency,
                   .amplitude = 2,
                   .waveform = gaussian_pulse(frequency, frequency)};
      std::vector<Point> at;
      std::vector<double> s;
      for (int i = -60; i <= 60; i += 2) {  // across the beam in its focus
        s.push_back(i * cell);
        at.push_back({start[0] + 70 * cell * u[0] - i * cell * u[1],
                      start[1] + 70 * cell * u[1] + i * cell * u[0], 0});
      }
      for (int i = -60; i <= 60; i += 2) {  // behind the plane
        Point p = start;
        p[flat ? 1 : 0] -= (flat ? -1 : 1) * 20 * cell;
        p[flat ? 0 : 1] += i * cell;
        at.push_back(p);
      }
      for (Point& p : at)
        for (int d = 0; d < 2; ++d)
          p[static_cast<std::size_t>(d)] =
              std::clamp(p[static_cast<std::size_t>(d)], -84 * cell, 84 * cell);
      const auto all = magnitudes(grid, b, along_z ? Ez : Hz, at);
      const auto half = all.begin() + static_cast<std::ptrdiff_t>(s.size());
      const Spot found = spot(s, {all.begin(), half});
      const double unit = along_z ? 1 : vacuum_impedance;
      EXPECT_NEAR(found.radius / waist, 1, 0.02) << degrees;
      EXPECT_NEAR(found.centre / cell, 0, 0.7) << degrees;  // half a degree in 70 cells
      EXPECT_NEAR(found.peak * unit / 2, 1, 0.02) << degrees;
      const double back = *std::max_element(half, all.end());
      EXPECT_LT(20 * std::log10(back / found.peak), -34)
          << degrees;  // d tan(tilt)/2 with d = 0.16, averaged over the beam
      RecordProperty(
          "back_db_" + std::to_string(static_cast<int>(degrees)) + (along_z ? "_ez" : "_hz"),
          std::to_string(20 * std::log10(back / found.peak)));
    }
  }
}

TEST_F(BeamTest, HasItsWaistAndGoesOneWayInThreeDimensions) {
  // Wavelength 10 cells, waist one wavelength, 15 degrees from -z in the plane of z and x.
  const double frequency = speed_of_light / (10 * cell), waist = 10 * cell, a = 15 * pi / 180;
  const YeeGrid grid = uniform_grid({46 * cell, 44 * cell, 40 * cell}, cell);
  const Beam b{.axis = 2,
               .position = cells(-2, 0, 5),
               .direction = {std::sin(a), 0, -std::cos(a)},
               .polarization = {0, 1, 0},
               .waist = waist,
               .focus = 10 * cell,
               .frequency_hz = frequency,
               .waveform = gaussian_pulse(frequency, frequency)};
  std::vector<Point> at;
  std::vector<double> s;
  for (int i = -14; i <= 14; ++i) {
    s.push_back(i * cell);
    at.push_back(cells(-2 + 10 * std::sin(a), i, 5 - 10 * std::cos(a)));
  }
  for (int i = -14; i <= 14; ++i) at.push_back(cells(i, 0, 9));
  const auto all = magnitudes(grid, b, Ey, at);
  const auto half = all.begin() + static_cast<std::ptrdiff_t>(s.size());
  const Spot found = spot(s, {all.begin(), half});
  EXPECT_NEAR(found.radius / waist, 1,
              0.05);  // (wavelength / (pi waist))^2 / 2: the formula's own order
  EXPECT_NEAR(found.peak, 1, 0.05);
  EXPECT_NEAR(found.centre / cell, 0, 0.05);
  EXPECT_LT(20 * std::log10(*std::max_element(half, all.end()) / found.peak), -30);
}

TEST_F(BeamTest, RefusesWhatItCannotDo) {
  const YeeGrid plane = uniform_grid({40 * cell, 40 * cell, 0}, cell),
                line = uniform_grid({40 * cell, 0, 0}, cell);
  const Beam good{.waist = 5 * cell, .frequency_hz = 3e9, .waveform = gaussian_pulse(3e9, 2e9)};
  EXPECT_NO_THROW(beam(plane, {}, 1e-12, good));
  EXPECT_THROW(beam(line, {}, 1e-12, good), Error);
  const auto refuses = [&](auto change) {
    Beam b = good;
    change(b);
    EXPECT_THROW(beam(plane, {}, 1e-12, b), Error);
  };
  refuses([](Beam& b) { b.direction = {0, 1, 0}; });
  refuses([](Beam& b) { b.direction = {1, 0, 1}; });
  refuses([](Beam& b) { b.position[0] = 1; });
  refuses([](Beam& b) { b.waist = 0; });
  refuses([](Beam& b) { b.polarization = {1, 0, 0}; });
  refuses([](Beam& b) { b.position[1] = 100; });
}

}  // namespace
}  // namespace tessera::electromagnetics
