// SPDX-License-Identifier: Apache-2.0
//
// What the op table does not see of Fourier transforms: any length and axis, norms, real and
// Hermitian forms, shifts.
#include "tessera/autodiff/ops/fft.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace tessera {
namespace {

using Wide = std::complex<long double>;

Tensor typed_noise(const Shape& s, Dtype t = Dtype::c128, unsigned seed = 5) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  std::vector<c128> v(static_cast<std::size_t>(s.count()));
  for (c128& z : v) z = is_complex(t) ? c128(u(rng), u(rng)) : c128(u(rng));
  return cast(from_span<c128>(v, s), t);
}
std::vector<Wide> naive(const std::vector<c128>& x, int sign) {
  const std::size_t n = x.size();
  std::vector<Wide> turn(n), y(n);
  for (std::size_t k = 0; k < n; ++k) {
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                              static_cast<long double>(n);
    turn[k] = {std::cos(angle), sign * std::sin(angle)};
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j) y[k] += Wide(x[j]) * turn[j * k % n];
  return y;
}
double peak_error(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.type(), b.type());
  return max(abs(a - b)).item<double>() / max(abs(b)).item<double>();
}

/// FFTW's error grows as sqrt(log n) eps in the mean (Frigo & Johnson 2005); Rader's and
/// Bluestein's algorithms for large primes cost a few transforms more.
TEST(Fft, EveryLengthAgainstThePlainSum) {
  for (Index n : {1,  2,  3,  4,  5,   6,   7,   8,   9,   12,  13,   16,  17,
                  25, 31, 64, 97, 100, 127, 128, 243, 509, 512, 1009, 1024}) {
    const std::vector<c128> x = typed_noise({n}).to_vector<c128>();
    for (int sign : {-1, 1}) {
      const std::vector<Wide> want = naive(x, sign);
      const auto got =
          (sign < 0 ? fft(tensor(x)) : ifft(tensor(x), {}, -1, Norm::forward)).to_vector<c128>();
      long double error = 0, size = 0;
      for (std::size_t k = 0; k < got.size(); ++k)
        error += std::norm(Wide(got[k]) - want[k]), size += std::norm(want[k]);
      EXPECT_LE(static_cast<double>(std::sqrt(error / size)), 6e-16)
          << "n = " << n << ", sign " << sign;
    }
  }
}

TEST(Fft, PutsAWaveAtItsFrequency) {
  const Index n = 12;
  std::vector<c128> x;
  for (Index j = 0; j < n; ++j)
    x.push_back(std::polar(1.0, 2 * std::numbers::pi * 3 * static_cast<double>(j) / n));
  const auto y = fft(tensor(x)).to_vector<c128>();
  for (Index k = 0; k < n; ++k)
    EXPECT_NEAR(std::abs(y[static_cast<std::size_t>(k)]), k == 3 ? 12 : 0, 1e-14);
  EXPECT_EQ(fftfreq(12, 0.5).to_vector()[3],
            0.5);  // three cycles in 12 samples half a second apart
}

TEST(Fft, KeepsEnergyUnderTheOrthogonalNorm) {  // Parseval
  for (Dtype t : {Dtype::c128, Dtype::c64}) {
    const Tensor x = typed_noise({3, 7, 10}, t);
    const double eps = t == Dtype::c128 ? 1e-15 : 1e-6,
                 energy = cast(sum(square(abs(x))), Dtype::f64).item();
    EXPECT_NEAR(cast(sum(square(abs(fftn(x, {}, {}, Norm::ortho)))), Dtype::f64).item() / energy, 1,
                10 * eps);
    EXPECT_NEAR(cast(sum(square(abs(fft(x, {}, 1)))), Dtype::f64).item() / energy, 7, 70 * eps);
  }
}

