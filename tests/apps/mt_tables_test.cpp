// SPDX-License-Identifier: Apache-2.0
// Tables of data as other programs write them: rows in any order, one half of a pair, both forms of
// a response.
#include "csv_columns.h"
#include "mt2d_case.h"
#include "tessera/inversion/survey_files.h"
#include "test_data.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <string>

using namespace tessera::testing;
using namespace tessera::inversion;
namespace fs = std::filesystem;

namespace {

/// Three stations 1 km apart over 100 ohm m, at 1, 100 and 10 Hz: the table's order. `rows` says
/// what stands there of each frequency; kind after kind, if wanted.
std::string unsorted_table(const std::function<std::vector<std::string>(double)>& rows,
                           bool by_kind = false) {
  std::string out =
      "station,name,latitude_deg,longitude_deg,elevation_m,x_m,y_m,z_m,tilt_deg,distance_m,"
      "offset_m,frequency_hz,period_s,kind,unit,value,sigma,predicted\n";
  const std::vector<double> hz = {1, 100, 10};
  const std::size_t n = rows(1).size();
  for (int k = 0; k < 3; ++k)
    for (std::size_t j = 0; j < n * hz.size(); ++j) {
      const double f = hz[by_kind ? j % hz.size() : j / n];
      out += fmt::format("t{0},t{0},,,,0,{1},0,0,{1},0,{2},{3},{4},\n", k, 1000 * k, f, 1 / f,
                         rows(f)[by_kind ? j / hz.size() : j % n]);
    }
  return out;
}
std::vector<std::string> rho_and_phase(double) {
  return {"log10_rho_xy,1,2,0.03", "phase_xy,deg,45,2"};
}
/// 100 ohm m, errors of 5 %.
std::vector<std::string> impedance(double f) {
  const double part = std::sqrt(8e-7 * std::numbers::pi * std::numbers::pi * f * 100 / 2);
  return {fmt::format("zxy_re,ohm,{},{}", part, 0.05 * std::sqrt(2) * part),
          fmt::format("zxy_im,ohm,{},{}", part, 0.04 * std::sqrt(2) * part)};
}
const std::string coarse =
    "posterior.method = \"none\"\nmesh = {growth = 1.6, cell_width = \"1 km\", error = 100}\n"
    "inversion.max_iterations = 1\ndata.responses = [\"te\"]\n";

TEST_F(Mt2d, RowsOfATableMayStandInAnyOrder) {
  for (const bool by_kind : {false, true}) {
    write("t.csv", unsorted_table(rho_and_phase, by_kind));
    write("case.toml", "app = \"inversion.mt2d\"\ndata.files = \"t.csv\"\n" + coarse);
    const Outcome o = tessera({"run", "case.toml", "--output", "R", "--force"});
    EXPECT_TRUE(o.code == 0 || o.code == 6) << o.err;
    EXPECT_TRUE(fs::exists(here() / "R/plots/misfit.png"));
    const DataTable t = read_survey(here() / "R/data.csv").data;
    ASSERT_EQ(t.size(), 18u);
    EXPECT_EQ(t.frequency_hz[0], 100);
    EXPECT_EQ(t.frequency_hz[2], 10);
    EXPECT_EQ(t.kind[1], (DatumKind{Element::xy, Part::phase}));
  }
}

// A table needs no more than its data and places; a station without a name is named by its id.
TEST_F(Mt2d, TablesMayLeaveColumnsOut) {
  std::string bare = "station,y_m,frequency_hz,kind,value,sigma\n";
  for (int k = 0; k < 3; ++k)
    for (const double f : {10.0, 1.0})
      bare += fmt::format("t{0},{1},{2},log10_rho_xy,2,0.03\nt{0},{1},{2},phase_xy,45,2\n", k,
                          1000 * k, f);
  write("t.csv", bare);
  const std::string text = "app = \"inversion.mt2d\"\ndata.files = \"t.csv\"\n";
  write("case.toml", text + coarse);
  const Outcome o = tessera({"run", "case.toml", "--output", "R"});
  EXPECT_TRUE(o.code == 0 || o.code == 6) << o.err;
  EXPECT_EQ(read_survey(here() / "R/data.csv").stations[2].distance_m, 2000);
  EXPECT_TRUE(holds(o.err, " of t")) << o.err;  // the datum that a finer mesh changes most
  const std::string shorter = refusal(text + "data.shortest_period = \"5 s\"\n", 4);
  EXPECT_TRUE(holds(shorter, "station t0: error E0610")) << shorter;
  write("t.csv", "station,y_m,frequency_hz,value\nt0,0,1,2\n");
  const std::string said = refusal(text, 4);
  EXPECT_TRUE(holds(said, "E0681: the table has no column kind, sigma")) << said;
}

// A layered earth is fitted to an impedance: halves of one are none.
TEST_F(Mt2d, HalvesOfPairsAreNoSounding) {
  write("t.csv",
        unsorted_table([](double) { return std::vector<std::string>{"log10_rho_xy,1,2,0.03"}; }));
  write("case.toml", "app = \"inversion.mt1d\"\ndata = {files = \"t.csv\", response = \"xy\"}\n");
  const Outcome o = tessera({"check", "case.toml"});
  EXPECT_EQ(o.code, 4);
  EXPECT_TRUE(holds(o.err,
                    "E0610: only 0 usable periods are left, at least 3 are needed; 3 have "
                    "one half of a pair alone"))
      << o.err;
}

TEST_F(Mt2d, AFormOfATableIsTakenOnce) {
  const auto kept = [&](const std::string& form, auto&& rows) {
    write("t.csv", unsorted_table(rows));
    write("case.toml",
          "app = \"inversion.mt2d\"\ndata.files = \"t.csv\"\noutput.pictures = false\n"
          "data.form = \"" +
              form + "\"\n" + coarse);
    const Outcome o = tessera({"run", "case.toml", "--output", "R", "--force"});
    EXPECT_TRUE(o.code == 0 || o.code == 6) << o.err;
    return read_survey(here() / "R/data.csv").data;
  };
  const auto told = [&](const char* what) { return holds(read("R/log.txt"), what); };
  const auto both = [](double f) {
    std::vector<std::string> out = rho_and_phase(f);
    for (std::string& row : impedance(f)) out.push_back(std::move(row));
    return out;
  };
  for (const char* form : {"resistivity_phase", "impedance"}) {
    const DataTable t = kept(form, both);
    ASSERT_EQ(t.size(), 18u);
    EXPECT_EQ(t.kind[0].part == Part::real, std::string(form) == "impedance");
    EXPECT_TRUE(told("both forms of a response"));
  }
  EXPECT_EQ(kept("phase", both).size(), 9u);
  // What is there in one form alone is taken as it is, but nothing that is not asked for.
  EXPECT_EQ(kept("resistivity_phase", impedance).kind[1].part, Part::imag);
  EXPECT_TRUE(told("real and imaginary parts where data.form asks for apparent resistivities"));
  EXPECT_EQ(kept("impedance", rho_and_phase).kind[1].part, Part::phase);
  const DataTable phase = kept("phase", impedance), rho = kept("resistivity", impedance);
  EXPECT_TRUE(told("these are computed"));
  ASSERT_EQ(phase.size(), 9u);
  ASSERT_EQ(rho.size(), 9u);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(phase.kind[i].part, Part::phase);
    EXPECT_NEAR(phase.value[i], 45, 1e-9);
    EXPECT_NEAR(phase.sigma[i], 0.05 * 180 / std::numbers::pi, 1e-9);
    EXPECT_NEAR(rho.value[i], 2, 1e-9);
    EXPECT_NEAR(rho.sigma[i], 0.1 / std::numbers::ln10, 1e-9);
  }
}

