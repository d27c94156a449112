// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/figures.h"

#include "tessera/autodiff/error.h"
#include "tessera/inversion/chain_figure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::inversion {
namespace {

using namespace data;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool has(const std::string& svg, const std::string& text) {
  return svg.find(">" + text + "<") != std::string::npos;
}

template <class S>
std::vector<const S*> series(const Figure& f) {
  std::vector<const S*> out;
  for (const Panel& p : f.panels)
    for (const Series& s : p.series)
      if (const auto* found = std::get_if<S>(&s)) out.push_back(found);
  return out;
}

SoundingFigure sounding() {
  SoundingFigure s{.station = "gv_113"};
  const std::vector<double> t = {0.01, 0.1, 1, 10, 100};
  s.observed = {{.name = "det",
                 .period = t,
                 .rho_a = {80, 40, 8, 15, 22},
                 .rho_a_error = {8, 4, 1, 2, 30},
                 .phase = {50, 60, 55, 30, 44},
                 .phase_error = {3, 3, 3, 3, 40}},
                {.name = "yx",
                 .period = t,
                 .rho_a = {90, 45, kNan, 18, 25},
                 .phase = {50, 60, kNan, 30, 44},
                 .inverted = false}};
  s.predicted = {{.period = t, .rho_a = {82, 38, 9, 14, 21}, .phase = {51, 59, 54, 31, 45}}};
  s.model = LayeredModel{.name = "model", .top = {0, 300, 2000}, .resistivity = {80, 6, 100}};
  s.low90 = {60, 4, 30}, s.high90 = {100, 9, 300}, s.low50 = {70, 5, 60}, s.high50 = {90, 7, 170};
  s.reference = {{.name = "true model", .top = {0, 250}, .resistivity = {75, 7}}};
  s.bostick_depth = {150, 500, 3000}, s.bostick_resistivity = {70, 10, 40};
  s.depth_of_investigation = 9000;
  s.residual = {{"real", t, {0.5, -1, 2, 0, 1}}, {"imaginary", t, {1, 1, -1, 0.3, kNan}}};
  s.rms = 1.0234, s.rms_bound = 0.934, s.iterations = 1, s.note = "Occam";
  return s;
}

TEST(SoundingFigure, ShowsWhatItWasGiven) {
  const std::string svg = render(sounding_figure(sounding()), "svg");
  for (const char* text :
       {"Station gv_113", "Period (s)", "Apparent resistivity (Ω m)", "Phase (°)", "Residual / σ",
        "Depth (km)", "Resistivity (Ω m)", "observed det", "observed yx", "predicted", "model",
        "true model", "90 % band", "50 % band", "Bostick", "depth of investigation"})
    EXPECT_TRUE(has(svg, text)) << text;
  EXPECT_NE(svg.find("RMS 1.02   ·   D"), std::string::npos);
  EXPECT_NE(svg.find("bound 0.934   ·   1 iteration   ·   Occam"), std::string::npos);
}

TEST(SoundingFigure, DepthsAreInKilometresAndTheLastLayerHasNoEnd) {
  const Figure f = sounding_figure(sounding());
  const auto steps = series<Steps>(f);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1]->edge,
            (std::vector<double>{0, 0.3, 2, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(steps[1]->value, (std::vector<double>{80, 6, 100}));
  SoundingFigure shallow = sounding();
  shallow.depth_of_investigation = 500;
  EXPECT_EQ(series<Steps>(sounding_figure(shallow))[1]->edge[1], 300);
}

TEST(SoundingFigure, PhaseAxisIsAQuadrantUnlessPhasesLeaveIt) {
  const Figure f = sounding_figure(sounding());
  EXPECT_EQ(f.panels[1].y.min, 0);
  EXPECT_EQ(f.panels[1].y.max, 90);
  SoundingFigure s = sounding();
  s.observed[0].phase[2] = -130;
  EXPECT_EQ(sounding_figure(s).panels[1].y.min, -135);
}

TEST(SoundingFigure, DrawsWithNothingButAName) {
  const std::string svg = render(sounding_figure({.station = "empty"}), "svg");
  EXPECT_TRUE(has(svg, "Station empty"));
  SoundingFigure s = sounding();
  for (auto* v : {&s.observed[0].rho_a, &s.observed[0].phase, &s.predicted[0].rho_a,
                  &s.model->resistivity, &s.residual[0].value})
    std::fill(v->begin(), v->end(), kNan);
  EXPECT_NO_THROW(render(sounding_figure(s), "png"));
}

ProfileData profile(bool fitted) {
  ProfileData p{.title = "Line 1",
                .mode = "det",
                .station = {"a", "b", "c"},
                .distance = {0, 1000, 3000},
                .period = {0.1, 1}};
  p.rho_a = {1, 2, 3, 4, 5, 6};
  p.phase = {10, 20, 30, 40, kNan, 60};
  if (fitted) p.predicted_rho_a = {2, 2, 2, 2, 2, 2}, p.predicted_phase = {0, 0, 0, 0, 0, 0};
  return p;
}

TEST(PseudoSection, PutsEveryValueIntoItsCell) {
  const Figure f = pseudo_section(profile(false));
  ASSERT_EQ(f.panels.size(), 2u);
  const auto maps = series<HeatMap>(f);
  ASSERT_EQ(maps.size(), 6u) << "two quantities, three stations";
  EXPECT_EQ(maps[1]->x_edge, (std::vector<double>{0.5, 2}));
  EXPECT_EQ(maps[1]->value, (std::vector<double>{3, 4})) << "station b, both periods";
  EXPECT_NEAR(maps[1]->y_edge[1], std::sqrt(0.1), 1e-15)
      << "half-way between the periods in their logarithm";
  EXPECT_EQ(maps[5]->value[1], 60);
}

TEST(PseudoSection, ResidualsArePercentDegreesOrStandardDeviations) {
  ProfileData p = profile(true);
  const Figure plain = pseudo_section(p);
  auto maps = series<HeatMap>(plain);
  ASSERT_EQ(maps.size(), 18u);
  EXPECT_EQ(maps[6]->value, (std::vector<double>{-50, 0})) << "1 and 2 against 2, in percent";
  EXPECT_EQ(maps[15]->value, (std::vector<double>{10, 20})) << "degrees";
  EXPECT_TRUE(has(render(plain, "svg"), "Residual (%)"));
  p.rho_a_error = std::vector<double>(6, 0.5);
  p.phase_error = std::vector<double>(6, 2);
  const Figure normalized = pseudo_section(p);
  maps = series<HeatMap>(normalized);
  EXPECT_EQ(maps[6]->value, (std::vector<double>{-2, 0}));
  EXPECT_EQ(maps[15]->value, (std::vector<double>{5, 10}));
}

TEST(PseudoSection, RefusesWrongSizesAndOrder) {
  ProfileData p = profile(false);
  p.rho_a.pop_back();
  EXPECT_THROW(pseudo_section(p), Error);
  p = profile(false);
  p.distance = {0, 3000, 1000};
  EXPECT_THROW(pseudo_section(p), Error);
  p.distance = {500, 500, 500};
  EXPECT_NO_THROW(render(pseudo_section(p), "svg")) << "stations in one place";
  EXPECT_NO_THROW(render(pseudo_section({.title = "none"}), "svg"));
}

TEST(StitchedSection, HatchesFromTheDepthOfInvestigationOn) {
  SectionFigure s{.title = "Line 1", .station = {"a", "b"}, .distance = {0, 400}};
  s.model = {{.top = {0, 100}, .resistivity = {10, 20}},
             {.top = {0, 200, 500}, .resistivity = {30, 40, 50}}};
  s.depth_of_investigation = {60, kNan};
  s.rms = {1.1, 0.9};
  const Figure f = stitched_section(s);
  const auto maps = series<HeatMap>(f);
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(maps[0]->y_edge, (std::vector<double>{0, 60, 100, HUGE_VAL}));
  EXPECT_EQ(maps[0]->value, (std::vector<double>{10, 10, 20}));
  EXPECT_EQ(maps[0]->masked, (std::vector<bool>{false, true, true}));
  EXPECT_EQ(maps[1]->masked, (std::vector<bool>{false, false, false}))
      << "unknown depth: nothing hatched";
  const std::string svg = render(f, "svg");
  for (const char* text :
       {"Line 1", "a", "b", "RMS", "Distance (m)", "Depth (m)", "Resistivity (Ω m)"})
    EXPECT_TRUE(has(svg, text)) << text;
}

TEST(StitchedSection, AGapInTheProfileStaysEmpty) {
  SectionFigure s{.station = {"a", "b", "c", "d"}, .distance = {0, 1000, 2000, 30000}};
  s.model = std::vector<LayeredModel>(4, {.top = {0}, .resistivity = {10}});
  const Figure f = stitched_section(s);
  const auto maps = series<HeatMap>(f);
  ASSERT_EQ(maps.size(), 4u);
  EXPECT_EQ(maps[2]->x_edge, (std::vector<double>{1.5, 3.5}))
      << "three times the median half-distance of 0.5 km";
  EXPECT_EQ(maps[3]->x_edge[0], 28.5);
}

TEST(StitchedSection, AStationFarOffTheOthersDoesNotSetTheAxes) {
  SectionFigure s{.station = {"a", "b", "c", "wild"}, .distance = {0, 1, 2, 3}, .log_depth = true};
  s.model = std::vector<LayeredModel>(4, {.top = {0, 10, 2000}, .resistivity = {10, 100, 30}});
  s.model[3].resistivity = {1e8, 1e9, 1e9};
  s.depth_of_investigation = {3e3, 4e3, 5e3, 6e7};
  const Figure f = stitched_section(s);
  ASSERT_EQ(f.panels.size(), 1u);
  EXPECT_EQ(f.panels[0].y.max, 1.25 * 5);
  EXPECT_EQ(f.panels[0].colour.axis.max, 100);
  EXPECT_EQ(f.subtitle, "beyond the axes: wild");
  s.depth_of_investigation[3] = 5e4;
  EXPECT_EQ(stitched_section(s).panels[0].y.max, 1.25 * 50)
      << "ten times the median (the upper one, 5 km) is not beyond";
}

// A station of 0.003 ohm m among 26 holds a twenty-sixth of the cells, more than the fiftieth that
// is cut at either end.
TEST(StitchedSection, AWildStationDoesNotStretchTheColours) {
  SectionFigure s;
  ProfileData p{.period = {1, 10}};
  for (int i = 0; i < 26; ++i) {
    s.station.push_back("s" + std::to_string(i));
    s.distance.push_back(1000.0 * i);
    const double rho = i == 7 ? 0.003 : 20 + i;
    s.model.push_back({.top = {0, 10, 2000}, .resistivity = {rho, 10 * rho, 3 * rho}});
    s.depth_of_investigation.push_back(5e3);
    for (const double times : {1, 5}) {
      p.rho_a.push_back(times * rho);
      p.phase.push_back(45);
    }
  }
  const Figure f = stitched_section(s);
  EXPECT_GE(*f.panels[0].colour.axis.min, 20);
  EXPECT_LE(*f.panels[0].colour.axis.max, 450);
  EXPECT_EQ(f.subtitle, "beyond the colours: s7");
  p.station = s.station;
  p.distance = s.distance;
  EXPECT_GE(*pseudo_section(p).panels[0].colour.axis.min, 20);
  // A coast is no wild station: half of them a thousand times as conductive.
  for (std::size_t i = 0; i < 26; ++i)
    s.model[i].resistivity = {i < 13 ? 0.3 : 300., i < 13 ? 0.4 : 400., 100.};
  EXPECT_EQ(*stitched_section(s).panels[0].colour.axis.min, 0.3);
  EXPECT_EQ(stitched_section(s).subtitle, "");
}

TEST(StitchedSection, StationsWithoutPlacesAreCounted) {
  SectionFigure s{.station = {"a", "b"}, .distance = {0, 1}, .counted = true};
  s.model = std::vector<LayeredModel>(2, {.top = {0}, .resistivity = {10}});
  const std::string svg = render(stitched_section(s), "svg");
  EXPECT_TRUE(has(svg, "Station, in order"));
  EXPECT_FALSE(has(svg, "Distance"));
}

TEST(IterationFigure, ShowsTargetAndBound) {
  const std::string svg = render(
      iteration_figure("Convergence", {{0, 9, 0, 100}, {1, 3, 2, 10}, {2, 1, 4, 1}}, 1.0, 0.9),
      "svg");
  for (const char* text :
       {"Convergence", "RMS", "Roughness", "Regularization μ", "target", "Iteration"})
    EXPECT_TRUE(has(svg, text)) << text;
  EXPECT_NO_THROW(render(iteration_figure("none", {}, {}, {}), "png"));
}

// Steps over a learnt prior have no roughness and no weight.
TEST(IterationFigure, HasNoPanelWithoutANumber) {
  const auto panels = [](double roughness, double mu) {
    return iteration_figure("t", {{1, 3, kNan, kNan}, {2, 1, roughness, mu}}, {}, {}).panels;
  };
  EXPECT_EQ(panels(kNan, kNan).size(), 1u);
  EXPECT_EQ(panels(0, 1).size(), 3u);
  const auto two = panels(kNan, 1);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[1].column, 1u);
  EXPECT_EQ(two[1].y.label, "Regularization μ");
}

TEST(Figures, ChainsByTheirPathsAndRanks) {
  // Two chains: one has the lower half of all draws, the other the upper half.
  std::vector<double> low, high;
  for (int k = 0; k < 40; ++k) low.push_back(k % 7), high.push_back(10 + k % 5);
  const Figure f = chain_figure("Chains", {{"code 0", {low, high}, 1.8}, {"rms", {low, low}, NAN}});
  ASSERT_EQ(f.panels.size(), 4u);
  EXPECT_EQ(f.panels[0].title, "code 0, R-hat 1.8");
  EXPECT_EQ(f.panels[2].title, "rms");
  const auto& first = std::get<Steps>(f.panels[1].series[0]);
  const auto& second = std::get<Steps>(f.panels[1].series[1]);
  ASSERT_EQ(first.value.size(), 8u);
  for (std::size_t k = 0; k < 8; ++k) {
    EXPECT_EQ(first.value[k], k < 4 ? 2 : 0);
    EXPECT_EQ(second.value[k], k < 4 ? 0 : 2);
  }
  EXPECT_NO_THROW(render(f, "png"));
  EXPECT_NO_THROW(render(chain_figure("one draw", {{"a", {{1.0}}, NAN}}), "svg"));
  EXPECT_THROW(chain_figure("none", {{"a", {}, 1}}), Error);
  EXPECT_THROW(chain_figure("unequal", {{"a", {{1.0, 2.0}, {1.0}}, 1}}), Error);
}

TEST(PhaseTensorFigure, EllipsesKeepTheRatioOfTheAxes) {
  const Figure f = phase_tensor_figure("a", {.period = {1, 10},
                                             .phi_max = {2, 1},
                                             .phi_min = {1, 1},
                                             .azimuth = {100, 30},
                                             .skew = {1, -2}});
  const auto ellipses = series<Ellipses>(f);
  ASSERT_EQ(ellipses.size(), 1u);
  EXPECT_DOUBLE_EQ(ellipses[0]->minor[0] / ellipses[0]->major[0], 0.5);
  EXPECT_EQ(std::get<Points>(f.panels[1].series[0]).y, (std::vector<double>{10, 30}))
      << "strike is known up to 90 degrees";
  EXPECT_TRUE(has(render(f, "svg"), "Skew β (°)"));
}

TEST(PhaseTensorFigure, OfAProfileStandsOverDistanceAndTellsTheStrike) {
  std::vector<StationResult> results(2);
  for (std::size_t k = 0; k < 2; ++k) {
    results[k].id = k ? "b" : "a";
    results[k].distance_m = 500.0 * static_cast<double>(k);
    results[k].phase_tensor = {.period = {1, 10},
                               .phi_max = {2, 3},
                               .phi_min = {1, 1},
                               .azimuth = {20, k ? 110.0 : 20.0},
                               .skew = {1, -2}};
  }
  const Figure f = phase_tensor_section(results, true);
  const auto ellipses = series<Ellipses>(f);
  ASSERT_EQ(ellipses.size(), 1u);
  EXPECT_EQ(ellipses[0]->x, (std::vector<double>{0, 0, 500, 500}));
  EXPECT_EQ(ellipses[0]->y, (std::vector<double>{1, 10, 1, 10}));
  EXPECT_EQ(ellipses[0]->value, (std::vector<double>{1, -2, 1, -2}));
  const std::string svg = render(f, "svg");
  EXPECT_TRUE(has(svg, "north is up; strike 20° or 110°, concentration 1, median skew 2°")) << svg;
  EXPECT_TRUE(has(svg, "Distance (m)"));
  for (StationResult& r : results) r.phase_tensor = {};
  EXPECT_NO_THROW(render(phase_tensor_section(results, false), "png"));
}

}  // namespace
}  // namespace tessera::inversion
