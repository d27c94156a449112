// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/survey_figures.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/figures.h"
#include "tessera/inversion/forward_2d.h"
#include "tessera/inversion/section_figure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace tessera::inversion {
namespace {

using data::Arrows;
using data::Figure;
using data::HeatMap;
using data::Panel;

template <class S>
std::vector<const S*> series(const Panel& p) {
  std::vector<const S*> out;
  for (const data::Series& s : p.series)
    if (const auto* found = std::get_if<S>(&s)) out.push_back(found);
  return out;
}

constexpr DatumKind zxy_re{Element::xy, Part::real}, zxy_im{Element::xy, Part::imag},
    rho_yx{Element::yx, Part::log10_rho}, phase_yx{Element::yx, Part::phase},
    ty_re{Element::ty, Part::real}, ty_im{Element::ty, Part::imag};

/// Three stations with periods of their own, of which the second has a gap of two decades.
Survey small_survey(bool predicted) {
  Survey s;
  s.has_coordinates = true;
  s.azimuth_deg = 90;
  const std::vector<std::vector<double>> hz = {{100, 10, 1}, {100, 50, 25, 12, 6, 0.01}, {1}};
  for (std::size_t k = 0; k < hz.size(); ++k) {
    Station station;
    station.id = station.name = std::string("s") + static_cast<char>('0' + k);
    station.distance_m = 1000.0 * static_cast<double>(k);
    s.stations.push_back(station);
    for (const double f : hz[k]) {
      const auto of = static_cast<std::int64_t>(k);
      const double modulus = impedance_modulus(f, 100), part = modulus / std::sqrt(2.0);
      s.data.add(of, f, zxy_re, part, 0.1 * modulus);
      s.data.add(of, f, zxy_im, part, 0.1 * modulus);
      s.data.add(of, f, rho_yx, 1.5, 0.1);
      s.data.add(of, f, phase_yx, 40, 2);
      s.data.add(of, f, ty_re, 0.2, 0.02);
      s.data.add(of, f, ty_im, -0.1, 0.02);
    }
  }
  if (predicted)
    for (std::size_t i = 0; i < s.data.size(); ++i)
      s.data.predicted[i] = s.data.value[i] - s.data.sigma[i];  // every residual is 1
  return s;
}

TEST(SurveyFigures, PseudoSectionsHoldTheTableEachStationAtItsPeriods) {
  const Survey bare = small_survey(false);
  EXPECT_EQ(elements_of(bare.data), (std::vector{Element::xy, Element::yx, Element::ty}));
  for (const Element e : elements_of(bare.data))
    EXPECT_EQ(pseudo_section(bare, e).panels.size(), 2u) << "observed alone";

  const Survey s = small_survey(true);
  const Figure te = pseudo_section(s, Element::xy, true);
  ASSERT_EQ(te.panels.size(), 6u);
  EXPECT_EQ(te.title, "TE (xy)");
  EXPECT_EQ(te.subtitle, "RMS 1");
  const auto rho = series<HeatMap>(te.panels[0]);
  ASSERT_EQ(rho.size(), 3u);
  ASSERT_EQ(rho[0]->value.size(), 3u);
  for (const double v : rho[0]->value) EXPECT_NEAR(v, 100, 1e-9);
  EXPECT_NEAR(rho[0]->y_edge[1], 0.01 * std::sqrt(10), 1e-12);
  // The gap of the second station: a cell of its own that has no value.
  ASSERT_EQ(rho[1]->value.size(), 7u);
  EXPECT_TRUE(std::isnan(rho[1]->value[5]));
  EXPECT_LT(rho[1]->y_edge[5], 1);
  EXPECT_GT(rho[1]->y_edge[6], 20);
  EXPECT_EQ(rho[2]->value.size(), 1u);
  // To first order residuals of rho_a and phase: here both parts of Z miss by a tenth of |Z|, which
  // is all in the modulus, sqrt(2) standard deviations of it.
  const auto left = series<HeatMap>(te.panels[2]);
  EXPECT_NEAR(left[0]->value[0], -std::log(1 - 0.1 * std::sqrt(2)) / 0.1, 1e-9);
  EXPECT_NEAR(series<HeatMap>(te.panels[5])[0]->value[0], 0, 1e-9);

  const Figure tm = pseudo_section(s, Element::yx, true);
  EXPECT_NEAR(series<HeatMap>(tm.panels[0])[0]->value[0], std::pow(10, 1.5), 1e-9);
  EXPECT_NEAR(series<HeatMap>(tm.panels[1])[0]->value[0], std::pow(10, 1.4), 1e-9);
  EXPECT_NEAR(series<HeatMap>(tm.panels[2])[0]->value[0], 1, 1e-9);
  EXPECT_NEAR(series<HeatMap>(tm.panels[3])[0]->value[0], 40, 1e-9);

  const Figure tipper = pseudo_section(s, Element::ty);
  EXPECT_NEAR(series<HeatMap>(tipper.panels[3])[0]->value[0], -0.1, 1e-12);
  EXPECT_NEAR(*tipper.panels[0].colour.axis.max, 0.2, 1e-12);
  for (const Figure& f : {te, tm, tipper}) EXPECT_NO_THROW(data::render(f, "png"));
}

TEST(SurveyFigures, CurvesOfAStation) {
  const Figure f = station_figure(small_survey(true), 0);
  ASSERT_EQ(f.panels.size(), 4u);
  EXPECT_EQ(series<data::Line>(f.panels[0]).size(), 2u) << "predictions of xy and yx";
  EXPECT_EQ(series<data::Points>(f.panels[2]).size(), 6u) << "residuals of each kind";
  EXPECT_EQ(series<data::Points>(f.panels[3]).size(), 2u) << "real and imaginary tipper";
  EXPECT_EQ(f.subtitle, "RMS 1");
  const Figure bare = station_figure(small_survey(false), 2);
  ASSERT_EQ(bare.panels.size(), 3u) << "no residuals";
  EXPECT_TRUE(bare.subtitle.empty());
  for (const Figure& figure : {f, bare}) EXPECT_NO_THROW(data::render(figure, "svg"));
}

/// Of one station, with such rows at 10 and 1 Hz.
Survey survey_of(const std::vector<std::pair<DatumKind, double>>& rows) {
  Survey s;
  s.stations.resize(1);
  s.stations[0].id = s.stations[0].name = "s";
  for (const double f : {10.0, 1.0})
    for (const auto& [kind, value] : rows) {
      s.data.add(0, f, kind, value, 0.1);
      s.data.predicted.back() = value + 0.1;
    }
  return s;
}

// What is inverted is what is drawn: half of a pair has its curve, and no panel stands empty.
TEST(SurveyFigures, HalvesOfResponsesHaveTheirCurves) {
  const auto labels = [](const Figure& f) {
    std::vector<std::string> out;
    for (const Panel& p : f.panels) out.push_back(p.y.label);
    return out;
  };
  using Labels = std::vector<std::string>;
  const Figure rho = station_figure(survey_of({{rho_yx, 2}}), 0),
               phase = station_figure(survey_of({{phase_yx, 40}}), 0),
               tensor = station_figure(survey_of({{{Element::xy, Part::phase_tensor}, 1}}), 0),
               tipper = station_figure(survey_of({{ty_re, 0.2}}), 0);
  EXPECT_EQ(labels(rho), (Labels{"Apparent resistivity", "Residual / σ"}));
  EXPECT_EQ(labels(phase), (Labels{"Phase", "Residual / σ"}));
  EXPECT_EQ(labels(tensor), (Labels{"Residual / σ", "Phase tensor"}));
  EXPECT_EQ(labels(tipper), (Labels{"Residual / σ", "Tipper"}));
  const auto* points = series<data::Points>(rho.panels[0])[0];
  EXPECT_EQ(points->x, (std::vector<double>{0.1, 1}));
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    EXPECT_NEAR(points->y[i], 100, 1e-9);
    EXPECT_NEAR(points->y_plus[i], 10 * std::numbers::ln10, 1e-9);  // rho ln 10 d log10 rho
    EXPECT_NEAR(series<data::Line>(rho.panels[0])[0]->y[i], std::pow(10, 2.1), 1e-9);
    EXPECT_NEAR(series<data::Points>(phase.panels[0])[0]->y[i], 40, 1e-12);
  }
  for (const Figure& f : {rho, phase, tensor, tipper}) EXPECT_NO_THROW(data::render(f, "png"));
}

