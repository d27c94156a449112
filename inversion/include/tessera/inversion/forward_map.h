// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/matrix.h"
#include "tessera/inversion/sparse_matrix.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace tessera::inversion {

/// A linear map by its products, and by its numbers where it has them.
struct LinearMap {
  using Product = std::function<std::vector<double>(const std::vector<double>&)>;
  std::size_t rows = 0, cols = 0;
  Product times;             ///< A x, [rows]
  Product transposed_times;  ///< A^T y, [cols]
  std::optional<Matrix> matrix;
  /// B A of a matrix [any, rows], where there is a faster way than row by row.
  std::function<Matrix(const Matrix& b)> from_left;
};
LinearMap linear_map(Matrix matrix);
LinearMap linear_map(SparseMatrix matrix);
/// Its numbers, one product a column where it has none.
Matrix dense(const LinearMap& map);
/// B A, row by row where the map says no faster way.
Matrix from_left(const Matrix& b, const LinearMap& map);

/// What a gradient is made of.
struct PulledBack {
  std::vector<double> value;  ///< F(m)
  LinearMap::Product pull;    ///< (dF/dm)^T y, [n_parameters]
};

/// A differentiable map from a model m [n_parameters] to data d = F(m) [n_data]. The algorithms of
/// this folder know nothing else of the physics. All functions may be called from several threads.
/// First derivatives are given by `jacobian`, by `linearize`, or both; second ones by `hessian`, by
/// `curvature`, or not at all.
struct ForwardMap {
  using Model = std::vector<double>;
  std::size_t n_parameters = 0;
  std::size_t n_data = 0;
  std::function<std::vector<double>(const Model& m)> predict;
  /// dF_i / dm_j, [n_data, n_parameters].
  std::function<Matrix(const Model& m)> jacobian;
  /// The Hessian of y . F: sum_i y_i d2F_i / dm_j dm_k, [n_parameters, n_parameters], symmetric.
  std::function<Matrix(const Model& m, const std::vector<double>& y)> hessian;
  /// The same two by their products, for maps with more numbers than one wants to keep.
  std::function<LinearMap(const Model& m)> linearize;
  std::function<LinearMap(const Model& m, const std::vector<double>& y)> curvature;
  /// F(m) and y -> (dF/dm)^T y for one product at a model, as a gradient needs them; where it costs
  /// less than `predict` and `linearize`.
  std::function<PulledBack(const Model& m)> pullback;
};

/// dF/dm at m, with its numbers where the map gives them. Throws tessera::Error where it has no
/// first derivatives.
LinearMap linearized(const ForwardMap& forward, const std::vector<double>& m);
/// The Hessian of y . F at m, likewise. Throws tessera::Error where it has no second derivatives.
LinearMap curvature(const ForwardMap& forward, const std::vector<double>& m,
                    const std::vector<double>& y);
/// By `pullback`, else by `predict` and products of the Jacobian.
PulledBack pulled_back(const ForwardMap& forward, const std::vector<double>& m);

}  // namespace tessera::inversion
