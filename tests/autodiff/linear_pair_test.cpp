// SPDX-License-Identifier: Apache-2.0
//
// A pair of kernels, each the other's transpose, against the same map by single operations: values,
// the adjoint identity, derivatives of every order and mode in operands and parameters, batches,
// plans, Taylor mode.
#include "tessera/autodiff/linear_pair.h"

#include "error_text.h"
#include "noise.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/host_call.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"

#include <gtest/gtest.h>

#include <functional>

namespace tessera {
namespace {

using testing::noise;
using Flat = std::vector<Tensor>;

int with_u = 0, without_u = 0;  ///< runs of the transposed kernel that were given a cotangent of u

/// y_n = p u_n, u_n = y_{n-1} + x_n of x [.., n] and p [.., 1], all of one type.
struct Filter {
  static constexpr const char *name = "filter", *transposed_name = "filter_transposed";
  static constexpr std::size_t operands = 1, results = 2;
  static constexpr std::uint32_t optional_results = 2u;
  static Types result_types(std::span<const Type> in, const Attributes*) { return {in[0], in[0]}; }
  static Types operand_types(std::span<const Type> in, const Attributes*) { return {in[0]}; }

  template <class T>
  static void run(Inputs in, Outputs out, const Attributes*) {
    const Index n = in[0]->shape.back();
    for (Index b = 0; b < in[1]->count(); ++b) {
      const T* x = static_cast<const T*>(in[0]->data) + b * n;
      const T p = static_cast<const T*>(in[1]->data)[b];
      T *y = static_cast<T*>(out[0]->data) + b * n, *u = static_cast<T*>(out[1]->data) + b * n;
      for (Index k = 0; k < n; ++k) u[k] = x[k] + (k ? y[k - 1] : T(0)), y[k] = p * u[k];
    }
  }
  template <class T>
  static void run_transposed(Inputs in, Outputs out, const Attributes*) {
    const Index n = in[0]->shape.back(), n_u = in[1]->shape.back();
    ++(n_u ? with_u : without_u);
    for (Index b = 0; b < in[2]->count(); ++b) {
      const T *y = static_cast<const T*>(in[0]->data) + b * n,
              *u = static_cast<const T*>(in[1]->data) + b * n_u;
      const T p = static_cast<const T*>(in[2]->data)[b];
      T* x = static_cast<T*>(out[0]->data) + b * n;
      for (Index k = n; k-- > 0;)
        x[k] = p * (y[k] + (k + 1 < n ? x[k + 1] : T(0))) + (n_u ? u[k] : T(0));
    }
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    return in[0] == Dtype::f64 ? run<double> : in[0] == Dtype::c128 ? run<c128> : nullptr;
  }
  static KernelFn transposed_kernel(std::span<const Dtype> in, const Attributes*) {
    return in[0] == Dtype::f64    ? run_transposed<double>
           : in[0] == Dtype::c128 ? run_transposed<c128>
                                  : nullptr;
  }
  static Change change(const Application& a, std::span<const Tensor> dp) {
    const Tensor s = dp[0] / a.in[1] * a.out[1];
    return {{s}, {Tensor(), s}};
  }
  static Change transposed_change(const Application& a, std::span<const Tensor> dp) {
    const Tensor w = a.in_types[1].shape.back() == 0 ? a.out[0] : a.out[0] - a.in[1];
    return {{Tensor(), dp[0] / a.in[2] * w}, {}};
  }
};
/// The same without derivatives in p.
struct FixedFilter {
  static constexpr const char *name = "fixed_filter", *transposed_name = "fixed_filter_transposed";
  static constexpr std::size_t operands = 1, results = 2;
  static constexpr auto result_types = Filter::result_types;
  static constexpr auto operand_types = Filter::operand_types;
  static constexpr auto kernel = Filter::kernel;
  static constexpr auto transposed_kernel = Filter::transposed_kernel;
};

using Pair = std::tuple<Tensor, Tensor>;
Pair by_pair(const Tensor& x, const Tensor& p) {
  const Flat r = LinearPair<Filter>::apply({}, {x, p});
  return {r[0], r[1]};
}
Pair by_operations(const Tensor& x, const Tensor& p) {
  Flat y, u;
  for (Index k = 0; k < x.dim(-1); ++k) {
    const Tensor at = slice(x, -1, k, k + 1);
    u.push_back(k ? y.back() + at : at);
    y.push_back(p * u.back());
  }
  return {concatenate(y, -1), concatenate(u, -1)};
}

struct Operands {
  Tensor x, p;
};
Operands operands(bool complex, const Shape& lead = {}) {
  Shape x = lead, p = lead;
  x.push_back(5), p.push_back(1);
  return {noise(x, 1, complex), 0.8 + 0.1 * noise(p, 2, complex)};
}
double largest_of(const Tensor& t) { return t.size() ? max(abs(t)).item() : 0; }

TEST(LinearPair, KernelsAreEachOthersTranspose) {
  for (const bool complex : {false, true}) {
    const auto [x, p] = operands(complex, {3});
    const auto [y, u] = by_pair(x, p);
    const auto [y0, u0] = by_operations(x, p);
    EXPECT_LE(largest_of(y - y0) + largest_of(u - u0), 1e-14);
    const Tensor cy = noise(y.shape(), 3, complex), cu = noise(u.shape(), 4, complex);
    const Tensor back = LinearPair<Filter>::apply_transposed({}, {cy, cu, p})[0];
    // Without conjugates, as the kernels are; products of ten terms of order 1.
    EXPECT_LE(std::abs(sum(cy * y + cu * u).item<c128>() - sum(back * x).item<c128>()), 1e-13)
        << complex;
  }
}

TEST(LinearPair, DerivativesPassEveryCheckToSecondOrder) {
  for (const bool complex : {false, true}) {
    const auto [x, p] = operands(complex);
    const CheckReport reports[] = {
        gradcheck(by_pair, std::tuple(x, p), {.order = 2}),
        transpose_check(by_pair, std::tuple(x, p), {.order = 2}),
        vmap_check(by_pair, std::tuple(x, p)),
        jetcheck(by_pair, std::tuple(x, p),
                 std::tuple(noise(x.shape(), 11, complex), noise(p.shape(), 12, complex)), 4)};
    for (const CheckReport& r : reports) EXPECT_TRUE(r) << complex << " " << to_string(r);
  }
}

// A real scalar of x and p under every nesting gives what the loop of single operations gives
// there.
using Loss = std::function<Tensor(Tensor)>;
Loss objective(Pair (*map)(const Tensor&, const Tensor&)) {
  return [map](Tensor z) {  // [6]: x and p
    const auto [y, u] = map(slice(z, -1, 0, 5), slice(z, -1, 5, 6));
    return sum(y * y * sin(u)) + sum(u * cos(y));
  };
}

TEST(LinearPair, NestsAsSingleOperationsDo) {
  const Tensor z = concatenate({noise({5}, 5), tensor({0.8})}), v = noise({6}, 6),
               many = noise({3, 6}, 7) * 0.1 + z;
  using Way = std::function<Tensor(const Loss&)>;
  const auto along = [v](const Loss& f) {
    return Loss([f, v](Tensor x) { return jvp(f, x, v).second; });
  };
  const auto back = [v](const Loss& f) {
    return Loss([f, v](Tensor x) { return sum(v * grad(f)(x)); });
  };
  const auto planned = [](const Loss& f) {
    return Loss([plan = jit([f](Tensor x) { return f(x); })](Tensor x) { return plan(x); });
  };
  const std::pair<const char*, Way> ways[] = {
      {"jvp", [&](auto& f) { return along(f)(z); }},
      {"grad", [&](auto& f) { return grad(f)(z); }},
      {"jit of grad", [&](auto& f) { return jit(grad(f))(z); }},
      {"vmap of grad", [&](auto& f) { return vmap(grad(f))(many); }},
      {"grad of grad", [&](auto& f) { return grad(back(f))(z); }},
      {"jvp of grad", [&](auto& f) { return hvp(f, z, v); }},
      {"grad of jvp", [&](auto& f) { return grad(along(f))(z); }},
      {"grad of grad of grad", [&](auto& f) { return grad(back(back(f)))(z); }},
      {"jvp of grad of jvp", [&](auto& f) { return along(back(along(f)))(z); }},
      {"hessian", [&](auto& f) { return hessian(f)(z); }},
      {"vmap of hessian", [&](auto& f) { return vmap(hessian(f))(many); }},
      {"jet", [&](auto& f) { return jet(f, 4)(z, v)[4]; }},
      {"jet of grad", [&](auto& f) { return jet(back(f), 3)(z, v)[3]; }},
      {"grad of jet",
       [&](auto& f) { return grad([&](Tensor x) { return jet(f, 3)(x, v)[3]; })(z); }},
      {"vmap of jet",
       [&](auto& f) { return vmap([&](Tensor x) { return jet(f, 3)(x, v)[3]; })(many); }},
      {"laplacian", [&](auto& f) { return laplacian(f)(z); }},
      {"grad of jit", [&](auto& f) { return grad(planned(f))(z); }},
      {"jit of vmap of hvp",
       [&](auto& f) { return jit(vmap([&](Tensor x) { return hvp(f, x, v); }))(many); }}};
  const Loss f = objective(by_pair), g = objective(by_operations);
  for (const auto& [name, way] : ways) {
    const Tensor got = way(f), expected = way(g);
    EXPECT_LE(largest_of(got - expected), 1e-12 * std::max(1.0, largest_of(expected))) << name;
  }
}

TEST(LinearPair, ZeroCotangentsOfOptionalResultsAreLeftOut) {
  const auto [x, p] = operands(false);
  const auto of_y = [p = p](Tensor v) { return sum(square(std::get<0>(by_pair(v, p)))); };
  const auto of_u = [p = p](Tensor v) { return sum(square(std::get<1>(by_pair(v, p)))); };
  with_u = without_u = 0;
  const Tensor g = grad(of_y)(x);
  EXPECT_EQ(with_u, 0);
  EXPECT_EQ(without_u, 1);
  grad(of_u)(x);
  EXPECT_EQ(with_u, 1);
  const auto by_loop = [p = p](Tensor v) { return sum(square(std::get<0>(by_operations(v, p)))); };
  EXPECT_LE(largest_of(g - grad(by_loop)(x)), 1e-13);
  EXPECT_LE(largest_of(hessian(of_y)(x) - hessian(by_loop)(x)), 1e-13);
}

TEST(LinearPair, WithoutAChangeItHasNoDerivativeInItsParameters) {
  const auto [x, p] = operands(false);
  const auto f = [](const Tensor& v, const Tensor& q) {
    return sum(square(LinearPair<FixedFilter>::apply({}, {v, q})[0]));
  };
  EXPECT_TRUE(gradcheck([&, p = p](Tensor v) { return f(v, p); }, x, {.order = 2}));
  EXPECT_TRUE(jetcheck([&, p = p](Tensor v) { return f(v, p); }, x, noise({5}, 13), 3));
  const std::string said =
      testing::message_of([&, x = x, p = p] { grad([&](Tensor q) { return f(x, q); })(p); });
  EXPECT_NE(said.find("no derivative with respect to operand 1"), std::string::npos) << said;
}

// Without parameters two functions of the host will do.
TEST(LinearPair, TwoHostFunctionsAreAPair) {
  const auto summed = [](bool reverse) {
    return host_call({.name = "running sum",
                      .run = [reverse](const Flat& x) { return Flat{cumsum(x[0], -1, reverse)}; }});
  };
  const auto f = [pair = custom_linear(summed(false), summed(true))](Tensor x) {
    return sum(sin(pair({x})[0]));
  };
  const auto g = [](Tensor x) { return sum(sin(cumsum(x, -1))); };
  const Tensor x = noise({5}, 8), v = noise({5}, 9), many = noise({3, 5}, 10);
  EXPECT_LE(largest_of(hessian(f)(x) - hessian(g)(x)), 1e-13);
  EXPECT_LE(largest_of(jet(f, 4)(x, v)[4] - jet(g, 4)(x, v)[4]), 1e-12);
  EXPECT_LE(largest_of(vmap(grad(f))(many) - vmap(grad(g))(many)), 1e-13);
  EXPECT_LE(largest_of(jit(vmap(hessian(f)))(many) - jit(vmap(hessian(g)))(many)), 1e-13);
}

}  // namespace
}  // namespace tessera
