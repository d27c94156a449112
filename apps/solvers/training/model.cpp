// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/model.h"

#include "tessera/autodiff/ops.h"
#include "tessera/data/csv.h"
#include "tessera/data/onnx.h"
#include "tessera/data/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <sstream>

namespace tessera::apps::training {
namespace {

namespace fs = std::filesystem;
using nn::LayerKind;
using nn::LayerSpec;

std::vector<LayerSpec> mlp_layers(const NetworkOptions& o, const Shape& sample,
                                  const Shape& target) {
  std::vector<LayerSpec> layers;
  if (sample.size() != 1) layers.push_back({.kind = LayerKind::flatten});
  for (const std::int64_t width : o.widths) {
    layers.push_back({.kind = LayerKind::linear, .width = width});
    layers.push_back({.kind = LayerKind::activation, .activation = o.activation});
    if (o.dropout > 0) layers.push_back({.kind = LayerKind::dropout, .rate = o.dropout});
  }
  layers.push_back({.kind = LayerKind::linear, .width = target.count()});
  if (target.size() != 1) layers.push_back({.kind = LayerKind::reshape, .shape = target});
  return layers;
}

Shape shape_of(const std::vector<Index>& sizes) { return Shape(std::span<const Index>(sizes)); }

std::vector<LayerSpec> listed_layers(const NetworkOptions& o) {
  std::map<std::string, Index> numbers;
  std::vector<LayerSpec> layers;
  for (const LayerOptions& l : o.layers) {
    LayerSpec s{.kind = l.kind,
                .width = l.width,
                .bias = l.bias,
                .activation = l.function,
                .rate = l.rate,
                .groups = l.groups,
                .rows = l.rows,
                .shape = shape_of(l.shape),
                .size = shape_of(l.size),
                .stride = shape_of(l.stride),
                .dilation = shape_of(l.dilation),
                .border = l.border};
    if (!l.with.empty()) s.with = numbers.at(l.with);
    if (!l.name.empty()) numbers[l.name] = static_cast<Index>(layers.size());
    layers.push_back(s);
  }
  return layers;
}

[[noreturn]] void refuse(const data::Config& config, const std::string& key, std::string message,
                         std::string hint = {}) {
  throw data::InputError(data::ExitCode::config_invalid,
                         {config.error(671, key, std::move(message), std::move(hint))});
}

data::TransformSpec spec_of(const TransformOptions& o, const std::vector<std::string>& names,
                            const data::Config& config, const std::string& key) {
  data::TransformSpec s{.kind = o.kind,
                        .features = o.features,
                        .together = o.together,
                        .offset = o.offset,
                        .classes = o.classes};
  for (const std::string& column : o.columns) {
    const auto found = std::ranges::find(names, column);
    if (found == names.end()) {
      const auto near = data::nearest_names(column, names);
      refuse(config, key + ".columns", "there is no feature '" + column + "' here",
             near.empty() ? "" : "did you mean '" + near.front() + "'?");
    }
    s.features.push_back(found - names.begin());
  }
  return s;
}

data::Transforms transforms_of(const std::vector<TransformOptions>& options, const char* table,
                               const std::vector<std::string>& names, const Tensor& samples,
                               const std::vector<std::int64_t>& train, const data::Config& config) {
  std::vector<data::TransformSpec> specs;
  for (std::size_t k = 0; k < options.size(); ++k)
    specs.push_back(
        spec_of(options[k], names, config, std::string(table) + "[" + std::to_string(k) + "]"));
  if (options.empty()) specs.emplace_back();
  const char* key = options.empty() ? "data" : table;
  try {
    return data::fit_transforms(specs, rows_of(samples, train));
  } catch (const data::SampleError& e) {
    refuse(
        config, key,
        fmt::format("{}: sample {} {}", table, train[static_cast<std::size_t>(e.sample)], e.fault));
  } catch (const Error& e) {
    refuse(config, key, std::string(table) + ": " + e.what());
  }
}

/// What a file of weights holds beside the network: the numbers of transforms by name.
template <class F>
void each_number(data::Transforms& t, const std::string& path, const F& f) {
  for (std::size_t k = 0; k < t.steps.size(); ++k) {
    const std::string at = path + "." + std::to_string(k) + ".";
    f(at + "shift", t.steps[k].shift);
    f(at + "scale", t.steps[k].scale);
    f(at + "chosen", t.steps[k].chosen);
  }
}

std::string lines_of(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "" : "\n") + w;
  return all;
}
std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; !text.empty() && at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    all.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

/// A shape as `3 4`.
std::string text_of(const Shape& s) {
  std::string all;
  for (const Index d : s) all += (all.empty() ? "" : " ") + std::to_string(d);
  return all;
}
Shape shape_in(const std::string& text) {
  Shape s;
  std::istringstream words(text);
  for (Index d; words >> d;) s.push_back(d);
  return s;
}

/// What a file of weights holds.
struct Weights {
  std::string file;
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> words;

