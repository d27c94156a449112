// SPDX-License-Identifier: Apache-2.0
//
// With k = 2 pi h^-1 n (n whole, of one half of space), S = sum_i q_i e^{i k.x_i}, a(k) = 4 pi
// k_e/(e_r V) e^{-k^2/4 beta^2}/k^2:
//
//   U = sum_k a |S|^2
//   dU/dq_i = sum_k 2 a Re(conj(S) e_i)
//   dU/dx_i = sum_k 2 a q_i Im(conj(S) (-e_i)) k = q_i sum_k 2 a (S_s c_i - S_c s_i) k
//   dU/dh at fixed x: k moves by dk = -h^-1 dh k, V by V tr(h^-1 dh):
//     dU/dh_bc = sum_k [-a |S|^2 (h^-1)_cb + 2 a |S|^2 (1/k^2 + 1/4 beta^2) (k h^-1)_b k_c]
//                - sum_i (x_i h^-1)_b dU/dx_ic
//
// The Hessian product is the gradient on numbers that carry their derivative.
#include "tessera/molecular/ewald.h"

#include "base/dual.h"
#include "energy/generic.h"
#include "nonbonded/ewald_waves.h"
#include "nonbonded/matrix.h"
#include "tessera/autodiff/forall.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace tessera::molecular {
namespace {

using std::numbers::pi;

/// e^{2 pi i m s} of one fraction for m = 0 ... most, by repeated products.
template <class T>
void powers(const T& s, int most, T* re, T* im) {
  using std::cos, std::sin;
  re[0] = T(1.0);
  im[0] = T(0.0);
  const T c = cos(T(2 * pi) * s), d = sin(T(2 * pi) * s);
  for (int m = 1; m <= most; ++m) {
    re[m] = re[m - 1] * c - im[m - 1] * d;
    im[m] = re[m - 1] * d + im[m - 1] * c;
  }
}

class EwaldReciprocal final : public EnergyFunction {
 public:
  EwaldReciprocal(const System& s, const Nonbonded& o)
      : n_(static_cast<Index>(s.n_atoms())),
        ke_(s.coulomb_constant / o.epsilon_r),
        beta_(ewald_beta(o)),
        kmax_(ewald_kmax(o)) {}
  const char* name() const override { return "ewald_reciprocal"; }
  std::vector<tessera::Shape> shapes() const override { return {{n_, 3}, {3, 3}, {n_}}; }
  double value(Arrays p) const override {
    double u = 0;
    sweep<double>(p, {}, nullptr, u);
    return u;
  }
  void gradient(Arrays p, Results g) const override {
    double u = 0;
    sweep<double>(p, {}, &g, u);
  }
  void hessian_product(Arrays p, Arrays v, Results w) const override {
    double u = 0;
    sweep<Dual<double>>(p, v, &w, u);
  }
  Tensor generic(std::span<const Tensor> p) const override;

 private:
  struct Wave {
    std::array<int, 3> n;
  };
  /// Half of all waves: the first non-zero of (n_2, n_1, n_0) is positive.
  std::vector<Wave> waves(const Matrix<double>& h) const {
    check_waves(kmax_, std::abs(determinant(h)));
    const Matrix<double> inv = inverse(h);
    std::array<int, 3> most;
    for (std::size_t b = 0; b < 3; ++b) {  // |n_b| = |k . h_b| / 2 pi
      const double length = std::sqrt(h[b][0] * h[b][0] + h[b][1] * h[b][1] + h[b][2] * h[b][2]);
      most[b] = static_cast<int>(kmax_ * length / (2 * pi)) + 1;
    }
    std::vector<Wave> out;
    for (int z = 0; z <= most[2]; ++z)
      for (int y = -most[1]; y <= most[1]; ++y)
        for (int x = -most[0]; x <= most[0]; ++x) {
          if (!(z > 0 || (z == 0 && (y > 0 || (y == 0 && x > 0))))) continue;
          double k2 = 0;
          for (std::size_t a = 0; a < 3; ++a) {
            const double k = 2 * pi * (inv[a][0] * x + inv[a][1] * y + inv[a][2] * z);
            k2 += k * k;
          }
          if (k2 < kmax_ * kmax_) out.push_back({{x, y, z}});
        }
    return out;
  }

