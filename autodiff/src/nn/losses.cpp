// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/nn/losses.h"

#include "../base/context.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

#include <limits>

namespace tessera::nn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A column beside a row would be a table.
void same_shape(const char* loss, const Arg& y, const Arg& target) {
  if (y.tensor && target.tensor && y.tensor->shape() != target.tensor->shape())
    fail(loss,
         to_string(y.tensor->type()) + " beside " + to_string(target.tensor->type()) +
             ": they need one shape; reshape one of them",
         y.line);
}

Tensor difference(const char* loss, const Arg& y, const Arg& target) {
  same_shape(loss, y, target);
  return sub(y, target);
}

Tensor squared(const Tensor& d) {
  return is_complex(d.dtype()) ? square(real(d)) + square(imag(d)) : square(d);
}

Shape all_but_first(const char* loss, const Tensor& x, const SourceLine& line) {
  if (x.ndim() < 1) fail(loss, "takes [batch, ...], got " + to_string(x.type()), line);
  Shape axes;
  for (int k = 1; k < x.ndim(); ++k) axes.push_back(k);
  return axes;
}

/// The logits' rows and the labels they go with.
void check_labels(const char* loss, const Arg& logits, const Arg& labels) {
  if (!logits.tensor || !labels.tensor) fail(loss, "takes tensors, not numbers", logits.line);
  const Tensor &z = *logits.tensor, &l = *labels.tensor;
  Shape rows = z.shape();
  if (rows.size() > 0) rows.erase(rows.size() - 1);
  if (z.ndim() < 1 || !is_float(z.dtype()) || rows != l.shape() ||
      (l.dtype() != Dtype::i32 && l.dtype() != Dtype::i64))
    fail(loss,
         "takes real logits [B..., n] and labels i32 or i64 [B...], got " + to_string(z.type()) +
             " and " + to_string(l.type()),
         logits.line);
}

}  // namespace

Tensor mean_square(Arg y, Arg target) {
  const detail::CalledAt called(y.line);
  return mean(squared(difference("mean_square", y, target)));
}

Tensor mean_absolute(Arg y, Arg target) {
  const detail::CalledAt called(y.line);
  return mean(abs(difference("mean_absolute", y, target)));
}

Tensor huber(Arg y, Arg target, double delta) {
  const detail::CalledAt called(y.line);
  if (!(delta > 0)) fail("huber", "delta is " + std::to_string(delta) + ", not above 0", y.line);
  const Tensor d = difference("huber", y, target), size = abs(d);
  // Each branch sees d where it is taken alone: |d| has no second derivative at 0, d^2 has.
  const Tensor near = size <= delta;
  return mean(where(near, 0.5 * squared(where(near, d, 0)),
                    delta * (where(near, delta, size) - 0.5 * delta)));
}

Tensor relative_l2(Arg y, Arg target) {
  const Tensor d = difference("relative_l2", y, target);
  const Shape axes = all_but_first("relative_l2", d, y.line);
  const Tensor t = broadcast_to(detail::to_tensor("relative_l2", target, d.dtype()), d.shape());
  if (axes.empty()) return mean(abs(d) / abs(t));
  return mean(norm(d, axes) / norm(t, axes));
}

Tensor cross_entropy(Arg logits, Arg labels, double smoothing) {
  const detail::CalledAt called(logits.line);
  check_labels("cross_entropy", logits, labels);
  if (!(smoothing >= 0 && smoothing <= 1))
    fail("cross_entropy", "a smoothing of " + std::to_string(smoothing) + " is not in [0, 1]",
         logits.line);
  const Tensor log_p = log_softmax(logits);
  const Tensor at = take_along_axis(log_p, expand_dims(*labels.tensor, -1), -1);
  const Tensor hit = mean(at);
  return smoothing == 0 ? -hit : -((1 - smoothing) * hit + smoothing * mean(log_p));
}

Tensor cross_entropy_of(Arg logits, Arg probabilities) {
  const detail::CalledAt called(logits.line);
  const Tensor log_p = log_softmax(logits);
  if (!probabilities.tensor || probabilities.tensor->shape() != log_p.shape())
    fail("cross_entropy_of",
         "takes probabilities of the shape of the logits, " + to_string(log_p.type()), logits.line);
  // Of a class that is out of the question, 0 log 0 is 0.
  const Tensor none = logical_and(equal(probabilities, 0), equal(log_p, -kInfinity));
  return -mean(sum(mul(probabilities, where(none, 0, log_p)), {-1}));
}

Tensor binary_cross_entropy(Arg logits, Arg target) {
  const detail::CalledAt called(logits.line);
  same_shape("binary_cross_entropy", logits, target);
  return mean(sub(softplus(logits), mul(target, logits)));
}

Tensor kl_normal(Arg mean_of, Arg log_variance) {
  const detail::CalledAt called(mean_of.line);
  same_shape("kl_normal", mean_of, log_variance);
  const Tensor each = 0.5 * (square(mean_of) + (expm1(log_variance) - log_variance));
  const Shape axes = all_but_first("kl_normal", each, mean_of.line);
  return mean(axes.empty() ? each : sum(each, axes));
}

Tensor accuracy(Arg logits, Arg labels) {
  const detail::CalledAt called(logits.line);
  check_labels("accuracy", logits, labels);
  const Tensor hit = equal(argmax(logits, -1), cast(*labels.tensor, Dtype::i64));
  return mean(cast(hit, logits.tensor->dtype()));
}

Tensor r_squared(Arg y, Arg target) {
  const detail::CalledAt called(y.line);
  const Tensor missed = squared(difference("r_squared", y, target));
  const Tensor t = detail::to_tensor("r_squared", target, missed.dtype());
  return 1 - sum(missed) / sum(squared(t - mean(t)));
}

}  // namespace tessera::nn
