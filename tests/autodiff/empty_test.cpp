// SPDX-License-Identifier: Apache-2.0
//
// EmptyArrays without elements: what NumPy gives, with derivatives of the right shapes, under every
// transform.
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/bessel.h"
#include "tessera/autodiff/ops/cumulative.h"
#include "tessera/autodiff/ops/fft.h"
#include "tessera/autodiff/ops/index.h"
#include "tessera/autodiff/ops/interpolate.h"
#include "tessera/autodiff/ops/matrix_functions.h"
#include "tessera/autodiff/ops/polynomial.h"
#include "tessera/autodiff/ops/segment.h"
#include "tessera/autodiff/ops/sort.h"
#include "tessera/autodiff/ops/spectral.h"
#include "tessera/autodiff/ops/spherical.h"
#include "tessera/autodiff/ops/statistics.h"
#include "tessera/autodiff/ops/tridiagonal.h"
#include "tessera/autodiff/ops/window.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace tessera {
namespace {

using EmptyArrays = std::vector<Tensor>;

struct EmptyCase {
  std::string name;
  std::function<EmptyArrays(const EmptyArrays&)> f;
  EmptyArrays in, out;
};

const double kNotANumber = std::numeric_limits<double>::quiet_NaN(),
             kEndOfReals = std::numeric_limits<double>::infinity();

Tensor no_elements(const Shape& s) { return zeros(s); }

void expect_arrays(const EmptyArrays& got, const EmptyArrays& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t k = 0; k < got.size(); ++k) {
    ASSERT_EQ(to_string(got[k].type()), to_string(expected[k].type())) << what << ", result " << k;
    if (got[k].size() == 0) continue;
    const Tensor same =
        logical_or(equal(got[k], expected[k]),
                   logical_and(not_equal(got[k], got[k]), not_equal(expected[k], expected[k])));
    EXPECT_TRUE(all(same).item<bool>()) << what << ", result " << k << ": " << to_string(got[k])
                                        << ", expected " << to_string(expected[k]);
  }
}
EmptyArrays filled_like(const EmptyArrays& x, double value) {
  EmptyArrays out;
  for (const Tensor& t : x) out.push_back(full(t.shape(), value, t.dtype()));
  return out;
}
void expect_types(const EmptyArrays& got, const EmptyArrays& like, const std::string& what) {
  ASSERT_EQ(got.size(), like.size()) << what;
  for (std::size_t k = 0; k < got.size(); ++k)
    EXPECT_EQ(to_string(got[k].type()), to_string(like[k].type())) << what << ", leaf " << k;
}
EmptyArrays with_axis(const EmptyArrays& x, Index n) {
  EmptyArrays out;
  for (const Tensor& t : x) {
    Shape s = t.shape();
    s.insert(0, n);
    out.push_back(broadcast_to(t, s));
  }
  return out;
}