  explicit Weights(const fs::path& path) : file(path.string()) {
    data::Safetensors all = data::read_safetensors(path);
    for (data::NamedTensor& t : all.tensors) tensors.emplace(t.name, t.values);
    words = std::move(all.metadata);
    if (word("format") != "tessera.training 1") refuse("is not the model of a training");
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw data::InputError({.number = 673,
                            .place = {.file = file},
                            .message = what,
                            .hint = "weights belong to the run that wrote them"});
  }
  const std::string& word(const std::string& name) const {
    const auto found = words.find(name);
    if (found == words.end()) refuse("has no metadata '" + name + "'");
    return found->second;
  }
  Tensor tensor(const std::string& name, const Tensor& like) const {
    const auto found = tensors.find(name);
    if (found == tensors.end()) refuse("has no tensor '" + name + "'");
    if (found->second.type() != like.type())
      refuse("'" + name + "' is " + to_string(found->second.type()) + ", the network has " +
             to_string(like.type()));
    return found->second;
  }
};

data::Transforms transforms_in(const Weights& w, const std::vector<TransformOptions>& options,
                               const std::string& path) {
  data::Transforms t;
  for (const TransformOptions& o : options) t.steps.push_back({.kind = o.kind});
  if (options.empty()) t.steps.push_back({.kind = data::TransformKind::standardise});
  each_number(t, path, [&](const std::string& name, Tensor& number) {
    if (const auto found = w.tensors.find(name); found != w.tensors.end()) number = found->second;
  });
  for (std::size_t k = 0; k < t.steps.size(); ++k)
    if (t.steps[k].kind == data::TransformKind::one_hot)
      t.steps[k].classes = std::stoll(w.word(path + "." + std::to_string(k) + ".classes"));
    else if (t.steps[k].kind != data::TransformKind::none && !t.steps[k].shift.defined())
      w.refuse("has no numbers of " + path + "." + std::to_string(k));
  return t;
}

}  // namespace

std::vector<LayerSpec> layers_of(const NetworkOptions& o, const Shape& sample, const Shape& target,
                                 const data::Config& config) {
  if (o.kind == NetworkKind::mlp) return mlp_layers(o, sample, target);
  const std::vector<LayerSpec> layers = listed_layers(o);
  const auto key = [](std::size_t n) { return "network.layer[" + std::to_string(n) + "]"; };
  try {
    const Shape out = nn::shapes_of(layers, sample).back();
    if (out != target)
      refuse(config, key(layers.size() - 1),
             "it gives " + to_string(out) + ", targets are " + to_string(target));
  } catch (const nn::LayerError& e) {
    refuse(config, key(e.layer), e.what());
  }
  return layers;
}

Index Model::weights() const {
  Index n = 0;
  for (const Tensor& t : flatten_tree(network)) n += t.size();
  return n;
}

Tensor Model::prepared(const Tensor& inputs) const { return cast(input.apply(inputs), dtype); }

Tensor Model::raw(const Tensor& prepared) const {
  std::vector<Tensor> parts;
  for (Index begin = 0; begin == 0 || begin < prepared.dim(0); begin += at_once)
    parts.push_back(network(slice(prepared, 0, begin, std::min(begin + at_once, prepared.dim(0)))));
  return parts.size() == 1 ? parts[0] : concatenate(parts, 0);
}

Tensor Model::predict(const Tensor& inputs) const { return target.undo(raw(prepared(inputs))); }

namespace {
Network fresh_network(const Options& o, const Model& m, const data::Config& config) {
  if (o.network.kind == NetworkKind::onnx)
    return onnx_network(*o.network.from, m.sample, m.output, m.dtype, config);
  nn::LinearOptions linear;
  linear.dtype = m.dtype;
  return {nn::sequential(random_key(o.training.seed),
                         layers_of(o.network, m.sample, m.output, config), m.sample, linear)};
}
}  // namespace

Tensor transformed(const data::Transforms& t, const Tensor& samples, Dtype dtype, const char* what,
                   const SampleFiles& from) {
  Tensor all;
  try {
    all = cast(t.checked(samples), dtype);
  } catch (const data::SampleError& e) {
    from.refuse(e.sample, fmt::format("{} {} {}", what, from.place(e.sample).second, e.fault),
                "one_hot has the classes that the training set shows, or those of its key classes");
  }
  if (const auto bad = not_finite(all)) {
    const Index each = sample_shape(samples).count();
    // one_hot makes as many numbers of each as there are classes, one behind another.
    const Index at = bad->at / (sample_shape(all).count() / each);
    const double given =
        samples.to_vector<double>()[static_cast<std::size_t>(bad->sample * each + at)];
    refuse_sample(from, {bad->sample, at, given}, what,
                  fmt::format(", {} once it is transformed, in {}: expected finite numbers",
                              data::number_text(bad->value), name_of(dtype)),
                  dtype == Dtype::f32 ? "other transforms, or training.precision = \"f64\""
                                      : "other transforms");
  }
  return all;
}

