// SPDX-License-Identifier: Apache-2.0
//
// What is done to the features of samples before a model sees them, and undone behind it: fitted to
// the training set alone, and part of the model from then on.
//
//   const Transforms t = fit_transforms({{.kind = TransformKind::log, .features = {0}},
//                                        {.kind = TransformKind::standardise}}, x_train);
//   model(t.apply(x));        u.undo(model(...))          // engine operations: differentiable
#pragma once
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/tree.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::data {

enum class TransformKind {
  none,
  standardise,  ///< (x - mean) / standard deviation
  range,        ///< (x - least) / (largest - least)
  log,          ///< ln(x + offset)
  one_hot  ///< 0 ... classes-1 along a new last axis; undone by the largest (the first of equal)
};
struct TransformSpec {
  TransformKind kind = TransformKind::standardise;
  std::vector<std::int64_t> features = {};  ///< of the last axis; empty: all. Not for one_hot
  bool together = false;     ///< standardise, range: one pair of numbers for all elements
  double offset = 0;         ///< log
  std::int64_t classes = 0;  ///< one_hot; 0: one more than the largest number
};

struct Transform {
  TransformKind kind = TransformKind::none;
  Tensor shift, scale;  ///< t = (x - shift) / scale, log: ln(x + shift); [sample...] or []
  Tensor chosen;        ///< bool [last axis]: which features; undefined: all
  std::int64_t classes = 0;
};

/// A sample that a transform cannot take: its number along the first axis, and what it has.
struct SampleError : Error {
  SampleError(std::int64_t number, const std::string& has)
      : Error("sample " + std::to_string(number) + " " + has), sample(number), fault(has) {}
  std::int64_t sample;
  std::string fault;
};

/// One after another; undone from the last to the first. x [samples, sample...].
struct Transforms {
  std::vector<Transform> steps;
  Tensor apply(const Tensor& x) const;
  /// The same of numbers that are there, not of what is differentiated: SampleError where one_hot
  /// has no class for them, which `apply` makes zeros of.
  Tensor checked(const Tensor& x) const;
  Tensor undo(const Tensor& y) const;
};

/// Fitted to `train` [samples, sample...], each to what those before it make of it. A feature of
/// one value has the scale 1. Throws Error: no samples, a feature that scatters beyond what f64
/// has, features beyond the last axis or of samples without axes; SampleError: numbers that are not
/// finite, logarithms of x + offset <= 0, labels that are no integers from 0 on or not below
/// `classes`.
Transforms fit_transforms(const std::vector<TransformSpec>& specs, const Tensor& train);

}  // namespace tessera::data