/// Value, planned value, derivatives in both modes and their nestings, and all of it batched, over
/// an axis of 0 too.
void check_empty_case(const EmptyCase& c) {
  SCOPED_TRACE(c.name);
  // Only what has derivatives, of only what has.
  EmptyArrays moving;
  for (const Tensor& t : c.in)
    if (is_inexact(t.dtype())) moving.push_back(t);
  const auto smooth = [&](const EmptyArrays& x) {
    EmptyArrays in = c.in;
    std::size_t next = 0;
    for (Tensor& t : in)
      if (is_inexact(t.dtype())) t = x[next++];
    EmptyArrays out;
    for (const Tensor& t : c.f(in))
      if (is_inexact(t.dtype())) out.push_back(t);
    return out;
  };
  try {
    expect_arrays(c.f(c.in), c.out, "value");
    expect_arrays(jit(c.f)(c.in), c.out, "jit");
    for (const Index n : {2, 1, 0})
      expect_arrays(vmap(c.f)(with_axis(c.in, n)), with_axis(c.out, n),
                    "vmap over " + std::to_string(n));
    const EmptyArrays value = smooth(moving);
    if (value.empty() || moving.empty()) return;
    const auto forward = [&](const EmptyArrays& x) {
      return jvp(smooth, x, filled_like(x, 1)).second;
    };
    const auto backward = [&](const EmptyArrays& x) {
      return vjp(smooth, x).second(filled_like(value, 1));
    };
    expect_types(forward(moving), value, "jvp");
    expect_types(backward(moving), moving, "vjp");
    expect_types(jvp(backward, moving, filled_like(moving, 1)).second, moving, "jvp of vjp");
    expect_types(vjp(backward, moving).second(filled_like(moving, 1)), moving, "vjp of vjp");
    expect_types(vjp(forward, moving).second(filled_like(value, 1)), moving, "vjp of jvp");
    expect_types(jit(backward)(moving), moving, "jit of vjp");
    for (const Index n : {2, 0}) {
      expect_types(vmap(backward)(with_axis(moving, n)), with_axis(moving, n), "vmap of vjp");
      expect_types(vmap(forward)(with_axis(moving, n)), with_axis(value, n), "vmap of jvp");
      const auto batched = [&](const EmptyArrays& x) { return vmap(smooth)(x); };
      expect_types(vjp(batched, with_axis(moving, n)).second(with_axis(filled_like(value, 1), n)),
                   with_axis(moving, n), "vjp of vmap");
    }
  } catch (const Error& e) {
    ADD_FAILURE() << e.what();
  }
}

#define TESSERA_ONE(EXPRESSION)                             \
  [](const EmptyArrays& v) -> EmptyArrays {                 \
    [[maybe_unused]] const Tensor &x = v[0], &y = v.back(); \
    return {EXPRESSION};                                    \
  }

TEST(Empty, ProductsAreSumsOfNothing) {
  for (const EmptyCase& c : std::vector<EmptyCase>{
           {"[3,0] x [0,2]",
            TESSERA_ONE(matmul(x, y)),
            {no_elements({3, 0}), no_elements({0, 2})},
            {zeros({3, 2})}},
           {"[2,3] x [3,0]",
            TESSERA_ONE(matmul(x, y)),
            {ones({2, 3}), no_elements({3, 0})},
            {no_elements({2, 0})}},
           {"[0,3] x [3,2]",
            TESSERA_ONE(matmul(x, y)),
            {no_elements({0, 3}), ones({3, 2})},
            {no_elements({0, 2})}},
           {"[0,0] x [0,0]",
            TESSERA_ONE(matmul(x, y)),
            {no_elements({0, 0}), no_elements({0, 0})},
            {no_elements({0, 0})}},
           {"[0] x [0]",
            TESSERA_ONE(matmul(x, y)),
            {no_elements({0}), no_elements({0})},
            {zeros({})}},
           {"[3,0] x [0]",
            TESSERA_ONE(matmul(x, y)),
            {no_elements({3, 0}), no_elements({0})},
            {zeros({3})}},
           {"[0] x [0,3]",
            TESSERA_ONE(matmul(x, y)),
            {no_elements({0}), no_elements({0, 3})},
            {zeros({3})}},
           {"[2,3,0] x [2,0,4]",
            TESSERA_ONE(matmul(x, y)),
            {no_elements({2, 3, 0}), no_elements({2, 0, 4})},
            {zeros({2, 3, 4})}},
           {"[2,3,0] x [0,4]",
            TESSERA_ONE(matmul(x, y)),
            {no_elements({2, 3, 0}), no_elements({0, 4})},
            {zeros({2, 3, 4})}},
           {"[0,2,3] x [3,4]",
            TESSERA_ONE(matmul(x, y)),
            {no_elements({0, 2, 3}), ones({3, 4})},
            {no_elements({0, 2, 4})}},
           {"[0,2,3] x [0,3,4]",
            TESSERA_ONE(matmul(x, y)),
            {no_elements({0, 2, 3}), no_elements({0, 3, 4})},
            {no_elements({0, 2, 4})}},
           {"turned",
            TESSERA_ONE(matmul(transpose(x), transpose(y))),
            {no_elements({0, 3}), no_elements({2, 0})},
            {zeros({3, 2})}},
           {"dot", TESSERA_ONE(dot(x, y)), {no_elements({0}), no_elements({0})}, {zeros({})}},
           {"outer",
            TESSERA_ONE(outer(x, y)),
            {no_elements({0}), ones({3})},
            {no_elements({0, 3})}},
           {"kron",
            TESSERA_ONE(kron(x, y)),
            {no_elements({0, 2}), ones({2, 2})},
            {no_elements({0, 4})}},
           {"einsum ij,jk->ik",
            TESSERA_ONE(einsum("ij,jk->ik", {x, y})),
            {no_elements({3, 0}), no_elements({0, 2})},
            {zeros({3, 2})}},
           {"einsum ij,jk->",
            TESSERA_ONE(einsum("ij,jk->", {x, y})),
            {no_elements({3, 0}), no_elements({0, 2})},
            {zeros({})}},
           {"einsum bij,bjk->bik",
            TESSERA_ONE(einsum("bij,bjk->bik", {x, y})),
            {no_elements({0, 3, 2}), no_elements({0, 2, 2})},
            {no_elements({0, 3, 2})}},
           {"einsum ii->i",
            TESSERA_ONE(einsum("ii->i", {x})),
            {no_elements({0, 0})},
            {no_elements({0})}},
           {"einsum ii", TESSERA_ONE(einsum("ii", {x})), {no_elements({0, 0})}, {zeros({})}},
           {"sum_product",
            TESSERA_ONE(sum_product(x, y, {0})),
            {no_elements({0, 3}), no_elements({0, 3})},
            {zeros({3})}}})
    check_empty_case(c);
}

