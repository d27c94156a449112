// SPDX-License-Identifier: Apache-2.0
// Writes what it reads for other programs, for comparison with their readers:
//   write_for_others FOLDER FILE...
// Soundings become FOLDER/survey.dat (ModEM's list) with survey.csv (our table) beside it;
// NAME.emdata and NAME.poly become FOLDER/NAME.emdata and FOLDER/NAME.poly.
#include "tessera/data/file_io.h"
#include "tessera/data/text_file.h"
#include "tessera/inversion/outline_2d.h"
#include "tessera/inversion/survey_files.h"

#include <cstdio>
#include <filesystem>
#include <vector>

using namespace tessera::inversion;

namespace {

std::vector<DatumKind> kinds(std::initializer_list<Element> elements, Part a, Part b) {
  std::vector<DatumKind> out;
  for (const Element e : elements) out.insert(out.end(), {{e, a}, {e, b}});
  return out;
}

void write_all(const std::filesystem::path& folder,
               const std::vector<std::filesystem::path>& files) {
  StationOptions tensor{.strike_deg = 0};
  tensor.kinds =
      kinds({Element::xx, Element::xy, Element::yx, Element::yy, Element::tx, Element::ty},
            Part::real, Part::imag);
  StationOptions modes;
  modes.kinds = kinds({Element::xy, Element::yx}, Part::log10_rho, Part::phase);
  modes.floors.impedance = 0;
  std::vector<StationData> soundings;
  for (const auto& file : files)
    if (file.extension() == ".poly")
      tessera::data::write_file_atomically(
          folder / file.filename(),
          poly_text(read_poly(tessera::data::read_text_file(file).text, file.string())));
    else if (file.extension() == ".emdata")
      write_emdata(folder / file.filename(), line_up_across(read_stations(file, modes), 0));
    else
      for (StationData& s : read_stations(file, tensor)) soundings.push_back(std::move(s));
  if (soundings.empty()) return;
  const Survey survey = line_up_across(std::move(soundings), 0);
  write_modem(folder / "survey.dat", survey, 0);
  write_survey_csv(folder / "survey.csv", survey);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("write_for_others FOLDER FILE...\n", stderr);
    return 2;
  }
  try {
    write_all(argv[1], {argv + 2, argv + argc});
  } catch (const tessera::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 4;
  }
}
