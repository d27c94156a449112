// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/mare2dem_model.h"

#include "tessera/data/text_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tessera::inversion {
namespace {

class ResistivityReader {
 public:
  explicit ResistivityReader(const data::TextFile& text) : text_(text), findings_(text) {}

  Mare2demModel read() {
    std::size_t line = 1;
    while (line <= text_.n_lines() && !regions_) header(line++);
    if (!regions_)
      findings_.error(365, text_.text.size() - 1, "the file has no line 'Number of regions:'");
    findings_.throw_if_errors();
    for (; line <= text_.n_lines(); ++line) region(line);
    findings_.throw_if_errors();
    if (model_.regions.size() < *regions_) {
      findings_.error(
          365, text_.text.size() - 1,
          fmt::format("the file ends after {} of {} regions", model_.regions.size(), *regions_));
      findings_.throw_if_errors();
    }
    return std::move(model_);
  }

 private:
  /// Key: value ! comment
  void header(std::size_t number) {
    const std::string_view line = text_.line(number);
    const std::string_view said = line.substr(0, line.find('!'));
    const std::size_t colon = said.find(':');
    if (data::trim(said).empty()) return;
    if (colon == std::string_view::npos)
      return findings_.error(365, text_.line_starts[number - 1], "expected 'Key: value'");
    const std::string key = data::upper(data::trim(said.substr(0, colon)));
    const std::string_view word = data::trim(said.substr(colon + 1));
    const std::size_t offset =
        text_.line_starts[number - 1] +
        (word.empty() ? colon : static_cast<std::size_t>(word.data() - line.data()));
    const std::string value = data::upper(word);
    if (key == "FORMAT") {
      if (!value.starts_with("MARE2DEM_1"))
        findings_.error(365, offset,
                        data::shown(word) + ": mare2dem_1.0 and mare2dem_1.1 are read");
    } else if (key == "MODEL FILE") {
      model_.model_file = word;
    } else if (key == "DATA FILE") {
      model_.data_file = word;
    } else if (key == "ANISOTROPY") {
      model_.anisotropic = value == "TRIAXIAL";
      if (!model_.anisotropic && value != "ISOTROPIC")
        findings_.error(
            365, offset,
            "anisotropy " + data::shown(word) + " is not read: isotropic and triaxial are");
    } else if (key == "NUMBER OF REGIONS") {
      regions_ = data::parse_count({word, offset}, 10'000'000, "the number of regions", findings_)
                     .value_or(0);
    }
  }

  /// number, rho, whether free, lower, upper, reference, weight; of triaxial ones three of each.
  void region(std::size_t number) {
    const std::string_view line = text_.line(number);
    const std::size_t begin = text_.line_starts[number - 1];
    const auto words =
        data::split_tokens(text_.text, begin, begin + line.substr(0, line.find('!')).size());
    if (words.empty()) return;
    const std::size_t axes = model_.anisotropic ? 3 : 1;
    if (words.size() < 1 + 2 * axes)
      return findings_.error(365, words.back().offset,
                             fmt::format("a region has {} numbers or more: its number, {} "
                                         "resistivities, which are free; there are {}",
                                         1 + 2 * axes, axes, words.size()));
    std::vector<double> v;
    for (const data::Token& word : words)
      v.push_back(data::parse_number(word, data::Exponent::fortran, findings_).value_or(0));
    if (model_.regions.size() == *regions_)
      return findings_.error(365, words[0].offset, "there are more regions than the file says");
    if (v[0] != static_cast<double>(model_.regions.size() + 1))
      return findings_.error(365, words[0].offset,
                             fmt::format("region {} is due here", model_.regions.size() + 1));
    Mare2demModel::Region r;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t at = std::min(a, axes - 1);
      r.ohm_m[a] = v[1 + at];
      r.free[a] = v[1 + axes + at] != 0;
      if (a < axes && !(r.ohm_m[a] > 0))
        findings_.error(365, words[1 + a].offset, "a resistivity is positive");
    }
    if (!model_.anisotropic && v.size() >= 5) r.lower = v[3], r.upper = v[4];
    if (!model_.anisotropic && v.size() >= 7) r.reference = v[5], r.weight = v[6];
    model_.regions.push_back(r);
  }

  const data::TextFile& text_;
  data::Findings findings_;
  Mare2demModel model_;
  std::optional<std::size_t> regions_;
};

}  // namespace

Mare2demModel read_mare2dem_model(const std::string& text, const std::string& name) {
  const data::TextFile file = data::make_text_file(name, text);
  return ResistivityReader(file).read();
}

std::vector<Medium2d> media_of(const Mare2demModel& model) {
  std::vector<Medium2d> out;
  for (std::size_t k = 0; k < model.regions.size(); ++k)
    out.push_back(model.regions[k].is_air() ? air() : Medium2d{.parameter = static_cast<Index>(k)});
  return out;
}

}  // namespace tessera::inversion
