// SPDX-License-Identifier: Apache-2.0
// Phase tensors as data of a section, of tables and of EDI files, and what is said of rows of a
// table that nobody asks for.
#include "csv_columns.h"
#include "mt2d_case.h"
#include "tessera/inversion/survey_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>

using namespace tessera::testing;

namespace {

const std::string quiet = "output = {pictures = false, pictures_of_stations = false}\n";
const std::string asks_tensor = "responses = [\"phase_tensor\"]\n";

/// What a run's table says, by station, frequency and kind.
std::map<std::tuple<std::int64_t, double, std::string>, std::pair<double, double>> rows_of_table(
    const std::filesystem::path& file) {
  std::map<std::tuple<std::int64_t, double, std::string>, std::pair<double, double>> out;
  const auto survey = tessera::inversion::read_survey(file);
  for (std::size_t i = 0; i < survey.data.size(); ++i)
    out[{survey.data.station[i], survey.data.frequency_hz[i], name_of(survey.data.kind[i])}] = {
        survey.data.value[i], survey.data.sigma[i]};
  return out;
}

// Over a section xx is the tangent of the phase of TM, yy that of TE.
TEST_F(Mt2d, PhaseTensorsOfASectionAreTangentsOfItsPhases) {
  make_soundings("noise.impedance = 1e-12\ndata.responses = [\"te\", \"tm\", \"phase_tensor\"]\n");
  const auto rows = rows_of_table(here() / "F/data.csv");
  std::size_t seen = 0;
  for (const auto& [key, row] : rows) {
    const auto& [station, hz, kind] = key;
    const bool xx = kind == "phase_tensor_xx";
    if (!xx && kind != "phase_tensor_yy") continue;
    const double phase = rows.at({station, hz, xx ? "phase_yx" : "phase_xy"}).first;
    EXPECT_NEAR(row.first, std::tan(phase * std::numbers::pi / 180), 1e-9);
    EXPECT_NEAR(row.second, 0.05, 1e-12) << "data.phase_tensor_floor is 0.05 if not given";
    ++seen;
  }
  EXPECT_EQ(seen, 4u * 2 * 2);
}

TEST_F(Mt2d, PhaseTensorsOfTablesAndOfEdiFilesAreInverted) {
  write(
      "forward.toml",
      "app = \"inversion.mt2d\"\ntask = \"forward\"\nsection.resistivity = \"100 ohm*m\"\n"
      "[data]\nstrike = \"30 deg\"\nphase_tensor_floor = 0.03\n" +
          asks_tensor +
          "[stations]\nfirst = \"-3 km\"\nlast = \"3 km\"\ncount = 4\nlatitude = \"-30 deg\"\n"
          "longitude = \"20 deg\"\n[frequencies]\nat = [\"10 Hz\", \"1 Hz\"]\n[mesh]\ngoal = \"100 "
          "%\"\n[output]\npictures = false\n[[section.body]]\npoints = [[\"-1 km\", \"300 m\"], "
          "[\"1 "
          "km\", \"300 m\"], [\"1 km\", \"1 km\"], [\"-1 km\", \"1 km\"]]\nresistivity = \"5 "
          "ohm*m\"\n");
  ASSERT_EQ(tessera({"run", "forward.toml", "--output", "F"}).code, 0);
  const std::string inversion =
      "model.reference_resistivity = \"100 ohm*m\"\n"
      "inversion = {method = \"gauss_newton\", roughness_weight = 5, max_iterations = 60}\n";
  write("t.toml", "app = \"inversion.mt2d\"\n" + inversion + "[data]\nfiles = \"F/data.csv\"\n" +
                      asks_tensor);
  const Outcome t = tessera({"run", "t.toml", "--output", "T"});
  ASSERT_EQ(t.code, 0) << t.err;
  EXPECT_LT(tessera::inversion::rms_of(tessera::inversion::read_survey(here() / "T/data.csv").data),
            2);
  EXPECT_TRUE(std::filesystem::exists(here() / "T/plots/pseudo_section_phase_tensor.png"));
  // Less resistive where the body is than aside of it.
  auto cells = csv_table(read("T/model.csv"));
  double in = 0, n_in = 0, aside = 0, n_aside = 0;
  for (std::size_t c = 0; c < cells["cell"].size(); ++c) {
    const double y = (cells["y0_m"][c] + cells["y2_m"][c]) / 2,
                 z = (cells["z0_m"][c] + cells["z2_m"][c]) / 2,
                 lg = std::log10(cells["resistivity_ohm_m"][c]);
    if (z < 300 || z > 1000) continue;
    if (std::abs(y) < 800) in += lg, ++n_in;
    if (std::abs(y) > 2500 && std::abs(y) < 3500) aside += lg, ++n_aside;
  }
  EXPECT_LT(in / n_in, aside / n_aside - 0.2);

  // The same soundings as EDI files, turned to the strike: whole tensors with errors of their own.
  write("e.toml", "app = \"inversion.mt2d\"\n" + inversion + quiet +
                      "[data]\nfiles = \"F/soundings\"\nstrike = \"30 deg\"\nphase_tensor_floor = "
                      "0.03\n" +
                      asks_tensor);
  const Outcome e = tessera({"run", "e.toml", "--output", "E"});
  ASSERT_EQ(e.code, 0) << e.err;
  const auto of_table = rows_of_table(here() / "F/data.csv"),
             of_edi = rows_of_table(here() / "E/data.csv");
  ASSERT_EQ(of_edi.size(), of_table.size());
  auto at = of_edi.begin();
  for (const auto& [key, row] : of_table) {
    EXPECT_EQ(std::get<2>(at->first), std::get<2>(key));
    EXPECT_NEAR(at->second.first, row.first, 1e-4 * std::abs(row.first));
    EXPECT_NEAR(at->second.second, row.second, 0.5 * row.second)
        << "turned to north and back, errors of other elements are mixed in";
    ++at;
  }
}

TEST_F(Mt2d, RowsOfATableThatTheCaseDoesNotTakeAreNamed) {
  make_soundings("data.responses = [\"te\", \"phase_tensor\"]\n");
  const std::string head = "app = \"inversion.mt2d\"\n[data]\nfiles = \"F/data.csv\"\n";
  write("c.toml", head + "responses = [\"te\"]\n");
  const Outcome o = tessera({"check", "c.toml"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.out + o.err,
                    "rows of the table that the case does not take: 8 phase_tensor_xx, 8 "
                    "phase_tensor_yy"))
      << o.out << o.err;
  EXPECT_TRUE(holds(refusal(head + "responses = [\"tipper\"]\n", 4),
                    "only 0 usable periods are left, at least 1 are needed; the table has other "
                    "rows: 2 log10_rho_xy, 2 phase_tensor_xx, 2 phase_tensor_yy, 2 phase_xy"));
  write("d.toml", head + "responses = [\"te\", \"phase_tensor\"]\n");
  const Outcome all = tessera({"check", "d.toml"});
  EXPECT_FALSE(holds(all.out + all.err, "does not take")) << all.out;
}

TEST_F(Mt2d, KeysOfPhaseTensorsThatCannotBeAreRefusedOrDoubted) {
  const std::string forward =
      "app = \"inversion.mt2d\"\ntask = \"forward\"\nstations.at = [\"0 m\"]\nfrequencies.at = "
      "[\"1 Hz\"]\n";
  EXPECT_TRUE(holds(
      refusal(forward + "noise.impedance = 0\n[data]\nphase_tensor_floor = 0\n" + asks_tensor, 5),
      "noise.impedance and data.phase_tensor_floor are 0"));
  make_soundings("data.responses = [\"phase_tensor\"]\n");
  write(
      "s.toml",
      "app = \"inversion.mt2d\"\nstatic_shift = {enabled = true, prior_std = 0.3}\n[data]\nfiles = "
      "\"F/data.csv\"\n" +
          asks_tensor);
  const Outcome o = tessera({"check", "s.toml"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.out + o.err, "on phases, tippers and phase tensors")) << o.err;
}

}  // namespace
