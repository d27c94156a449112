// SPDX-License-Identifier: Apache-2.0
//
// One row per primitive (more where its parameters matter): how to apply it, what it is fed, and
// what it should give by a plain loop in long double. op_table_test.cpp checks all rows for values
// and every derivative.
#pragma once
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"

#include <complex>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace tessera::table {

using Wide = std::complex<long double>;
using Rng = std::mt19937_64;

/// A row-major array in the widest arithmetic at hand: what oracles compute on.
struct Array {
  Shape shape;
  std::vector<Wide> v;
  explicit Array(Shape s = {}) : shape(s), v(static_cast<std::size_t>(s.count())) {}
  Index size() const { return shape.count(); }
  Wide& operator[](Index i) { return v[static_cast<std::size_t>(i)]; }
  const Wide& operator[](Index i) const { return v[static_cast<std::size_t>(i)]; }
  /// Element of a stack of matrices.
  Wide at(Index b, Index i, Index j) const { return (*this)[(b * rows() + i) * cols() + j]; }
  Wide& at(Index b, Index i, Index j) { return (*this)[(b * rows() + i) * cols() + j]; }
  Index rows() const { return shape[shape.size() - 2]; }
  Index cols() const { return shape[shape.size() - 1]; }
  Index batch() const { return size() / std::max<Index>(1, rows() * cols()); }
};
Array to_array(const Tensor& t);
Tensor to_tensor(const Array& a, Dtype dtype);

using Oracle = std::function<std::vector<Array>(const std::vector<Array>&)>;
/// Operands for a case; `n` is the size scale (3 in most checks, large in the check of threads).
using Inputs = std::function<std::vector<Tensor>(Dtype, Index n, Rng&)>;

struct Row {
  std::string primitive;  ///< the registered name
  std::string variant;    ///< what distinguishes rows of one primitive
  DtypeSet dtypes;        ///< where it is defined; elsewhere it must throw
  Inputs inputs;
  FlatFunction f;
  Oracle oracle;         ///< empty: the value is checked by `property`
  double tolerance = 8;  ///< in units of the type's epsilon and the largest modulus of the result
  std::function<double(const std::vector<Tensor>& in, const std::vector<Tensor>& out)>
      property;  ///< a defect that should be 0
  Index large =
      0;  ///< size scale at which several threads have work; 0: the kernel only moves views
  bool differentiable = true;
  double derivative_tolerance = 1e-7;  ///< jvp against differences in f64, relative
  FlatFunction invariant =
      nullptr;  ///< checked for derivatives in place of f, whose results have free phases
};

/// Uniform real and imaginary parts in [low, high]; integers likewise; bool at random.
Tensor uniform_tensor(Dtype t, const Shape& s, Rng& rng, double low = -1, double high = 1);
Tensor index_tensor(const Shape& s, Index n, Rng& rng, Dtype t = Dtype::i64);

/// Distinct values, at least 0.3 apart and 0.1 from zero, in random order: no kink is near.
Tensor distinct_tensor(Dtype t, const Shape& s, Rng& rng);
/// One operand of shape [n], or more where n is small.
Inputs elements(int operands, double low, double high);

/// The same with no two values near each other, within or between operands.
Inputs distinct_elements(int operands);
/// An oracle that treats elements alone.
Oracle loop1(std::function<Wide(Wide)> f);
Oracle loop2(std::function<Wide(Wide, Wide)> f);

void elementwise_rows(std::vector<Row>& rows);
void shape_rows(std::vector<Row>& rows);
void index_rows(std::vector<Row>& rows);
void linalg_rows(std::vector<Row>& rows);
void attention_rows(std::vector<Row>& rows);
void convolution_rows(std::vector<Row>& rows);
void fft_rows(std::vector<Row>& rows);
void bessel_rows(std::vector<Row>& rows);
void eig_rows(std::vector<Row>& rows);
void custom_rows(std::vector<Row>& rows);
void control_rows(std::vector<Row>& rows);
void sparse_rows(std::vector<Row>& rows);
void solve_rows(std::vector<Row>& rows);
const std::vector<Row>& all_rows();

}  // namespace tessera::table
