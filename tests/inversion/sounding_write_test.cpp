// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/sounding_write.h"

#include "temp_folder.h"
#include "tessera/inversion/sounding_read.h"
#include "test_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace fs = std::filesystem;
using namespace tessera;
using namespace tessera::inversion;

namespace {

void expect_same(double a, double b, double limit, const std::string& where) {
  if (std::isnan(a) || std::isnan(b))
    EXPECT_EQ(std::isnan(a), std::isnan(b)) << where;
  else
    EXPECT_LE(std::abs(a - b), limit * std::abs(a)) << where;
}

/// Every number of the sounding through EDI and back; ten digits are written.
void expect_round_trip(const Sounding& s) {
  const Sounding t = parse_sounding(edi_text(s), "written.edi");
  EXPECT_EQ(t.station, s.station);
  ASSERT_EQ(t.size(), s.size()) << s.file;
  ASSERT_EQ(t.has_tipper(), s.has_tipper()) << s.file;
  EXPECT_EQ(t.latitude_deg.has_value(), s.latitude_deg.has_value());
  if (s.latitude_deg && t.latitude_deg) {
    EXPECT_NEAR(*t.latitude_deg, *s.latitude_deg, 2e-10);
    EXPECT_NEAR(*t.longitude_deg, *s.longitude_deg, 2e-10);
  }
  for (std::size_t i = 0; i < s.size(); ++i) {
    expect_same(s.frequency_hz[i], t.frequency_hz[i], 1e-9, s.file);
    EXPECT_NEAR(s.azimuth_deg[i], t.azimuth_deg[i], 1e-7);
    for (int r = 0; r < 2 && s.has_impedance(); ++r)
      for (int c = 0; c < 2; ++c) {
        expect_same(s.impedance[i][r][c].real(), t.impedance[i][r][c].real(), 1e-9, s.file);
        expect_same(s.impedance[i][r][c].imag(), t.impedance[i][r][c].imag(), 1e-9, s.file);
        // Without a value an error says nothing, but it is kept where it stood.
        expect_same(s.impedance_error[i][r][c], t.impedance_error[i][r][c], 1e-9, s.file);
      }
    for (int c = 0; c < 2 && s.has_tipper(); ++c) {
      expect_same(s.tipper[i][c].real(), t.tipper[i][c].real(), 1e-9, s.file);
      expect_same(s.tipper_error[i][c], t.tipper_error[i][c], 1e-9, s.file);
    }
  }
}

TEST(WriteEdi, EveryFileSurvivesTheRoundTrip) {
  const fs::path data = tessera::testing::test_data() / "mt";
  if (!fs::exists(data)) GTEST_SKIP() << "no test data at " << data;
  for (const char* folder :
       {"formats", "gabbs_valley", "samtex_kap03", "winglink3d/LayeredHalfSpace"})
    for (const fs::path& f : list_sounding_files(data / folder))
      expect_round_trip(read_sounding(f));
}

Sounding small() {
  Sounding s{.station = "blank \"and\" comma, here",
             .latitude_deg = -0.5,
             .longitude_deg = 179.9999999999};
  s.frequency_hz = {10, 0.1};
  s.azimuth_deg = {15, 15};
  s.tipper = {{Complex(0.1, -0.2), Complex(NAN, NAN)}, {Complex(0.3, 0.4), Complex(-0.5, 0.6)}};
  s.tipper_error = {{0.01, NAN}, {NAN, 0.02}};
  return s;
}

TEST(WriteEdi, TipperOnlyNegativeZeroDegreesAndNames) {
  const Sounding s = small();
  const Sounding t = parse_sounding(edi_text(s), "t.edi");
  EXPECT_EQ(t.station, "blank 'and' comma, here");
  EXPECT_NEAR(*t.latitude_deg, -0.5, 1e-12);
  EXPECT_NEAR(std::remainder(*t.longitude_deg - 180, 360.0), 0, 1e-9);
  EXPECT_FALSE(t.has_impedance());
  ASSERT_TRUE(t.has_tipper());
  EXPECT_EQ(t.azimuth_deg[0], 15);
  EXPECT_NEAR(t.tipper[1][1].imag(), 0.6, 1e-10);
  EXPECT_TRUE(std::isnan(t.tipper[0][1].real()));
  EXPECT_NEAR(t.tipper_error[0][0], 0.01, 1e-10);
}

TEST(WriteCsv, HasAColumnForEveryHeadAndEmptyFieldsForWhatIsMissing) {
  const Sounding s = small();
  std::istringstream lines(csv_text(std::span(&s, 1)));
  std::string head, row;
  std::getline(lines, head);
  std::getline(lines, row);
  const auto commas = [](const std::string& t) { return std::count(t.begin(), t.end(), ','); };
  EXPECT_EQ(commas(row), commas(head) + 1);  // one inside the quoted name
  EXPECT_EQ(row.substr(0, 33), "\"blank \"\"and\"\" comma, here\",-0.5,");
  EXPECT_NE(row.find(",0.1,-0.2,0.01,,,"), std::string::npos) << row;
}

TEST(WriteEdi, WritesAFile) {
  tessera::testing::TempFolder folder;
  write_edi(folder.path() / "a.edi", small());
  EXPECT_EQ(read_sounding(folder.path() / "a.edi").size(), 2u);
  const Sounding s = small();
  write_csv(folder.path() / "a.csv", std::span(&s, 1));
  EXPECT_GT(fs::file_size(folder.path() / "a.csv"), 100u);
}

}  // namespace
