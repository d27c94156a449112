// SPDX-License-Identifier: Apache-2.0
//
// Rows of loops and branches, whose bodies are other rows' operations.
#include "op_table.h"
#include "tessera/autodiff/loops.h"

namespace tessera::table {
namespace {
using Tensors = std::vector<Tensor>;

/// Carries of the row's type, and slices x [5, 2].
Inputs carry_and_slices() {
  return [](Dtype t, Index, Rng& rng) {
    return Tensors{uniform_tensor(t, {2}, rng), uniform_tensor(t, {2}, rng),
                   uniform_tensor(t, {5, 2}, rng)};
  };
}

/// c_{k+1} = c_k a + sin(x_k), y_k = c_k x_k.
Tensors scanned(const Tensors& in, const ScanOptions& o) {
  const auto [c, y] = scan([&](Tensor c, Tensor x) { return std::pair(c * in[1] + sin(x), c * x); },
                           in[0], in[2], o);
  return {c, y};
}
Oracle scan_oracle(bool reverse) {
  return [reverse](const std::vector<Array>& in) {
    Array c = in[0], y = in[2];
    const Index n = in[2].shape[0];
    for (Index t = 0; t < n; ++t) {
      const Index k = reverse ? n - 1 - t : t;
      for (Index i = 0; i < 2; ++i) {
        y[2 * k + i] = c[i] * in[2][2 * k + i];
        c[i] = c[i] * in[1][i] + std::sin(in[2][2 * k + i]);
      }
    }
    return std::vector<Array>{c, y};
  };
}

/// x -> x + sin(x) a / 4 until the step number is 4: complex orbits stay small.
Tensors looped(const Tensors& in) {
  const auto c =
      while_loop([](const std::pair<Tensor, Tensor>& s) { return s.second < 4.0; },
                 [&](const std::pair<Tensor, Tensor>& s) {
                   return std::pair(s.first + 0.25 * sin(s.first) * in[1], s.second + 1.0);
                 },
                 std::pair(in[0], Tensor(0.0)));
  return {c.first};
}

}  // namespace

void control_rows(std::vector<Row>& rows) {
  const auto add = [&](const char* variant, const ScanOptions& o) {
    rows.push_back({.primitive = "scan",
                    .variant = variant,
                    .dtypes = kInexact,
                    .inputs = carry_and_slices(),
                    .f = [o](const Tensors& in) { return scanned(in, o); },
                    .oracle = scan_oracle(o.reverse)});
  };
  add("forward", {});
  add("reverse", {.reverse = true});
  add("recomputed", {.checkpoint = Checkpoint::revolve(2)});
  rows.push_back({.primitive = "while",
                  .dtypes = kInexact,
                  .inputs =
                      [](Dtype t, Index, Rng& rng) {
                        return Tensors{uniform_tensor(t, {2}, rng), uniform_tensor(t, {2}, rng)};
                      },
                  .f = looped,
                  .oracle =
                      [](const std::vector<Array>& in) {
                        Array c = in[0];
                        for (int k = 0; k < 4; ++k)
                          for (Index i = 0; i < 2; ++i) c[i] += 0.25L * std::sin(c[i]) * in[1][i];
                        return std::vector<Array>{c};
                      },
                  .tolerance = 16});
  rows.push_back(
      {.primitive = "cond",
       .dtypes = kInexact,
       .inputs =
           [](Dtype t, Index n, Rng& rng) {
             return Tensors{uniform_tensor(t, {2}, rng), scalar(n % 2 ? 1.0 : 0.0, Dtype::boolean)};
           },
       .f =
           [](const Tensors& in) {
             return Tensors{cond(
                 in[1], [](Tensor x) { return sin(x) * x; }, [](Tensor x) { return x * x; },
                 in[0])};
           },
       .oracle =
           [](const std::vector<Array>& in) {
             Array y = in[0];
             for (Index i = 0; i < 2; ++i) y[i] *= in[1][0].real() != 0 ? std::sin(y[i]) : y[i];
             return std::vector<Array>{y};
           }});
}

}  // namespace tessera::table
