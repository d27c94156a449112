// SPDX-License-Identifier: Apache-2.0
// Densities of pixels from files.
#include "electromagnetics/waves/case_parts.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/arrays.h"
#include "tessera/data/csv_numbers.h"
#include "tessera/data/png.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tessera::apps::waves {
namespace {

constexpr std::size_t kMostPixels = std::size_t{1} << 26;
constexpr std::size_t kMostDensities = std::size_t{1} << 20;  ///< that differ: each is a medium

[[noreturn]] void refuse_file(data::Diagnostic d) {
  throw data::InputError(data::ExitCode::input_invalid, {std::move(d)});
}

/// Rows of numbers between commas, or blanks where a row has no comma, as numpy.savetxt writes
/// them. Lines that begin with `#` and empty ones do not count.
NumberTable read_rows(const std::filesystem::path& path) {
  const data::TextFile text = data::read_text_file(path);
  NumberTable out{{0, 0}, {}};
  for (std::size_t n = 1; n <= text.n_lines(); ++n) {
    const std::string_view line = text.line(n);
    const std::size_t begin = text.line_starts[n - 1], first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] == '#') continue;
    const bool commas = line.find(',') != std::string_view::npos;
    std::size_t columns = 0, at = 0;
    while (at <= line.size()) {
      if (!commas) {
        at = line.find_first_not_of(" \t", at);
        if (at == std::string_view::npos) break;
      }
      const std::size_t end = std::min(line.find_first_of(commas ? "," : " \t", at), line.size());
      std::size_t from = at, to = end;
      while (from < to && (line[from] == ' ' || line[from] == '\t')) ++from;
      while (to > from && (line[to - 1] == ' ' || line[to - 1] == '\t')) --to;
      const std::string_view field = line.substr(from, to - from);
      const std::optional<double> x = data::csv_number(field);
      if (!x)
        refuse_file(text.error(433, begin + from,
                               fmt::format("'{}' is no number", field.substr(0, 40)),
                               "densities are numbers alone, without a line of names"));
      out.values.push_back(*x);
      ++columns;
      at = end + 1;
    }
    if (out.shape[0] == 0) out.shape[1] = columns;
    if (columns != out.shape[1])
      refuse_file(text.error(
          433, begin,
          fmt::format("the row has {} numbers, those before it {}", columns, out.shape[1]),
          "all rows are of one length"));
    ++out.shape[0];
  }
  return out;
}

NumberTable read_array_file(const std::filesystem::path& path) {
  const Tensor t = data::read_npy(path);
  NumberTable out;
  for (const Index n : t.shape()) out.shape.push_back(static_cast<std::size_t>(n));
  if (is_complex(t.dtype()))
    refuse_file({.number = 445, .message = path.string() + " holds complex numbers"});
  out.values = cast(t, Dtype::f64).to_vector<double>();
  return out;
}

std::string place_of(const NumberTable& t, std::size_t n) {
  std::string out;
  for (std::size_t k = t.shape.size(); k-- > 0; n /= t.shape[k])
    out = std::to_string(n % t.shape[k]) + (out.empty() ? "" : ", ") + out;
  return out;
}

NumberTable read_numbers(const std::filesystem::path& path, const std::string& key,
                         const data::Config& config) {
  const std::string ending = path.extension().string();
  if (ending == ".csv" || ending == ".txt") return read_rows(path);
  if (ending == ".npy") return read_array_file(path);
  if (ending == ".png") {
    data::GreyPicture picture = data::read_grey_png(path, {.most_pixels = kMostPixels});
    return {{picture.rows, picture.columns}, std::move(picture.values)};
  }
  refuse_file(config.error(445, key, fmt::format("'{}' is no .csv, .npy or .png", path.string()),
                           "densities are read from these"));
}

/// What speaks against the numbers as densities of a structure.
void check_densities(const NumberTable& t, const StructureOptions& s, const std::string& key,
                     const data::Config& config) {
  const auto wrong = [&](const std::string& what, std::string hint) {
    refuse_file(
        config.error(445, key, fmt::format("{} {}", s.file.string(), what), std::move(hint)));
  };
  if (t.shape.size() != s.axes.size())
    wrong(fmt::format("has {} indices, and axes names {}", t.shape.size(), s.axes.size()),
          "name the axis of each index");
  if (t.values.empty()) wrong("holds no numbers", "give a density for each pixel");
  if (t.values.size() > kMostPixels)
    wrong(fmt::format("has {} pixels, at most 2^26 are read", t.values.size()),
          "take larger pixels");
  std::set<double> different;
  for (std::size_t n = 0; n < t.values.size(); ++n) {
    const double p = t.values[n];
    if (!(p >= 0 && p <= 1))
      wrong(fmt::format("has {} at [{}]: densities lie within 0 and 1", p, place_of(t, n)),
            p > 1 && p <= 255 ? "divide by the largest value, as 255 of grey values"
                              : "mend that number");
    if (different.size() <= kMostDensities) different.insert(p);
  }
  const bool linear = s.interpolation == Interpolation::linear;
  if (different.size() > kMostDensities ||
      (linear && different.size() > 2 &&
       t.values.size() * static_cast<std::size_t>(std::pow(4, t.shape.size())) > kMostPixels))
    wrong("has more than 2^20 different densities", "round them to three digits");
}

}  // namespace

void read_densities(CaseOptions& o, const data::Config& config) {
  for (std::size_t n = 0; n < o.structures.size(); ++n) {
    StructureOptions& s = o.structures[n];
    if (s.shape != ShapeKind::pixels || s.densities) continue;
    const std::string key = structure_key(o, n) + ".file";
    NumberTable t = read_numbers(s.file, key, config);
    check_densities(t, s, key, config);
    s.densities = std::make_shared<const NumberTable>(std::move(t));
  }
}

}  // namespace tessera::apps::waves
