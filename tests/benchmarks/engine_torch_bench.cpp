// SPDX-License-Identifier: Apache-2.0
//
// First derivatives of a small network and second derivatives of a function of 100 variables,
// beside libtorch's autograd in the same process on the same input and the same number of threads.
//   mlp        256-512-512-10, tanh, mean square error, batch 256; gradient to 3 matrices and 3
//   vectors, f32 and
//              f64: bounded by matrix products (3 x 2 x 256 x (256 x 512 + 512 x 512 + 512 x 10)
//              flops)
//   rosenbrock sum_i 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2 in 100 dimensions, the full Hessian;
//   libtorch's C++
//              interface has no batched gradient, so that it differentiates the gradient row by row
#include "interleave.h"
#include "openblas_choice.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <random>

namespace {

using tessera::Tensor;

template <class T>
std::vector<T> normal(std::size_t n, double scale, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> draw(0, scale);
  std::vector<T> v(n);
  for (T& x : v) x = static_cast<T>(draw(engine));
  return v;
}

/// Both sides of one array.
template <class T>
std::pair<Tensor, at::Tensor> both(const std::vector<T>& v, const std::vector<std::int64_t>& shape,
                                   bool leaf) {
  at::Tensor t =
      at::from_blob(const_cast<T*>(v.data()), shape, at::dtype(c10::CppTypeToScalarType<T>::value))
          .clone();
  return {tessera::tensor(v, tessera::Shape(std::span<const tessera::Index>(shape))),
          t.set_requires_grad(leaf)};
}
template <class T>
double largest_difference(const Tensor& ours, const at::Tensor& theirs) {
  const std::vector<T> a = ours.to_vector<T>();
  const at::Tensor c = theirs.detach().contiguous();
  const T* b = c.data_ptr<T>();
  double worst = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    size = std::max(size, std::fabs(static_cast<double>(b[i])));
  }
  return worst / size;
}
void must_agree(const char* what, double difference, double tolerance) {
  std::printf("# %s: largest difference to libtorch %.1e of the largest entry\n", what, difference);
  if (!(difference <= tolerance)) std::exit(1);
}

/// The smaller of the ratios as planned with one thread and with all.
template <class T>
double mlp(int threads, const std::string& name) {
  tessera::set_num_threads(threads);
  at::set_num_threads(threads);
  constexpr std::int64_t batch = 256, widths[] = {256, 512, 512, 10};
  std::vector<Tensor> p;
  std::vector<at::Tensor> tp;
  for (int k = 0; k < 3; ++k) {
    const auto [w, tw] =
        both(normal<T>(widths[k] * widths[k + 1], 1 / std::sqrt(double(widths[k])), 10 + k),
             {widths[k], widths[k + 1]}, true);
    const auto [b, tb] = both(normal<T>(widths[k + 1], 0.1, 20 + k), {widths[k + 1]}, true);
    p.push_back(w), p.push_back(b), tp.push_back(tw), tp.push_back(tb);
  }
  const auto [x, tx] = both(normal<T>(batch * widths[0], 1, 1), {batch, widths[0]}, false);
  const auto [y, ty] = both(normal<T>(batch * widths[3], 1, 2), {batch, widths[3]}, false);

  const auto loss = [](const std::vector<Tensor>& q, Tensor u, Tensor v) {
    for (int k = 0; k < 3; ++k) {
      u = matmul(u, q[2 * k]) + q[2 * k + 1];
      if (k < 2) u = tanh(u);
    }
    return mean(square(u - v));
  };
  const auto eager = tessera::value_and_grad(loss);
  const auto planned = tessera::jit([loss](const std::vector<Tensor>& q, Tensor u, Tensor v) {
    return tessera::value_and_grad(loss)(q, u, v);
  });
  std::vector<Tensor> g;
  std::vector<at::Tensor> tg;
  const auto torch = [&] {
    at::Tensor u = tx;
    for (int k = 0; k < 3; ++k) {
      u = at::addmm(tp[2 * k + 1], u, tp[2 * k]);
      if (k < 2) u = at::tanh(u);
    }
    tg = torch::autograd::grad({at::mse_loss(u, ty)}, tp);
  };
  const bench::Versus v = bench::alternate(
      21, [&] { g = planned(p, x, y).second; }, torch);
  for (int k = 0; k < 6; ++k)
    must_agree("mlp", largest_difference<T>(g[k], tg[k]), sizeof(T) == 4 ? 1e-4 : 1e-12);
  const bench::Versus e = bench::alternate(
      11, [&] { g = eager(p, x, y).second; }, torch);
  bench::print(name, v, "torch");
  bench::print(name + "_ratio", v.ratio, "x");
  bench::print(name + "_eager_ratio", e.ratio, "x");
  return v.ratio;
}

double rosenbrock() {
  tessera::set_num_threads(1);
  at::set_num_threads(1);
  constexpr std::int64_t n = 100;
  const auto [x, tx] = both(normal<double>(n, 1, 3), {n}, true);
  const auto f = [](Tensor u) {
    const Tensor head = slice(u, 0, 0, n - 1), tail = slice(u, 0, 1, n);
    return sum(100.0 * square(tail - square(head)) + square(1.0 - head));
  };
  const auto eager = tessera::hessian(f);
  const auto planned = tessera::jit([f](Tensor u) { return tessera::hessian(f)(u); });
  Tensor h;
  at::Tensor th;
  const auto torch = [&] {
    const at::Tensor head = tx.slice(0, 0, n - 1), tail = tx.slice(0, 1, n);
    const at::Tensor y =
        (100.0 * at::square(tail - at::square(head)) + at::square(1.0 - head)).sum();
    const at::Tensor g = torch::autograd::grad({y}, {tx}, {}, true, true)[0];
    std::vector<at::Tensor> rows;
    for (std::int64_t i = 0; i < n; ++i)
      rows.push_back(torch::autograd::grad({g[i]}, {tx}, {}, true)[0]);
    th = at::stack(rows);
  };
  const bench::Versus e = bench::alternate(
      31, [&] { h = eager(x); }, torch);
  must_agree("rosenbrock", largest_difference<double>(h, th), 1e-13);
  const bench::Versus v = bench::alternate(
      31, [&] { h = planned(x); }, torch);
  must_agree("rosenbrock planned", largest_difference<double>(h, th), 1e-13);
  bench::print("rosenbrock_hessian", v, "torch");
  bench::print("rosenbrock_hessian_planned_ratio", v.ratio, "x");
  bench::print("rosenbrock_hessian_eager_seconds", e.ours, "s");
  bench::print("rosenbrock_hessian_eager_ratio", e.ratio, "x");
  return std::min(e.ratio, v.ratio);
}

}  // namespace

int main(int, char** argv) {
  bench::let_openblas_choose(argv);
  bench::print_machine();
  const int all = tessera::num_threads();
  double worst = std::min(mlp<float>(1, "mlp_f32_1"), mlp<double>(1, "mlp_f64_1"));
  if (all > 1) {
    worst = std::min(worst, mlp<float>(all, "mlp_f32_" + std::to_string(all)));
    worst = std::min(worst, mlp<double>(all, "mlp_f64_" + std::to_string(all)));
  }
  bench::print("mlp_gradient_ratio", worst,
               "x");  // the least of both types, one thread and all, planned
  bench::print("rosenbrock_hessian_ratio", rosenbrock(), "x");  // the less of eager and planned
}
