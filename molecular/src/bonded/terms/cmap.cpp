// SPDX-License-Identifier: Apache-2.0
//
// A bicubic interpolation whose derivatives at the nodes come from periodic cubic splines along
// either side of the map is the tensor product of such splines, so with the cubic B-splines b and t
// = (phi + pi) n/(2 pi), i = floor(t), u = t - i, and likewise (j, v) for psi
//
//   U = sum_{a,b = 0..3} b_a(u) b_b(v) C[i - 1 + a, j - 1 + b]   (indices modulo n),   C = S M S
//   b = {(1-u)^3, 3u^3 - 6u^2 + 4, -3u^3 + 3u^2 + 3u + 1, u^3}/6
//
// S is the inverse of the spline at the nodes, (c_{k-1} + 4 c_k + c_{k+1})/6 = m_k, which is
// periodic and symmetric:
//
//   S_kl = sqrt(3) (z^d + z^{n-d})/(1 - z^n),   d = |k - l|,   z = sqrt(3) - 2
//
// dU/dM = S (dU/dC) S. Programs that take those derivatives from natural splines over a map laid
// out twice (CHARMM, GROMACS) miss the periodic ones by z^{n/2}: a relative 1e-7 of them for 24
// points.
#include "bonded/bonded_term.h"
#include "bonded/displacement.h"
#include "bonded/geometry.h"
#include "energy/generic.h"
#include "tessera/autodiff/ops.h"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace tessera::molecular {
namespace {

constexpr std::size_t n_ends = 3;  ///< displacements of a dihedral

/// S [n, n].
std::vector<double> inverse_of_splines(std::size_t n) {
  const double z = std::numbers::sqrt3 - 2, power = std::pow(z, static_cast<double>(n));
  std::vector<double> s(n * n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t l = 0; l < n; ++l) {
      const double d = k > l ? static_cast<double>(k - l) : static_cast<double>(l - k);
      s[k * n + l] = std::numbers::sqrt3 *
                     (std::pow(z, d) + std::pow(z, static_cast<double>(n) - d)) / (1 - power);
    }
  return s;
}

/// The four B-splines over u in [0, 1), and their derivatives.
template <class T>
std::array<T, 4> splines(const T& u) {
  const T w = 1.0 - u;
  return {w * w * w * (1.0 / 6), (3.0 * u - 6.0) * u * u * (1.0 / 6) + 2.0 / 3,
          (3.0 * w - 6.0) * w * w * (1.0 / 6) + 2.0 / 3, u * u * u * (1.0 / 6)};
}
template <class T>
std::array<T, 4> spline_derivatives(const T& u) {
  const T w = 1.0 - u;
  return {-0.5 * (w * w), (1.5 * u - 2.0) * u, (2.0 - 1.5 * w) * w, 0.5 * (u * u)};
}

class Cmap final : public BondedTerm {
 public:
  explicit Cmap(const System& s)
      : terms_(s.cmap),
        n_(static_cast<Index>(s.n_atoms())),
        points_(static_cast<std::size_t>(s.cmap.points)),
        inverse_(inverse_of_splines(points_)) {
    coefficients_ = coefficients(terms_.maps.data());
  }

  const char* name() const override { return name_of(kind()); }
  Term kind() const override { return Term::cmap; }
  std::size_t size() const override { return terms_.size(); }
  std::vector<tessera::Shape> shapes() const override {
    return {{n_, 3}, {3, 3}, {static_cast<Index>(terms_.n_maps()), terms_.points, terms_.points}};
  }

  double value(Arrays p) const override {
    const std::vector<double> c = coefficients(p[2]);
    double sum = 0;
    const TermPositions<double> positions(p[0], nullptr, p[1], nullptr);
    for (std::size_t t = 0; t < size(); ++t)
      sum += patch(t, turns<double>(t, positions).q, c.data(), nullptr).u;
    return sum;
  }
  void gradient(Arrays p, Results g) const override { derivatives<double>(p, {}, g); }
  void hessian_product(Arrays p, Arrays v, Results w) const override {
    derivatives<Dual<double>>(p, v, w);
  }
  Tensor generic(std::span<const Tensor> p) const override;