TEST(Empty, ProductsOfEveryType) {
  for (const Dtype t : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
    EXPECT_EQ(to_string(matmul(zeros({3, 0}, t), zeros({0, 2}, t))), to_string(zeros({3, 2}, t)));
    EXPECT_EQ(matmul(zeros({2, 3}, t), zeros({3, 0}, t)).shape(), (Shape{2, 0}));
  }
}

TEST(Empty, ReductionsGiveTheirIdentity) {
  const Tensor yes = scalar(true, Dtype::boolean), no = scalar(false, Dtype::boolean);
  for (const EmptyCase& c : std::vector<EmptyCase>{
           {"sum", TESSERA_ONE(sum(x)), {no_elements({0})}, {zeros({})}},
           {"sum 0", TESSERA_ONE(sum(x, {0})), {no_elements({0, 3})}, {zeros({3})}},
           {"sum 1", TESSERA_ONE(sum(x, {1})), {no_elements({0, 3})}, {no_elements({0})}},
           {"sum kept", TESSERA_ONE(sum(x, {0}, true)), {no_elements({0, 3})}, {zeros({1, 3})}},
           {"prod", TESSERA_ONE(prod(x)), {no_elements({0})}, {ones({})}},
           {"prod 0", TESSERA_ONE(prod(x, {0})), {no_elements({0, 3})}, {ones({3})}},
           {"prod 0 kept", TESSERA_ONE(prod(x, {0}, true)), {no_elements({0, 3})}, {ones({1, 3})}},
           {"prod 1 kept", TESSERA_ONE(prod(x, {1}, true)), {no_elements({3, 0})}, {ones({3, 1})}},
           {"prod of kept nothing",
            TESSERA_ONE(prod(x, {1}, true)),
            {no_elements({0, 3})},
            {no_elements({0, 1})}},
           {"prod of [2,0,0]",
            TESSERA_ONE(prod(x, {1, 2}, true)),
            {no_elements({2, 0, 0})},
            {ones({2, 1, 1})}},
           {"mean", TESSERA_ONE(mean(x)), {no_elements({0})}, {full({}, kNotANumber)}},
           {"mean 0", TESSERA_ONE(mean(x, {0})), {no_elements({0, 3})}, {full({3}, kNotANumber)}},
           {"mean 1", TESSERA_ONE(mean(x, {1})), {no_elements({0, 3})}, {no_elements({0})}},
           {"variance", TESSERA_ONE(variance(x)), {no_elements({0})}, {full({}, kNotANumber)}},
           {"variance 0",
            TESSERA_ONE(variance(x, {0})),
            {no_elements({0, 3})},
            {full({3}, kNotANumber)}},
           {"variance 1", TESSERA_ONE(variance(x, {1})), {no_elements({0, 3})}, {no_elements({0})}},
           {"standard deviation",
            TESSERA_ONE(standard_deviation(x, {0}, 0, true)),
            {no_elements({0, 3})},
            {full({1, 3}, kNotANumber)}},
           {"norm", TESSERA_ONE(norm(x)), {no_elements({0})}, {zeros({})}},
           {"norm 0", TESSERA_ONE(norm(x, {0})), {no_elements({0, 3})}, {zeros({3})}},
           {"norm 1",
            TESSERA_ONE(norm(x, {1}, true)),
            {no_elements({0, 3})},
            {no_elements({0, 1})}},
           {"any", TESSERA_ONE(any(x)), {no_elements({0})}, {no}},
           {"all", TESSERA_ONE(all(x)), {no_elements({0})}, {yes}},
           {"any 0",
            TESSERA_ONE(any(x, {0}, true)),
            {no_elements({0, 3})},
            {broadcast_to(no, {1, 3})}},
           {"all 0",
            TESSERA_ONE(all(x, {0}, true)),
            {no_elements({0, 3})},
            {broadcast_to(yes, {1, 3})}},
           {"any 1", TESSERA_ONE(any(x, {1})), {no_elements({0, 3})}, {zeros({0}, Dtype::boolean)}},
           {"all 1", TESSERA_ONE(all(x, {1})), {no_elements({3, 0})}, {broadcast_to(yes, {3})}},
           {"max 1", TESSERA_ONE(max(x, {1})), {no_elements({0, 3})}, {no_elements({0})}},
           {"min 1", TESSERA_ONE(min(x, {1}, true)), {no_elements({0, 3})}, {no_elements({0, 1})}},
           {"argmax", TESSERA_ONE(argmax(x, 1)), {no_elements({0, 3})}, {zeros({0}, Dtype::i64)}},
           {"logsumexp", TESSERA_ONE(logsumexp(x)), {no_elements({0})}, {full({}, -kEndOfReals)}},
           {"logsumexp 0",
            TESSERA_ONE(logsumexp(x, {0}, true)),
            {no_elements({0, 3})},
            {full({1, 3}, -kEndOfReals)}},
           {"logsumexp 1",
            TESSERA_ONE(logsumexp(x, {1})),
            {no_elements({0, 3})},
            {no_elements({0})}},
           {"softmax", TESSERA_ONE(softmax(x)), {no_elements({3, 0})}, {no_elements({3, 0})}},
           {"softmax 0", TESSERA_ONE(softmax(x, 0)), {no_elements({3, 0})}, {no_elements({3, 0})}},
           {"log_softmax",
            TESSERA_ONE(log_softmax(x)),
            {no_elements({3, 0})},
            {no_elements({3, 0})}},
           {"cumsum", TESSERA_ONE(cumsum(x)), {no_elements({0})}, {no_elements({0})}},
           {"cumsum 1",
            TESSERA_ONE(cumsum(x, 1, true)),
            {no_elements({3, 0})},
            {no_elements({3, 0})}},
           {"cumprod", TESSERA_ONE(cumprod(x)), {no_elements({0, 3})}, {no_elements({0, 3})}},
           {"cummax", TESSERA_ONE(cummax(x)), {no_elements({0})}, {no_elements({0})}},
           {"cumlogsumexp", TESSERA_ONE(cumlogsumexp(x)), {no_elements({0})}, {no_elements({0})}},
           {"trace", TESSERA_ONE(trace(x)), {no_elements({0, 0})}, {zeros({})}},
           {"trace of a stack", TESSERA_ONE(trace(x)), {no_elements({2, 0, 0})}, {zeros({2})}}})
    check_empty_case(c);
}

