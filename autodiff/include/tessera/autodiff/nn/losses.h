// SPDX-License-Identifier: Apache-2.0
//
// Losses and metrics: real scalars, means over the batch. Where nothing else is said, y and its
// target have one shape and the mean is over all elements; of an empty batch it is NaN.
#pragma once
#include "tessera/autodiff/tensor.h"

namespace tessera::nn {

/// Mean of |y - target|^2.
Tensor mean_square(Arg y, Arg target);
/// Mean of |y - target|.
Tensor mean_absolute(Arg y, Arg target);
/// Mean of d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), d = y - target. P. Huber, Ann.
/// Math. Stat. 35 (1964) 73.
Tensor huber(Arg y, Arg target, double delta = 1);
/// Mean over the first axis of |y - target| / |target|, each norm over all other axes. Infinite
/// where a target is 0 and missed.
Tensor relative_l2(Arg y, Arg target);

/// Mean of -log p(label), p the softmax of the logits [B..., n]; labels are integers [B...] in
/// 0 ... n-1, else it throws. `smoothing` in [0, 1] moves that share of the label's probability to
/// all n alike (C. Szegedy et al., arXiv:1512.00567).
Tensor cross_entropy(Arg logits, Arg labels, double smoothing = 0);
/// The same for probabilities [B..., n] in place of labels; 0 log 0 is 0.
Tensor cross_entropy_of(Arg logits, Arg probabilities);
/// Mean of -t log p - (1 - t) log(1 - p), p = logistic(logits), t in [0, 1]:
/// softplus(z) - t z, which does not overflow.
Tensor binary_cross_entropy(Arg logits, Arg target);
/// Mean over the first axis of the Kullback-Leibler divergence of normal distributions from the
/// standard one, summed over all other axes: (e^l + m^2 - 1 - l) / 2, l the logarithm of the
/// variance.
Tensor kl_normal(Arg mean, Arg log_variance);

/// Share of rows of the logits [B..., n] whose largest one (the first of equal ones) is the label.
Tensor accuracy(Arg logits, Arg labels);
/// Coefficient of determination, 1 - sum |y - t|^2 / sum |t - mean t|^2 over all elements.
Tensor r_squared(Arg y, Arg target);

}  // namespace tessera::nn