namespace {
/// The first that is no whole number in [0, end).
std::optional<BadSample> no_index(const Tensor& samples, double end) {
  return first_bad(samples, [end](double x) { return x == std::floor(x) && 0 <= x && x < end; });
}
}  // namespace

void check_numbers(const Network& net, const Tensor& samples, const SampleFiles& from) {
  const auto* layers = std::get_if<nn::Sequential>(&net.is);
  if (!layers) {
    const Dtype takes = std::get<data::OnnxNetwork>(net.is).inputs()[0].dtype;
    if (is_float(takes)) return;
    constexpr double inf = std::numeric_limits<double>::infinity();
    if (const auto bad = no_index(samples, inf))
      refuse_sample(
          from, *bad, "input",
          std::string(": the network takes ") + name_of(takes) + ", whole numbers from 0 on",
          "input_transform = [{kind = \"none\"}] leaves them as they are");
    return;
  }
  const auto is_embedding = [](const nn::Layer& l) {
    return std::holds_alternative<nn::Embedding>(l);
  };
  const auto found = std::ranges::find_if(layers->layers, is_embedding);
  if (found == layers->layers.end()) return;
  const Index rows = std::get<nn::Embedding>(*found).table.dim(0);
  if (const auto bad = no_index(samples, static_cast<double>(rows)))
    refuse_sample(from, *bad, "input",
                  fmt::format(": the embedding takes whole numbers from 0 to {}", rows - 1),
                  "no input_transform that scales, and rows for all numbers");
}

namespace {
/// Layers of a sample before their values take more than 1/4 GiB; a file's network as in training,
/// for what its layers keep is not known.
Index samples_at_once(const Options& o, const Model& m) {
  constexpr Index most = 1024, bytes = Index{1} << 28;
  if (m.shapes.empty()) return std::min(most, o.training.batch);
  Index each = 0;
  for (const Shape& s : m.shapes) each += s.count() * static_cast<Index>(size_of(m.dtype));
  return std::clamp<Index>(bytes / std::max<Index>(each, 1), 1, most);
}
/// The network's place among samples: what its layers give, and how many it takes at once.
void size_layers(const Options& o, const data::Config& config, Model& m) {
  if (o.network.kind != NetworkKind::onnx)
    m.shapes = nn::shapes_of(layers_of(o.network, m.sample, m.output, config), m.sample);
  m.at_once = samples_at_once(o, m);
}
}  // namespace

namespace {
/// relative_l2 divides by what the loss has of each target.
void check_norms(const Options& o, const data::Config& config, const Model& m, const Samples& s,
                 const Tensor& targets) {
  if (o.training.loss != Loss::relative_l2) return;
  const bool own = o.training.loss_of == LossOf::original;
  const Tensor as_compared = cast(own ? s.targets : targets, m.dtype);
  const std::vector<double> v = cast(as_compared, Dtype::f64).to_vector<double>();
  const std::size_t each = v.size() / static_cast<std::size_t>(s.count());
  for (std::size_t k = 0; k < static_cast<std::size_t>(s.count()); ++k) {
    const auto first = v.begin() + static_cast<std::ptrdiff_t>(k * each);
    if (std::any_of(first, first + static_cast<std::ptrdiff_t>(each),
                    [](double x) { return x != 0; }))
      continue;
    const auto [file, number] = s.target_files.place(static_cast<std::int64_t>(k));
    throw data::InputError(
        data::ExitCode::config_invalid,
        {config.error(
            671, "training.loss",
            fmt::format("target {} of {} is 0{}, and relative_l2 divides by its norm", number,
                        file.filename().string(), own ? "" : " once it is transformed"),
            "another loss, or leave that sample out")});
  }
}
}  // namespace

Model make_model(const Options& o, const Samples& s, const std::vector<std::int64_t>& train,
                 const data::Config& config) {
  Model m{.columns = s.columns,
          .dtype = o.training.precision == Precision::f32 ? Dtype::f32 : Dtype::f64};
  m.input = transforms_of(o.input_transforms, "input_transform", s.columns.inputs, s.inputs, train,
                          config);
  const Tensor inputs = transformed(m.input, s.inputs, m.dtype, "input", s.input_files);
  Shape target = sample_shape(s.targets);
  if (o.classifies()) {
    target.push_back(s.classes);
  } else {
    m.target = transforms_of(o.target_transforms, "target_transform", s.columns.targets, s.targets,
                             train, config);
    const Tensor targets = transformed(m.target, s.targets, m.dtype, "target", s.target_files);
    check_norms(o, config, m, s, targets);
    target = sample_shape(targets);
  }
  m.sample = sample_shape(inputs);
  m.output = target;
  m.network = fresh_network(o, m, config);
  check_numbers(m.network, inputs, s.input_files);
  size_layers(o, config, m);
  return m;
}