  void add(const Vec3* x, const Box& box, std::size_t begin, std::size_t end,
           Sums& sums) const override {
    for (std::size_t t = begin; t < end; ++t) {
      std::array<std::array<Vec3, n_ends>, 2> d, dq;
      std::array<double, 2> q;
      for (std::size_t turn = 0; turn < 2; ++turn) {
        for (std::size_t e = 0; e < n_ends; ++e)
          d[turn][e] = wrapped(box, difference(x[atom(t, turn, e, 0)], x[atom(t, turn, e, 1)]));
        q[turn] = Dihedral::of(d[turn], dq[turn]);
      }
      const Patch<double> u = patch(t, q, coefficients_.data(), nullptr);
      sums.add_energy(kind(), u.u);
      for (std::size_t turn = 0; turn < 2; ++turn)
        for (std::size_t e = 0; e < n_ends; ++e) {
          const Vec3 f = scaled(dq[turn][e], -u.du[turn]), back = {-f[0], -f[1], -f[2]};
          sums.add_force(static_cast<std::int32_t>(atom(t, turn, e, 0)), f);
          sums.add_force(static_cast<std::int32_t>(atom(t, turn, e, 1)), back);
          sums.add_virial(d[turn][e], f);
        }
    }
  }

 private:
  std::size_t atom(std::size_t t, std::size_t turn, std::size_t e, std::size_t side) const {
    return static_cast<std::size_t>(
        terms_.atoms[t][4 * turn + static_cast<std::size_t>(Dihedral::ends[e][side])]);
  }
  /// S M S of every map: 2 n^3 multiplications each.
  std::vector<double> coefficients(const double* maps) const {
    const std::size_t n = points_;
    std::vector<double> out(terms_.maps.size()), half(n * n);
    for (std::size_t m = 0; m < terms_.n_maps(); ++m) {
      const double* from = maps + m * n * n;
      double* to = out.data() + m * n * n;
      const auto product = [n](const double* a, const double* b, double* c) {
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::size_t k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
          }
      };
      product(inverse_.data(), from, half.data());
      product(half.data(), inverse_.data(), to);
    }
    return out;
  }

  /// Both dihedrals of a term, their derivatives along displacements, and images.
  template <class T>
  struct Turns {
    std::array<T, 2> q;
    std::array<std::array<Vec<T>, n_ends>, 2> dq;
    std::array<std::array<Vec3, n_ends>, 2> image{};
  };
  template <class T>
  Turns<T> turns(std::size_t t, const TermPositions<T>& positions) const {
    Turns<T> out;
    for (std::size_t turn = 0; turn < 2; ++turn) {
      std::array<Vec<T>, n_ends> d;
      for (std::size_t e = 0; e < n_ends; ++e)
        d[e] = positions.apart(atom(t, turn, e, 0), atom(t, turn, e, 1), out.image[turn][e]);
      out.q[turn] = Dihedral::of(d, out.dq[turn]);
    }
    return out;
  }
  /// U, its derivatives in phi and psi, and in the 16 coefficients at `at`.
  template <class T>
  struct Patch {
    T u{}, du[2]{};
    std::array<T, 16> by_coefficient;
    std::array<std::size_t, 16> at;
  };
  template <class T>
  Patch<T> patch(std::size_t t, const std::array<T, 2>& q, const double* c,
                 const double* dc) const {
    const double per_radian = static_cast<double>(points_) / (2 * std::numbers::pi);
    std::array<std::array<T, 4>, 2> weight, derivative;
    std::array<std::size_t, 2> first;
    for (std::size_t k = 0; k < 2; ++k) {
      const T s = (q[k] + std::numbers::pi) * per_radian;
      const double below = std::floor(plain(s));
      weight[k] = splines<T>(s - below);
      derivative[k] = spline_derivatives<T>(s - below);
      // A dihedral that is no number has no place in the map; its energy is none either.
      first[k] = std::isfinite(below) ? static_cast<std::size_t>(below) + points_ - 1 : 0;
    }
    Patch<T> out;
    const std::size_t map = static_cast<std::size_t>(terms_.row[t]) * points_ * points_;
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = 0; b < 4; ++b) {
        const std::size_t at = map + (first[0] + a) % points_ * points_ + (first[1] + b) % points_;
        const T value = number<T>(c, dc, at);
        out.at[4 * a + b] = at;
        out.by_coefficient[4 * a + b] = weight[0][a] * weight[1][b];
        out.u = out.u + out.by_coefficient[4 * a + b] * value;
        out.du[0] = out.du[0] + derivative[0][a] * weight[1][b] * value;
        out.du[1] = out.du[1] + weight[0][a] * derivative[1][b] * value;
      }
    for (T& s : out.du) s = per_radian * s;
    return out;
  }

  template <class T>
  void derivatives(Arrays p, Arrays v, Results g) const {
    const auto tangent = [&](std::size_t k) { return v.empty() ? nullptr : v[k]; };
    const TermPositions<T> positions(p[0], tangent(0), p[1], tangent(1));
    const std::vector<double> c = coefficients(p[2]),
                              dc = tangent(2) ? coefficients(tangent(2)) : std::vector<double>{};
    std::vector<double> by_coefficient(g[2] ? c.size() : 0, 0.0);
    for (std::size_t t = 0; t < size(); ++t) {
      const Turns<T> at = turns<T>(t, positions);
      const Patch<T> u = patch<T>(t, at.q, c.data(), dc.empty() ? nullptr : dc.data());
      for (std::size_t turn = 0; turn < 2; ++turn)
        for (std::size_t e = 0; e < n_ends; ++e) {
          Vec3 du;
          for (std::size_t k = 0; k < 3; ++k) du[k] = along(u.du[turn] * at.dq[turn][e][k]);
          spread_gradient(g, atom(t, turn, e, 0), atom(t, turn, e, 1), at.image[turn][e], du);
        }
      for (std::size_t k = 0; k < 16 && g[2]; ++k)
        by_coefficient[u.at[k]] += along(u.by_coefficient[k]);
    }
    if (!g[2]) return;
    const std::vector<double> by_map = coefficients(by_coefficient.data());
    for (std::size_t k = 0; k < by_map.size(); ++k) g[2][k] += by_map[k];
  }

  CorrectionMaps terms_;
  Index n_;
  std::size_t points_;
  std::vector<double> inverse_, coefficients_;
};