// Half of what is asked for does not stand for a whole response in the other form.
TEST_F(Mt2d, AWholeResponseGoesBeforeHalfOfOne) {
  const auto kept = [&](const std::string& form, auto&& rows) {
    write("t.csv", unsorted_table(rows));
    write("case.toml",
          "app = \"inversion.mt2d\"\ndata.files = \"t.csv\"\noutput.pictures = false\n"
          "data.form = \"" +
              form + "\"\n" + coarse);
    const Outcome o = tessera({"run", "case.toml", "--output", "R", "--force"});
    EXPECT_TRUE(o.code == 0 || o.code == 6) << o.err;
    return read_survey(here() / "R/data.csv").data;
  };
  const auto told = [&](const char* what) { return holds(read("R/log.txt"), what); };
  const auto half_beside = [](double f) {
    std::vector<std::string> out = impedance(f);
    out.push_back(rho_and_phase(f)[0]);
    return out;
  };
  const DataTable t = kept("resistivity_phase", half_beside);
  ASSERT_EQ(t.size(), 18u);
  EXPECT_EQ(t.kind[0].part, Part::real);
  EXPECT_EQ(t.kind[1].part, Part::imag);
  EXPECT_TRUE(told("9 data are one half of what data.form asks for"));
  const DataTable asked = kept("impedance", half_beside);
  ASSERT_EQ(asked.size(), 18u);
  EXPECT_EQ(asked.kind[1].part, Part::imag);
  // Halves of both: those that are asked for.
  const DataTable halves = kept("resistivity_phase", [](double f) {
    return std::vector<std::string>{impedance(f)[0], rho_and_phase(f)[0]};
  });
  ASSERT_EQ(halves.size(), 9u);
  EXPECT_EQ(halves.kind[0].part, Part::log10_rho);
  // A phase needs both parts; where one is missing, that is told.
  const DataTable phases = kept("phase", [](double f) {
    std::vector<std::string> out = impedance(f);
    if (f == 10) out[0] = "zyx_im,ohm,-1,0.1";  // the table has no row that is left out
    return out;
  });
  EXPECT_EQ(phases.size(), 6u);
  EXPECT_TRUE(told("3 data of the table are a real part without its imaginary part"));
}

