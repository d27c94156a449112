// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/results.h"

#include "inversion/section_file/section_file.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::prior {
namespace {

namespace fs = std::filesystem;
constexpr Index kShown = 4;
constexpr Index kHeldOut = 1000;  // whose codes and errors go along with the prior

std::vector<double> numbers(const Tensor& t) { return cast(t, Dtype::f64).to_vector<double>(); }

}  // namespace

double Results::rms() const {
  double sum = 0;
  for (const double e : error) sum += e * e;
  return std::sqrt(sum / static_cast<double>(error.size()));
}

inversion::HeldOut Results::held_out() const {
  const Index count = std::ssize(errors_of_some) / section.count();
  return {tensor(codes_of_some, {count, std::ssize(codes_of_some) / count}),
          tensor(errors_of_some, {count, section[0], section[1]})};
}

Results judge(const inversion::SectionPrior& p, const BoxSource& sections, Index first, Index end,
              const Tensor& key) {
  Results r{.section = p.net.lengths};
  const Index rows = r.section[0], columns = r.section[1], cells = rows * columns;
  const auto both = jit([&p](const Tensor& x) {
    const Tensor z = p.encode(x);
    return std::pair(z, p.decode(z));
  });
  const Index kept = std::min(kHeldOut, end - first);
  std::vector<double> squares(static_cast<std::size_t>(cells));
  double of_blocks = 0, blocks = 0;
  constexpr Index kBatch = 64;
  for (Index k = first; k < end; k += kBatch) {
    const Index n = std::min(kBatch, end - k);
    const Tensor x = sections.read({{k, 0, 0}, {k + n, rows, columns}});
    const auto [z, y] = both(x);
    const std::vector<double> at = numbers(x), found = numbers(y);
    if (k < first + kept)
      for (const double v : numbers(slice(z, 0, 0, std::min(n, first + kept - k))))
        r.codes_of_some.push_back(v);
    for (const double v : numbers(mean(square(z), {-1}))) r.norm.push_back(v);
    for (Index i = 0; i < n; ++i) {
      double sum = 0;
      for (Index c = 0; c < cells; ++c) {
        const auto j = static_cast<std::size_t>(i * cells + c);
        const double d = std::pow(at[j] - found[j], 2);
        if (k + i < first + kept) r.errors_of_some.push_back(at[j] - found[j]);
        sum += d, squares[static_cast<std::size_t>(c)] += d;
      }
      r.error.push_back(std::sqrt(sum / static_cast<double>(cells)));
      for (Index row = 0; row + 4 <= rows; row += 4)
        for (Index column = 0; column + 4 <= columns; column += 4) {
          double d = 0;
          for (Index c = 0; c < 16; ++c) {
            const auto j =
                static_cast<std::size_t>(i * cells + (row + c / 4) * columns + column + c % 4);
            d += (at[j] - found[j]) / 16;
          }
          of_blocks += d * d, blocks += 1;
        }
    }
    if (k == first) {
      const auto shown = std::min(kShown, n) * cells;
      r.truth.assign(at.begin(), at.begin() + shown);
      r.decoded.assign(found.begin(), found.begin() + shown);
    }
  }
  for (const double s : squares)
    r.cell_error.push_back(std::sqrt(s / static_cast<double>(end - first)));
  r.mean_of_16 = blocks > 0 ? std::sqrt(of_blocks / blocks) : r.rms();
  const Index codes = p.net.grow.w.dim(0);
  r.drawn = numbers(p.decode(normal(key, {kShown, codes}, p.net.grow.w.dtype())));
  return r;
}

