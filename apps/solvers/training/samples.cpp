// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/samples.h"

#include "solvers/training/tables.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/arrays.h"
#include "tessera/data/csv.h"

#include <algorithm>
#include <cmath>

namespace tessera::apps::training {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, std::string message, std::string hint = {}) {
  throw data::InputError({.number = 672,
                          .place = {.file = file.string()},
                          .message = std::move(message),
                          .hint = std::move(hint)});
}

Tensor array_of(const fs::path& file, const std::string& name) {
  const Tensor t = data::read_array(file, name);
  if (is_complex(t.dtype())) refuse(file, "has complex numbers; samples are real");
  if (t.ndim() < 1) refuse(file, "holds one number: the first axis counts the samples");
  return cast(t, Dtype::f64);
}

/// Files one after another along the first axis.
Tensor joined(const std::vector<fs::path>& files, const std::vector<Tensor>& parts) {
  for (std::size_t k = 1; k < parts.size(); ++k)
    if (sample_shape(parts[k]) != sample_shape(parts[0]))
      refuse(files[k], "its samples are " + to_string(sample_shape(parts[k])) + ", those of " +
                           files[0].filename().string() + " " + to_string(sample_shape(parts[0])));
  return parts.size() == 1 ? parts[0] : concatenate(parts, 0);
}

SampleFiles one_file(const fs::path& file, const Tensor& t) {
  return {.files = {file}, .counts = {t.dim(0)}};
}

void check_finite(const Tensor& t, const char* what, const fs::path& file) {
  if (const auto bad = not_finite(t))
    refuse_sample(one_file(file, t), *bad, what, ": expected finite numbers",
                  "leave that sample out");
}

/// Labels are integers from 0; one more than the largest.
std::int64_t classes_of(const Tensor& targets, const fs::path& file) {
  double largest = -1;
  const std::vector<double> v = targets.to_vector<double>();
  for (std::size_t k = 0; k < v.size(); ++k) {
    if (!(v[k] >= 0 && v[k] == std::floor(v[k]) && v[k] < 1e6))
      refuse(file,
             "label " + std::to_string(k) + " is " + data::number_text(v[k]) +
                 ": expected integers from 0 on",
             "cross_entropy takes labels; training.loss says what is learnt");
    largest = std::max(largest, v[k]);
  }
  return static_cast<std::int64_t>(largest) + 1;
}

Samples from_arrays(const Options& o) {
  const DataOptions& d = o.data;
  std::vector<Tensor> in, out;
  Samples s;
  for (std::size_t k = 0; k < d.inputs.size(); ++k) {
    in.push_back(array_of(d.inputs[k], d.input_array));
    out.push_back(array_of(d.targets[k], d.target_array));
    if (in[k].dim(0) != out[k].dim(0))
      refuse(d.targets[k], "has " + std::to_string(out[k].dim(0)) + " targets, " +
                               d.inputs[k].filename().string() + " " +
                               std::to_string(in[k].dim(0)) + " inputs");
    check_finite(in[k], "input", d.inputs[k]);
    check_finite(out[k], "target", d.targets[k]);
    if (o.classifies()) s.classes = std::max(s.classes, classes_of(out[k], d.targets[k]));
    s.input_files.counts.push_back(in[k].dim(0));
    if (o.split.by == SplitBy::file)
      s.groups.insert(s.groups.end(), static_cast<std::size_t>(in[k].dim(0)),
                      static_cast<std::int64_t>(k));
  }
  s.inputs = joined(d.inputs, in);
  s.targets = joined(d.targets, out);
  if (o.classifies()) s.targets = cast(s.targets, Dtype::i64);
  s.input_files.files = d.inputs;
  s.target_files = {.files = d.targets, .counts = s.input_files.counts};
  return s;
}

Samples from_tables(const Options& o) {
  const DataOptions& d = o.data;
  const Tables tables = read_tables(d.tables);
  Samples s;
  s.input_files.files = d.tables;
  for (const Table& t : tables) {
    s.input_files.counts.push_back(static_cast<std::int64_t>(t.texts.rows()));
    s.input_files.lines.push_back(t.texts.lines);
  }
  s.target_files = s.input_files;
  for (const std::string& c : d.input_columns) s.columns.input_words.push_back(words_of(tables, c));
  s.inputs = columns_of(tables, d.input_columns, s.columns.input_words, s.columns.inputs);
  if (o.classifies()) {
    s.columns.labels = labels_of(tables, d.target_columns[0]);
    s.targets = numbers_of_labels(tables, d.target_columns[0], s.columns.labels);
    s.classes = static_cast<std::int64_t>(s.columns.labels.size());
  } else {
    s.targets = columns_of(tables, d.target_columns, std::vector<Words>(d.target_columns.size()),
                           s.columns.targets,
                           "words are learnt as labels, with training.loss = \"cross_entropy\"");
  }
  s.input_files.features = s.columns.inputs;
  s.target_files.features = s.columns.targets;
  if (!d.group_column.empty()) s.groups = groups_of(tables, d.group_column);
  if (o.split.by == SplitBy::file) s.groups = files_of(tables);
  return s;
}

}  // namespace

