// SPDX-License-Identifier: Apache-2.0
#include "compose.h"

namespace tessera::oracle {

Tensor reduced(const Tensor& x, const Call& c) {
  const std::string how = c.text(-1, "reduction", "mean");
  return how == "none" ? x : how == "sum" ? sum(x) : mean(x);
}

namespace {

Tensor weighted(const Tensor& x, const Call& c) {
  return c.has(-1, "weight") ? x * c.tensor(-1, "weight") : x;
}
/// -log of a probability is cut at 100.
Tensor cut_log(const Tensor& p) { return maximum(log(p), -100.0); }
Tensor cosine(const Tensor& a, const Tensor& b, int axis, double eps) {
  const Shape s = broadcast_shape(a.shape(), b.shape());
  const Tensor x = broadcast_to(a, s), y = broadcast_to(b, s);
  const Shape along = s.size() == 0 ? Shape{} : Shape{axis_of(axis, s.size())};
  const auto length = [&](const Tensor& v) { return maximum(norm(v, along, true), eps); };
  return sum((x / length(x)) * (y / length(y)), along);
}
Tensor pair_distance(const Tensor& a, const Tensor& b, double p, double eps, bool keep) {
  const Tensor d = floating(a - b) + eps;
  return p_norm(d, p, {d.ndim() - 1}, keep);
}
/// -w[target] x[target] over classes on axis 1 (or 0 of one sample).
Tensor chosen_class(const Call& c, const Tensor& log_p, const Tensor& target) {
  const int axis = log_p.ndim() == 1 ? 0 : 1;
  if (log_p.dim(axis) == 0)
    return reduced(zeros(target.shape(), log_p.dtype()), c);  // no class to choose
  const Tensor w =
      c.has(-1, "weight") ? c.tensor(-1, "weight") : ones({log_p.dim(axis)}, log_p.dtype());
  const Tensor counted =
      not_equal(target, like(static_cast<double>(c.integer(-1, "ignore_index", -100)), target));
  const Tensor safe = where(counted, target, like(0, target));
  const Tensor weight = where(counted, take(w, safe), like(0, log_p));
  const Tensor x = squeeze(take_along_axis(log_p, expand_dims(safe, axis), axis), axis);
  const Tensor loss = where(counted, -(weight * x), like(0, log_p));
  const std::string how = c.text(-1, "reduction", "mean");
  return how == "none" ? loss : how == "sum" ? sum(loss) : sum(loss) / sum(weight);
}
Tensor cross_entropy(const Call& c) {
  const Tensor x = c[0], target = c[1];
  const int axis = x.ndim() == 1 ? 0 : 1;
  const Tensor log_p = log_softmax(x, axis);
  const double smoothing = c.real(-1, "label_smoothing", 0);
  const Index n = x.dim(axis);
  if (!is_inexact(target.dtype())) {
    if (smoothing == 0) return chosen_class(c, log_p, target);
    throw std::invalid_argument("smoothed labels are not written here");
  }
  Tensor w = c.has(-1, "weight") ? c.tensor(-1, "weight") : ones({n}, x.dtype());
  Shape s = Shape::filled(x.ndim(), 1);
  s[axis] = n;
  const Tensor q = target * (1 - smoothing) + smoothing / static_cast<double>(n);
  const Tensor loss = -sum(q * log_p * reshape(w, s), {axis});
  const std::string how = c.text(-1, "reduction", "mean");
  return how == "none"  ? loss
         : how == "sum" ? sum(loss)
                        : sum(loss) / static_cast<double>(n ? x.size() / n : 0);
}

}  // namespace

void loss_rows(Table& t) {
  t["nn.functional.mse_loss"] = [](const Call& c) { return reduced(square(c[0] - c[1]), c); };
  t["nn.functional.l1_loss"] = [](const Call& c) { return reduced(abs(c[0] - c[1]), c); };
  t["nn.functional.smooth_l1_loss"] = [](const Call& c) {
    const Tensor d = abs(c[0] - c[1]);
    const double beta = c.real(-1, "beta", 1);
    return reduced(
        beta == 0 ? d : where(less(d, beta), 0.5 / beta * square(c[0] - c[1]), d - 0.5 * beta), c);
  };
  t["nn.functional.huber_loss"] = [](const Call& c) {
    const Tensor d = abs(c[0] - c[1]);
    const double delta = c.real(-1, "delta", 1);
    return reduced(
        where(less_equal(d, delta), 0.5 * square(c[0] - c[1]), delta * (d - 0.5 * delta)), c);
  };
  t["nn.functional.soft_margin_loss"] = [](const Call& c) {
    return reduced(softplus(-c[1] * c[0]), c);
  };
  t["nn.functional.margin_ranking_loss"] = [](const Call& c) {
    const Tensor x = floating(c[0]), y = floating(c[1]), sign = floating(c[2]);
    return reduced(relu(-sign * (x - y) + sign * 0.0 + like(c.number(-1, "margin", 0), sign)), c);
  };
  t["nn.functional.hinge_embedding_loss"] = [](const Call& c) {
    const Tensor x = c[0], y = c[1];
    return reduced(where(equal(y, 1.0), x, 0.0) +
                       where(equal(y, -1.0), relu(c.real(-1, "margin", 1) - x), 0.0) +
                       where(logical_or(equal(y, 1.0), equal(y, -1.0)), 0.0,
                             x + relu(c.real(-1, "margin", 1) - x)),
                   c);
  };
  t["nn.functional.kl_div"] = [](const Call& c) {
    const Tensor x = c[0], y = c[1];
    Tensor loss;
    if (c.flag(-1, "log_target", false))
      loss = exp(y) * (y - x);
    else {
      const Tensor positive = greater(y, 0.0), safe = where(positive, y, 1.0);
      loss = where(positive, y * log(safe), 0.0) - y * x;
    }
    if (c.text(-1, "reduction", "mean") == "batchmean")
      return sum(loss) / static_cast<double>(x.dim(0));
    return reduced(loss, c);
  };
  t["nn.functional.poisson_nll_loss"] = [](const Call& c) {
    const Tensor x = floating(c[0]), y = floating(c[1]);
    Tensor loss =
        c.flag(-1, "log_input", true) ? exp(x) - y * x : x - y * log(x + c.real(-1, "eps", 1e-8));
    if (c.flag(-1, "full", false)) {  // Stirling's approximation of log y!
      const Tensor big = greater(y, 1.0), z = where(big, y, 2.0);
      loss = loss + where(big, z * log(z) - z + 0.5 * log(2 * kPi * z), 0.0);
    }
    return reduced(loss, c);
  };
  t["nn.functional.gaussian_nll_loss"] = [](const Call& c) {
    Tensor v = c[2];
    if (v.ndim() == c[0].ndim() - 1) v = expand_dims(v, v.ndim());
    const double eps = c.real(-1, "eps", 1e-6);
    v = where(less(v, eps), stop_gradient(maximum(v, eps) - v) + v,
              v);  // torch cuts the value and keeps the slope
    Tensor loss = 0.5 * (log(v) + square(c[0] - c[1]) / v);
    if (c.flag(-1, "full", false)) loss = loss + 0.5 * std::log(2 * kPi);
    return reduced(loss, c);
  };
  t["nn.functional.nll_loss"] = [](const Call& c) { return chosen_class(c, c[0], c[1]); };
  t["nn.functional.cross_entropy"] = cross_entropy;
  t["nn.functional.binary_cross_entropy"] = [](const Call& c) {
    return reduced(weighted(-(c[1] * cut_log(c[0]) + (1.0 - c[1]) * cut_log(1.0 - c[0])), c), c);
  };
  t["nn.functional.binary_cross_entropy_with_logits"] = [](const Call& c) {
    const Tensor x = c[0], y = c[1];
    const Tensor loss =
        c.has(-1, "pos_weight")
            ? (1.0 - y) * x + (1.0 + (c.tensor(-1, "pos_weight") - 1.0) * y) * softplus(-x)
            : (1.0 - y) * x + softplus(-x);
    return reduced(weighted(loss, c), c);
  };
  t["nn.functional.multilabel_soft_margin_loss"] = [](const Call& c) {
    const Tensor x = c[0], y = c[1];
    const Tensor loss = weighted(-(y * log_sigmoid(x) + (1.0 - y) * log_sigmoid(-x)), c);
    return reduced(mean(loss, {loss.ndim() - 1}), c);
  };
  t["nn.functional.multi_margin_loss"] = [](const Call& c) {
    Tensor x = c[0], y = c[1];
    const bool one = x.ndim() < 2;
    if (one) {
      x = reshape(x, {1, x.size()});
      y = reshape(y, {1});
    }
    const double p = c.real(2, "p", 1), margin = c.real(3, "margin", 1);
    const Tensor own = take_along_axis(x, expand_dims(y, 1), 1);
    Tensor d = relu(margin - own + x);
    if (p == 2) d = square(d);
    if (c.has(-1, "weight")) d = d * expand_dims(take(c.tensor(-1, "weight"), y), 1);
    const Tensor others = where(equal(one_hot(y, x.dim(1), x.dtype()), 1.0), 0.0, d);
    const Tensor loss = sum(others, {1}) / static_cast<double>(x.dim(1));
    const Tensor r = reduced(loss, c);
    return one && r.ndim() == 1 ? reshape(r, c[1].shape()) : r;
  };
  t["nn.functional.cosine_similarity"] = [](const Call& c) {
    return cosine(c[0], c[1], static_cast<int>(c.integer(2, "dim", 1)), c.real(3, "eps", 1e-8));
  };
  t["nn.functional.cosine_embedding_loss"] = [](const Call& c) {
    const Tensor y = c[2];
    const auto product = [&](const Tensor& a, const Tensor& b) {
      return sum(floating(a) * floating(b), {a.ndim() - 1});
    };
    const double eps = 1e-12;
    const Tensor similarity =
        product(c[0], c[1]) / sqrt((product(c[0], c[0]) + eps) * (product(c[1], c[1]) + eps));
    const Tensor loss = where(equal(y, like(1, y)), 1.0 - similarity,
                              where(equal(number(y), like(-1, number(y))),
                                    relu(similarity - c.real(-1, "margin", 0)), 0.0));
    return reduced(loss, c);
  };
  t["nn.functional.pairwise_distance"] = [](const Call& c) {
    return pair_distance(c[0], c[1], c.real(2, "p", 2), c.real(3, "eps", 1e-6),
                         c.flag(4, "keepdim", false));
  };
  t["nn.functional.triplet_margin_loss"] = [](const Call& c) {
    const double p = c.real(-1, "p", 2), eps = c.real(-1, "eps", 1e-6);
    const Tensor near = pair_distance(c[0], c[1], p, eps, false);
    Tensor far = pair_distance(c[0], c[2], p, eps, false);
    if (c.flag(-1, "swap", false)) far = minimum(far, pair_distance(c[1], c[2], p, eps, false));
    return reduced(relu(near - far + c.real(-1, "margin", 1)), c);
  };
}

}  // namespace tessera::oracle
