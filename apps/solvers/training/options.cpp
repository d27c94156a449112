// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/options.h"

#include "solvers/training/augment.h"
#include "solvers/training/learning_options.h"

#include <algorithm>
#include <set>

namespace tessera::apps::training {
namespace {

const std::vector<std::string>& activations() {
  static const std::vector<std::string> names(nn::activation_names().begin(),
                                              nn::activation_names().end());
  return names;
}

data::Options<DataOptions> data_table() {
  using O = DataOptions;
  data::Options<O> o("data",
                     "Samples: arrays whose first axis counts them, or tables with a row each.");
  o.add("inputs", &O::inputs,
        {.doc = "Arrays that go in (.npy, .npz, .h5), several files one after another. Or "
                "`tables`."});
  o.add("targets", &O::targets,
        {.doc = "Arrays that have to come out, as many files; with cross_entropy the labels, "
                "integers from 0."});
  o.add("input_array", &O::input_array,
        {.doc = "Name of the array in `inputs`: needed in .h5, and in .npz that hold several."});
  o.add("target_array", &O::target_array, {.doc = "The same of `targets`."});
  o.add("tables", &O::tables,
        {.doc = "Tables (.csv) with a line of names, several files one after another."});
  o.add("input_columns", &O::input_columns,
        {.doc = "Columns of `tables` that go in. A column of words becomes a column for each word, "
                "0 or 1."});
  o.add("target_columns", &O::target_columns,
        {.doc = "Columns of `tables` that have to come out; with cross_entropy one, of words or "
                "numbers, whose different values are the classes."});
  o.add("groups", &O::groups,
        {.doc = "A number for each sample (.npy, .npz, .h5): samples of one number stay together "
                "in a split by group."});
  o.add("group_array", &O::group_array, {.doc = "Name of the array in `groups`."});
  o.add("group_column", &O::group_column,
        {.doc = "The same as a column of `tables`, of words or numbers."});
  return o;
}

data::Options<SplitOptions> split_table() {
  using O = SplitOptions;
  data::Options<O> o("split",
                     "Which samples are learnt from, which choose the best epoch, and which tell "
                     "the error at the end and choose nothing.");
  o.add("by", &O::by,
        {.doc = "Each sample by itself, or samples of one group (`data.groups`, "
                "`data.group_column`) or of one file together.",
         .choices = {"sample", "group", "file"}});
  o.add("validation", &O::validation, {.doc = "Share for validation.", .min = 0, .max = 0.9});
  o.add("test", &O::test, {.doc = "Share for the test.", .min = 0, .max = 0.9});
  o.add("seed", &O::seed,
        {.doc = "Seed of the draw; the test set follows from it and `test` alone.", .min = 0});
  return o;
}

data::Options<TransformOptions> transform_table(const char* name) {
  using O = TransformOptions;
  data::Options<O> o(name, "One step of what is done to the numbers, fitted to the training set.");
  o.add_kind("kind", &O::kind,
             {.doc = "standardise: (x - mean) / standard deviation; range: least to largest become "
                     "0 to 1; log: ln(x + offset); one_hot: an integer becomes a 1 among zeros; "
                     "none: nothing, where `standardise` is not wanted.",
              .choices = {"none", "standardise", "range", "log", "one_hot"}});
  o.add(
      "columns", &O::columns,
      {.doc = "Columns that it is for; empty: all.", .only_for = {"standardise", "range", "log"}});
  o.add("features", &O::features,
        {.doc = "The same by numbers along the last axis, from 0.",
         .min = 0,
         .only_for = {"standardise", "range", "log"}});
  o.add("together", &O::together,
        {.doc = "One pair of numbers for all, in place of one for each feature.",
         .only_for = {"standardise", "range"}});
  o.add("offset", &O::offset, {.doc = "Added before the logarithm.", .only_for = {"log"}});
  o.add("classes", &O::classes,
        {.doc = "How many integers there are; 0: as many as the training set shows.",
         .min = 0,
         .max = 100000,
         .only_for = {"one_hot"}});
  return o;
}

data::Options<LayerOptions> layer_table() {
  using O = LayerOptions;
  data::Options<O> o("layer", "One layer, which takes what the one before it gives.");
  const std::vector<std::string> convs{"conv", "conv_transpose"},
      windows{"conv", "conv_transpose", "max_pool", "mean_pool", "upsample"};
  o.add_kind("kind", &O::kind,
             {.doc = "Channels come last. batch_norm norms by the batch in training, else by what "
                     "it has seen. Pools leave one of each window, upsample repeats "
                     "elements; add and concat take what an earlier layer gave besides.",
              .choices = {"linear", "conv", "conv_transpose", "activation", "dropout", "layer_norm",
                          "group_norm", "batch_norm", "embedding", "flatten", "reshape", "max_pool",
                          "mean_pool", "global_mean_pool", "upsample", "add", "concat"}});
  o.add("name", &O::name, {.doc = "What `with` of later layers calls it."});
  o.add("width", &O::width,
        {.doc = "Features or channels that it gives.",
         .min = 1,
         .max = 1000000,
         .only_for = {"linear", "conv", "conv_transpose", "embedding"},
         .required_for = {"linear", "conv", "conv_transpose", "embedding"}});
  o.add("bias", &O::bias,
        {.doc = "Whether a bias is added.", .only_for = {"linear", "conv", "conv_transpose"}});
  o.add("size", &O::size,
        {.doc = "The window, or how often elements are repeated: an entry for each axis, one to "
                "three.",
         .min = 1,
         .only_for = windows,
         .required_for = windows,
         .min_items = 1,
         .max_items = 3});
  o.add(
      "stride", &O::stride,
      {.doc = "Steps between windows, of conv_transpose how much longer an axis becomes; empty: 1.",
       .min = 1,
       .only_for = convs,
       .max_items = 3});
  o.add("dilation", &O::dilation,
        {.doc = "Distance of neighbours in a window; empty: 1.",
         .min = 1,
         .only_for = convs,
         .max_items = 3});
  o.add("border", &O::border,
        {.doc = "same: as many results as elements, over the stride; none: only where the window "
                "lies within.",
         .choices = {"same", "none"},
         .only_for = convs});
  o.add("function", &O::function,
        {.doc = "The activation.", .choices = activations(), .only_for = {"activation"}});
  o.add("rate", &O::rate,
        {.doc = "Share of elements that are 0 in training.",
         .min = 0,
         .max = 0.99,
         .only_for = {"dropout"}});
  o.add("groups", &O::groups,
        {.doc = "Groups of neighbouring channels.",
         .min = 1,
         .max = 100000,
         .only_for = {"group_norm", "conv", "conv_transpose"},
         .required_for = {"group_norm"}});
  o.add("rows", &O::rows,
        {.doc = "How many integers it takes.",
         .min = 1,
         .max = 100000000,
         .only_for = {"embedding"},
         .required_for = {"embedding"}});
  o.add("shape", &O::shape,
        {.doc = "Shape of a sample.",
         .min = 1,
         .only_for = {"reshape"},
         .required_for = {"reshape"},
         .max_items = 7});
  o.add("with", &O::with,
        {.doc = "Name of an earlier layer; empty: what the network is given.",
         .only_for = {"add", "concat"}});
  return o;
}

data::Options<NetworkOptions> network_table() {
  using O = NetworkOptions;
  data::Options<O> o("network", "The function that is learnt.");
  o.add_kind(
      "kind", &O::kind,
      {.doc = "mlp: linear layers with activations between them, on samples as one axis, "
              "which gives targets of any shape; layers: those of [[network.layer]]; onnx: that of "
              "a file, with its weights.",
       .choices = {"mlp", "layers", "onnx"}});
  o.add("widths", &O::widths,
        {.doc = "Features of the hidden layers.",
         .min = 1,
         .max = 1000000,
         .only_for = {"mlp"},
         .max_items = 1000});
  o.add("activation", &O::activation,
        {.doc = "Between the layers.", .choices = activations(), .only_for = {"mlp"}});
  o.add("dropout", &O::dropout,
        {.doc = "Share of hidden features that are 0 in training.",
         .min = 0,
         .max = 0.99,
         .only_for = {"mlp"}});
  o.add_tables(
      "layer", &O::layers, layer_table(),
      {.doc = "The layers, from the input on.", .only_for = {"layers"}, .max_items = 10000});
  o.add("from", &O::from,
        {.doc = "A network in an ONNX file, as PyTorch exports it. Weights in a second file lie "
                "beside it. Predictions read it, too.",
         .only_for = {"onnx"}});
  return o;
}

data::Options<ScheduleOptions> schedule_table() {
  using O = ScheduleOptions;
  data::Options<O> o("schedule", "How the rate changes.");
  o.add_kind("kind", &O::kind,
             {.doc = "constant; cosine: down to `last` by half a cosine over all epochs; step and "
                     "exponential: times `factor` each `every` epochs, at once or evenly; "
                     "one_cycle: up for a third of the epochs, then down to `last`.",
              .choices = {"constant", "cosine", "step", "exponential", "one_cycle"}});
  o.add("warmup", &O::warmup,
        {.doc = "Epochs in which the rate rises to its first value.", .min = 0});
  o.add("last", &O::last,
        {.doc = "The rate at the end, as a part of `rate`.",
         .min = 0,
         .max = 1,
         .only_for = {"cosine", "one_cycle"}});
  o.add("every", &O::every, {.doc = "Epochs.", .above = 0, .only_for = {"step", "exponential"}});
  o.add("factor", &O::factor,
        {.doc = "Factor.", .above = 0, .max = 1, .only_for = {"step", "exponential"}});
  return o;
}

data::Options<PlateauChoice> plateau_table() {
  using O = PlateauChoice;
  data::Options<O> o("plateau", "Lowers the rate where the validation's loss stays.");
  o.add("factor", &O::factor, {.doc = "Times the rate.", .above = 0, .max = 0.999});
  o.add("patience", &O::patience, {.doc = "Epochs without progress that are borne.", .min = 0});
  o.add("threshold", &O::threshold,
        {.doc = "Progress is more than that part of the least loss so far.", .min = 0});
  o.add("cooldown", &O::cooldown, {.doc = "Epochs after a reduction that do not count.", .min = 0});
  o.add("least", &O::least,
        {.doc = "All reductions together do not go below that part of the rate.",
         .min = 0,
         .max = 1});
  return o;
}
data::Options<EarlyChoice> early_table() {
  using O = EarlyChoice;
  data::Options<O> o("early_stopping", "Ends the training where the validation's loss stays.");
  o.add("patience", &O::patience,
        {.doc = "Epochs without progress after which training ends.", .min = 0});
  o.add("least_progress", &O::least_progress, {.doc = "Progress is more than that.", .min = 0});
  o.add("first_epoch", &O::first_epoch, {.doc = "Epochs before it do not count.", .min = 0});
  return o;
}

data::Options<TrainingOptions> training_table() {
  using O = TrainingOptions;
  data::Options<O> o("training", "How it is learnt.");
  o.add("loss", &O::loss,
        {.doc = "Mean over the samples of a batch. relative_l2: |y - t| / |t| of each sample; "
                "cross_entropy: of labels.",
         .choices = {"mean_square", "mean_absolute", "huber", "relative_l2", "cross_entropy"}});
  o.add("loss_of", &O::loss_of,
        {.doc = "Of targets as [[target_transform]] makes them, or of what is given.",
         .choices = {"transformed", "original"}});
  o.add("huber_delta", &O::huber_delta, {.doc = "Where huber turns linear.", .above = 0});
  o.add("smoothing", &O::smoothing,
        {.doc = "Share of a label's probability that cross_entropy moves to all classes alike.",
         .min = 0,
         .max = 0.99});
  o.add("epochs", &O::epochs, {.doc = "Passes through the training set.", .min = 0, .max = 1e9});
  o.add("batch", &O::batch, {.doc = "Samples of a step.", .min = 1, .max = 1e9});
  o.add("parts", &O::parts,
        {.doc = "A batch is cut into that many, whose gradients are summed by one binary tree: for "
                "batches beyond memory.",
         .min = 1,
         .max = 1e9});
  o.add("workers", &O::workers,
        {.doc = "Workers that take the parts of a batch side by side and share out the threads; 1: "
                "parts in turn, each by all threads. Results do not depend on it.",
         .min = 1,
         .max = 1024});
  o.add("rate", &O::rate, {.doc = "Learning rate.", .above = 0});
  o.add("optimizer", &O::optimizer,
        {.doc = "Which steps.", .choices = {"adam", "adamw", "sgd", "lamb", "lion"}});
  o.add("decay", &O::decay,
        {.doc = "Weight decay: of each step, times the rate, that part of the weights (sgd: added "
                "to the gradient). Not given: 0.01 with adamw, else none.",
         .min = 0});
  o.add("momentum", &O::momentum, {.doc = "Of sgd.", .min = 0, .max = 0.9999});
  o.add("clip_norm", &O::clip_norm, {.doc = "Largest norm of a gradient.", .above = 0});
  o.add("shuffle", &O::shuffle, {.doc = "Whether each epoch has an order of its own."});
  o.add("seed", &O::seed,
        {.doc = "Seed of the first weights, of order, dropout and [[augment]].", .min = 0});
  o.add("precision", &O::precision,
        {.doc = "Of weights and arithmetic. Transforms and errors are f64.",
         .choices = {"f32", "f64"}});
  o.add("start_from", &O::start_from,
        {.doc = "A run, or a file of weights (.safetensors), whose weights of the same name, shape "
                "and precision are the first ones here. Transforms are not taken over."});
  o.add("loaders", &O::loaders,
        {.doc = "Threads that put batches together ahead of the steps; 0: none. Results do not "
                "depend on it.",
         .min = 0,
         .max = 1024});
  o.add_table("schedule", &O::schedule, schedule_table(), {.doc = "How the rate changes."});
  o.add_table("plateau", &O::plateau, plateau_table(), {.doc = "Lowers the rate where it stays."});
  o.add_table("early_stopping", &O::early_stopping, early_table(),
              {.doc = "Ends the training where it stays."});
  o.add_table("average", &O::average, average_table(),
              {.doc = "Averaged weights, which validation, the best epoch and predictions take."});
  o.add_tables("leaf", &O::leaves, leaf_table(),
               {.doc = "What is different for weights of some names."});
  return o;
}

data::Options<OutputOptions> output_table() {
  using O = OutputOptions;
  data::Options<O> o("output", "What is written besides.");
  o.add("pictures", &O::pictures, {.doc = "Pictures, PNG and SVG."});
  return o;
}

data::Options<ExpectOptions> expect_table() {
  using O = ExpectOptions;
  data::Options<O> o("expect",
                     "What the test set has to show; a run that does not meet it ends "
                     "with exit code 6.");
  o.add("relative_l2_max", &O::relative_l2_max,
        {.doc = "Largest mean over the samples of |y - t| / |t|.", .min = 0});
  o.add("rmse_max", &O::rmse_max, {.doc = "Largest root mean square error.", .min = 0});
  o.add("r2_min", &O::r2_min, {.doc = "Least coefficient of determination.", .max = 1});
  o.add("accuracy_min", &O::accuracy_min, {.doc = "Least accuracy.", .min = 0, .max = 1});
  return o;
}

/// Contradictions between keys.
class Checks {
 public:
  explicit Checks(const data::Config& config) : config_(config) {}
  void say(const std::string& key, std::string message, std::string hint = {}) {
    findings.push_back(config_.error(670, key, std::move(message), std::move(hint)));
  }
  std::vector<data::Diagnostic> findings;

