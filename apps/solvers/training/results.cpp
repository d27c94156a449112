// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/results.h"

#include "solvers/training/steps.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/csv.h"
#include "tessera/data/file_io.h"
#include "tessera/data/hdf5.h"

#include <cmath>

namespace tessera::apps::training {
namespace {

namespace fs = std::filesystem;

std::vector<std::uint64_t> sizes_of(const Tensor& t) {
  return {t.shape().begin(), t.shape().end()};
}
Tensor as_rows(const Tensor& t) {
  const Index n = t.dim(0);
  return reshape(t, {n, n ? t.size() / n : 0});
}

/// Names of features where there are any, else their numbers.
std::string name_at(const std::vector<std::string>& names, std::size_t k) {
  return k < names.size() ? names[k] : std::to_string(k);
}

void write_errors(const fs::path& folder, const Results& r, const Problem& p) {
  const bool labels = p.options.classifies();
  data::CsvTable t(labels ? std::vector<std::string>{"part", "samples", "accuracy", "cross_entropy"}
                          : std::vector<std::string>{"part", "samples", "relative_l2", "rmse", "r2",
                                                     "largest_error"});
  for (const Judged& j : r.parts) {
    t.add(j.part).add(j.samples.size());
    if (labels)
      t.add(j.labels.accuracy).add(j.labels.cross_entropy);
    else
      t.add(j.real.relative_l2).add(j.real.rmse).add(j.real.r2).add(j.real.largest);
    t.end_row();
  }
  data::write_file_atomically(folder / "errors.csv", t.text());
}

/// A row for each sample of the last part: its error, and up to 32 features.
void write_samples(const fs::path& folder, const Judged& j, const Problem& p) {
  const bool labels = p.options.classifies();
  std::vector<std::string> columns{"sample"};
  std::vector<double> predicted, target;
  std::size_t features = 0;
  if (labels) {
    columns.insert(columns.end(), {"label", "predicted"});
  } else {
    columns.emplace_back("relative_l2");
    predicted = j.predicted.to_vector<double>(), target = j.target.to_vector<double>();
    features = target.size() / j.samples.size();
    if (features > 32) features = 0;
    for (std::size_t k = 0; k < features; ++k)
      for (const char* what : {"", "predicted "})
        columns.push_back(what + name_at(p.samples.columns.targets, k));
  }
  data::CsvTable t(columns);
  for (std::size_t s = 0; s < j.samples.size(); ++s) {
    t.add(j.samples[s]);
    if (labels) {
      const std::size_t each = j.labels.known.size() / j.samples.size();
      if (each != 1) return;  // labels of pixels stand in results.h5
      const Words& words = p.samples.columns.labels;
      t.add(name_at(words, static_cast<std::size_t>(j.labels.known[s])));
      t.add(name_at(words, static_cast<std::size_t>(j.labels.predicted[s])));
    } else {
      t.add(j.real.of_sample[s]);
      for (std::size_t k = 0; k < features; ++k)
        t.add(target[s * features + k]).add(predicted[s * features + k]);
    }
    t.end_row();
  }
  data::write_file_atomically(folder / (j.part + ".csv"), t.text());
}

void write_confusion(const fs::path& folder, const LabelErrors& e, const Words& words) {
  std::vector<std::string> columns{"label"};
  for (std::int64_t c = 0; c < e.classes; ++c)
    columns.push_back("predicted " + name_at(words, static_cast<std::size_t>(c)));
  data::CsvTable t(columns);
  for (std::int64_t k = 0; k < e.classes; ++k) {
    t.add(name_at(words, static_cast<std::size_t>(k)));
    for (std::int64_t c = 0; c < e.classes; ++c)
      t.add(e.confusion[static_cast<std::size_t>(k * e.classes + c)]);
    t.end_row();
  }
  data::write_file_atomically(folder / "confusion.csv", t.text());
}

}  // namespace

std::vector<Judged> judge(const Problem& p) {
  std::vector<Judged> parts;
  const auto add = [&](const char* name, const std::vector<std::int64_t>& samples) {
    if (samples.empty()) return;
    Judged j{.part = name, .samples = samples};
    j.predicted = p.model.predict(rows_of(p.samples.inputs, samples));
    j.target = rows_of(p.samples.targets, samples);
    if (p.options.classifies())
      j.labels = label_errors(j.predicted, j.target);
    else
      j.real = real_errors(j.predicted, j.target);
    parts.push_back(std::move(j));
  };
  add("train", p.split.train);
  add("validation", p.split.validation);
  add("test", p.split.test);
  return parts;
}

Drawn drawn_of(const Results& r, const Problem& p) {
  Drawn d{.best_epoch = r.best_epoch, .classifies = p.options.classifies()};
  for (const solvers::FitEpoch& e : r.curves) {
    d.loss.push_back(e.loss);
    d.validation.push_back(e.validation);
    d.rate_factor.push_back(e.rate_factor);
  }
  const Judged& last = r.parts.back();
  d.part = last.part;
  if (d.classifies) {
    const LabelErrors& e = last.labels;
    d.target = cast(reshape(tensor(e.confusion), {e.classes, e.classes}), Dtype::f64);
    d.names = p.samples.columns.labels;
  } else {
    d.predicted = as_rows(last.predicted), d.target = as_rows(last.target);
    d.errors = last.real.of_sample;
    d.names = p.samples.columns.targets;
  }
  return d;
}

void write_results(const fs::path& folder, const Results& r, const Problem& p) {
  write_errors(folder, r, p);
  write_samples(folder, r.parts.back(), p);
  const Drawn d = drawn_of(r, p);
  if (d.classifies) write_confusion(folder, r.parts.back().labels, d.names);

  data::H5Writer h5(folder / "results.h5");
  h5.group("curves");
  h5.write("curves/loss", d.loss);
  h5.write("curves/validation", d.validation);
  h5.write("curves/rate_factor", d.rate_factor);
  const std::vector<std::string> metrics = metric_names(p.options);
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    std::vector<double> curve;
    for (const solvers::FitEpoch& e : r.curves) curve.push_back(written(p.options, e.metrics)[m]);
    h5.write("curves/" + metrics[m], curve);
  }
  h5.write("curves/best_epoch", std::vector<std::int64_t>{r.best_epoch});
  for (const Judged& j : r.parts) {
    h5.group(j.part);
    h5.write(j.part + "/samples", j.samples);
    h5.write(j.part + "/predicted", j.predicted.to_vector<double>(), sizes_of(j.predicted));
    if (d.classifies) {
      h5.write(j.part + "/labels", j.target.to_vector<Index>(), sizes_of(j.target));
      h5.write(j.part + "/confusion", j.labels.confusion,
               {static_cast<std::uint64_t>(j.labels.classes),
                static_cast<std::uint64_t>(j.labels.classes)});
    } else {
      h5.write(j.part + "/target", j.target.to_vector<double>(), sizes_of(j.target));
      h5.write(j.part + "/relative_l2", j.real.of_sample);
    }
  }
  if (!d.names.empty()) h5.write_texts("names", d.names);
  h5.commit();
}