TEST(Fft, InversesGiveBackWhatWasTransformed) {
  for (Norm norm : {Norm::backward, Norm::ortho, Norm::forward}) {
    const Tensor z = typed_noise({4, 5, 6}), x = typed_noise({4, 5, 7}, Dtype::f64);
    EXPECT_LE(peak_error(ifft(fft(z, {}, 1, norm), {}, 1, norm), z), 1e-15);
    EXPECT_LE(peak_error(ifftn(fftn(z, {2, 0}, {}, norm), {0, 2}, {}, norm), z), 1e-15);
    EXPECT_LE(peak_error(ifft2(fft2(z, norm), norm), z), 1e-15);
    EXPECT_LE(peak_error(irfft(rfft(x, {}, -1, norm), 7, -1, norm), x), 1e-15);
    EXPECT_LE(peak_error(irfft(rfft(x, {}, 0, norm), {}, 0, norm), x), 1e-15);
    EXPECT_LE(peak_error(irfftn(rfftn(x, {1, 0, 2}, {}, norm), {1, 0, 2}, {5, 4, 7}, norm), x),
              2e-15);
    EXPECT_LE(peak_error(hfft(ihfft(x, {}, -1, norm), 7, -1, norm), x), 1e-15);
    for (int type = 1; type <= 4; ++type) {
      EXPECT_LE(peak_error(idct(dct(x, type, 1, norm), type, 1, norm), x), 2e-15)
          << "type " << type;
      EXPECT_LE(peak_error(idst(dst(x, type, 1, norm), type, 1, norm), x), 2e-15)
          << "type " << type;
      EXPECT_LE(peak_error(idctn(dctn(z, type, {0, 2}, norm), type, {0, 2}, norm), z), 2e-15)
          << "type " << type;
      EXPECT_LE(peak_error(idstn(dstn(z, type, {}, norm), type, {}, norm), z), 2e-15)
          << "type " << type;
    }
  }
}

TEST(Fft, RealFormsAreTheComplexOneCutInHalf) {
  for (Index n : {1, 2, 5, 6}) {
    const Tensor x = typed_noise({3, n, 4}, Dtype::f64);
    EXPECT_LE(peak_error(rfft(x, {}, 1), slice(fft(x, {}, 1), 1, 0, n / 2 + 1)), 1e-15);
    EXPECT_LE(peak_error(rfftn(x, {0, 1}), slice(fftn(x, {0, 1}), 1, 0, n / 2 + 1)), 2e-15);
  }
  // A sequence whose conjugate is its reverse has a real spectrum.
  const Tensor half = typed_noise({4}),
               whole = concatenate({half, reverse(conj(slice(half, 0, 1, 3)), {0})});
  const Tensor fixed =
      where(equal(arange(6) * (arange(6) - 3), 0), cast(real(whole), Dtype::c128), whole);
  EXPECT_LE(peak_error(cast(hfft(slice(fixed, 0, 0, 4)), Dtype::c128), fft(fixed)), 1e-15);
}

TEST(Fft, LengthsCutOrFillWithZeros) {
  const Tensor x = typed_noise({3, 5});
  EXPECT_LE(peak_error(fft(x, 3), fft(slice(x, 1, 0, 3))), 1e-15);
  EXPECT_LE(peak_error(fft(x, 8), fft(pad(x, {0, 0}, {0, 3}))), 1e-15);
  EXPECT_LE(peak_error(fftn(x, {0, 1}, {4, 2}), fftn(pad(slice(x, 1, 0, 2), {0, 0}, {1, 0}))),
            1e-15);
  EXPECT_EQ(irfft(x, 9).shape(), (Shape{3, 9}));
  EXPECT_EQ(rfft(real(x), 4).shape(), (Shape{3, 3}));
}

TEST(Fft, OrthogonalCosineAndSineTransformsAreOrthogonal) {
  for (Index n : {2, 3, 8})
    for (int type = 1; type <= 4; ++type)
      for (const Tensor& m : {dct(eye(n), type, 0, Norm::ortho), dst(eye(n), type, 0, Norm::ortho)})
        EXPECT_LE(max(abs(matmul(m, transpose(m)) - eye(n))).item(), 1e-15)
            << "type " << type << ", n = " << n;
}

