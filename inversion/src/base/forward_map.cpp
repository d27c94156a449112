// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/forward_map.h"

#include "base/eigen_map.h"
#include "tessera/autodiff/error.h"

#include <memory>
#include <utility>

namespace tessera::inversion {

LinearMap linear_map(Matrix matrix) {
  LinearMap out{.rows = matrix.rows, .cols = matrix.cols};
  const auto a = std::make_shared<const Matrix>(matrix);
  out.times = [a](const std::vector<double>& x) { return to_vector(view(*a) * view(x)); };
  out.transposed_times = [a](const std::vector<double>& y) {
    return to_vector(view(*a).transpose() * view(y));
  };
  out.from_left = [a](const Matrix& b) { return to_matrix(view(b) * view(*a)); };
  out.matrix = std::move(matrix);
  return out;
}

LinearMap linear_map(SparseMatrix matrix) {
  LinearMap out{.rows = matrix.rows, .cols = matrix.cols};
  const auto a = std::make_shared<const SparseMatrix>(std::move(matrix));
  out.times = [a](const std::vector<double>& x) { return a->times(x); };
  out.transposed_times = [a](const std::vector<double>& y) { return a->transposed_times(y); };
  out.from_left = [a](const Matrix& b) {
    Matrix c(b.rows, a->cols);
    for (std::size_t i = 0; i < a->rows; ++i)
      for (auto k = static_cast<std::size_t>(a->offsets[i]);
           k < static_cast<std::size_t>(a->offsets[i + 1]); ++k)
        view(c).col(a->columns[k]) += a->values[k] * view(b).col(static_cast<Eigen::Index>(i));
    return c;
  };
  return out;
}

Matrix from_left(const Matrix& b, const LinearMap& map) {
  if (b.cols != map.rows) throw Error("[from_left] the matrix does not fit");
  if (map.from_left) return map.from_left(b);
  Matrix out(b.rows, map.cols);
  for (std::size_t i = 0; i < b.rows; ++i) {
    const Eigen::VectorXd row = view(b).row(static_cast<Eigen::Index>(i));
    const std::vector<double> product = map.transposed_times(to_vector(row));
    view(out).row(static_cast<Eigen::Index>(i)) = view(product).transpose();
  }
  return out;
}

Matrix dense(const LinearMap& map) {
  if (map.matrix) return *map.matrix;
  Matrix out(map.rows, map.cols);
  std::vector<double> unit(map.cols, 0.0);
  for (std::size_t j = 0; j < map.cols; ++j) {
    unit[j] = 1;
    const std::vector<double> column = map.times(unit);
    unit[j] = 0;
    for (std::size_t i = 0; i < map.rows; ++i) out(i, j) = column[i];
  }
  return out;
}

LinearMap linearized(const ForwardMap& forward, const std::vector<double>& m) {
  if (forward.jacobian) return linear_map(forward.jacobian(m));
  if (forward.linearize) return forward.linearize(m);
  throw Error("[inversion] the forward map has no first derivatives");
}

LinearMap curvature(const ForwardMap& forward, const std::vector<double>& m,
                    const std::vector<double>& y) {
  if (forward.hessian) return linear_map(forward.hessian(m, y));
  if (forward.curvature) return forward.curvature(m, y);
  throw Error("[inversion] the forward map has no second derivatives");
}

PulledBack pulled_back(const ForwardMap& forward, const std::vector<double>& m) {
  if (forward.pullback) return forward.pullback(m);
  return {forward.predict(m),
          (forward.linearize ? forward.linearize(m) : linearized(forward, m)).transposed_times};
}

}  // namespace tessera::inversion
