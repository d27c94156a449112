// SPDX-License-Identifier: Apache-2.0
#include "inversion/sections/draw.h"

#include "inversion/section_file/section_file.h"
#include "tessera/data/plot.h"
#include "tessera/data/windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::sections {
namespace {

namespace fs = std::filesystem;

/// f(number of the first, values of some) for all sections of the file, in order.
template <class F>
void each_batch(const BoxSource& all, const F& f) {
  const Index n = all.type.shape[0], cells = all.type.shape[1] * all.type.shape[2];
  const Index at_once = std::max<Index>(1, (Index{1} << 22) / cells);
  for (Index k = 0; k < n; k += at_once) {
    const Index end = std::min(n, k + at_once);
    const Tensor some = all.read({{k, 0, 0}, {end, all.type.shape[1], all.type.shape[2]}});
    f(k, some.to_vector<float>());
  }
}

}  // namespace

Summary summary_of(const fs::path& run) {
  const BoxSource all = data::open_boxes(run / section_file::kFile, section_file::kDataset);
  Summary s{.count = all.type.shape[0], .rows = all.type.shape[1], .columns = all.type.shape[2]};
  const auto cells = static_cast<std::size_t>(s.rows * s.columns);
  s.cell_mean.assign(cells, 0), s.cell_deviation.assign(cells, 0);
  double least = INFINITY, greatest = -INFINITY;
  std::int64_t seen = 0;
  each_batch(all, [&](Index, const std::vector<float>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {  // Welford's recurrences, cell by cell
      const std::size_t cell = i % cells;
      if (cell == 0) ++seen;
      const double v = values[i], d = v - s.cell_mean[cell];
      s.cell_mean[cell] += d / static_cast<double>(seen);
      s.cell_deviation[cell] += d * (v - s.cell_mean[cell]);
      least = std::min(least, v), greatest = std::max(greatest, v);
    }
  });
  const auto n = static_cast<double>(s.count), m = static_cast<double>(cells);
  double squares = 0;
  for (const double v : s.cell_mean) s.mean += v / m;
  for (std::size_t k = 0; k < cells; ++k) {
    squares += s.cell_deviation[k] / n + std::pow(s.cell_mean[k] - s.mean, 2);
    s.cell_deviation[k] = std::sqrt(s.cell_deviation[k] / n);
  }
  s.deviation = std::sqrt(squares / m);

  constexpr int bins = 60;
  if (!(least < greatest)) least -= 0.5, greatest = least + 1;
  for (int k = 0; k <= bins; ++k) s.edge.push_back(least + (greatest - least) * k / bins);
  s.share.assign(bins, 0);
  each_batch(all, [&](Index, const std::vector<float>& values) {
    for (const float v : values) {
      const double at = (v - least) / (greatest - least) * bins;
      s.share[static_cast<std::size_t>(std::clamp<double>(at, 0, bins - 1))] += 1 / (n * m);
    }
  });
  return s;
}

std::vector<fs::path> draw(const fs::path& run, const Summary& s) {
  const BoxSource all = data::open_boxes(run / section_file::kFile, section_file::kDataset);
  constexpr Index across = 4;
  const Index shown = std::min<Index>(s.count, 12);
  data::Figure some{.width = 510, .height = 380, .title = "The first sections"};
  for (Index k = 0; k < shown; ++k) {
    const Tensor one = all.read({{k, 0, 0}, {k + 1, s.rows, s.columns}});
    const std::vector<float> value = one.to_vector<float>();
    data::Panel p =
        section_file::panel(fmt::format("{}", k), s.rows, s.columns, {value.begin(), value.end()});
    p.row = static_cast<std::size_t>(k / across), p.column = static_cast<std::size_t>(k % across);
    p.colour.axis.min = s.edge.front(), p.colour.axis.max = s.edge.back();
    p.colour.bar = k % across == across - 1 || k == shown - 1;
    some.panels.push_back(std::move(p));
  }
  data::Figure over_all{
      .width = 510, .height = 170, .title = fmt::format("Over {} sections", s.count)};
  over_all.panels = {
      section_file::panel("mean", s.rows, s.columns, s.cell_mean),
      section_file::panel("standard deviation", s.rows, s.columns, s.cell_deviation)};
  data::Panel histogram{.title = "all cells",
                        .x = {.label = "log_{10} resistivity", .unit = "ohm m"},
                        .y = {.label = "share"},
                        .legend = data::Legend::none};
  histogram.series = {data::Steps{.edge = s.edge, .value = s.share}};
  over_all.panels.push_back(std::move(histogram));
  for (std::size_t k = 0; k < 3; ++k) over_all.panels[k].column = k;

  std::vector<fs::path> files = data::save_as_png_and_svg(some, run / "plots", "sections");
  for (fs::path& f : data::save_as_png_and_svg(over_all, run / "plots", "statistics"))
    files.push_back(std::move(f));
  return files;
}

}  // namespace tessera::apps::sections
