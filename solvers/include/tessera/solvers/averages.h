// SPDX-License-Identifier: Apache-2.0
//
// Averages of the parameters along a training, which often do better than the last ones.
//
//   exponential   a <- d_t a + (1 - d_t) p after each step t = 0, 1, ..., with a = p before the
//                 first and d_t = min(decay, (1 + t) / (10 + t)), so that the first values are soon
//                 forgotten (the ramp is that of TensorFlow's ExponentialMovingAverage)
//   mean          the plain mean (B. Polyak & A. Juditsky, SIAM J. Control Optim. 30 (1992) 838) of
//                 the parameters after each epoch from `first_epoch` on (P. Izmailov et al.,
//                 arXiv:1803.05407)
#pragma once
#include "tessera/autodiff/tensor.h"

namespace tessera::solvers {

struct AverageOptions {
  enum class Kind { exponential, mean } kind = Kind::exponential;
  double decay = 0.999;   ///< of exponential, in [0, 1)
  Index first_epoch = 0;  ///< of mean, from 0: epochs before it have no part
};

/// The part of what is new in the average that has `count` values already: a <- a + part (p - a).
double average_part(const AverageOptions& o, Index count);

}  // namespace tessera::solvers