void save_model(const Model& m, const fs::path& file) {
  std::vector<data::NamedTensor> all = data::named_leaves(m.network);
  std::map<std::string, std::string> words{{"format", "tessera.training 1"}};
  const auto add = [&](const std::string& name, const Tensor& t) {
    if (t.defined()) all.push_back({name, t});
  };
  data::Transforms in = m.input, out = m.target;
  each_number(in, "input", add);
  each_number(out, "target", add);
  const auto count = [&](const char* path, const data::Transforms& t) {
    for (std::size_t k = 0; k < t.steps.size(); ++k)
      if (t.steps[k].kind == data::TransformKind::one_hot)
        words[std::string(path) + "." + std::to_string(k) + ".classes"] =
            std::to_string(t.steps[k].classes);
  };
  count("input", m.input), count("target", m.target);
  words["sample"] = text_of(m.sample), words["output"] = text_of(m.output);
  words["inputs"] = lines_of(m.columns.inputs), words["targets"] = lines_of(m.columns.targets);
  words["labels"] = lines_of(m.columns.labels);
  for (std::size_t k = 0; k < m.columns.input_words.size(); ++k)
    words["words." + std::to_string(k)] = lines_of(m.columns.input_words[k]);
  data::write_safetensors(file, all, words);
}

std::string save_onnx(const Model& m, const Shape& sample, const fs::path& file) {
  Shape batch = sample;
  batch.insert(0, 1);
  const bool labels = m.target.steps.empty();  // targets have one step at least
  std::map<std::string, std::string> words;
  const auto add = [&](const char* name, const std::vector<std::string>& all) {
    if (!all.empty()) words[name] = lines_of(all);
  };
  add("inputs", m.columns.inputs), add("targets", m.columns.targets);
  add("labels", m.columns.labels);
  for (std::size_t k = 0; k < m.columns.input_words.size(); ++k)
    if (!m.columns.input_words[k].empty())
      words["words." + std::to_string(k)] = lines_of(m.columns.input_words[k]);
  // Programs that use networks have few operators in f64.
  const bool layers = std::holds_alternative<nn::Sequential>(m.network.is);
  const Dtype type = layers ? Dtype::f32 : m.dtype;
  std::vector<Tensor> leaves = flatten_tree(m.network);
  for (Tensor& leaf : leaves) leaf = cast(leaf, type);
  try {
    const data::OnnxWritten w =
        data::write_onnx(file,
                         [&](const Network& net, const std::vector<Tensor>& x) {
                           const Tensor y = net(cast(m.input.apply(x[0]), type));
                           return cast(m.target.undo(y), type);
                         },
                         unflatten_tree(m.network, leaves),
                         {.inputs = {{"x", {type, batch}}},
                          .outputs = {labels ? "logits" : "y"},
                          .metadata = words});
    return file.filename().string() + " takes " +
           (w.any_batch ? "any number of samples" : "one sample at a time: " + w.why_not);
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    return file.filename().string() + " is not written: " + e.what();
  }
}

Model load_model(const Options& o, const data::Config& config, const fs::path& file) {
  const Weights w(file);
  Model m{.dtype = o.training.precision == Precision::f32 ? Dtype::f32 : Dtype::f64};
  m.sample = shape_in(w.word("sample")), m.output = shape_in(w.word("output"));
  m.input = transforms_in(w, o.input_transforms, "input");
  if (!o.classifies()) m.target = transforms_in(w, o.target_transforms, "target");
  m.columns.inputs = lines_in(w.word("inputs")), m.columns.targets = lines_in(w.word("targets"));
  m.columns.labels = lines_in(w.word("labels"));
  for (std::size_t k = 0; k < o.data.input_columns.size(); ++k)
    m.columns.input_words.push_back(lines_in(w.word("words." + std::to_string(k))));
  m.network = fresh_network(o, m, config);
  size_layers(o, config, m);
  const LeafNames names = leaf_names(m.network);
  std::vector<Tensor> leaves = flatten_tree(m.network);
  for (std::size_t k = 0; k < leaves.size(); ++k) leaves[k] = w.tensor(names[k], leaves[k]);
  m.network = unflatten_tree(m.network, leaves);
  return m;
}

}  // namespace tessera::apps::training