TEST(Empty, ExtremesOfNothingAreErrors) {
  for (const Shape& s : {Shape{0}, Shape{0, 3}, Shape{2, 0, 3}}) {
    const Tensor x = no_elements(s);
    const int axis = s.size() == 3 ? 1 : 0;
    EXPECT_THROW(max(x, {axis}), Error);
    EXPECT_THROW(min(x, {axis}, true), Error);
    EXPECT_THROW(max(x), Error);
    EXPECT_THROW(max(cast(x, Dtype::boolean)), Error);
    EXPECT_THROW(argmax(x, axis), Error);
    EXPECT_THROW(argmin(x, axis), Error);
    EXPECT_THROW(grad([](Tensor t) { return max(t); })(x), Error);
  }
  for (const int axis : {0, 1}) {  // though there is nothing to fill
    EXPECT_THROW(argmax(no_elements({0, 0}), axis), Error);
    EXPECT_THROW(max(no_elements({0, 0}), {axis}), Error);
  }
}

TEST(Empty, FactorisationsAndSolvesHaveNothingToDo) {
  for (const Shape& lead : {Shape{}, Shape{2}, Shape{0}})
    for (const Dtype t : {Dtype::f64, Dtype::c128, Dtype::f32}) {
      const auto stack = [&](std::initializer_list<Index> last) {
        Shape s = lead;
        for (Index n : last) s.push_back(n);
        return zeros(s, t);
      };
      const Dtype r = real_of(t), z = complex_of(t);
      const Tensor a = stack({0, 0});
      for (const EmptyCase& c : std::vector<EmptyCase>{
               {"cholesky", TESSERA_ONE(cholesky(x)), {a}, {a}},
               {"qr",
                [](const EmptyArrays& v) -> EmptyArrays {
                  const auto [q, u] = qr(v[0]);
                  return {q, u};
                },
                {a},
                {a, a}},
               {"qr [3,0]",
                [](const EmptyArrays& v) -> EmptyArrays {
                  const auto [q, u] = qr(v[0]);
                  return {q, u};
                },
                {stack({3, 0})},
                {stack({3, 0}), a}},
               {"qr [0,3]",
                [](const EmptyArrays& v) -> EmptyArrays {
                  const auto [q, u] = qr(v[0]);
                  return {q, u};
                },
                {stack({0, 3})},
                {a, stack({0, 3})}},
               {"lu",
                [](const EmptyArrays& v) -> EmptyArrays {
                  const auto [p, l, u] = lu(v[0]);
                  return {p, l, u};
                },
                {a},
                {a, a, a}},
               {"svd",
                [](const EmptyArrays& v) -> EmptyArrays {
                  const auto [u, s, w] = svd(v[0]);
                  return {u, s, w};
                },
                {a},
                {a, cast(stack({0}), r), a}},
               {"svd [3,0]",
                [](const EmptyArrays& v) -> EmptyArrays {
                  const auto [u, s, w] = svd(v[0]);
                  return {u, s, w};
                },
                {stack({3, 0})},
                {stack({3, 0}), cast(stack({0}), r), a}},
               {"eigh",
                [](const EmptyArrays& v) -> EmptyArrays {
                  const auto [w, u] = eigh(v[0]);
                  return {w, u};
                },
                {a},
                {cast(stack({0}), r), a}},
               {"eig",
                [](const EmptyArrays& v) -> EmptyArrays {
                  const auto [w, u, l] = eig(v[0]);
                  return {w, u, l};
                },
                {a},
                {cast(stack({0}), z), cast(a, z), cast(a, z)}},
               {"eigvals", TESSERA_ONE(eigvals(x)), {a}, {cast(stack({0}), z)}},
               {"solve", TESSERA_ONE(solve(x, y)), {a, stack({0, 3})}, {stack({0, 3})}},
               {"solve of nothing",
                TESSERA_ONE(solve(x, y)),
                {stack({2, 2}) + eye(2, t), stack({2, 0})},
                {stack({2, 0})}},
               {"triangular_solve",
                TESSERA_ONE(triangular_solve(x, y)),
                {a, stack({0, 3})},
                {stack({0, 3})}},
               {"triangular_solve of nothing",
                TESSERA_ONE(triangular_solve(x, y)),
                {stack({2, 2}) + eye(2, t), stack({2, 0})},
                {stack({2, 0})}},
               {"lstsq", TESSERA_ONE(lstsq(x, y)), {a, stack({0, 2})}, {stack({0, 2})}},
               {"lstsq [3,0]",
                TESSERA_ONE(lstsq(x, y)),
                {stack({3, 0}), stack({3, 2})},
                {stack({0, 2})}},
               {"det", TESSERA_ONE(det(x)), {a}, {stack({}) + cast(1.0, t)}},
               {"slogdet",
                [](const EmptyArrays& v) -> EmptyArrays {
                  const auto [s, l] = slogdet(v[0]);
                  return {s, l};
                },
                {a},
                {stack({}) + cast(1.0, t), cast(stack({}), r)}},
               {"expm", TESSERA_ONE(expm(x)), {a}, {a}},
               {"diagonal", TESSERA_ONE(diagonal(x)), {a}, {stack({0})}},
               {"diag", TESSERA_ONE(diag(x)), {stack({0})}, {a}},
               {"tril", TESSERA_ONE(tril(x)), {stack({3, 0})}, {stack({3, 0})}},
               {"hermitian_function",
                TESSERA_ONE(hermitian_function(x, SpectralFunction::exp())),
                {a},
                {a}},
               {"tridiagonal_product",
                TESSERA_ONE(tridiagonal_product(x, y)),
                {stack({3, 0}), stack({0})},
                {stack({0})}},
               {"tridiagonal_solve",
                TESSERA_ONE(tridiagonal_solve(x, y)),
                {stack({3, 0}), stack({0})},
                {stack({0})}},
           }) {
        SCOPED_TRACE(std::string(name_of(t)) + to_string(a.shape()));
        check_empty_case(c);
      }
    }
  check_empty_case({"inv", TESSERA_ONE(inv(x)), {no_elements({0, 0})}, {no_elements({0, 0})}});
}

