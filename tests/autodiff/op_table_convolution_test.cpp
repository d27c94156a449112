// SPDX-License-Identifier: Apache-2.0
//
// Rows of convolutions: all positions and channels in one loop after the other.
#include "op_table.h"

namespace tessera::table {
namespace {

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;

/// x [B, n, m, in] and w [k, l, in / groups, out].
Array convolved(const Array& x, const Array& w, const Convolution& c) {
  Index m[2];
  for (int d = 0; d < 2; ++d) {
    const Index extent = c.input_dilation[d] * (x.shape[1 + d] - 1) + 1 + c.low[d] + c.high[d];
    const Index room = extent - c.dilation[d] * (w.shape[d] - 1);
    m[d] = room <= 0 ? 0 : (room - 1) / c.stride[d] + 1;
  }
  const Index in = x.shape[3], part = w.shape[2], out = w.shape[3], of_group = out / c.groups;
  Array y({x.shape[0], m[0], m[1], out});
  for (Index b = 0; b < x.shape[0]; ++b)
    for (Index p = 0; p < m[0]; ++p)
      for (Index q = 0; q < m[1]; ++q)
        for (Index f = 0; f < out; ++f)
          for (Index k = 0; k < w.shape[0]; ++k)
            for (Index l = 0; l < w.shape[1]; ++l) {
              const Index i = p * c.stride[0] + k * c.dilation[0] - c.low[0],
                          j = q * c.stride[1] + l * c.dilation[1] - c.low[1];
              const Index s = c.input_dilation[0], t = c.input_dilation[1];
              if (i < 0 || j < 0 || i % s || j % t || i / s >= x.shape[1] || j / t >= x.shape[2])
                continue;
              for (Index a = 0; a < part; ++a)
                y[((b * m[0] + p) * m[1] + q) * out + f] +=
                    x[((b * x.shape[1] + i / s) * x.shape[2] + j / t) * in + f / of_group * part +
                      a] *
                    w[((k * w.shape[1] + l) * part + a) * out + f];
            }
  return y;
}

}  // namespace

void convolution_rows(std::vector<Row>& rows) {
  const std::pair<const char*, Convolution> kinds[] = {{"strides and borders",
                                                        {.stride = {2, 1},
                                                         .low = {1, 0},
                                                         .high = {0, 2},
                                                         .dilation = {1, 2},
                                                         .input_dilation = {1, 1}}},
                                                       {"spread out",
                                                        {.stride = {1, 1},
                                                         .low = {1, 2},
                                                         .high = {1, -1},
                                                         .dilation = {1, 1},
                                                         .input_dilation = {2, 3}}},
                                                       {"groups",
                                                        {.stride = {1, 2},
                                                         .low = {1, 1},
                                                         .high = {1, 1},
                                                         .dilation = {1, 1},
                                                         .input_dilation = {1, 1},
                                                         .groups = 2}}};
  for (const auto& [name, c] : kinds)
    rows.push_back(
        {.primitive = "convolution",
         .variant = name,
         .dtypes = kInexact,
         .inputs =
             [c = c](Dtype t, Index n, Rng& rng) {
               return Tensors{uniform_tensor(t, {2, n, 4, 2 * c.groups}, rng),
                              uniform_tensor(t, {3, 2, 2, 2 * c.groups}, rng)};
             },
         .f = [c = c](const Tensors& x) { return Tensors{convolution(x[0], x[1], c)}; },
         .oracle = [c = c](const Arrays& in) { return Arrays{convolved(in[0], in[1], c)}; },
         .tolerance = 16,
         .large = 2000});
}

}  // namespace tessera::table
