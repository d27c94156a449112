// SPDX-License-Identifier: Apache-2.0
//
// An energy U(p_0, p_1, ...) of several arrays (positions, box, tables of parameters) that is known
// by three hand-written kernels:
//
//   value            U
//   gradient         g_i = dU/dp_i
//   hessian_product  w_i = sum_j d2U/(dp_i dp_j) v_j
//
// `evaluate` makes of it one engine operation that differentiates to any order. dU = <g, dp> and dg
// = w(dp), and as second derivatives commute, the Hessian product is its own transpose: three
// primitives are closed up to the second order. From the third on the same energy, written in
// engine operations (`generic`), is differentiated.
#pragma once
#include "tessera/autodiff/tensor.h"

#include <memory>
#include <span>
#include <vector>

namespace tessera::molecular {

class EnergyFunction {
 public:
  using Arrays = std::span<const double* const>;
  using Results = std::span<double* const>;

  virtual ~EnergyFunction() = default;
  virtual const char* name() const = 0;
  /// Shapes of p_0, p_1, ...
  virtual std::vector<tessera::Shape> shapes() const = 0;

  virtual double value(Arrays p) const = 0;
  /// g_k += dU/dp_k for every g_k that is not null.
  virtual void gradient(Arrays p, Results g) const = 0;
  /// Both, where one sweep gives both.
  virtual double value_and_gradient(Arrays p, Results g) const {
    gradient(p, g);
    return value(p);
  }
  /// w_i += sum_j d2U/(dp_i dp_j) v_j for every w_i that is not null; a v_j that is null is zero.
  virtual void hessian_product(Arrays p, Arrays v, Results w) const = 0;
  /// U in engine operations, of any order: slow, and the oracle of the three above.
  virtual Tensor generic(std::span<const Tensor> p) const = 0;
};
using EnergyPtr = std::shared_ptr<const EnergyFunction>;

/// U(p) of float64 operands [.., shape_k]; results [..]. Throws Error where a type or shape differs
/// from `shapes()`.
Tensor evaluate(const EnergyPtr& energy, const std::vector<Tensor>& p);

}  // namespace tessera::molecular
