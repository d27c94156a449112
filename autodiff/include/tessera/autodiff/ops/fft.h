// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

#include <optional>

// Discrete Fourier, cosine and sine transforms through FFTW3 (M. Frigo & S. G. Johnson 2005, Proc.
// IEEE 93, 216), over any axes and any lengths, in f32, f64, c64 and c128. Real operands of complex
// transforms become complex. One thread works on one transform and many transforms run side by
// side, so that results are the same bits on any number of threads; a line of a stack has those
// that it has alone. Several axes at once equal one axis after the other up to roundings, not bit
// for bit.
//
//   fft     y_k = s sum_j x_j e^{-2 pi i j k / n}
//   ifft    x_j = t sum_k y_k e^{+2 pi i j k / n}
//
// The factors (s, t) are (1, 1/n) for Norm::backward, (1/sqrt n, 1/sqrt n) for ortho, (1/n, 1) for
// forward; n is the number of points of all transformed axes. The engine's time sign e^{+i omega t}
// does not enter: this is the usual sign of FFTs. Negative axes count from the end; naming one
// twice throws. Derivatives are those of linear maps, transposes are adjoints.

namespace tessera {

enum class Norm : std::uint8_t { backward, ortho, forward };

/// Along one axis, after x was cut or filled with zeros at its end to `n` points.
Tensor fft(Arg x, std::optional<Index> n = {}, int axis = -1, Norm norm = Norm::backward);
Tensor ifft(Arg x, std::optional<Index> n = {}, int axis = -1, Norm norm = Norm::backward);
/// Along several axes (all when none are named). `sizes`, if any, holds the points of each axis.
Tensor fftn(Arg x, const Shape& axes = {}, const Shape& sizes = {}, Norm norm = Norm::backward);
Tensor ifftn(Arg x, const Shape& axes = {}, const Shape& sizes = {}, Norm norm = Norm::backward);
/// Along the last two axes.
Tensor fft2(Arg x, Norm norm = Norm::backward);
Tensor ifft2(Arg x, Norm norm = Norm::backward);

/// `fft` of real x: the first n/2 + 1 values along the axis, the others being their conjugates.
Tensor rfft(Arg x, std::optional<Index> n = {}, int axis = -1, Norm norm = Norm::backward);
/// The real sequence of n points (default 2 (m - 1), which is even) with the half spectrum x [..,
/// m, ..]. The imaginary parts at zero and, for even n, at the highest frequency do not count.
Tensor irfft(Arg x, std::optional<Index> n = {}, int axis = -1, Norm norm = Norm::backward);
/// `rfft` along the last of the axes, `fft` along the others. Sizes are those of the real side.
Tensor rfftn(Arg x, const Shape& axes = {}, const Shape& sizes = {}, Norm norm = Norm::backward);
Tensor irfftn(Arg x, const Shape& axes = {}, const Shape& sizes = {}, Norm norm = Norm::backward);
/// The real spectrum (n points) of a sequence whose conjugate is its reverse and of which x is the
/// first half.
Tensor hfft(Arg x, std::optional<Index> n = {}, int axis = -1, Norm norm = Norm::backward);
/// The inverse of `hfft`.
Tensor ihfft(Arg x, std::optional<Index> n = {}, int axis = -1, Norm norm = Norm::backward);

/// Frequencies of `fft`'s values for samples `spacing` apart: [0, 1, ..., -2, -1] / (n spacing), in
/// cycles.
Tensor fftfreq(Index n, double spacing = 1, Dtype dtype = Dtype::f64);
/// The same for `rfft`: [0, 1, ..., n/2] / (n spacing).
Tensor rfftfreq(Index n, double spacing = 1, Dtype dtype = Dtype::f64);
/// Frequency zero in the middle, at n/2; all axes when none are named. `ifftshift` takes it back.
Tensor fftshift(Arg x, const Shape& axes = {});
Tensor ifftshift(Arg x, const Shape& axes = {});

/// Discrete cosine transform of type 1 to 4 along one axis. Without normalisation (Norm::backward)
///   1  y_k = x_0 + (-1)^k x_{n-1} + 2 sum_{0<j<n-1} x_j cos(pi j k / (n-1)),    n >= 2
///   2  y_k = 2 sum_j x_j cos(pi (j + 1/2) k / n)
///   3  y_k = x_0 + 2 sum_{j>0} x_j cos(pi j (k + 1/2) / n)
///   4  y_k = 2 sum_j x_j cos(pi (j + 1/2) (k + 1/2) / n)
/// Norm::forward divides by N = 2n (type 1: 2 (n-1)); Norm::ortho is the orthogonal matrix of the
/// family, whose first (and, type 1, last) basis vectors are scaled accordingly. Complex x: real
/// and imaginary part alike.
Tensor dct(Arg x, int type = 2, int axis = -1, Norm norm = Norm::backward);
/// The inverse of `dct` of that type and norm.
Tensor idct(Arg x, int type = 2, int axis = -1, Norm norm = Norm::backward);
/// Discrete sine transform of type 1 to 4 along one axis. Without normalisation
///   1  y_k = 2 sum_j x_j sin(pi (j + 1) (k + 1) / (n+1))
///   2  y_k = 2 sum_j x_j sin(pi (j + 1/2) (k + 1) / n)
///   3  y_k = (-1)^k x_{n-1} + 2 sum_{j<n-1} x_j sin(pi (j + 1) (k + 1/2) / n)
///   4  y_k = 2 sum_j x_j sin(pi (j + 1/2) (k + 1/2) / n)
/// with N = 2n (type 1: 2 (n+1)).
Tensor dst(Arg x, int type = 2, int axis = -1, Norm norm = Norm::backward);
Tensor idst(Arg x, int type = 2, int axis = -1, Norm norm = Norm::backward);
/// Along several axes, one after the other (all when none are named).
Tensor dctn(Arg x, int type = 2, const Shape& axes = {}, Norm norm = Norm::backward);
Tensor idctn(Arg x, int type = 2, const Shape& axes = {}, Norm norm = Norm::backward);
Tensor dstn(Arg x, int type = 2, const Shape& axes = {}, Norm norm = Norm::backward);
Tensor idstn(Arg x, int type = 2, const Shape& axes = {}, Norm norm = Norm::backward);

}  // namespace tessera
