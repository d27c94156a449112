// SPDX-License-Identifier: Apache-2.0
#include "../kernels/lapack.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/matrix_functions.h"

#include <cmath>

namespace tessera {

Tensor expm(Arg a) {
  const Tensor t = detail::to_tensor("expm", a);
  kernels::need_matrices("expm", t.type(), true);
  const Index n = t.dim(-1);
  if (t.size() == 0) return t;
  constexpr double theta = 5.371920351148152;
  // r = (even - odd)^-1 (even + odd), b_k = 13! (26 - k)! / (26! k! (13 - k)!).
  constexpr int order = 13;
  double b[order + 1] = {1};
  for (int k = 0; k < order; ++k) b[k + 1] = b[k] * (order - k) / ((2 * order - k) * (k + 1.0));
  const Tensor size = stop_gradient(max(sum(abs(t), {-2}), {-1}));
  Tensor halvings =
      maximum(ceil(log(size / theta) / std::log(2.0)), 0.0);  // size 0: log gives -inf
  halvings = where(is_finite(halvings), halvings, 0.0);
  const Tensor scaled =
      t * cast(expand_dims(expand_dims(pow(cast(0.5, size.dtype()), halvings), -1), -1), t.dtype());
  const Tensor one = eye(n, t.dtype()), a2 = matmul(scaled, scaled), a4 = matmul(a2, a2),
               a6 = matmul(a4, a2);
  const Tensor odd = matmul(scaled, matmul(a6, b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 +
                                        b[5] * a4 + b[3] * a2 + b[1] * one);
  const Tensor even =
      matmul(a6, b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + one;
  using Carry = std::vector<Tensor>;
  const auto unfinished = [](const Carry& c) { return any(c[1] > 0.0); };
  const auto square_once = [](const Carry& c) {
    const Tensor active = expand_dims(expand_dims(c[1] > 0.0, -1), -1);
    const Tensor x =
        where(active, c[0], cast(0.0, c[0].dtype()));  // those that are done could overflow
    return Carry{where(active, matmul(x, x), c[0]), c[1] - 1.0};
  };
  return while_loop(unfinished, square_once, Carry{solve(even - odd, even + odd), halvings})[0];
}

}  // namespace tessera