// A station with one form at some periods and the other form at others has all of them.
TEST(SurveyFigures, BothFormsOfAModeMakeOneCurve) {
  Survey s = survey_of({{rho_yx, 2}, {phase_yx, 40}});
  const double modulus = impedance_modulus(0.1, 50);
  s.data.add(0, 0.1, {Element::yx, Part::real}, modulus / std::sqrt(2.0), 0.01 * modulus);
  s.data.add(0, 0.1, {Element::yx, Part::imag}, modulus / std::sqrt(2.0), 0.01 * modulus);
  const std::vector<double> periods{0.1, 1, 10}, ohm_m{100, 100, 50}, degrees{40, 40, 45};
  const Figure station = station_figure(s, 0), section = pseudo_section(s, Element::yx);
  const auto* rho = series<data::Points>(station.panels[0])[0];
  const auto* phase = series<data::Points>(station.panels[1])[0];
  const auto* map = series<HeatMap>(section.panels[0])[0];
  ASSERT_EQ(rho->x.size(), 3u);
  ASSERT_EQ(map->value.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(rho->x[i], periods[i], 1e-12);
    EXPECT_NEAR(rho->y[i], ohm_m[i], 1e-9);
    EXPECT_NEAR(phase->y[i], degrees[i], 1e-9);
    EXPECT_NEAR(map->value[i], ohm_m[i], 1e-9);
  }
}