/// The B-spline of every node of the circle at t, [m, n]: with x the distance to the node, (4 - 6
/// x^2 + 3 x^3)/6 within 1, (2 - x)^3/6 within 2.
Tensor all_splines(const Tensor& t, std::size_t n) {
  const auto count = static_cast<double>(n);
  const Tensor away = expand_dims(t, 1) - expand_dims(arange(static_cast<Index>(n), Dtype::f64), 0),
               x = abs(away - count * round(away / count));
  const Tensor outer = maximum(2.0 - x, 0.0);
  return where(less(x, 1.0), 4.0 - 6.0 * x * x + 3.0 * x * x * x, outer * outer * outer) / 6.0;
}

Tensor Cmap::generic(std::span<const Tensor> p) const {
  const auto n = static_cast<Index>(points_);
  std::array<Tensor, 2> weights;
  for (std::size_t turn = 0; turn < 2; ++turn) {
    std::vector<Tensor> d;
    for (std::size_t e = 0; e < n_ends; ++e) {
      std::array<std::vector<std::int32_t>, 2> side;
      for (std::size_t t = 0; t < size(); ++t)
        for (std::size_t k = 0; k < 2; ++k)
          side[k].push_back(static_cast<std::int32_t>(atom(t, turn, e, k)));
      d.push_back(
          generic::displacement(p[0], p[1], generic::indices(side[0]), generic::indices(side[1])));
    }
    weights[turn] = all_splines((generic::dihedral(d[0], d[1], d[2]) + std::numbers::pi) *
                                    (static_cast<double>(n) / (2 * std::numbers::pi)),
                                points_);
  }
  const Tensor s = tensor(inverse_, {n, n}),
               c = take(matmul(matmul(s, p[2]), s), generic::indices(terms_.row));  // [terms, n, n]
  return sum(expand_dims(weights[0], 2) * c * expand_dims(weights[1], 1));
}

const RegisterBonded cmap(Term::cmap, [](Term, const System& s, double) -> BondedTermPtr {
  return s.cmap.size() == 0 ? nullptr : std::make_shared<Cmap>(s);
});

}  // namespace

}  // namespace tessera::molecular
