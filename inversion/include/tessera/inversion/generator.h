// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

#include <functional>

namespace tessera::inversion {

/// What makes models of codes: all that an inversion knows of a learnt prior. Both functions are of
/// engine operations on f64, so that their Jacobians and all derivatives beyond are exact.
struct Generator {
  Index codes = 0;
  Shape model;  ///< of what `decode` gives
  std::function<Tensor(const Tensor& code)>
      decode;  ///< [codes] -> log10 of the resistivity in ohm m
  std::function<Tensor(const Tensor& code)> log_prior;  ///< [codes] -> a scalar, up to a constant
  /// What codes a model may have, where one can tell: [shape of model] -> [codes].
  std::function<Tensor(const Tensor& model)> encode = nullptr;
};

}  // namespace tessera::inversion