TEST_F(Mt2d, PeriodsWithOneHalfOfAPairAreTold) {
  const std::string station = "t,t,,,,0,0,0,0,0,0,";
  std::string text = unsorted_table(rho_and_phase);
  text.erase(text.find('\n') + 1);
  for (const double f : {100, 10, 1}) {
    for (const std::string& row : rho_and_phase(f))
      text += station + fmt::format("{},{},{},\n", f, 1 / f, row);
    text += station + fmt::format("{},{},{},\n", 2 * f, 0.5 / f, rho_and_phase(f)[0]);
  }
  write("t.csv", text);
  write("case.toml", "app = \"inversion.mt1d\"\ndata = {files = \"t.csv\", response = \"xy\"}\n");
  const Outcome o = tessera({"check", "case.toml"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.out, "3 periods of 1 stations have one half of a pair alone")) << o.out;
}

// The ending of a name may be in capitals.
TEST_F(Mt2d, TablesAreKnownByAnyEnding) {
  write("T.CSV", unsorted_table(rho_and_phase));
  write("case.toml",
        "app = \"inversion.mt2d\"\ndata.files = \"T.CSV\"\ndata.form = \"impedance\"\n"
        "profile.azimuth = \"90 deg\"\n" +
            coarse);
  Outcome o = tessera({"check", "case.toml"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.out, "ohm m and degrees") &&
              holds(o.out, "apparent resistivities and phases where data.form"))
      << o.out;
  write("one.toml", "app = \"inversion.mt1d\"\ndata = {files = \"T.CSV\", response = \"xy\"}\n");
  o = tessera({"check", "one.toml"});
  EXPECT_EQ(o.code, 0) << o.err;
}

// resolved.toml has every key, and is the same case: nothing is doubted there that was not before.
TEST_F(Mt2d, ResolvedCasesAreNotDoubted) {
  make_soundings();
  write(
      "case.toml",
      "app = \"inversion.mt2d\"\ndata.files = \"F/data.csv\"\noutput.pictures = false\n" + coarse);
  tessera({"run", "case.toml", "--output", "R"});
  write("t.csv", unsorted_table(rho_and_phase));
  write("one.toml",
        "app = \"inversion.mt1d\"\ndata = {files = \"t.csv\", response = \"xy\"}\n"
        "posterior.method = \"none\"\ninversion.method = \"gauss_newton\"\n");
  ASSERT_EQ(tessera({"run", "one.toml", "--output", "ONE"}).code, 0);
  for (const char* run : {"F", "R", "ONE"}) {
    const Outcome o = tessera({"check", std::string(run) + "/resolved.toml"});
    EXPECT_TRUE(o.code == 0 || o.code == 4) << run << o.err;
    EXPECT_FALSE(holds(o.err, "has no effect")) << run << o.err;
  }
}

