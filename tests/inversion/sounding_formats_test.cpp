// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/info.h"
#include "tessera/inversion/sounding.h"
#include "test_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;
using namespace tessera;

TEST(SoundingFormats, AreKnownToInfo) {
  const auto formats = data::all_formats();
  for (const char* name : {"EDI", "EMTF XML", "Jones J", "EMTF Z"})
    EXPECT_TRUE(std::any_of(formats.begin(), formats.end(), [&](const auto& f) {
      return f.name == name;
    })) << name;
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
  EXPECT_NE(data::to_text(data::info(data_folder / "formats/tf_jfile.j")).find("E0331"),
            std::string::npos);
}
