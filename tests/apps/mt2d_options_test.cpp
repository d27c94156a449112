// SPDX-License-Identifier: Apache-2.0
// Keys of inversion.mt2d that contradict each other, have no effect, or lie at the edge of theirs.
#include "csv_columns.h"
#include "mt2d_case.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <complex>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tessera::testing {
namespace {

// A band that is narrower than half a step has its two ends, one of no width a single frequency.
TEST_F(Mt2d, BandsHaveBothEndsHoweverNarrow) {
  const auto frequencies = [&](const std::string& lowest, const std::string& highest) {
    write("f.toml",
          "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n"
          "stations.at = [\"0 m\"]\nmesh.goal = \"100 %\"\nfrequencies = {lowest = \"" +
              lowest + "\", highest = \"" + highest + "\"}\n");
    const Outcome o = tessera({"run", "f.toml", "--output", "F", "--force"});
    EXPECT_EQ(o.code, 0) << o.err;
    const std::vector<double> hz =
        tessera::inversion::read_survey(here() / "F/data.csv").data.frequency_hz;
    return std::set<double>(hz.begin(), hz.end());
  };
  const std::set<double> narrow = frequencies("1 Hz", "1.05 Hz");
  ASSERT_EQ(narrow.size(), 2u);
  EXPECT_NEAR(*narrow.begin(), 1, 1e-15);
  EXPECT_EQ(*narrow.rbegin(), 1.05);
  EXPECT_EQ(frequencies("2 Hz", "2 Hz"), std::set<double>{2});
}

TEST_F(Mt2d, KeysOfWhatIsNotAskedForAreNamed) {
  make_soundings();
  const auto said = [&](const std::string& more) {
    write("c.toml", "app = \"inversion.mt2d\"\ndata.files = \"F/data.csv\"\n" + more);
    const Outcome o = tessera({"check", "c.toml"});
    return o.err + o.out;
  };
  for (const auto& [key, more] : std::vector<std::pair<std::string, std::string>>{
           {"inversion.equations",
            "inversion = {method = \"lbfgs\", equations = \"data_space\"}\n"},
           {"data.tipper_floor", "data.tipper_floor = 0.03\n"},
           {"data.phase_tensor_floor", "data.phase_tensor_floor = 0.03\n"}}) {
    EXPECT_TRUE(holds(said(more), key + " has no effect")) << key;
  }
  EXPECT_FALSE(holds(said("inversion.equations = \"data_space\"\ndata.form = \"phase\"\n"
                          "data.error_floor = 0.04\n"),
                     "has no effect"));
  write("f.toml",
        "app = \"inversion.mt2d\"\ntask = \"forward\"\nstations.at = [\"0 m\"]\n"
        "frequencies.at = [\"1 Hz\"]\n[data]\nresponses = [\"tipper\"]\nform = \"phase\"\n"
        "error_floor = 0.1\n");
  const std::string of_tippers = tessera({"check", "f.toml"}).err;
  EXPECT_TRUE(holds(of_tippers, "data.form has no effect")) << of_tippers;
  EXPECT_TRUE(holds(of_tippers, "data.error_floor has no effect")) << of_tippers;
}

// Polygons that meet at a line, and such over one another of one resistivity, contradict nothing.
TEST_F(Mt2d, FixedPartsSayOneResistivityOfACell) {
  make_soundings();
  const auto fixed = [](const std::string& from, const std::string& to, const std::string& rho) {
    return "[[model.fixed]]\nresistivity = \"" + rho + " ohm*m\"\npoints = [[\"" + from +
           "\", \"0 m\"], [\"" + to + "\", \"0 m\"], [\"" + to + "\", \"1 km\"], [\"" + from +
           "\", \"1 km\"]]\n";
  };
  const std::string base = "app = \"inversion.mt2d\"\ndata.files = \"F/data.csv\"\n";
  const auto code_of = [&](const std::string& more) {
    write("c.toml", base + more);
    return tessera({"check", "c.toml"}).code;
  };
  const std::string said =
      refusal(base + fixed("-2 km", "1 km", "3") + fixed("0 km", "2 km", "300"), 5);
  EXPECT_TRUE(holds(said, "E0603") && holds(said, "model.fixed[0], which says another resistivity"))
      << said;
  EXPECT_EQ(code_of(fixed("-2 km", "1 km", "3") + fixed("0 km", "2 km", "3")), 0);
  EXPECT_EQ(code_of(fixed("-2 km", "0 km", "3") + fixed("0 km", "2 km", "300")), 0);
}

// Occam looks for a smoother section with the wanted RMS, and goes back where there is none.
TEST_F(Mt2d, TheLastRowOfMetricsIsOfTheSectionThatIsLeft) {
  make_case(
      "[inversion]\ntarget_rms = 0.3\n[output]\npictures = false\n[posterior]\nmethod = "
      "\"none\"\n");
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.err, "back after step ")) << o.err;
  const auto rms = csv_column(read("RUN/metrics.csv"), "rms"),
             step = csv_column(read("RUN/metrics.csv"), "step");
  ASSERT_GT(rms.size(), 2u);
  EXPECT_NE(rms.back(), rms[rms.size() - 2]);
  EXPECT_EQ(step.back(), step[step.size() - 2]);
  EXPECT_NEAR(rms.back(), inversion::rms_of(inversion::read_survey(here() / "RUN/data.csv").data),
              1e-9);
}