  template <class T>
  void sweep(Arrays p, Arrays v, const Results* g, double& u) const {
    const auto tangent = [&](std::size_t k) { return v.empty() ? nullptr : v[k]; };
    const auto n = static_cast<std::size_t>(n_);
    Matrix<double> box;
    Matrix<T> h;
    for (std::size_t a = 0; a < 9; ++a) {
      box[a / 3][a % 3] = p[1][a];
      h[a / 3][a % 3] = number<T>(p[1], tangent(1), a);
    }
    const std::vector<Wave> list = waves(box);
    const Matrix<T> inv = inverse(h);
    const T volume = determinant(h);
    int most = 0;
    for (const Wave& w : list)
      for (const int m : w.n) most = std::max(most, std::abs(m));
    const auto stride = static_cast<std::size_t>(most) + 1;
    std::vector<T> re(n * 3 * stride), im(n * 3 * stride), q(n);
    parallel_chunks(static_cast<std::int64_t>(n), [&](std::int64_t chunk) {
      const auto i = static_cast<std::size_t>(chunk);
      q[i] = number<T>(p[2], tangent(2), i);
      for (std::size_t b = 0; b < 3; ++b) {
        T s(0.0);
        for (std::size_t a = 0; a < 3; ++a)
          s = s + number<T>(p[0], tangent(0), 3 * i + a) * inv[a][b];
        powers(s, most, &re[(3 * i + b) * stride], &im[(3 * i + b) * stride]);
      }
    });
    const auto phase = [&](std::size_t i, const Wave& w, T& c, T& d) {
      c = T(1.0);
      d = T(0.0);
      for (std::size_t b = 0; b < 3; ++b) {
        const int m = w.n[b];
        const std::size_t at = (3 * i + b) * stride + static_cast<std::size_t>(std::abs(m));
        const T x = re[at], y = m < 0 ? -im[at] : im[at], was = c;
        c = was * x - d * y;
        d = was * y + d * x;
      }
    };
    std::vector<T> weight(list.size()), cosine(list.size()), sine(list.size());
    std::vector<std::array<T, 3>> k(list.size());
    std::vector<T> k2(list.size());
    parallel_chunks(static_cast<std::int64_t>(list.size()), [&](std::int64_t chunk) {
      using std::exp;
      const auto w = static_cast<std::size_t>(chunk);
      for (std::size_t a = 0; a < 3; ++a)
        k[w][a] = T(2 * pi) * (T(list[w].n[0]) * inv[a][0] + T(list[w].n[1]) * inv[a][1] +
                               T(list[w].n[2]) * inv[a][2]);
      k2[w] = k[w][0] * k[w][0] + k[w][1] * k[w][1] + k[w][2] * k[w][2];
      weight[w] = T(4 * pi * ke_) * exp(k2[w] * T(-0.25 / (beta_ * beta_))) / (volume * k2[w]);
      T c, d, sum_c(0.0), sum_s(0.0);
      for (std::size_t i = 0; i < n; ++i) {
        phase(i, list[w], c, d);
        sum_c = sum_c + q[i] * c;
        sum_s = sum_s + q[i] * d;
      }
      cosine[w] = sum_c;
      sine[w] = sum_s;
    });
    for (std::size_t w = 0; w < list.size(); ++w)
      u += plain(weight[w]) *
           (plain(cosine[w]) * plain(cosine[w]) + plain(sine[w]) * plain(sine[w]));
    if (!g) return;
    const Results& out = *g;

    std::vector<std::array<T, 3>> gradient(n);
    parallel_chunks(static_cast<std::int64_t>(n), [&](std::int64_t chunk) {
      const auto i = static_cast<std::size_t>(chunk);
      T by_charge(0.0), c, d;
      std::array<T, 3> f = {T(0.0), T(0.0), T(0.0)};
      for (std::size_t w = 0; w < list.size(); ++w) {
        phase(i, list[w], c, d);
        by_charge = by_charge + T(2.0) * weight[w] * (cosine[w] * c + sine[w] * d);
        const T turn = T(2.0) * weight[w] * (sine[w] * c - cosine[w] * d);
        for (std::size_t a = 0; a < 3; ++a) f[a] = f[a] + turn * k[w][a];
      }
      for (std::size_t a = 0; a < 3; ++a) {
        gradient[i][a] = q[i] * f[a];
        if (out[0]) out[0][3 * i + a] += along(gradient[i][a]);
      }
      if (out[2]) out[2][i] += along(by_charge);
    });
    if (!out[1]) return;
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t c = 0; c < 3; ++c) {
        T sum(0.0);
        for (std::size_t w = 0; w < list.size(); ++w) {
          const T power = weight[w] * (cosine[w] * cosine[w] + sine[w] * sine[w]);
          const T kh = k[w][0] * inv[0][b] + k[w][1] * inv[1][b] + k[w][2] * inv[2][b];
          sum = sum - power * inv[c][b] +
                T(2.0) * power * (T(1.0) / k2[w] + T(0.25 / (beta_ * beta_))) * kh * k[w][c];
        }
        for (std::size_t i = 0; i < n; ++i) {
          T s(0.0);
          for (std::size_t a = 0; a < 3; ++a)
            s = s + number<T>(p[0], tangent(0), 3 * i + a) * inv[a][b];
          sum = sum - s * gradient[i][c];
        }
        out[1][3 * b + c] += along(sum);
      }
  }

