// SPDX-License-Identifier: Apache-2.0
//
// Eigen's view of a tensor, and back. The one public header that includes Eigen; nothing else needs
// it.
#pragma once
#include "tessera/autodiff/primitive.h"
#include "tessera/autodiff/tensor.h"

#include <Eigen/Core>

namespace tessera {

template <class T>
using EigenView =
    Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
               Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// A concrete tensor with two axes (or one: a column) as an Eigen matrix, without a copy. The
/// tensor must outlive the view.
template <class T>
EigenView<T> as_eigen(const Tensor& t, SourceLine line = SourceLine::here()) {
  if (!t.defined() || t.is_traced() || t.dtype() != dtype_of<T>() || t.ndim() < 1 || t.ndim() > 2)
    fail("as_eigen",
         std::string("needs a concrete ") + name_of(dtype_of<T>()) + " tensor with one or two axes",
         line);
  const View& v = t.view();
  const bool matrix = t.ndim() == 2;
  return {static_cast<const T*>(v.data),
          v.shape[0],
          matrix ? v.shape[1] : 1,
          {v.strides[0], matrix ? v.strides[1] : 1}};
}

/// A copy of any Eigen expression: [rows, columns].
template <class Derived>
Tensor from_eigen(const Eigen::MatrixBase<Derived>& m) {
  using T = typename Derived::Scalar;
  const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = m;
  return from_span<T>(std::span<const T>(rows.data(), static_cast<std::size_t>(rows.size())),
                      {rows.rows(), rows.cols()});
}

}  // namespace tessera
