// SPDX-License-Identifier: Apache-2.0
// MARE2DEM's data, by the structure of the program's examples; phases of lists that are written
// here.
#include "findings.h"
#include "temp_folder.h"
#include "tessera/inversion/response.h"
#include "tessera/inversion/sounding_read.h"
#include "tessera/inversion/survey_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

namespace tessera::inversion {
namespace {

int refusal_of_emdata(const std::string& text) {
  try {
    parse_stations(text, "a.emdata", {});
  } catch (const data::InputError& e) {
    return e.findings().front().number;
  }
  return 0;
}

TEST(Emdata, WhatIsNotReadIsRefusedByItsNumber) {
  const std::string good =
      "Format: EMData_2.2\n# MT Frequencies: 1\n0.1\n# MT Receivers: 1\n0 5 1 0 0 2 0 0 r1\n"
      "# Data: 2\n! Type\n123 1 1 1 1.5 0.01\n104 1 0 1 40 1\n";
  const auto number = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return refusal_of_emdata(text);
  };
  EXPECT_EQ(number("r1", "r1"), 0);
  EXPECT_EQ(number("123 1", "133 1"), 363);
  EXPECT_EQ(number("123 1 1", "123 1 7"), 363);
  EXPECT_EQ(number("123 1 1 1", "123 2 1 1"), 362);
  EXPECT_EQ(number("123 1 1 1", "123 1 1 0"), 362);
  EXPECT_EQ(number("# Data: 2", "# Data: 3"), 362);
  EXPECT_EQ(number("104 1 0", "123 1 0"), 362);  // twice
  EXPECT_EQ(number("# Data: 2", "# Data: two"), 309);
  EXPECT_EQ(number("1.5 0.01", "1.5"), 362);
  EXPECT_EQ(number("1.5 0.01", "x 0.01"), 303);
  EXPECT_EQ(number("# MT Receivers: 1", "# CSEM Receivers: 1"), 363);
  EXPECT_EQ(number("EMData_2.2", "other"), 301);
  EXPECT_EQ(number("# Data: 2", "# MT Frequencies: 1\n1\n# Data: 2"), 362);  // twice
  EXPECT_EQ(number("# Data: 2", "# MT Receivers: 1\n0 9 1 0 0 2 0 0 r2\n# Data: 2"), 362);
  EXPECT_EQ(number("0.1\n", "0\n"), 305);
}

// A list has all stations of a survey; of one alone eight MiB are no sounding.
TEST(Emdata, CommentsMayStandAboveTheFormatAndListsMayBeLong) {
  const std::string good =
      "Format: EMData_2.2\n# MT Frequencies: 1\n0.1\n# MT Receivers: 1\n0 5 1 0 0 2 0 0 r1\n"
      "# Data: 2\n! Type\n123 1 1 1 1.5 0.01\n104 1 0 1 40 1\n";
  EXPECT_EQ(sniff_sounding_format("! made by hand\n\n  ! twice\n" + good), "MARE2DEM");
  EXPECT_EQ(sniff_sounding_format("! made by hand"), "");
  EXPECT_EQ(sniff_sounding_format("! made by hand\n" + std::string("Format: other\n")), "");
  EXPECT_EQ(parse_stations("! made by hand\n" + good, "a.emdata", {}).size(), 1u);
  std::string padding;
  while (padding.size() < (std::size_t{9} << 20)) padding += "! " + std::string(100, 'x') + "\n";
  EXPECT_EQ(parse_stations(good + padding, "a.emdata", {}).size(), 1u);
  EXPECT_EQ(refusal_of_emdata(">HEAD\n" + padding), 103);
}

// Receivers before frequencies, data before either, and one receiver that is measured at some of
// the frequencies alone.
TEST(Emdata, SectionsMayStandInAnyOrder) {
  const std::string format = "Format: EMData_2.2\n",
                    frequencies = "# MT Frequencies: 3\n10\n1\n0.1\n",
                    receivers = "# MT Receivers: 2\n0 5 1 0 0 0 0 0 a\n0 9 1 0 0 0 0 0 b\n",
                    data =
                        "# Data: 5\n123 1 0 1 2 0.01\n104 1 0 1 40 1\n123 3 0 1 1 0.01\n"
                        "104 3 0 1 50 1\n125 2 0 2 2 0.01\n";
  for (const std::string& sections :
       {frequencies + receivers + data, receivers + frequencies + data,
        data + frequencies + receivers, frequencies + data + receivers}) {
    const auto read = parse_stations(format + sections, "a.emdata", {});
    ASSERT_EQ(read.size(), 2u) << sections;
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(read[k].frequency_hz, k ? std::vector<double>{1} : std::vector<double>({10, 0.1}));
      for (std::size_t i = 0; i < read[k].size(); ++i) {
        const int row = k ? 1 : 0;
        EXPECT_EQ(read[k].resistivity.rho[i][row][1 - row], std::pow(10.0, k || i == 0 ? 2 : 1));
      }
    }
  }
  EXPECT_EQ(refusal_of_emdata(format + data + receivers), 307);
}