void write_results(const fs::path& run, const Results& r) {
  data::H5Writer h(run / "results.h5");
  const auto rows = static_cast<std::uint64_t>(r.section[0]),
             columns = static_cast<std::uint64_t>(r.section[1]);
  const auto stack = [&](const char* name, const std::vector<double>& v, const char* what) {
    h.write(name, v, {v.size() / (rows * columns), rows, columns},
            {.units = "1", .long_name = what});
  };
  h.write("prior/curves/loss", r.loss, {}, {.units = "1", .long_name = "loss of the training"});
  h.write("prior/curves/validation", r.validation, {},
          {.units = "1", .long_name = "loss of the validation"});
  h.write("prior/test/error", r.error, {},
          {.units = "1", .long_name = "root mean square error of each section, decades"});
  h.write("prior/test/norm", r.norm, {},
          {.units = "1", .long_name = "mean square of each section's codes"});
  h.write("prior/test/cell_error", r.cell_error, {rows, columns},
          {.units = "1", .long_name = "root mean square error of each cell, decades"});
  stack("prior/shown/truth", r.truth, "sections of the test, log10 of ohm m");
  stack("prior/shown/decoded", r.decoded, "what is decoded of their codes");
  stack("prior/shown/drawn", r.drawn, "draws of the prior");
  h.commit();
}

Results read_results(const fs::path& run) {
  const fs::path file = run / "results.h5";
  const auto all = data::read_h5(file, {}, data::limits_of_results());
  const auto take = [&](const std::string& name) -> const data::H5Array& {
    const auto at = all.find("/" + name);
    if (at == all.end() || !std::holds_alternative<std::vector<double>>(at->second.data))
      throw data::InputError(
          {.number = 428,
           .place = {file.string()},
           .message = "the file has no '" + name + "': it is no result of inversion.prior"});
    return at->second;
  };
  const auto values = [&](const std::string& name) {
    return std::get<std::vector<double>>(take(name).data);
  };
  Results r{.loss = values("prior/curves/loss"),
            .validation = values("prior/curves/validation"),
            .error = values("prior/test/error"),
            .norm = values("prior/test/norm"),
            .cell_error = values("prior/test/cell_error")};
  for (const std::uint64_t n : take("prior/test/cell_error").shape)
    r.section.push_back(static_cast<Index>(n));
  r.truth = values("prior/shown/truth"), r.decoded = values("prior/shown/decoded");
  r.drawn = values("prior/shown/drawn");
  return r;
}

std::vector<fs::path> draw(const fs::path& run, const Results& r) {
  const auto [least, greatest] = std::minmax_element(r.truth.begin(), r.truth.end());
  const auto cells = static_cast<std::size_t>(r.section.count());
  data::Figure f{.width = 510, .height = 380, .title = "Sections of the test, decoded, and draws"};
  std::size_t row = 0;
  for (const auto& [name, all] : {std::pair("test", &r.truth), std::pair("decoded", &r.decoded),
                                  std::pair("drawn", &r.drawn)}) {
    for (std::size_t k = 0; (k + 1) * cells <= all->size(); ++k) {
      const auto from = all->begin() + static_cast<std::ptrdiff_t>(k * cells);
      data::Panel p = section_file::panel(k == 0 ? name : "", r.section[0], r.section[1],
                                          {from, from + static_cast<std::ptrdiff_t>(cells)});
      p.row = row, p.column = k;
      p.colour.axis.min = *least;
      p.colour.axis.max = *least < *greatest ? *greatest : *least + 1;
      p.colour.bar = (k + 2) * cells > all->size();
      f.panels.push_back(std::move(p));
    }
    ++row;
  }
  std::vector<double> epoch;
  for (std::size_t k = 1; k <= r.loss.size(); ++k) epoch.push_back(static_cast<double>(k));
  data::Figure curves{.width = 510, .height = 190};
  data::Panel left{.x = {.label = "epoch"}, .y = {.label = "loss"}};
  left.series = {data::Line{.label = "training", .x = epoch, .y = r.loss},
                 data::Line{.label = "validation", .x = epoch, .y = r.validation}};
  data::Panel right{.title = "of the test",
                    .column = 1,
                    .x = {.label = "mean square of codes"},
                    .y = {.label = "error", .unit = "decades"},
                    .legend = data::Legend::none};
  right.series = {data::Points{.x = r.norm, .y = r.error, .size = 2}};
  curves.panels = {std::move(left), std::move(right)};
  std::vector<fs::path> files = data::save_as_png_and_svg(f, run / "plots", "sections");
  for (fs::path& file : data::save_as_png_and_svg(curves, run / "plots", "learning"))
    files.push_back(std::move(file));
  return files;
}

}  // namespace tessera::apps::prior