TEST(SurveyFigures, MisfitsByStationAndPeriod) {
  Survey s = small_survey(true);
  s.data.predicted[0] = s.data.value[0] - 5 * s.data.sigma[0];
  const Figure f = misfit_map(s);
  const auto maps = series<HeatMap>(f.panels[1]);
  EXPECT_NEAR(maps[0]->value[0], std::sqrt((25 + 5) / 6.0), 1e-12);
  EXPECT_NEAR(maps[0]->value[1], 1, 1e-12);
  EXPECT_NEAR(series<data::Points>(f.panels[0])[0]->y[0], std::sqrt((25 + 17) / 18.0), 1e-12);
  EXPECT_NO_THROW(data::render(f, "png"));
  EXPECT_NO_THROW(data::render(misfit_map(small_survey(false)), "png")) << "nothing predicted";
}

// A conductor to the east of the stations: their arrows point to it.
TEST(SurveyFigures, ArrowsPointToWhatConductsBetter) {
  const std::vector<double> lines_of_z{-1e5, 0, 500, 3000, 2e5}, lines_of_y{-1e5, 0, 2000, 1e5};
  const auto size = [](double x) { return std::max(200.0, 0.4 * std::abs(x)); };
  const Mesh2d mesh =
      tensor_mesh(graded_axis(lines_of_y, size), graded_axis(lines_of_z, size), std::vector{0.0},
                  [](double y, double z) {
                    if (z < 0) return air();
                    return Medium2d{.parameter = y > 0 && y < 2000 && z > 500 && z < 3000 ? 1 : 0};
                  });
  const Forward2d forward(mesh, sensors_on(mesh, 0, {-1500}), {1.0}, {.tm = false});
  const auto tipper = forward(tensor({std::log(100.0), std::log(1.0)})).tipper.to_vector<c128>();

  Survey s;
  s.azimuth_deg = 90;  // y is east
  s.stations.resize(1);
  s.stations[0].id = "west";
  s.data.add(0, 1.0, ty_re, tipper[0].real(), 0.02);
  ASSERT_TRUE(has_tippers(s));
  const Figure table = induction_arrows(s);
  const auto arrows = series<Arrows>(table.panels[0]);
  ASSERT_EQ(arrows[0]->angle.size(), 1u);
  EXPECT_NEAR(arrows[0]->angle[0], 90, 1e-9) << "east, clockwise from up";
  EXPECT_NEAR(arrows[0]->length[0], 40 * std::abs(tipper[0].real()), 1e-9);
  EXPECT_GT(arrows[0]->length[0], 2);

  // The same from a file whose x points 30 degrees east of north.
  const double turn = 30 * std::numbers::pi / 180;
  inversion::Sounding& of_file = s.stations[0].sounding;
  of_file.frequency_hz = {1.0};
  of_file.azimuth_deg = {30};
  of_file.tipper = {
      {Complex(tipper[0].real() * std::sin(turn)), Complex(tipper[0].real() * std::cos(turn))}};
  const Figure turned = induction_arrows(s);
  EXPECT_NEAR(series<Arrows>(turned.panels[0])[0]->angle[0], 90, 1e-9);
  EXPECT_NO_THROW(data::render(turned, "png"));
}