/// Rows of a forward run's impedances, those of the two stations in the middle a tenth as large; as
/// they are, or as apparent resistivities and phases.
std::string shifted_table(const inversion::DataTable& t, const std::vector<double>& y,
                          bool as_impedances) {
  using inversion::Part;
  std::string out = "station,y_m,frequency_hz,kind,value,sigma\n";
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t.kind[i].part != Part::real) continue;
    std::size_t j = 0;  // of the imaginary part
    while (t.station[j] != t.station[i] || t.frequency_hz[j] != t.frequency_hz[i] ||
           !(t.kind[j] == inversion::DatumKind{t.kind[i].element, Part::imag}))
      ++j;
    const double factor = t.station[i] == 1 || t.station[i] == 2 ? 0.1 : 1, f = t.frequency_hz[i];
    const std::complex<double> z = factor * std::complex<double>(t.value[i], t.value[j]);
    const double relative = factor * t.sigma[i] / std::abs(z);
    const auto row = [&](Part part, double value, double sigma) {
      out += fmt::format("t{},{},{},{},{},{}\n", t.station[i],
                         y[static_cast<std::size_t>(t.station[i])], f,
                         inversion::name_of({t.kind[i].element, part}), value, sigma);
    };
    if (as_impedances) {
      row(Part::real, z.real(), factor * t.sigma[i]);
      row(Part::imag, z.imag(), factor * t.sigma[j]);
    } else {
      row(Part::log10_rho,
          std::log10(std::norm(z) / (8e-7 * std::numbers::pi * std::numbers::pi * f)),
          relative * 2 / std::numbers::ln10);
      row(Part::phase, std::arg(z) * 180 / std::numbers::pi, relative * 180 / std::numbers::pi);
    }
  }
  return out;
}

// Whether the mesh is fine enough hangs on the data's errors, not on the form that they have.
TEST_F(Mt2d, TheMeshOfShiftedStationsIsJudgedByTheirShiftedResponses) {
  make_soundings("data.form = \"impedance\"\nnoise.impedance = 0.03\n");
  const inversion::Survey survey = inversion::read_survey(here() / "F/data.csv");
  std::vector<double> y;
  for (const inversion::Station& s : survey.stations) y.push_back(s.distance_m);
  const auto mesh_error = [&](const std::string& form) {
    write("t.csv", shifted_table(survey.data, y, form == "impedance"));
    write("case.toml",
          "app = \"inversion.mt2d\"\nposterior.method = \"none\"\noutput.pictures = false\n"
          "mesh.error = 1000\nstatic_shift = {enabled = true, prior_std = 2}\n"
          "data = {files = \"t.csv\", form = \"" +
              form + "\"}\n");
    const Outcome o = tessera({"run", "case.toml", "--output", "R", "--force"});
    EXPECT_TRUE(o.code == 0 || o.code == 6) << o.err;
    return nlohmann::json::parse(read("R/manifest.json"))["metrics"]["mesh_error"].get<double>();
  };
  const double of_impedances = mesh_error("impedance"), of_others = mesh_error("resistivity_phase");
  EXPECT_LT(of_impedances, 3 * of_others);  // without the factor: ten times
  EXPECT_GT(of_impedances, of_others / 3);
}

// Products alone are for data and cells whose Jacobian does not fit: they are not refused for its
// memory unless bands take it.
TEST_F(Mt2d, WithoutAJacobianItsMemoryIsNotAskedFor) {
  std::string table = "station,y_m,frequency_hz,kind,value,sigma\n";
  for (int k = 0; k < 60; ++k)
    for (int f = 0; f < 40; ++f)
      for (const char* row : {"log10_rho_xy,2,0.03", "phase_xy,45,2"})
        table += fmt::format("t{},{},{},{}\n", k, 1000 * k, std::pow(10.0, 2 - 0.1 * f), row);
  write("t.csv", table);
  const auto gigabytes = [&](const std::string& more) {
    write("c.toml",
          "app = \"inversion.mt2d\"\ndata = {files = \"t.csv\", responses = [\"te\"]}\n" + more);
    const Outcome o = tessera({"check", "c.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    const std::size_t end = o.out.find(" GB of memory");
    EXPECT_NE(end, std::string::npos) << o.out;
    return end == std::string::npos ? 0 : std::stod(o.out.substr(o.out.rfind(' ', end - 1)));
  };
  const std::string none = "posterior.method = \"none\"\n",
                    lbfgs = "inversion.method = \"lbfgs\"\n",
                    products = "inversion.equations = \"conjugate_gradients\"\n";
  const double all = gigabytes("");
  EXPECT_EQ(gigabytes(none), all);
  EXPECT_EQ(gigabytes(lbfgs), all);
  EXPECT_LT(gigabytes(lbfgs + none), 0.6 * all);
  EXPECT_LT(gigabytes(products + none), 0.6 * all);
}

// Stations 2 km apart: columns of an inversion are at most as wide.
TEST_F(Mt2d, AColumnIsNoWiderThanStationsAreApart) {
  make_soundings();
  const auto said = [&](const char* width) {
    write("c.toml", fmt::format("app = \"inversion.mt2d\"\ndata.files = \"F/data.csv\"\n"
                                "mesh.cell_width = \"{}\"\n",
                                width));
    const Outcome o = tessera({"check", "c.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out;
  };
  EXPECT_TRUE(holds(said("3 km"),
                    "below 4 of 4 stations cells are narrower than mesh.cell_width, 3000 m: no "
                    "wider than the nearest station is far, 2000 to 2000 m"));
  EXPECT_FALSE(holds(said("2 km"), "mesh.cell_width"));
}

}  // namespace
}  // namespace tessera::testing
