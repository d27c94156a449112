// SPDX-License-Identifier: Apache-2.0
#include "tessera/solvers/augment.h"

#include "tessera/autodiff/ops.h"

namespace tessera::solvers {
namespace {

/// One number for each sample, beside all of its elements: [n, 1...].
Tensor beside(const Tensor& numbers, const Tensor& x) {
  Shape shape = Shape::filled(x.ndim(), 1);
  shape[0] = x.dim(0);
  return reshape(numbers, shape);
}

int axis_of(const char* op, const Tensor& x, Index axis) {
  if (axis < 0 || axis + 1 >= x.ndim())
    fail(op, "samples of " + to_string(x.type()) + " have no axis " + std::to_string(axis));
  return static_cast<int>(axis) + 1;
}

Tensor shifted_along(const Tensor& x, int axis, Index by, const Tensor& keys) {
  const Index size = x.dim(axis);
  const Tensor step = floor(uniform(keys, {}) * static_cast<double>(2 * by + 1));
  Shape along = Shape::filled(x.ndim(), 1);
  along[axis] = size;
  const Tensor from = reshape(arange(size), along) - beside(cast(step, Dtype::i64) - by, x);
  const Tensor inside = logical_and(from >= 0, from < size);
  const Tensor index = broadcast_to(where(inside, from, 0), x.shape());
  return where(inside, take_along_axis(x, index, axis), 0);
}

}  // namespace

Tensor noisy(const Tensor& x, double deviation, const Tensor& keys) {
  Shape sample = x.shape();
  sample.erase(0);
  return x + deviation * normal(keys, sample, x.dtype());
}

Tensor flipped(const Tensor& x, int axis, double probability, const Tensor& keys) {
  const int at = axis_of("flipped", x, axis);
  return where(beside(uniform(keys, {}) < probability, x), reverse(x, {at}), x);
}

Tensor shifted(Tensor x, const std::vector<Index>& axes, Index by, const Tensor& keys) {
  if (by < 0) fail("shifted", "by at most " + std::to_string(by) + " elements");
  const Tensor each = split_key(keys, static_cast<Index>(axes.size()));
  for (std::size_t k = 0; k < axes.size(); ++k)
    x = shifted_along(x, axis_of("shifted", x, axes[k]), by,
                      select(each, 1, static_cast<Index>(k)));
  return x;
}

}  // namespace tessera::solvers