  Index n_;
  double ke_, beta_, kmax_;
};

Tensor generic_volume(const Tensor& h) {
  const auto e = [&](int a, int b) { return select(select(h, 0, a), 0, b); };
  return e(0, 0) * (e(1, 1) * e(2, 2) - e(1, 2) * e(2, 1)) -
         e(0, 1) * (e(1, 0) * e(2, 2) - e(1, 2) * e(2, 0)) +
         e(0, 2) * (e(1, 0) * e(2, 1) - e(1, 1) * e(2, 0));
}

Tensor EwaldReciprocal::generic(std::span<const Tensor> p) const {
  // Rows of reciprocal vectors from cross products: k = 2 pi (n_0 b x c + n_1 c x a + n_2 a x b)/V.
  // The box is a variable here, so all waves up to a fixed number per axis are summed where they
  // are short enough; NaN where these are not all.
  constexpr int most = 12;
  std::vector<double> numbers, outermost;
  for (int z = 0; z <= most; ++z)
    for (int y = -most; y <= most; ++y)
      for (int x = -most; x <= most; ++x) {
        if (!(z > 0 || (z == 0 && (y > 0 || (y == 0 && x > 0))))) continue;
        for (const int m : {x, y, z}) numbers.push_back(m);
        outermost.push_back(std::max({std::abs(x), std::abs(y), z}) == most ? 1 : 0);
      }
  const Tensor a = select(p[1], 0, 0), b = select(p[1], 0, 1), c = select(p[1], 0, 2),
               volume = generic_volume(p[1]);
  const Tensor n = tensor(numbers, {static_cast<Index>(outermost.size()), 3});
  const Tensor k =
      matmul(n, stack({generic::cross(b, c), generic::cross(c, a), generic::cross(a, b)})) *
      ((2 * pi) / volume);
  const Tensor k2 = generic::dot(k, k), phase = matmul(k, transpose(p[0])),
               in = less(k2, kmax_ * kmax_);
  const Tensor re = matmul(cos(phase), p[2]), im = matmul(sin(phase), p[2]);
  const Tensor u =
      where(in, exp(k2 * (-0.25 / (beta_ * beta_))) / k2 * (square(re) + square(im)), 0.0);
  const Tensor missing = sum(where(in, tensor(outermost), 0.0));
  // As a factor, so that derivatives are NaN as well.
  return (4 * pi * ke_) / volume * sum(u) *
         where(equal(missing, 0.0), 1.0, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

EnergyPtr ewald_reciprocal_energy(const System& system, const Nonbonded& options) {
  return std::make_shared<EwaldReciprocal>(system, options);
}
Tensor ewald_self_energy(const System& s, const Nonbonded& o, const Tensor& h,
                         const Tensor& charge) {
  const double beta = ewald_beta(o), ke = s.coulomb_constant / o.epsilon_r;
  return -ke * beta * std::numbers::inv_sqrtpi * sum(square(charge)) -
         pi * ke / (2 * beta * beta) * square(sum(charge)) / generic_volume(h);
}

}  // namespace tessera::molecular