// Keys that a forward run does not read are named, each once.
TEST_F(Mt2d, KeysThatAForwardRunDoesNotReadAreNamed) {
  const auto told = [&](const std::string& more, const char* key) {
    write("f.toml",
          "app = \"inversion.mt2d\"\ntask = \"forward\"\nstations.at = [\"0 m\"]\n"
          "frequencies.at = [\"1 Hz\"]\n" +
              more);
    const Outcome o = tessera({"check", "f.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    const std::size_t at = o.err.find(std::string(key) + " has no effect");
    EXPECT_NE(at, std::string::npos) << key << o.err;
    EXPECT_EQ(o.err.find("warning", at), std::string::npos) << o.err;
  };
  told("data.shortest_period = \"1 s\"\n", "data.shortest_period");
  told("data.longest_period = \"1 s\"\n", "data.longest_period");
  told("data.mask_periods = [\"1 s\"]\n", "data.mask_periods");
  told("data.sign = \"plus\"\n", "data.sign");
  told("data.units = \"ohm\"\n", "data.units");
  told("data.rotation = \"3 deg\"\n", "data.rotation");
  told("section.resistivities = [\"3 ohm*m\"]\n", "section.resistivities");
  told("frequencies.per_decade = 3\n", "frequencies.per_decade");
  write("cells.csv",
        "y0_m,z0_m,y1_m,z1_m,y2_m,z2_m,y3_m,z3_m,resistivity_ohm_m\n"
        "-50000,0,50000,0,50000,9000,-50000,9000,100\n");
  told("section = {file = \"cells.csv\", resistivity = \"3 ohm*m\"}\n", "section.resistivity");
  write("f.toml",
        "app = \"inversion.mt2d\"\ntask = \"forward\"\nfrequencies.at = [\"1 Hz\"]\n"
        "stations = {first = \"0 m\", last = \"3 km\", count = 1}\n");
  EXPECT_TRUE(holds(tessera({"check", "f.toml"}).err, "stations.last has no effect"));
  const fs::path demo = test_data() / "mt/mare2dem_demo";
  if (!fs::exists(demo)) GTEST_SKIP() << "no outline";
  const std::string outline = "section.file = \"" + (demo / "Demo.0.resistivity").string() + "\"\n";
  told(outline + "ground.shape = \"flat\"\n", "ground.shape");
  told(outline + "mesh.cell_width = \"1 km\"\n", "mesh.cell_width");
  told(outline + "section.resistivities = [\"3 ohm*m\"]\n", "section.resistivities");
}

// The doubts that files of soundings have are those of tables, too: time sign and unit.
TEST_F(Mt2d, TablesAreLookedAtForUnitAndTimeSign) {
  const auto check = [&](const char* app, const std::string& more,
                         const std::function<std::vector<std::string>(double)>& rows) {
    write("t.csv", unsorted_table(rows));
    write("c.toml", fmt::format("app = \"{}\"\ndata.files = \"t.csv\"\n{}", app, more));
    const Outcome o = tessera({"check", "c.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out + o.err;
  };
  const auto of_impedance = [](double part, const char* unit, double re, double im) {
    return std::vector{fmt::format("zxy_re,{},{},{}", unit, re * part, 0.1 * part),
                       fmt::format("zxy_im,{},{},{}", unit, im * part, 0.1 * part)};
  };
  const auto ohm = [](double f) {  // of 100 ohm m
    return std::sqrt(8e-7 * std::numbers::pi * std::numbers::pi * f * 100 / 2);
  };
  const double field_unit = 4e-4 * std::numbers::pi;
  for (const auto& [app, more] : {std::pair{"inversion.mt1d", "data.response = \"xy\"\n"},
                                  {"inversion.mt2d", "data.responses = [\"te\"]\n"}}) {
    std::string said =
        check(app, more, [&](double f) { return of_impedance(ohm(f), "ohm", 1, 1); });
    EXPECT_FALSE(holds(said, "E0330") || holds(said, "E0331")) << said;
    said = check(app, more, [&](double f) { return of_impedance(ohm(f), "ohm", 1, -1); });
    EXPECT_TRUE(holds(said,
                      "t.csv: warning E0330: station t0: the xy phase leaves 0..90 degrees "
                      "at 3 of 3 frequencies (median -45 degrees)") &&
                holds(said, "tables are in e^{+i omega t}"))
        << said;
    said = check(app, more, [&](double f) { return of_impedance(ohm(f), "mV/km/nT", 1, 1); });
    EXPECT_TRUE(holds(said,
                      "E0331: station t2: the median apparent resistivity in the table is "
                      "0.00016 ohm m") &&
                holds(said, "with \"ohm\" in the column unit it would be 100 ohm m"))
        << said;
    said =
        check(app, more, [&](double f) { return of_impedance(ohm(f) / field_unit, "ohm", 1, 1); });
    EXPECT_TRUE(holds(said, "E0331") &&
                holds(said, "with \"mV/km/nT\" in the column unit it would be 100 ohm m"))
        << said;
    said = check(app, more, [](double) {
      return std::vector<std::string>{"log10_rho_xy,1,8.6,0.03", "phase_xy,deg,-65,2"};
    });
    EXPECT_TRUE(holds(said, "E0330") && holds(said, "(median -65 degrees)") &&
                holds(said, "in the table is 4e+08 ohm m") &&
                holds(said, "log10_rho is the decimal logarithm of ohm m"))
        << said;
  }
  // -Zyx lies where Zxy does, and the determinant's root has a positive real part.
  for (const char* response : {"yx", "determinant"}) {
    const std::string kind = std::string(response) == "yx" ? "yx" : "det";
    const std::string said =
        check("inversion.mt1d", fmt::format("data.response = \"{}\"\n", response), [&](double f) {
          return std::vector{fmt::format("z{}_re,ohm,{},{}", kind, ohm(f), 0.1 * ohm(f)),
                             fmt::format("z{}_im,ohm,{},{}", kind, -ohm(f), 0.1 * ohm(f))};
        });
    EXPECT_TRUE(holds(said, fmt::format("the {} phase leaves 0..90 degrees", response))) << said;
  }
}

// A table of another response: E0610 names the key that takes its rows, in either app.
TEST_F(Mt2d, TheResponseOfATableIsNamed) {
  const auto said = [&](const std::string& app, const std::string& kind) {
    write("t.csv", unsorted_table([&](double) {
            return kind.starts_with("z")
                       ? std::vector{kind + "_re,ohm,1,0.1", kind + "_im,ohm,1,0.1"}
                       : std::vector{kind + ",1,1,0.1"};
          }));
    write("c.toml", "app = \"" + app + "\"\ndata.files = \"t.csv\"\n");
    const Outcome o = tessera({"check", "c.toml"});
    EXPECT_EQ(o.code, 4) << o.err;
    return o.err;
  };
  for (const auto& [app, kind, hint] :
       {std::tuple{"inversion.mt1d", "zaverage", "hint: data.response = \"average\" takes these"},
        {"inversion.mt1d", "zyx", "hint: data.response = \"yx\" takes these rows"},
        {"inversion.mt1d", "tx_re", "hint: see which responses [data] takes"},
        {"inversion.mt2d", "zdet", "hint: data.responses = [\"determinant\"] takes these rows"},
        {"inversion.mt2d", "ty_re", "hint: data.responses = [\"tipper\"] takes these rows"},
        {"inversion.mt2d", "phase_tensor_xx", "hint: data.responses = [\"phase_tensor\"] takes"},
        {"inversion.mt2d", "zaverage", "hint: see which responses [data] takes"}})
    EXPECT_TRUE(holds(said(app, kind), hint)) << app << kind << said(app, kind);
}

// Tables have no strike to turn te and tm to: the hint is the element that they have.
TEST_F(Mt2d, TablesHaveElementsAndNoModes) {
  write("t.csv", unsorted_table([](double) {
          return std::vector{std::string("zxy_re,ohm,1,0.1"), std::string("zxy_im,ohm,1,0.1")};
        }));
  for (const auto& [mode, hint] :
       {std::pair{"te", "hint: data.response = \"xy\""}, {"tm", "hint: data.response = \"yx\""}}) {
    write("c.toml", std::string("app = \"inversion.mt1d\"\ndata.files = \"t.csv\"\n") +
                        "data.response = \"" + mode + "\"\n");
    const Outcome o = tessera({"check", "c.toml"});
    EXPECT_EQ(o.code, 5) << o.err;
    EXPECT_TRUE(holds(o.err, "c.toml:3:6: error E0601")) << o.err;
    EXPECT_TRUE(holds(o.err, hint)) << o.err;
  }
}

// A table without names: stations are called by their ids.
TEST_F(Mt2d, StationsOfATableWithoutNamesHaveTheirIds) {
  std::string table = "station,frequency_hz,kind,unit,value,sigma\n";
  for (const char* station : {"east", "west"})
    for (const double f : {100.0, 10.0, 1.0})
      table +=
          fmt::format("{0},{1},log10_rho_xy,1,2,0.03\n{0},{1},phase_xy,deg,45,2\n", station, f);
  write("t.csv", table);
  write("c.toml", "app = \"inversion.mt1d\"\ndata = {files = \"t.csv\", response = \"xy\"}\n");
  const Outcome o = tessera({"check", "c.toml"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.out + o.err, "2 of 2 stations have no position (east, west)"))
      << o.out << o.err;
}

}  // namespace