 private:
  const data::Config& config_;
};

void check_data(const Options& o, Checks& c) {
  const DataOptions& d = o.data;
  if (d.tables.empty() == d.inputs.empty())
    return c.say("data",
                 d.tables.empty() ? "there are no samples" : "samples come from arrays or tables",
                 "give data.inputs and data.targets, or data.tables with data.input_columns and "
                 "data.target_columns");
  if (d.tables.empty()) {
    if (d.targets.size() != d.inputs.size())
      c.say("data.targets",
            std::to_string(d.inputs.size()) + " files of inputs and " +
                std::to_string(d.targets.size()) + " of targets",
            "one file of targets for each of inputs");
    if (!d.input_columns.empty() || !d.target_columns.empty() || !d.group_column.empty())
      c.say("data", "columns are of data.tables", "name the files there, or leave the columns out");
  } else {
    if (d.input_columns.empty()) c.say("data.tables", "no data.input_columns are named");
    if (d.target_columns.empty()) c.say("data.tables", "no data.target_columns are named");
    if (!d.targets.empty()) c.say("data.targets", "belongs to data.inputs, not to tables");
    for (const auto& [key, columns] : {std::pair("data.input_columns", &d.input_columns),
                                       std::pair("data.target_columns", &d.target_columns)})
      for (auto c1 = columns->begin(); c1 != columns->end(); ++c1)
        if (std::count(columns->begin(), c1, *c1) == 1)
          c.say(key, "'" + *c1 + "' stands twice", "leave one out");
    for (const std::string& t : d.target_columns)
      if (std::ranges::count(d.input_columns, t))
        c.say("data.target_columns", "'" + t + "' is an input, too", "leave one out");
    if (o.classifies() && d.target_columns.size() > 1)
      c.say("data.target_columns", "cross_entropy has one column of labels");
  }
  const bool grouped = d.groups || !d.group_column.empty();
  if (d.groups && !d.group_column.empty())
    c.say("data.group_column", "data.groups says the same", "leave one out");
  if (o.split.by == SplitBy::group && !grouped)
    c.say("split.by", "no group is named", "give data.groups or data.group_column");
  if (o.split.by != SplitBy::group && grouped)
    c.say("split.by", "groups are named, but the split does not keep them together",
          "split.by = \"group\"");
  if (o.split.by == SplitBy::file && std::max(d.tables.size(), d.inputs.size()) < 2)
    c.say("split.by", "a split by file takes several files");
  if (o.split.validation + o.split.test >= 1)
    c.say("split", "nothing is left to train on: validation and test take " +
                       std::to_string(o.split.validation + o.split.test) + " of the samples");
}

void check_transforms(const Options& o, const char* table,
                      const std::vector<TransformOptions>& list, Checks& c) {
  for (std::size_t k = 0; k < list.size(); ++k) {
    const TransformOptions& t = list[k];
    const std::string key = std::string(table) + "[" + std::to_string(k) + "]";
    if (!t.columns.empty() && o.data.tables.empty())
      c.say(key + ".columns", "columns are of data.tables", "give `features`, numbers from 0");
    if (!t.columns.empty() && !t.features.empty())
      c.say(key + ".features", "`columns` says the same", "leave one out");
    if (t.together && !(t.columns.empty() && t.features.empty()))
      c.say(key + ".together", "is for all features, not for some", "leave one out");
  }
}

void check_network(const Options& o, Checks& c) {
  std::set<std::string> names;
  for (std::size_t k = 0; k < o.network.layers.size(); ++k) {
    const LayerOptions& l = o.network.layers[k];
    const std::string key = "network.layer[" + std::to_string(k) + "]";
    if (!l.with.empty() && !names.contains(l.with))
      c.say(key + ".with", "no earlier layer is called '" + l.with + "'");
    if (!l.name.empty() && !names.insert(l.name).second)
      c.say(key + ".name", "'" + l.name + "' is there already");
  }
  if (o.network.kind == NetworkKind::layers && o.network.layers.empty())
    c.say("network", "there are no layers", "give [[network.layer]], or kind = \"mlp\"");
  if (o.network.kind == NetworkKind::onnx && !o.network.from)
    c.say("network", "there is no file", "give network.from = \"NETWORK.onnx\"");
}

void check_training(const Options& o, Checks& c) {
  const TrainingOptions& t = o.training;
  if (t.parts > t.batch) c.say("training.parts", "is above training.batch");
  if (o.classifies()) {
    if (!o.target_transforms.empty())
      c.say("target_transform", "labels of cross_entropy have no transforms", "leave it out");
    if (t.loss_of == LossOf::original)
      c.say("training.loss_of", "labels of cross_entropy have no transforms", "leave it out");
    if (o.expect.relative_l2_max || o.expect.rmse_max || o.expect.r2_min)
      c.say("expect", "labels have an accuracy alone", "expect.accuracy_min");
  } else {
    if (o.expect.accuracy_min)
      c.say("expect.accuracy_min", "is for labels", "training.loss = \"cross_entropy\"");
    if (t.smoothing > 0) c.say("training.smoothing", "is for cross_entropy");
  }
  const bool expects =
      o.expect.relative_l2_max || o.expect.rmse_max || o.expect.r2_min || o.expect.accuracy_min;
  if (expects && o.split.test == 0) c.say("expect", "there is no test set", "give split.test");
}

}  // namespace

const data::Options<Options>& options() {
  static const auto table = [] {
    using O = Options;
    data::Options<O> o("solvers.training",
                       "Networks that learn from tables and arrays: surrogates and classifiers",
                       "0.3");
    o.add("schema", &O::schema, {.doc = "Version of this layout.", .min = 1, .max = 1});
    o.add("title", &O::title, {.doc = "Title of reports and pictures."});
    o.add_table("data", &O::data, data_table(), {.doc = "The samples.", .required = true});
    o.add_table("split", &O::split, split_table(), {.doc = "Training, validation and test."});
    o.add_tables("input_transform", &O::input_transforms, transform_table("input_transform"),
                 {.doc = "What is done to inputs, one after another; none given: standardise."});
    o.add_tables("target_transform", &O::target_transforms, transform_table("target_transform"),
                 {.doc = "What is done to targets, and undone in predictions and errors; none "
                         "given: standardise."});
    o.add_tables("augment", &O::augment, augment_table(),
                 {.doc = "Changes by chance of transformed inputs, one after another, in training "
                         "alone."});
    o.add_table("network", &O::network, network_table(), {.doc = "The function that is learnt."});
    o.add_table("training", &O::training, training_table(), {.doc = "How it is learnt."});
    o.add_table("output", &O::output, output_table(), {.doc = "What is written besides."});
    o.add_table("expect", &O::expect, expect_table(), {.doc = "What the test set has to show."});
    return o;
  }();
  return table;
}

Options read_options(const data::Config& config) {
  const Options o = options().read(config);
  Checks checks(config);
  check_data(o, checks);
  check_transforms(o, "input_transform", o.input_transforms, checks);
  check_transforms(o, "target_transform", o.target_transforms, checks);
  check_network(o, checks);
  check_training(o, checks);
  check_learning(o, [&checks](const std::string& key, std::string message, std::string hint) {
    checks.say(key, std::move(message), std::move(hint));
  });
  if (!checks.findings.empty())
    throw data::InputError(data::ExitCode::config_invalid, std::move(checks.findings));
  return o;
}

}  // namespace tessera::apps::training
