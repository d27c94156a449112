// SPDX-License-Identifier: Apache-2.0
// Apparent resistivities without phases and phases without resistivities: no impedance, but data.
#include "temp_folder.h"
#include "tessera/inversion/mt_transform.h"
#include "tessera/inversion/sounding_read.h"
#include "tessera/inversion/survey_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera::inversion {
namespace {

const std::vector<DatumKind> kRhoAndPhase{{Element::xy, Part::log10_rho},
                                          {Element::xy, Part::phase},
                                          {Element::yx, Part::log10_rho},
                                          {Element::yx, Part::phase}};

/// Two receivers at two frequencies; which of the eight numbers are there differs.
Survey halves() {
  Survey s;
  for (const double y : {0.0, 500.0}) {
    Station t;
    t.id = t.name = y == 0 ? "a" : "b";
    t.place_m = {{0, y, 3}};
    t.distance_m = y;
    s.stations.push_back(t);
  }
  s.data.add(0, 10, kRhoAndPhase[0], 1.5, 0.02);
  s.data.add(0, 10, kRhoAndPhase[3], 50, 2);
  s.data.add(0, 1, kRhoAndPhase[1], 40, 3);
  s.data.add(0, 1, kRhoAndPhase[2], 2.5, 0.04);
  s.data.add(1, 10, kRhoAndPhase[1], 35, 1.5);
  s.data.add(1, 1, kRhoAndPhase[2], 1.0, 0.5);
  s.data.add(1, 1, kRhoAndPhase[3], 60, 1);
  return s;
}
DataTable read_back(const std::filesystem::path& file, double floor = 0,
                    std::optional<double> strike_deg = {}) {
  StationOptions o;
  o.strike_deg = strike_deg;
  o.kinds = kRhoAndPhase;
  o.floors.impedance = floor;
  Survey all;
  for (const StationData& d : read_stations(file, o))
    all.data.append(d.data, static_cast<std::int64_t>(all.stations.size())),
        all.stations.push_back(d.station);
  return all.data;
}
void expect_halves(const DataTable& t) {
  const DataTable wanted = halves().data;
  ASSERT_EQ(t.size(), wanted.size());
  for (std::size_t i = 0; i < t.size(); ++i) {
    EXPECT_EQ(t.kind[i], wanted.kind[i]) << i;
    EXPECT_EQ(t.station[i], wanted.station[i]);
    EXPECT_NEAR(t.frequency_hz[i], wanted.frequency_hz[i], 1e-12);
    EXPECT_NEAR(t.value[i], wanted.value[i], 1e-12);
    EXPECT_NEAR(t.sigma[i], wanted.sigma[i], 1e-12);
  }
}

TEST(HalvesOfPairs, AreDataOfMare2demAndModem) {
  const testing::TempFolder t;
  write_emdata(t / "d.emdata", halves());
  expect_halves(read_back(t / "d.emdata"));
  write_modem(t / "d.dat", halves());
  expect_halves(read_back(t / "d.dat"));
  // Floors hold for them.
  const DataTable raised = read_back(t / "d.emdata", 0.1);
  EXPECT_NEAR(raised.sigma[0], 0.2 / std::numbers::ln10, 1e-12);
  EXPECT_NEAR(raised.sigma[1], 18 / std::numbers::pi, 1e-12);
}

// A quarter turn makes xy of yx: pairs, halves and errors that are kept apart stay what they are.
TEST(HalvesOfPairs, StayAtQuarterTurns) {
  const testing::TempFolder t;
  Survey both = halves();
  both.data = {};
  for (std::int64_t k = 0; k < 2; ++k)  // a pair whose errors do not follow from each other
    for (const DatumKind kind : {kRhoAndPhase[0], kRhoAndPhase[1], kRhoAndPhase[2]})
      both.data.add(k, 10, kind, kind.part == Part::phase ? 30 : 1 + static_cast<double>(k),
                    kind.part == Part::phase ? 2 : 0.01);
  for (const Survey& survey : {halves(), both})
    for (const bool list : {false, true}) {
      const auto file = t / (list ? "d.dat" : "d.emdata");
      list ? write_modem(file, survey) : write_emdata(file, survey);
      const DataTable along = read_back(file);
      ASSERT_EQ(along.size(), survey.data.size());
      for (const double angle : {0.0, 4e-15, 90.0, 180.0, -90.0 - 1e-13, 270.0}) {
        const DataTable turned = read_back(file, 0, angle);
        ASSERT_EQ(turned.size(), along.size()) << angle;
        const bool exchanged = std::abs(std::remainder(angle, 180)) > 1;
        for (std::size_t i = 0; i < along.size(); ++i) {
          DatumKind kind = along.kind[i];
          if (exchanged) kind.element = kind.element == Element::xy ? Element::yx : Element::xy;
          std::size_t j = 0;
          while (j < turned.size() &&
                 !(turned.station[j] == along.station[i] && turned.kind[j] == kind &&
                   turned.frequency_hz[j] == along.frequency_hz[i]))
            ++j;
          ASSERT_LT(j, turned.size()) << angle << " " << i;
          EXPECT_NEAR(turned.value[j], along.value[i], 1e-12) << angle;
          EXPECT_NEAR(turned.sigma[j], along.sigma[i], 1e-12) << angle;
        }
      }
    }
}

// Phases alone, as of a run that inverts these.
TEST(HalvesOfPairs, PhasesAloneReadBack) {
  const testing::TempFolder t;
  Survey s = halves();
  s.data = {};
  for (std::size_t k = 0; k < 2; ++k)
    for (const DatumKind kind : {kRhoAndPhase[1], kRhoAndPhase[3]})
      s.data.add(static_cast<std::int64_t>(k), 1, kind, 30 + static_cast<double>(k), 2);
  write_emdata(t / "d.emdata", s);
  EXPECT_EQ(read_back(t / "d.emdata").value, s.data.value);
  EXPECT_EQ(read_back(t / "d.emdata").kind, s.data.kind);
}

// An error of two decades and one of a degree: an impedance of them is not known to a degree.
TEST(HalvesOfPairs, AnImpedanceHasTheLargerErrorOfItsParts) {
  const auto errors = [](const char* of_rho, const char* of_phase) {
    const std::string text =
        std::string(
            "Format: EMData_2.2\n# MT Frequencies: 1\n1\n# MT Receivers: 1\n0 0 0 0 0 0 0 "
            "0 a\n# Data: 2\n123 1 1 1 2 ") +
        of_rho + "\n104 1 1 1 45 " + of_phase + "\n";
    const Sounding s = parse_stations(text, "a.emdata", {}).at(0);
    return s.impedance_error[0][0][1] / std::abs(s.impedance[0][0][1]);
  };
  EXPECT_NEAR(errors("2", "1"), std::numbers::ln10, 1e-12);
  EXPECT_NEAR(errors("0.01", "10"), std::numbers::pi / 18, 1e-12);
  EXPECT_NEAR(errors("0.01", "0"), 0.005 * std::numbers::ln10, 1e-12);
  EXPECT_NEAR(errors("1e32", "10"), std::numbers::pi / 18, 1e-12);
}

}  // namespace
}  // namespace tessera::inversion
