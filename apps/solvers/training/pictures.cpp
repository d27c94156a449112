// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/results.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/file_io.h"
#include "tessera/data/plot.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace tessera::apps::training {
namespace {

namespace fs = std::filesystem;
using Numbers = std::vector<double>;

Numbers counted(std::size_t n, double first) {
  Numbers x(n);
  std::iota(x.begin(), x.end(), first);
  return x;
}

data::Figure curves(const Drawn& d, const std::string& title) {
  data::Panel p{.x = {.label = "Epoch"}, .y = {.label = "Loss"}};
  const Numbers x = counted(d.loss.size(), 1);
  const auto all_above_zero = [](const Numbers& v) {
    return std::ranges::none_of(v, [](double y) { return y <= 0; });
  };
  p.y.log = all_above_zero(d.loss) && all_above_zero(d.validation);
  p.series.emplace_back(data::Line{.label = "training", .x = x, .y = d.loss});
  if (!d.validation.empty() && !std::isnan(d.validation.front()))
    p.series.emplace_back(data::Line{.label = "validation", .x = x, .y = d.validation});
  if (d.best_epoch >= 0)
    p.series.emplace_back(
        data::Rule{.label = "best", .at = static_cast<double>(d.best_epoch) + 1, .vertical = true});
  return {.width = 340, .height = 240, .title = title, .panels = {p}};
}

/// Predictions over targets, a panel for each of the first features.
data::Figure parity(const Drawn& d, const std::string& title) {
  const auto n = static_cast<std::size_t>(d.target.dim(0)),
             features = static_cast<std::size_t>(d.target.dim(1));
  const std::size_t shown = std::min<std::size_t>(features, 6),
                    across = std::min<std::size_t>(shown, 3);
  const Numbers t = d.target.to_vector<double>(), y = d.predicted.to_vector<double>();
  data::Figure f{.width = 170.0 * static_cast<double>(across),
                 .height = 170.0 * static_cast<double>((shown + across - 1) / across) + 20,
                 .title = title};
  for (std::size_t k = 0; k < shown; ++k) {
    Numbers known, guessed;
    for (std::size_t s = 0; s < n; ++s)
      known.push_back(t[s * features + k]), guessed.push_back(y[s * features + k]);
    const auto [least, largest] = std::ranges::minmax(known);
    data::Panel p{.title = k < d.names.size() ? d.names[k] : "",
                  .row = k / across,
                  .column = k % across,
                  .x = {.label = k / across + 1 == (shown + across - 1) / across ? "Known" : ""},
                  .y = {.label = k % across == 0 ? "Predicted" : ""},
                  .legend = data::Legend::none};
    p.series.emplace_back(data::Line{.label = "",
                                     .x = {least, largest},
                                     .y = {least, largest},
                                     .stroke = {.colour = data::Colour{0.5, 0.5, 0.5, 1}}});
    p.series.emplace_back(data::Points{.label = "", .x = known, .y = guessed, .size = 2.6});
    f.panels.push_back(std::move(p));
  }
  return f;
}

/// Targets of many features as curves: the sample of the least, the middle and the largest error.
data::Figure samples(const Drawn& d, const std::string& title) {
  const auto features = static_cast<std::size_t>(d.target.dim(1));
  std::vector<std::size_t> order(d.errors.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t s) { return d.errors[s]; });
  const Numbers t = d.target.to_vector<double>(), y = d.predicted.to_vector<double>();
  data::Figure f{.width = 510, .height = 190, .title = title};
  const std::pair<const char*, std::size_t> three[] = {
      {"best", order.front()}, {"median", order[order.size() / 2]}, {"worst", order.back()}};
  for (std::size_t k = 0; k < 3; ++k) {
    const auto [what, s] = three[k];
    const auto row = [&](const Numbers& v) {
      const auto begin = v.begin() + static_cast<std::ptrdiff_t>(s * features);
      return Numbers(begin, begin + static_cast<std::ptrdiff_t>(features));
    };
    char error[32];
    std::snprintf(error, sizeof error, "%.3g %%", 100 * d.errors[s]);
    data::Panel p{.title = std::string(what) + ", " + error,
                  .column = k,
                  .x = {.label = "Feature"},
                  .y = {.group = "targets"}};
    p.series.emplace_back(data::Line{.label = "known", .x = counted(features, 0), .y = row(t)});
    p.series.emplace_back(data::Line{
        .label = "predicted", .x = counted(features, 0), .y = row(y), .stroke = {.dash = {3, 2}}});
    f.panels.push_back(std::move(p));
  }
  return f;
}

data::Figure confusion(const Drawn& d, const std::string& title) {
  const auto n = static_cast<std::size_t>(d.target.dim(0));
  data::Panel p{.x = {.label = "Predicted", .tight = true},
                .y = {.label = "Label", .reversed = true, .tight = true},
                .colour = {.axis = {.label = "Samples"}},
                .legend = data::Legend::none,
                .grid = false};
  p.series.emplace_back(data::HeatMap{.label = "",
                                      .x_edge = counted(n + 1, -0.5),
                                      .y_edge = counted(n + 1, -0.5),
                                      .value = d.target.to_vector<double>()});
  return {.width = 300, .height = 260, .title = title, .panels = {p}};
}

}  // namespace

std::vector<fs::path> draw(const fs::path& folder, const Drawn& d, const std::string& title) {
  std::vector<fs::path> out;
  data::make_folder(folder / "plots");
  const auto save = [&](const data::Figure& f, const std::string& name) {
    std::ranges::move(data::save_as_png_and_svg(f, folder / "plots", name),
                      std::back_inserter(out));
    out.push_back(folder / "plots" / (name + ".csv"));
    data::save_csv(f, out.back());
  };
  const auto with = [&](const std::string& what) {
    return title.empty() ? what : title + ": " + what;
  };
  if (d.loss.size() > 1) save(curves(d, title), "curves");
  if (d.classifies)
    save(confusion(d, with(d.part)), "confusion");
  else if (d.target.dim(1) > 32)
    save(samples(d, with(d.part)), "samples");
  else if (d.target.dim(1) > 0)
    save(parity(d, with(d.part)), "parity");
  return out;
}

}  // namespace tessera::apps::training
