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

void check_finite(const Tensor& t, const char* what, const fs::path& file) {
  if (const std::string bad = not_finite(t, what); !bad.empty())
    refuse(file, bad + ": expected finite numbers", "leave that sample out");
}

/// Labels as integers from 0; the number of classes.
std::int64_t check_labels(Tensor& targets, const fs::path& file) {
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
  targets = cast(targets, Dtype::i64);
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
    if (o.split.by == SplitBy::file)
      s.groups.insert(s.groups.end(), static_cast<std::size_t>(in[k].dim(0)),
                      static_cast<std::int64_t>(k));
  }
  s.inputs = joined(d.inputs, in);
  s.targets = joined(d.targets, out);
  if (o.classifies()) s.classes = check_labels(s.targets, d.targets[0]);
  return s;
}

Samples from_tables(const Options& o) {
  const DataOptions& d = o.data;
  const Tables tables = read_tables(d.tables);
  Samples s;
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
  if (!d.group_column.empty()) s.groups = data::group_numbers(texts_of(tables, d.group_column));
  if (o.split.by == SplitBy::file) s.groups = files_of(tables);
  return s;
}

}  // namespace

Shape sample_shape(const Tensor& samples) {
  Shape s;
  for (int k = 1; k < samples.ndim(); ++k) s.push_back(samples.dim(k));
  return s;
}

std::string not_finite(const Tensor& t, const char* what) {
  const std::vector<double> v = cast(t, Dtype::f64).to_vector<double>();
  const auto bad = std::ranges::find_if_not(v, [](double x) { return std::isfinite(x); });
  if (bad == v.end()) return {};
  const auto at = static_cast<std::size_t>(bad - v.begin());
  const auto each = v.size() / static_cast<std::size_t>(t.dim(0));
  return std::string(what) + " " + std::to_string(at / each) + " has " +
         (std::isnan(*bad) ? "nan" : "inf") + " at " + std::to_string(at % each);
}

Samples read_samples(const Options& o) {
  const DataOptions& d = o.data;
  Samples s = d.tables.empty() ? from_arrays(o) : from_tables(o);
  const fs::path& file = d.tables.empty() ? d.inputs[0] : d.tables[0];
  if (s.count() == 0) refuse(file, "there are no samples");
  if (o.classifies() && s.classes < 2)
    refuse(d.tables.empty() ? d.targets[0] : file,
           "all " + std::to_string(s.count()) + " labels are '" +
               (d.tables.empty() ? "0" : s.columns.labels[0]) + "': there is nothing to tell apart",
           "two classes at least");
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

Tensor read_inputs(const Options& o, const Columns& columns, const fs::path& file) {
  Tensor x;
  if (o.data.tables.empty()) {
    x = array_of(file, file.extension() == ".npy" ? "" : o.data.input_array);
  } else {
    std::vector<std::string> names;
    x = columns_of(read_tables({file}), o.data.input_columns, columns.input_words, names);
  }
  check_finite(x, "input", file);
  return x;
}

Tensor rows_of(const Tensor& t, const std::vector<std::int64_t>& samples) {
  return gather(t, tensor(std::vector<Index>(samples.begin(), samples.end())));
}

}  // namespace tessera::apps::training
