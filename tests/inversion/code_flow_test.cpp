// SPDX-License-Identifier: Apache-2.0
//
// Couplings between codes and normal numbers: there and back, volumes, densities that are known.
#include "tessera/inversion/code_flow.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::inversion {
namespace {

/// With weights everywhere.
CodeFlow shaken(Index codes, Index couplings) {
  CodeFlow f =
      code_flow(random_key(3), codes, {.couplings = couplings, .width = 6, .dtype = Dtype::f64});
  std::vector<Tensor> leaves = flatten_tree(f);
  const Tensor keys = split_key(random_key(4), static_cast<Index>(leaves.size()));
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const auto at = static_cast<Index>(k);
    leaves[k] = leaves[k] + 0.4 * normal(squeeze(slice(keys, 0, at, at + 1), 0), leaves[k].shape());
  }
  return unflatten_tree(f, leaves);
}

TEST(CodeFlow, GoesThereAndBackAndKnowsItsVolume) {
  for (const Index codes : {2, 3, 5, 8}) {
    const CodeFlow f = shaken(codes, 3);
    const Tensor z = normal(random_key(5), {4, codes});
    const auto [u, volume] = f.normals(z);
    const auto back = f.codes_of(u).to_vector(), at = z.to_vector();
    for (std::size_t k = 0; k < at.size(); ++k) EXPECT_NEAR(back[k], at[k], 1e-12);
    for (Index b = 0; b < 4; ++b) {
      const Tensor one = squeeze(slice(z, 0, b, b + 1), 0);
      const auto d = jacfwd([&](const Tensor& x) {
                       return squeeze(f.normals(expand_dims(x, 0)).first, 0);
                     })(one)
                         .to_vector();
      const Eigen::Map<const Eigen::MatrixXd> m(d.data(), codes, codes);
      EXPECT_NEAR(volume.to_vector()[static_cast<std::size_t>(b)],
                  std::log(std::abs(m.determinant())), 1e-12);
    }
  }
}

TEST(CodeFlow, AtFirstItOnlyReorders) {
  const CodeFlow f = code_flow(random_key(1), 7, {.dtype = Dtype::f64});
  const Tensor z = normal(random_key(2), {1, 7});
  const auto [u, volume] = f.normals(z);
  auto a = z.to_vector(), b = u.to_vector();
  EXPECT_NE(a, b);
  std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
  EXPECT_EQ(a, b);
  EXPECT_EQ(volume.item(), 0);
  EXPECT_THROW(code_flow(random_key(1), 1), Error);
  EXPECT_THROW(code_flow(random_key(1), 4, {.couplings = 0}), Error);
}

// Codes (a, a^2 + 0.1 b) of normal a, b: minus ln of their density is 1/2 (a^2 + b^2) + ln(2 pi) +
// ln 0.1, in the mean 1 + ln(2 pi) - 2.303; under N(0, 1) 1/2 (1 + 3.01) + ln(2 pi).
TEST(CodeFlow, LearnsABend) {
  const Index n = 4096;
  const Tensor a = normal(random_key(6), {n, 1}), b = normal(random_key(7), {n, 1});
  const nn::NormalCode all{cast(concatenate({a, square(a) + 0.1 * b}, 1), Dtype::f32),
                           full({n, 2}, -20.0, Dtype::f32)};
  const auto part = [&](Index first, Index end) {
    return solvers::in_memory(
        nn::NormalCode{slice(all.mean, 0, first, end), slice(all.log_variance, 0, first, end)});
  };
  const solvers::FitOptions o{
      .epochs = 30, .batch = 64, .rate = cosine_rate(3e-3, 30 * 56), .clip_norm = 10.0};
  auto state = solvers::begin_fit(code_flow(random_key(8), 2, {.couplings = 4, .width = 32}), o);
  const auto end = solvers::fit(flow_loss, flow_loss, state, part(0, 3584), part(3584, n), o);
  EXPECT_EQ(end.reason, solvers::FitEnd::Reason::all_epochs) << to_string(end);
  const double exact = 0.5 * (1 + std::log(2 * std::numbers::pi) + std::log(0.1));
  EXPECT_GT(state.best_loss, exact - 0.1);  // of 512 held out: 0.03
  EXPECT_LT(state.best_loss, exact + 0.1);
}

}  // namespace
}  // namespace tessera::inversion
