// SPDX-License-Identifier: Apache-2.0
// The real files of TESSERA_TEST_DATA/mt: every one reads, with the traps known for it handled and
// said.
#include "findings.h"
#include "tessera/inversion/response.h"
#include "tessera/inversion/sounding_read.h"
#include "test_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace fs = std::filesystem;
using namespace tessera;
using namespace tessera::inversion;

namespace {

fs::path data_folder() { return tessera::testing::test_data() / "mt"; }

class SoundingFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(data_folder())) GTEST_SKIP() << "no test data at " << data_folder();
  }
  static Sounding read(const char* name, const ReadOptions& options = {}) {
    return read_sounding(data_folder() / name, options);
  }
};

double rho_xy(const Sounding& s, std::size_t i) {
  return apparent_resistivity(s.frequency_hz[i], s.impedance[i][0][1]);
}
double degrees(Complex z) { return std::arg(z) * 180 / std::numbers::pi; }

TEST_F(SoundingFiles, EveryFileReadsAndIsInOrder) {
  std::size_t files = 0;
  for (const char* folder : {"formats", "gabbs_valley", "samtex_kap03", "winglink3d/HalfSpace",
                             "winglink3d/HalfSpaceSQC", "winglink3d/LayeredHalfSpace"}) {
    const auto list = list_sounding_files(data_folder() / folder);
    const SoundingSet set = read_soundings(list);
    EXPECT_TRUE(set.errors.empty()) << data::to_string(set.errors.front());
    files += set.soundings.size();
    for (const Sounding& s : set.soundings) {
      EXPECT_FALSE(s.station.empty());
      ASSERT_GT(s.size(), 0u) << s.file;
      EXPECT_EQ(s.impedance.size(), s.size()) << s.file;
      EXPECT_EQ(s.impedance_error.size(), s.size()) << s.file;
      EXPECT_EQ(s.azimuth_deg.size(), s.size()) << s.file;
      for (std::size_t i = 0; i < s.size(); ++i) {
        EXPECT_GT(s.frequency_hz[i], 0) << s.file;
        if (i > 0) {
          EXPECT_LT(s.frequency_hz[i], s.frequency_hz[i - 1]) << s.file;
        }
        for (const auto& row : s.impedance_error[i])
          for (const double e : row) EXPECT_TRUE(std::isnan(e) || (e > 0 && e < 1e6)) << s.file;
      }
    }
  }
  EXPECT_EQ(files, 8u + 20 + 26 + 93);
}

TEST_F(SoundingFiles, HalfSpaceOfWinglinkIs180OhmMeters) {
  const Sounding s = read("winglink3d/HalfSpace/par16ew.edi");
  // The README's 180 ohm m; the two highest frequencies suffer from the source's coarse grid.
  for (std::size_t i = 2; i < s.size(); ++i) {
    EXPECT_NEAR(rho_xy(s, i), 180, 2) << s.frequency_hz[i];
    EXPECT_NEAR(degrees(s.impedance[i][0][1]), 45, 0.5) << s.frequency_hz[i];
  }
  EXPECT_TRUE(says(s, 335));  // zero variances
  for (const auto& e : s.impedance_error) EXPECT_TRUE(std::isnan(e[0][1]));
}

TEST_F(SoundingFiles, BirrpFileThatSaysSiIsReportedAndConvertedOnlyWhenTold) {
  const Sounding as_stated = read("formats/tf_jfile.j");
  EXPECT_TRUE(says(as_stated, 330));  // phase
  EXPECT_TRUE(says(as_stated, 331));  // units
  EXPECT_NEAR(rho_xy(as_stated, 0), 2.2e8, 0.1e8);
  EXPECT_NEAR(degrees(as_stated.impedance[0][0][1]), -47.9, 0.1);
  const Sounding told = read("formats/tf_jfile.j", {TimeSign::minus, ImpedanceUnits::field});
  EXPECT_NEAR(rho_xy(told, 0), 349.3, 0.1);
  EXPECT_NEAR(degrees(told.impedance[0][0][1]), 47.9, 0.1);
  EXPECT_FALSE(says(told, 331));
  EXPECT_EQ(told.size(), 12u);  // two rows of -999
}