// Phases of TM are those of -Zyx by the format, whatever they are.
TEST(Emdata, PhasesOfTmBeyondNinetyDegreesKeepTheirValue) {
  for (const auto& [first, second, noted] : {std::tuple{100, 110, true}, {-20, 50, false}}) {
    const auto s = parse_stations(
        "Format: EMData_2.2\n# MT Frequencies: 2\n1\n0.1\n# MT Receivers: 1\n0 5 1 0 0 0 0 0 a\n"
        "# Data: 4\n125 1 0 1 2 0.01\n106 1 0 1 " +
            std::to_string(first) + " 1\n125 2 0 1 2 0.01\n106 2 0 1 " + std::to_string(second) +
            " 1\n",
        "a.emdata", {});
    ASSERT_EQ(s.size(), 1u);
    EXPECT_NEAR(phase_degrees(-s[0].impedance[0][1][0]), first, 1e-12);
    EXPECT_NEAR(phase_degrees(-s[0].impedance[1][1][0]), second, 1e-12);
    EXPECT_EQ(says(s[0], 348), noted);
  }
}

/// Of log10 rho and phases of yx of two stations, those of the first beyond 90 degrees.
Survey survey_of_turned_phases() {
  Survey s;
  for (const char* id : {"beyond", "within"}) {
    Station t;
    t.id = t.name = id;
    t.place_m = {0, t.distance_m = 1e3 * static_cast<double>(s.stations.size()), 0};
    s.stations.push_back(t);
  }
  for (const std::int64_t k : {0, 1})
    for (const double f : {10.0, 1.0}) {
      s.data.add(k, f, {Element::yx, Part::log10_rho}, 2, 0.01);
      s.data.add(k, f, {Element::yx, Part::phase}, (k ? 40 : 100) + f, 1);
    }
  return s;
}

// Files that are written here say, or their format does, of which impedance phases of yx are.
TEST(SurveyFiles, PhasesBeyondNinetyDegreesReadBack) {
  const testing::TempFolder t;
  const Survey s = survey_of_turned_phases();
  write_emdata(t / "s.emdata", s);
  write_modem(t / "s.dat", s);
  StationOptions o;
  o.kinds = {{Element::yx, Part::log10_rho}, {Element::yx, Part::phase}};
  o.floors.impedance = 0;
  for (const char* file : {"s.emdata", "s.dat"}) {
    const auto stations = read_stations(t / file, o);
    ASSERT_EQ(stations.size(), 2u);
    for (std::size_t k = 0; k < 2; ++k) {
      const DataTable& read = stations[k].data;
      ASSERT_EQ(read.size(), 4u);
      for (std::size_t i = 0; i < 4; ++i)
        if (read.kind[i].part == Part::phase) {
          EXPECT_NEAR(read.value[i], (k ? 40 : 100) + read.frequency_hz[i], 1e-12) << file;
        }
    }
    EXPECT_FALSE(says(stations[1].station.sounding, 348)) << file;
  }
}

}  // namespace
}  // namespace tessera::inversion