TEST(Empty, RearrangementsKeepTheirShapes) {
  const Tensor at = zeros({0}, Dtype::i64);
  for (const EmptyCase& c : std::vector<EmptyCase>{
           {"reshape",
            TESSERA_ONE(reshape(x, {4, 0})),
            {no_elements({0, 3})},
            {no_elements({4, 0})}},
           {"transpose", TESSERA_ONE(transpose(x)), {no_elements({0, 3})}, {no_elements({3, 0})}},
           {"broadcast", TESSERA_ONE(broadcast_to(x, {0, 3})), {ones({3})}, {no_elements({0, 3})}},
           {"add to one",
            TESSERA_ONE(x + y),
            {no_elements({0, 3}), ones({1, 3})},
            {no_elements({0, 3})}},
           {"slice", TESSERA_ONE(slice(x, 0, 2, 2)), {ones({3})}, {no_elements({0})}},
           {"reverse", TESSERA_ONE(reverse(x, {0})), {no_elements({0, 3})}, {no_elements({0, 3})}},
           {"pad", TESSERA_ONE(pad(x, {1}, {2}, {}, 4.0)), {no_elements({0})}, {full({3}, 4.0)}},
           {"concatenate",
            TESSERA_ONE(concatenate({x, y, x})),
            {no_elements({0, 3}), ones({2, 3})},
            {ones({2, 3})}},
           {"stack",
            TESSERA_ONE(stack({x, y})),
            {no_elements({0}), no_elements({0})},
            {no_elements({2, 0})}},
           {"gather", TESSERA_ONE(gather(x, y)), {ones({3, 2}), at}, {no_elements({0, 2})}},
           {"gather from nothing",
            TESSERA_ONE(gather(x, y)),
            {no_elements({0, 2}), at},
            {no_elements({0, 2})}},
           {"gather rows of nothing",
            TESSERA_ONE(gather(x, y)),
            {no_elements({3, 0}), tensor<std::int64_t>({1, 2})},
            {no_elements({2, 0})}},
           {"scatter_add",
            [at](const EmptyArrays& v) -> EmptyArrays { return {scatter_add(v[0], at, v[1])}; },
            {ones({3}), no_elements({0})},
            {ones({3})}},
           {"scatter_max",
            [at](const EmptyArrays& v) -> EmptyArrays { return {scatter_max(v[0], at, v[1])}; },
            {ones({3}), no_elements({0})},
            {ones({3})}},
           {"scatter_set",
            [at](const EmptyArrays& v) -> EmptyArrays { return {scatter_set(v[0], at, v[1])}; },
            {no_elements({0}), no_elements({0})},
            {no_elements({0})}},
           {"take_along_axis",
            [](const EmptyArrays& v)
                -> EmptyArrays { return {take_along_axis(v[0], zeros({3, 0}, Dtype::i64), 1)}; },
            {no_elements({3, 0})},
            {no_elements({3, 0})}},
           {"segment_sum",
            [at](const EmptyArrays& v) -> EmptyArrays { return {segment_sum(v[0], at, 2)}; },
            {no_elements({0, 3})},
            {zeros({2, 3})}},
           {"segment_mean",
            [at](const EmptyArrays& v) -> EmptyArrays { return {segment_mean(v[0], at, 2)}; },
            {no_elements({0, 3})},
            {zeros({2, 3})}},
           {"segment_prod",
            [at](const EmptyArrays& v) -> EmptyArrays { return {segment_prod(v[0], at, 2)}; },
            {no_elements({0, 3})},
            {ones({2, 3})}},
           {"segment_max",
            [at](const EmptyArrays& v) -> EmptyArrays { return {segment_max(v[0], at, 2)}; },
            {no_elements({0, 3})},
            {full({2, 3}, -kEndOfReals)}},
           {"segments of none",
            [at](const EmptyArrays& v) -> EmptyArrays { return {segment_sum(v[0], at, 0)}; },
            {no_elements({0, 3})},
            {no_elements({0, 3})}},
           {"sort", TESSERA_ONE(sort(x)), {no_elements({3, 0})}, {no_elements({3, 0})}},
           {"sort 0", TESSERA_ONE(sort(x, 0)), {no_elements({3, 0})}, {no_elements({3, 0})}},
           {"argsort", TESSERA_ONE(argsort(x)), {no_elements({0})}, {at}},
           {"top_k", TESSERA_ONE(top_k(x, 0).first), {ones({3})}, {no_elements({0})}},
           {"searchsorted",
            TESSERA_ONE(searchsorted(x, y)),
            {no_elements({0}), ones({2})},
            {zeros({2}, Dtype::i64)}},
           {"searchsorted none",
            TESSERA_ONE(searchsorted(x, y)),
            {ones({3}), no_elements({0})},
            {at}},
           {"one_hot",
            [at](const EmptyArrays& v) -> EmptyArrays { return {one_hot(at, 3) + v[0]}; },
            {no_elements({0, 3})},
            {no_elements({0, 3})}},
           {"polyval",
            TESSERA_ONE(polyval(x, y)),
            {ones({2}), no_elements({0})},
            {no_elements({0})}},
           {"where",
            TESSERA_ONE(where(x > 0.0, x, y)),
            {no_elements({0}), no_elements({0})},
            {no_elements({0})}},
           {"interp",
            TESSERA_ONE(interp(x, arange(3, Dtype::f64), y)),
            {no_elements({0}), ones({3})},
            {no_elements({0})}},
           {"bessel_j", TESSERA_ONE(bessel_j(1, x)), {no_elements({0, 2})}, {no_elements({0, 2})}},
           {"spherical_harmonics",
            TESSERA_ONE(sum(spherical_harmonics(2, x), {-1})),
            {no_elements({0, 3})},
            {no_elements({0})}},
           {"window_sum",
            TESSERA_ONE(window_sum(x, {.size = {2}})),
            {no_elements({0, 3})},
            {no_elements({0, 2})}},
           {"window_max",
            TESSERA_ONE(window_max(x, {.size = {2}})),
            {no_elements({0, 3})},
            {no_elements({0, 2})}},
           {"window_sum past the end",
            TESSERA_ONE(window_sum(x, {.size = {2}})),
            {no_elements({3, 0})},
            {no_elements({3, 0})}},
           {"convolution of no batch",
            TESSERA_ONE(convolution(x, y)),
            {no_elements({0, 4, 2}), ones({3, 2, 5})},
            {no_elements({0, 2, 5})}},
           {"convolution past the end",
            TESSERA_ONE(convolution(x, y)),
            {ones({2, 2, 3}), ones({4, 3, 1})},
            {no_elements({2, 0, 1})}},
           {"dynamic_slice",
            TESSERA_ONE(dynamic_slice(x, zeros({1}, Dtype::i64), {0})),
            {ones({3})},
            {no_elements({0})}},
           {"fft of no lines",
            TESSERA_ONE(real(fft(x))),
            {no_elements({0, 4})},
            {no_elements({0, 4})}},
           {"sin", TESSERA_ONE(sin(x)), {no_elements({2, 0, 0})}, {no_elements({2, 0, 0})}},
           {"pow",
            TESSERA_ONE(pow(x, y)),
            {no_elements({0, 3}), no_elements({0, 3})},
            {no_elements({0, 3})}},
           {"maximum",
            TESSERA_ONE(maximum(x, y)),
            {no_elements({0, 3}), no_elements({0, 3})},
            {no_elements({0, 3})}},
           {"complex",
            TESSERA_ONE(abs(complex(x, y))),
            {no_elements({0}), no_elements({0})},
            {no_elements({0})}}})
    check_empty_case(c);
}
#undef TESSERA_ONE

TEST(Empty, ArgumentsHaveEmptyDerivatives) {
  const Tensor x = no_elements({0});
  const auto f = [](Tensor t) { return sum(sin(t) * t) + 2.0; };
  EXPECT_EQ(grad(f)(x).shape(), Shape{0});
  EXPECT_EQ(hessian(f)(x).shape(), (Shape{0, 0}));
  EXPECT_EQ(hvp(f, x, x).shape(), Shape{0});
  const auto g = [](Tensor t) { return concatenate({sin(t), sum(t, {0}, true)}); };
  EXPECT_EQ(jacfwd(g)(x).shape(), (Shape{1, 0}));
  EXPECT_EQ(jacrev(g)(x).shape(), (Shape{1, 0}));
  EXPECT_EQ(vmap(grad(f))(no_elements({0, 3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(grad([&](Tensor t) { return sum(vmap(f)(t)); })(no_elements({0, 3})).shape(),
            (Shape{0, 3}));
  EXPECT_EQ(vmap(vmap(f))(no_elements({2, 0, 3})).shape(), (Shape{2, 0}));
  EXPECT_EQ(jit(hessian(f))(x).shape(), (Shape{0, 0}));
}

}  // namespace
}  // namespace tessera