Drawn read_drawn(const fs::path& folder) {
  const fs::path file = folder / "results.h5";
  auto all = data::read_h5(file, {}, data::limits_of_results());
  const auto there = [&](const std::string& name) {
    return all.contains("/" + name) || all.contains(name);
  };
  const auto need = [&](const std::string& name, bool fits) {
    if (!fits)
      throw data::InputError(
          {.number = 428,
           .place = {.file = file.string()},
           .message = "the file has no usable " + name + ": it is no result of solvers.training"});
  };
  const auto array = [&](const std::string& name) -> const data::H5Array& {
    need(name, there(name));
    return all.at(all.contains(name) ? name : "/" + name);
  };
  const auto numbers = [&](const std::string& name) {
    const auto* v = std::get_if<std::vector<double>>(&array(name).data);
    need(name, v);
    return *v;
  };
  const auto shaped = [&](const std::string& name) {
    const data::H5Array& a = array(name);
    Shape s;
    need(name, !a.shape.empty() && a.shape.size() <= 8);
    for (const std::uint64_t n : a.shape) s.push_back(static_cast<Index>(n));
    if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&a.data))
      return cast(tensor(*whole, s), Dtype::f64);
    return tensor(numbers(name), s);
  };
  Drawn d{.loss = numbers("curves/loss"),
          .validation = numbers("curves/validation"),
          .rate_factor = numbers("curves/rate_factor")};
  for (const char* part : {"train", "validation", "test"})
    if (there(std::string(part) + "/samples")) d.part = part;
  const std::string at = d.part + "/";
  d.classifies = there(at + "confusion");
  if (d.classifies) {
    d.target = shaped(at + "confusion");
  } else {
    d.predicted = as_rows(shaped(at + "predicted")), d.target = as_rows(shaped(at + "target"));
    d.errors = numbers(at + "relative_l2");
  }
  if (there("names"))
    if (const auto* names = std::get_if<std::vector<std::string>>(&array("names").data))
      d.names = *names;
  need("curves", d.loss.size() == d.validation.size());
  const auto* best = std::get_if<std::vector<std::int64_t>>(&array("curves/best_epoch").data);
  need("curves/best_epoch", best && best->size() == 1);
  d.best_epoch = best->front();
  return d;
}

}  // namespace tessera::apps::training
