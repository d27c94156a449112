// SPDX-License-Identifier: Apache-2.0
//
// Three arrays x [b, i, g C + c], w [j, c, g F + f] and y [b, o, g F + f], where i, j, o have three
// axes, are tied by the positions: along each axis
//
//   spread i = stride o + dilation j - low.
//
// A convolution sums over what one of the three does not have:
//
//   y[b, o, g F + f] = sum over j, then c,      of x[b, i, g C + c] w[j, c, g F + f],
//   x[b, i, g C + c] = sum over j, then f,      of y[b, o, g F + f] w[j, c, g F + f],
//   w[j, c, g F + f] = sum over b, then o,      of x[b, i, g C + c] y[b, o, g F + f],
//
// j and o row-major, over those of them for which the third position is an integer inside of its
// array: what lies outside or between takes no part. An element is
//
//   s_p = a_l b_l + (... + a_0 b_0 + 0), one fused rounding each,   r = ((s_0 + s_1) + s_2) + ...,
//
// where s_p is the p-th run: of y and x kDepth<T> terms that take part, of w those of kDepth<T>
// positions (b, o), whether they take part or not; r = 0 where there are none. The terms of complex
// numbers take four fused steps, re += a.re b.re, im += a.re b.im, re -= a.im b.im, im += a.im
// b.re. So the bits of an element follow from what it is summed of: not from the rest of the batch,
// other channels or groups, threads, memory order, or the width of vectors.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::kernels {

struct ConvolutionAxis {
  std::int64_t n = 1, k = 1, m = 1;  ///< positions of x, w, y
  std::int64_t stride = 1, low = 0, dilation = 1, spread = 1;
};
struct ConvolutionShape {
  std::int64_t batch, groups, c, f;  ///< c of x and f of y in each group
  std::array<ConvolutionAxis, 3> axis;
  std::int64_t window() const { return axis[0].k * axis[1].k * axis[2].k; }
  std::int64_t positions() const { return axis[0].m * axis[1].m * axis[2].m; }
};

/// An operand in memory: distances, in elements, along b (of w: along c), i or j or o, and its last
/// axis, which must be 1 for x and y unless it has one element.
template <class T>
struct ConvolutionOperand {
  const T* data;
  std::int64_t lead;
  std::array<std::int64_t, 3> axis;
  std::int64_t last;
};

/// Results are written row-major, on all threads. `width` is one of `blocked_widths()`
/// (gemm_blocked.h) or 0, which serves all types and processors; T is float, double or a complex
/// number of them, these with width 0.
template <class T>
void convolution_y(int width, const ConvolutionShape& s, const ConvolutionOperand<T>& x,
                   const ConvolutionOperand<T>& w, T* y);
template <class T>
void convolution_x(int width, const ConvolutionShape& s, const ConvolutionOperand<T>& y,
                   const ConvolutionOperand<T>& w, T* x);
template <class T>
void convolution_w(int width, const ConvolutionShape& s, const ConvolutionOperand<T>& x,
                   const ConvolutionOperand<T>& y, T* w);

/// Bytes that these take beside their operands and result.
template <class T>
std::size_t convolution_y_workspace(int width, const ConvolutionShape& s);
template <class T>
std::size_t convolution_x_workspace(int width, const ConvolutionShape& s);
template <class T>
std::size_t convolution_w_workspace(int width, const ConvolutionShape& s);

}  // namespace tessera::kernels
