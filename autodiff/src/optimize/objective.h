// SPDX-License-Identifier: Apache-2.0
//
// What the iterations see of a user's function: values and products on plain vectors of doubles.
#pragma once
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/optimize.h"

#include <memory>
#include <vector>

namespace tessera::detail {

using Vector = std::vector<double>;
double dot(const Vector& a, const Vector& b);
double norm2(const Vector& a);                    ///< Euclidean
double norm_inf(const Vector& a);                 ///< NaN where an element is NaN
void axpy(double a, const Vector& x, Vector& y);  ///< y += a x

/// The leaves of a tree as one real vector: f32 widened, complex numbers as pairs.
class Packing {
 public:
  Packing(const char* op, const std::vector<Tensor>& leaves);
  Index size() const { return size_; }
  /// Whether a leaf is of single precision: the function sees it rounded.
  bool single() const { return single_; }
  static Tensor pack(const std::vector<Tensor>& leaves);
  std::vector<Tensor> unpack(const Tensor& v) const;

 private:
  std::vector<Type> types_;
  Index size_ = 0;
  bool single_ = false;
};

/// A function of vectors, planned on first use or run eagerly.
class VectorFunction {
 public:
  VectorFunction(const char* op, FlatFunction f, bool jit) : op_(op), f_(std::move(f)), jit_(jit) {}
  std::vector<Tensor> operator()(const std::vector<Tensor>& x);

 private:
  const char* op_;
  FlatFunction f_;
  bool jit_;
  std::unique_ptr<Plan> plan_;
};

/// f, its gradient, and its Hessian times a vector.
class Objective {
 public:
  Objective(const FlatFunction& f, const std::vector<Tensor>& x0, bool jit);
  Vector start() const { return start_; }
  std::vector<Tensor> leaves(const Vector& x) const { return packing_.unpack(tensor(x)); }
  bool single() const { return packing_.single(); }
  double operator()(const Vector& x, Vector& gradient);
  Vector hessian_times(const Vector& x, const Vector& v);
  int evaluations = 0, products = 0;

 private:
  Packing packing_;
  Vector start_;
  VectorFunction value_and_gradient_, product_;
};

/// r, its Jacobian J [m, n] by whichever mode has fewer columns or rows, and products with J and
/// J^T.
class Residual {
 public:
  Residual(const FlatFunction& r, const std::vector<Tensor>& x0, bool jit);
  Vector start() const { return start_; }
  std::vector<Tensor> leaves(const Vector& x) const { return packing_.unpack(tensor(x)); }
  bool single() const { return packing_.single(); }
  Vector operator()(const Vector& x);
  Tensor jacobian(const Vector& x);
  Vector times(const Vector& x, const Vector& v);            ///< J v
  Vector transpose_times(const Vector& x, const Vector& u);  ///< J^T u
  int evaluations = 0, products = 0;

 private:
  Packing packing_;
  Vector start_;
  std::function<Tensor(Tensor)> packed_;
  VectorFunction value_, by_columns_, by_rows_, push_, pull_;
  Index m_ = 0;
};

}  // namespace tessera::detail