TEST_F(SoundingFiles, RotatedStationsOfKap03) {
  const Sounding s = read("samtex_kap03/kap130.edi");
  ASSERT_TRUE(s.latitude_deg && s.longitude_deg);
  EXPECT_NEAR(*s.latitude_deg, -28.40306, 1e-5);
  EXPECT_NEAR(*s.longitude_deg, 24.09528, 1e-5);
  EXPECT_EQ(s.azimuth_deg.front(), -20);
  EXPECT_TRUE(says(s, 339));
  EXPECT_TRUE(says(s, 332));                                // REFLAT/REFLONG
  EXPECT_TRUE(std::isnan(s.impedance_error.back()[0][0]));  // variance 1e32
  const Sounding filler = read("samtex_kap03/kap145.edi");
  EXPECT_TRUE(says(filler, 356));
  EXPECT_EQ(filler.size(), 17u);
  EXPECT_LT(filler.frequency_hz.front(), 1);
  EXPECT_TRUE(says(read("samtex_kap03/kap151.edi"), 331));
}

TEST_F(SoundingFiles, GabbsValley) {
  const Sounding s = read("gabbs_valley/gv101.edi");
  EXPECT_EQ(s.azimuth_deg.front(), -12.5);  // ZROT 347.5
  EXPECT_TRUE(s.units_stated);
  EXPECT_TRUE(s.sign_stated);
  EXPECT_NEAR(*s.longitude_deg, -118.351111, 1e-6);
  EXPECT_DOUBLE_EQ(s.impedance[0][0][0].real(), 5.871763e-01 * ohm_per_field_unit);
}

TEST_F(SoundingFiles, SpectraGiveTheImpedanceWithErrorsAndCovariance) {
  const Sounding s = read("formats/tf_edi_spectra_in.edi");
  EXPECT_EQ(s.format, "EDI SPECTRA");
  EXPECT_EQ(s.azimuth_deg.front(), 107);
  ASSERT_EQ(s.size(), 33u);
  ASSERT_FALSE(s.impedance_covariance.empty());
  EXPECT_TRUE(s.has_tipper());
  // Values of an independent reader (mt_metadata 1.0.12), which gives sqrt(variance of the complex
  // element).
  EXPECT_NEAR(s.impedance[0][0][1].real() / ohm_per_field_unit, 188.7066647, 1e-5);
  EXPECT_NEAR(s.impedance[0][0][1].imag() / ohm_per_field_unit, 107.4207965, 1e-5);
  EXPECT_NEAR(s.impedance_error[0][0][1] / ohm_per_field_unit, 0.42190776 / std::sqrt(2.0), 1e-6);
  EXPECT_NEAR(s.impedance_error[0][1][0] / ohm_per_field_unit, 0.70158401 / std::sqrt(2.0), 1e-6);
}

TEST_F(SoundingFiles, CovarianceOfTheXmlFileGivesItsVariances) {
  const Sounding s = read("formats/tf_xml.xml");
  EXPECT_EQ(s.station, "NMX20");
  ASSERT_FALSE(s.impedance_covariance.empty());
  for (std::size_t i = 0; i < s.size(); ++i)
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < 2; ++c) {
        const double from_covariance = s.impedance_covariance.residual[i][r][r].real() *
                                       s.impedance_covariance.signal_inverse[i][c][c].real();
        // The file prints seven digits.
        EXPECT_NEAR(from_covariance / (2 * s.impedance_error[i][r][c] * s.impedance_error[i][r][c]),
                    1, 1e-4);
      }
}

TEST_F(SoundingFiles, StationsComeInNaturalOrder) {
  const auto list = list_sounding_files(data_folder() / "gabbs_valley");
  ASSERT_EQ(list.size(), 20u);
  EXPECT_EQ(list.front().filename(), "gv101.edi");
  EXPECT_EQ(list.back().filename(), "gv139.edi");
}

}  // namespace