Shape sample_shape(const Tensor& samples) {
  Shape s;
  for (int k = 1; k < samples.ndim(); ++k) s.push_back(samples.dim(k));
  return s;
}

std::pair<fs::path, std::int64_t> SampleFiles::place(std::int64_t k) const {
  std::size_t file = 0;
  while (file + 1 < files.size() && k >= counts[file]) k -= counts[file++];
  return {files[file], k};
}

void SampleFiles::refuse(std::int64_t k, std::string message, std::string hint) const {
  const auto [file, number] = place(k);
  data::Diagnostic d{.number = 672,
                     .place = {.file = file.string()},
                     .message = std::move(message),
                     .hint = cure.empty() ? std::move(hint) : cure};
  if (!lines.empty()) {
    const auto at = static_cast<std::size_t>(std::ranges::find(files, file) - files.begin());
    d.place.line = lines[at][static_cast<std::size_t>(number)];
  }
  throw data::InputError(std::move(d));
}

std::optional<BadSample> not_finite(const Tensor& t) {
  return first_bad(t, [](double x) { return std::isfinite(x); });
}

std::optional<BadSample> first_bad(const Tensor& t, const std::function<bool(double)>& is_good) {
  const std::vector<double> v = cast(t, Dtype::f64).to_vector<double>();
  const auto bad = std::ranges::find_if_not(v, is_good);
  if (bad == v.end()) return {};
  const auto each = static_cast<std::int64_t>(v.size()) / t.dim(0);
  return BadSample{(bad - v.begin()) / each, (bad - v.begin()) % each, *bad};
}

void refuse_sample(const SampleFiles& from, const BadSample& bad, const char* what,
                   const std::string& expected, std::string hint) {
  const auto at = static_cast<std::size_t>(bad.at);
  const std::string value = data::number_text(bad.value);
  from.refuse(
      bad.sample,
      (at < from.features.size() ? "column '" + from.features[at] + "' has " + value
                                 : what + (" " + std::to_string(from.place(bad.sample).second)) +
                                       " has " + value + " at " + std::to_string(bad.at)) +
          expected,
      std::move(hint));
}

Samples read_samples(const Options& o) {
  const DataOptions& d = o.data;
  Samples s = d.tables.empty() ? from_arrays(o) : from_tables(o);
  const fs::path& file = d.tables.empty() ? d.inputs[0] : d.tables[0];
  if (s.count() == 0) refuse(file, "there are no samples");
  if (o.classifies()) {
    const std::vector<Index> labels = s.targets.to_vector<Index>();
    if (std::ranges::count(labels, labels.empty() ? 0 : labels[0]) == std::ssize(labels))
      refuse(d.tables.empty() ? d.targets[0] : file,
             "all " + std::to_string(labels.size()) + " labels are '" +
                 (d.tables.empty() ? std::to_string(labels.empty() ? 0 : labels[0])
                                   : s.columns.labels[0]) +
                 "': there is nothing to tell apart",
             "two classes at least");
  }
  if (d.groups) {
    const Tensor g = array_of(*d.groups, d.group_array);
    if (g.ndim() != 1 || g.dim(0) != s.count())
      refuse(*d.groups, "has " + to_string(g.shape()) + ", expected a number for each of " +
                            std::to_string(s.count()) + " samples");
    check_finite(g, "group", *d.groups);
    s.groups = data::group_numbers(g.to_vector<double>());
  }
  return s;
}

data::Split split_of(const Samples& s, const Options& o, const data::Config& config) {
  const data::SplitShares shares{o.split.validation, o.split.test};
  const auto refuse_key = [&](const char* key, std::string message, std::string hint) {
    throw data::InputError(data::ExitCode::config_invalid,
                           {config.error(672, key, std::move(message), std::move(hint))});
  };
  data::Split split;
  try {
    split = s.groups.empty() ? data::split_at_random(s.count(), shares, o.split.seed)
                             : data::split_by_group(s.groups, shares, o.split.seed);
  } catch (const Error& e) {
    refuse_key("split", e.what(), "smaller shares");
  }
  const auto n = static_cast<std::int64_t>(split.train.size());
  if (o.training.batch > n)
    refuse_key("training.batch",
               std::to_string(o.training.batch) + " samples, and there are " + std::to_string(n) +
                   " to train on",
               "at most that many");
  return split;
}

Inputs read_inputs(const Options& o, const Columns& columns, const fs::path& file) {
  if (o.data.tables.empty()) {
    const Tensor x = array_of(file, file.extension() == ".npy" ? "" : o.data.input_array);
    check_finite(x, "input", file);
    Inputs in{x, one_file(file, x)};
    in.from.cure = "leave the sample out: the model does not take it";
    return in;
  }
  const Tables tables = read_tables({file});
  std::vector<std::string> names;
  const Tensor x = columns_of(tables, o.data.input_columns, columns.input_words, names);
  Inputs in{x, one_file(file, x)};
  in.from.lines = {tables.front().texts.lines};
  in.from.features = std::move(names);
  in.from.cure = "leave the row out: the model does not take it";
  return in;
}

Tensor rows_of(const Tensor& t, const std::vector<std::int64_t>& samples) {
  return gather(t, tensor(std::vector<Index>(samples.begin(), samples.end())));
}

}  // namespace tessera::apps::training
