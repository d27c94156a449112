// SPDX-License-Identifier: Apache-2.0
// What a case of solvers.training may say.
#pragma once
#include "tessera/autodiff/nn/sequential.h"
#include "tessera/data/options.h"
#include "tessera/data/transforms.h"
#include "tessera/solvers/averages.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::training {

struct DataOptions {
  std::vector<std::filesystem::path> inputs, targets;
  std::string input_array, target_array;
  std::vector<std::filesystem::path> tables;
  std::vector<std::string> input_columns, target_columns;
  std::optional<std::filesystem::path> groups;
  std::string group_array, group_column;
};

enum class SplitBy { sample, group, file };
struct SplitOptions {
  SplitBy by = SplitBy::sample;
  double validation = 0.1, test = 0.1;
  std::uint64_t seed = 1;
};

struct TransformOptions {
  data::TransformKind kind = data::TransformKind::standardise;
  std::vector<std::string> columns;
  std::vector<std::int64_t> features;
  bool together = false;
  double offset = 0;
  std::int64_t classes = 0;
};

enum class AugmentKind { noise, flip, shift };
struct AugmentOptions {
  AugmentKind kind = AugmentKind::noise;
  double deviation = 0, probability = 0.5;
  std::int64_t axis = 0, by = 0;
  std::vector<std::int64_t> axes;
};

struct LayerOptions {
  nn::LayerKind kind = nn::LayerKind::linear;
  std::string name;
  std::int64_t width = 1;
  bool bias = true;
  nn::Activation function = nn::Activation::gelu;
  double rate = 0.1;
  std::int64_t groups = 1, rows = 1;
  std::vector<std::int64_t> shape, size, stride, dilation;
  nn::Border border = nn::Border::same;
  std::string with;
};
enum class NetworkKind { mlp, layers, onnx };
struct NetworkOptions {
  NetworkKind kind = NetworkKind::mlp;
  std::vector<std::int64_t> widths = {64, 64};
  nn::Activation activation = nn::Activation::gelu;
  double dropout = 0;
  std::vector<LayerOptions> layers;
  std::optional<std::filesystem::path> from;
};

enum class Loss { mean_square, mean_absolute, huber, relative_l2, cross_entropy };
enum class LossOf { transformed, original };
enum class Steps { adam, adamw, sgd, lamb, lion };
enum class Precision { f32, f64 };
enum class RateCurve { constant, cosine, step, exponential, one_cycle };
struct ScheduleOptions {
  RateCurve kind = RateCurve::cosine;
  double warmup = 0;
  double last = 0.01;
  double every = 10;
  double factor = 0.5;
};
struct PlateauChoice {
  double factor = 0.1, threshold = 1e-4, least = 0;
  std::int64_t patience = 10, cooldown = 0;
};
struct EarlyChoice {
  std::int64_t patience = 10, first_epoch = 0;
  double least_progress = 0;
};
struct AverageChoice {
  solvers::AverageOptions::Kind kind = solvers::AverageOptions::Kind::exponential;
  double decay = 0.999;
  std::int64_t first_epoch = 0;
};
struct LeafChoice {
  std::string names;
  std::optional<double> rate, decay;
  bool frozen = false;
};
struct TrainingOptions {
  Loss loss = Loss::mean_square;
  LossOf loss_of = LossOf::transformed;
  double huber_delta = 1, smoothing = 0;
  std::int64_t epochs = 100, batch = 32, parts = 1;
  double rate = 1e-3;
  Steps optimizer = Steps::adam;
  double momentum = 0.9;
  std::optional<double> decay, clip_norm;
  bool shuffle = true;
  std::uint64_t seed = 1;
  Precision precision = Precision::f32;
  std::optional<std::filesystem::path> start_from;
  std::int64_t loaders = 0, workers = 1;
  ScheduleOptions schedule;
  std::optional<PlateauChoice> plateau;
  std::optional<EarlyChoice> early_stopping;
  std::optional<AverageChoice> average;
  std::vector<LeafChoice> leaves;
};

struct OutputOptions {
  bool pictures = true;
};
struct ExpectOptions {
  std::optional<double> relative_l2_max, rmse_max, r2_min, accuracy_min;
};

struct Options {
  int schema = 1;
  std::string title;
  DataOptions data;
  SplitOptions split;
  std::vector<TransformOptions> input_transforms, target_transforms;
  std::vector<AugmentOptions> augment;
  NetworkOptions network;
  TrainingOptions training;
  OutputOptions output;
  ExpectOptions expect;

  bool classifies() const { return training.loss == Loss::cross_entropy; }
};

const data::Options<Options>& options();
/// Also free of contradictions. Throws data::InputError (exit 5) with every finding at its key.
Options read_options(const data::Config& config);

}  // namespace tessera::apps::training