TEST(Fft, ShiftsAndFrequencies) {
  EXPECT_EQ(fftfreq(5).to_vector(), (std::vector<double>{0, 1 / 5., 2 / 5., -2 / 5., -1 / 5.}));
  EXPECT_EQ(fftfreq(4, 0.5).to_vector(), (std::vector<double>{0, 0.5, -1, -0.5}));
  EXPECT_EQ(rfftfreq(4).to_vector(), (std::vector<double>{0, 0.25, 0.5}));
  EXPECT_EQ(fftshift(fftfreq(5)).to_vector(),
            (std::vector<double>{-2 / 5., -1 / 5., 0, 1 / 5., 2 / 5.}));
  for (Index n : {1, 4, 5})
    EXPECT_EQ(ifftshift(fftshift(arange(n))).to_vector<std::int64_t>(),
              arange(n).to_vector<std::int64_t>());
}

TEST(Fft, DerivativeOfThePowerSpectrum) {
  // d/dx sum |F x|^2 = 2 n x, and the Hessian is 2 n times the identity.
  const auto power = [](Tensor x) { return sum(square(abs(fft(x)))); };
  const Tensor x = typed_noise({6}, Dtype::f64);
  EXPECT_LE(peak_error(grad(power)(x), 12.0 * x), 1e-14);
  EXPECT_LE(max(abs(hessian(power)(x) - 12.0 * eye(6))).item(), 1e-13);
  const auto half = [](Tensor x) { return sum(square(abs(irfft(rfft(x) * rfft(x), 6)))); };
  EXPECT_LE(peak_error(jacfwd(grad(half))(x), jacrev(grad(half))(x)), 1e-13);
}

TEST(Fft, RefusesWhatHasNoTransform) {
  EXPECT_THROW(fft(arange(4)), Error);
  EXPECT_THROW(rfft(typed_noise({4})), Error);
  EXPECT_THROW(fft(typed_noise({0})), Error);
  EXPECT_THROW(fft(typed_noise({4}), {}, 1), Error);
  EXPECT_THROW(fftn(typed_noise({4, 4}), {0, 0}), Error);
  EXPECT_THROW(fftn(typed_noise({4, 4}), {0}, {2, 2}), Error);
  EXPECT_THROW(dct(typed_noise({1}), 1), Error);
  EXPECT_THROW(dct(typed_noise({3}), 5), Error);
  EXPECT_THROW(irfft(typed_noise({1})), Error);
}

TEST(Fft, LengthsArePositiveAndDoNotCountFromTheEnd) {
  const Tensor x = typed_noise({8}), r = real(x), m = typed_noise({4, 4});
  for (const Index n : {0, -1, -2, -8}) {
    EXPECT_THROW(fft(x, n), Error) << n;
    EXPECT_THROW(ifft(x, n), Error) << n;
    EXPECT_THROW(rfft(r, n), Error) << n;
    EXPECT_THROW(irfft(x, n), Error) << n;
    EXPECT_THROW(fftn(m, {0, 1}, {4, n}), Error) << n;
    EXPECT_THROW(irfftn(m, {0, 1}, {n, 4}), Error) << n;
  }
}

TEST(Fft, CosineAndSineTransformsOfNothingAreErrors) {
  const Tensor none = zeros({3, 0});
  for (const Norm norm : {Norm::backward, Norm::ortho})
    for (int type = 1; type <= 4; ++type) {
      EXPECT_THROW(dct(none, type, -1, norm), Error) << type;
      EXPECT_THROW(idct(none, type, -1, norm), Error) << type;
      EXPECT_THROW(dst(none, type, -1, norm), Error) << type;
      EXPECT_THROW(idst(none, type, -1, norm), Error) << type;
      EXPECT_THROW(dctn(cast(none, Dtype::c128), type, {1}, norm), Error) << type;
    }
}

}  // namespace
}  // namespace tessera