TEST(SurveyFigures, ASectionShowsItsCellsBelowItsStations) {
  const Mesh2d mesh = tensor_mesh(std::vector<double>{-9e3, 0, 1e3, 2e3, 9e3},
                                  std::vector<double>{-5e3, 0, 500, 5e3}, std::vector{0.0},
                                  [](double, double z) { return z < 0 ? air() : Medium2d{0}; });
  MeshSection s{.title = "t", .mesh = &mesh, .station = {"a", "b"}, .y = {0, 2e3}, .z = {0, 0}};
  for (Index c = 0; c < mesh.cells(); ++c)
    s.ohm_m.push_back(mesh.medium[static_cast<std::size_t>(c)].is_air() ? NAN : 10.0 + double(c));
  const Figure f = section_figure(s);
  const auto cells = series<data::MeshCells>(f.panels[0]);
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0]->corners, 4u);
  EXPECT_EQ(cells[0]->corner.size(), 4u * 12u);
  EXPECT_EQ(*f.panels[0].x.min, -0.2);
  EXPECT_EQ(*f.panels[0].x.max, 2.2);
  EXPECT_EQ(*f.panels[0].y.max, 1);
  EXPECT_NO_THROW(data::render(f, "png"));
  s.veil = {1};
  EXPECT_THROW(section_figure(s), Error);
  s.veil.clear(), s.y = {0, 0}, s.bottom = 700;
  EXPECT_NO_THROW(data::render(section_figure(s), "png")) << "two stations on one place";
  s.mesh = nullptr;
  EXPECT_THROW(section_figure(s), Error);
}

TEST(SurveyFigures, AnLCurveNamesItsWeights) {
  const Figure f = l_curve("t", {{1, 3, 0.5, 100}, {1, 1, 4, 1}, {1, 1.5, 2, 10}}, 2, 1.0);
  const auto line = series<data::Line>(f.panels[0]);
  EXPECT_EQ(line[0]->x, (std::vector<double>{4, 2, 0.5})) << "by rising weight";
  EXPECT_EQ(series<data::Points>(f.panels[0])[1]->x, std::vector<double>{2});
  EXPECT_NO_THROW(data::render(f, "svg"));
  EXPECT_NO_THROW(data::render(l_curve("none", {}, {}, {}), "svg"));
}

}  // namespace
}  // namespace tessera::inversion
