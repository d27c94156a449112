// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/predict.h"

#include "solvers/training/model.h"
#include "solvers/training/tables.h"
#include "support/report.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/arrays.h"
#include "tessera/data/csv.h"
#include "tessera/data/file_io.h"

#include <cmath>

namespace tessera::apps::training {
namespace {

namespace fs = std::filesystem;

void write_table(const fs::path& output, const fs::path& file, const Model& m, const Tensor& y,
                 bool labels) {
  const Table table = read_tables({file}).front();
  const auto features = static_cast<std::size_t>(y.dim(-1));
  const Words& names = labels ? m.columns.labels : m.columns.targets;
  std::vector<std::string> columns;
  for (const data::CsvColumn& c : table.texts.columns) columns.push_back(c.name);
  if (labels) columns.emplace_back("predicted");
  for (std::size_t k = 0; k < features; ++k)
    columns.push_back((labels ? "probability " : "predicted ") + names.at(k));
  data::CsvTable t(columns);
  const std::vector<double> v = y.to_vector<double>();
  for (std::size_t r = 0; r < table.texts.rows(); ++r) {
    for (const data::CsvColumn& c : table.texts.columns) t.add(c.texts[r]);
    const auto row = v.begin() + static_cast<std::ptrdiff_t>(r * features);
    if (labels) {
      const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(features));
      t.add(names.at(static_cast<std::size_t>(best - row)));
    }
    for (std::size_t k = 0; k < features; ++k) t.add(v[r * features + k]);
    t.end_row();
  }
  data::write_file_atomically(output, t.text());
}

}  // namespace

void predict(const fs::path& run, const fs::path& file, const fs::path& output) {
  const data::Config config = data::read_config(run / "resolved.toml");
  const Options o = read_options(config);
  if (!fs::exists(run / "weights.safetensors"))
    throw data::InputError({.number = 673,
                            .place = {.file = run.string()},
                            .message = "there are no weights: the run has not ended",
                            .hint = "tessera resume " + for_shell(run.string())});
  const Model m = load_model(o, config, run / "weights.safetensors");
  const auto [x, from] = read_inputs(o, m.columns, file);
  const Shape sample = sample_shape(m.input.apply(x));
  if (sample != m.sample)
    throw data::InputError({.number = 672,
                            .place = {.file = file.string()},
                            .message = "its samples become " + to_string(sample) +
                                       ", the network takes " + to_string(m.sample)});
  check_numbers(m.network, transformed(m.input, x, m.dtype, "input", from), from);
  Tensor y = m.predict(x);
  if (o.classifies()) y = softmax(y, -1);
  const bool table = output.extension() == ".csv";
  if (!table && output.extension() != ".npy")
    throw data::InputError({.number = 672,
                            .place = {.file = output.string()},
                            .message = "predictions are tables (.csv) or arrays (.npy)",
                            .hint = "name a file of one of these"});
  if (table && o.data.tables.empty())
    throw data::InputError({.number = 672,
                            .place = {.file = output.string()},
                            .message = "the run has learnt from arrays",
                            .hint = "name a .npy file"});
  if (table)
    write_table(output, file, m, y, o.classifies());
  else
    data::write_npy(output, y);
}

}  // namespace tessera::apps::training
