// SPDX-License-Identifier: Apache-2.0
#include "matches.h"
#include "temp_folder.h"
#include "tessera/data/info.h"
#include "tessera/inversion/sounding.h"
#include "test_data.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace fs = std::filesystem;
using namespace tessera;

TEST(SoundingFormats, AreKnownToInfo) {
  const auto formats = data::all_formats();
  for (const char* name : {"EDI", "EMTF XML", "Jones J", "EMTF Z", "ModEM", "MARE2DEM"})
    EXPECT_TRUE(std::any_of(formats.begin(), formats.end(), [&](const auto& f) {
      return f.name == name;
    })) << name;
}

TEST(SoundingFormats, StandOnTheirPagesWithTheirEndings) {
  // | SEG EDI | what is read | its defaults |; and in the how-to the endings of files in a folder
  const fs::path docs = fs::path(TESSERA_SOURCE_DIR) / "docs";
  const std::string page = tessera::testing::read_bytes(docs / "reference/mt-files.md"),
                    how_to = tessera::testing::read_bytes(docs / "how-to/soundings.md");
  const auto rows = matches(page.substr(0, page.find("\nWritten are ")),
                            R"(\n\| ((?:SEG|EMTF|Jones|ModEM|MARE2DEM)[^|]*) \|)");
  std::size_t formats = 0;
  for (const data::FileFormat& f : data::all_formats()) {
    if (f.summary.find("magnetotelluric") == std::string::npos) continue;
    ++formats;
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
      return row[1].find(f.name) != std::string::npos;
    })) << f.name;
    for (const std::string& ending : f.extensions)
      EXPECT_NE(how_to.find("`" + ending + "`"), std::string::npos) << ending;
  }
  EXPECT_EQ(rows.size(), formats);
}

TEST(SoundingFormats, InfoTellsStationFrequenciesAndFindings) {
  const fs::path data_folder = tessera::testing::test_data() / "mt";
  if (!fs::exists(data_folder)) GTEST_SKIP() << "no test data at " << data_folder;
  const struct {
    const char *file, *format;
  } rows[] = {{"formats/tf_edi_spectra_in.edi", "EDI SPECTRA"},
              {"formats/tf_xml.xml", "EMTF XML"},
              {"formats/tf_jfile.j", "Jones J"},
              {"formats/tf_zmm.zmm", "EMTF Z"}};
  for (const auto& row : rows) {
    const data::InfoNode node = data::info(data_folder / row.file);
    EXPECT_EQ(node.name, row.format);
    const std::string text = data::to_text(node);
    for (const char* word :
         {"station", "frequencies", "longest_period_s", "median_determinant_resistivity_ohm_m"})
      EXPECT_NE(text.find(word), std::string::npos) << row.file << "\n" << text;
  }
  const std::string line =
      data::to_text(data::info(data_folder / "mare2dem_demo/DemoSynthMT.emdata"));
  EXPECT_NE(line.find("25"), std::string::npos) << line;
  EXPECT_NE(line.find("first_station"), std::string::npos) << line;
  EXPECT_NE(data::to_text(data::info(data_folder / "formats/tf_jfile.j")).find("E0331"),
            std::string::npos);
}

// A list without the diagonal has no determinant: that is told, and not nan.
TEST(SoundingFormats, InfoOfStationsWithoutDiagonalSaysSo) {
  const tessera::testing::TempFolder folder;
  const fs::path list = folder.path() / "list.dat";
  std::ofstream(list) << "# Period(s) Code GG_Lat GG_Lon X(m) Y(m) Z(m) Component Real Imag Error\n"
                         "# of a test\n> Off_Diagonal_Impedance\n> exp(+i\\omega t)\n"
                         "> [V/m]/[T]\n> 0.00\n> 45.0 -90.0\n> 1 1\n"
                         "10 S001 45.1 -90.2 100 200 0 ZXY 3e3 3e3 1e2\n"
                         "10 S001 45.1 -90.2 100 200 0 ZYX -3e3 -3e3 1e2\n";
  const std::string text = data::to_text(data::info(list));
  EXPECT_NE(text.find("median_determinant_resistivity_ohm_m"), std::string::npos) << text;
  EXPECT_NE(text.find("none: nowhere are all four elements given"), std::string::npos) << text;
  EXPECT_EQ(text.find(": nan"), std::string::npos) << text;
}
