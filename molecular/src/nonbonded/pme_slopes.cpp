// SPDX-License-Identifier: Apache-2.0
//
// With fractions s = x h^-1, u = K s, phi the potential on the grid (dU/dQ), e(k) = 2 pi k_e/V exp(-k^2/4 beta^2)/k^2 B |Q^|^2 and
// c(k) = 1/k^2 + 1/4 beta^2:
//
//   dU/dq_i = sum_g phi M M M,   dU/du_ia = q_i sum_g phi M' M M,   dU/dx_ic = sum_b K_b dU/du_ib (h^-1)_cb
//   dU/dh = h^-T T - U h^-T - s^T dU/dx,   T_ac = sum_k 2 e c k_a k_c
//
// Along (dx, dh, dq), with S = h^-1 dh: ds = (dx - s dh) h^-1, d(h^-1) = -S h^-1, dk = -S k, d ln e = -2 c k.dk - tr S + d ln |Q^|^2. dQ is spread
// by the slopes of the splines, dphi takes one more transform each way, and phi is that of the gradient, which is kept.
#include "nonbonded/pme_slopes.h"

#include "nonbonded/matrix.h"
#include "nonbonded/splines.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/fft.h"
#include "tessera/molecular/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numbers>
#include <vector>

namespace tessera::molecular {
namespace {

using std::numbers::pi;

constexpr std::size_t most_pieces = 4;         ///< of atoms that are spread apart and then added
constexpr std::size_t atoms_of_a_chunk = 512;
constexpr std::size_t wide = 8;                ///< rows of weights, the splines' order filled up by zeros
static_assert(wide >= most_pme_order);

#pragma GCC diagnostic ignored "-Wpsabi"  // rows are passed inside of this file alone
/// Eight numbers of a row.
using Row = double __attribute__((vector_size(wide * sizeof(double))));
Row load(const double* p) {
  Row r;
  std::memcpy(&r, p, sizeof r);
  return r;
}
void store(double* p, const Row& r) { std::memcpy(p, &r, sizeof r); }
double total(const Row& r) { return ((r[0] + r[4]) + (r[1] + r[5])) + ((r[2] + r[6]) + (r[3] + r[7])); }

Matrix<double> matrix(const double* h) {
  Matrix<double> m{};
  for (std::size_t a = 0; a < 9 && h; ++a) m[a / 3][a % 3] = h[a];
  return m;
}
Matrix<double> product(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> c{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

/// What the sum over waves gives.
struct Waves {
  double u = 0;
  Matrix<double> t{};
};

}  // namespace

struct PmeSlopes::Impl {
  std::size_t n, order;
  double ke, decay;  ///< 1/4 beta^2
  std::array<std::size_t, 3> k;
  std::size_t half, row;  ///< waves and numbers of a line along z
  std::array<std::vector<double>, 3> moduli;

  std::mutex in_use;
  std::vector<double> h_of_influence, influence;  ///< 4 pi k_e/V exp(-k^2/4 beta^2)/(k^2 B): dU/dQ^ is that times Q^
  /// First derivatives at the last operands, and the potential that second ones need.
  struct First {
    std::vector<double> operands, phi, g, q;
    std::vector<c128> hat;
    Waves waves;
  };
  std::shared_ptr<const First> last;

  Impl(const System& s, const Nonbonded& o, const std::array<int, 3>& grid)
      : n(s.n_atoms()), order(static_cast<std::size_t>(o.pme_order)), ke(s.coulomb_constant / o.epsilon_r), decay(0.25 / (ewald_beta(o) * ewald_beta(o))) {
    for (std::size_t a = 0; a < 3; ++a) {
      if (grid[a] < o.pme_order) throw Error(fmt::format("[pme] a grid of {} points is too coarse for splines of order {}: take at least as many points", grid[a], order));
      k[a] = static_cast<std::size_t>(grid[a]);
      moduli[a] = spline_moduli(o.pme_order, grid[a]);
    }
    half = k[2] / 2 + 1;
    row = k[2] + wide;
  }

  /// f(x) for every plane of the grid, on one thread where that is faster.
  template <class F>
  void planes_of_grid(F&& f) const {
    const auto planes = static_cast<std::int64_t>(k[0]);
    if (k[0] * k[1] * k[2] > 32768) return parallel_chunks(planes, f);
    for (std::int64_t x = 0; x < planes; ++x) f(x);
  }

  // ---- atoms and grid ----------------------------------------------------------------------------------

  /// Where an atom touches the grid.
  struct Touch {
    std::array<SplineWeights, 3> w;
    std::size_t x[wide], y[wide], z;  ///< offsets
    Row m, d, dd;                     ///< along z
  };
  std::array<double, 3> fractions(const double* x, const Matrix<double>& inv) const {
    std::array<double, 3> s{};
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t a = 0; a < 3; ++a) s[b] += x[a] * inv[a][b];
    return s;
  }
  /// spline_weights with the derivatives up to a number: the recursion passes through the lower orders that these need.
  void splines(double u, int derivatives, SplineWeights& s) const {
    const auto p = static_cast<int>(order);
    const double floor = std::floor(u), w = u - floor;
    double m[wide + 1] = {w, 1 - w}, before[wide + 1] = {}, lower[wide + 1] = {};  // M_p, M_{p-1}, M_{p-2} at w + k
    for (int q = 3; q <= p; ++q) {
      if (derivatives > 0 && q == p) std::copy_n(m, q - 1, before);
      if (derivatives > 1 && q == p - 1) std::copy_n(m, q - 1, lower);
      const double scale = 1.0 / (q - 1);
      m[q - 1] = (1 - w) * m[q - 2] * scale;
      for (int i = q - 2; i > 0; --i) m[i] = ((w + i) * m[i] + (q - w - i) * m[i - 1]) * scale;
      m[0] = w * m[0] * scale;
    }
    if (p == 3) lower[0] = 1;
    s.first = static_cast<std::int64_t>(floor) - p + 1;
    for (int i = 0; i < p; ++i) {
      const auto j = static_cast<std::size_t>(p - 1 - i);
      s.m[j] = m[i];
      if (derivatives > 0) s.d[j] = before[i] - (i > 0 ? before[i - 1] : 0);
      if (derivatives > 1) s.dd[j] = lower[i] - (i > 0 ? 2 * lower[i - 1] : 0) + (i > 1 ? lower[i - 2] : 0);
    }
  }
  void touch(const std::array<double, 3>& s, int derivatives, Touch& t) const {
    const auto first = [&](std::size_t a) {
      const auto size = static_cast<std::int64_t>(k[a]), g = t.w[a].first % size;
      return static_cast<std::size_t>(g < 0 ? g + size : g);
    };
    for (std::size_t a = 0; a < 3; ++a) splines(s[a] * static_cast<double>(k[a]), derivatives, t.w[a]);
    std::size_t gx = first(0), gy = first(1);
    for (std::size_t j = 0; j < order; ++j) {
      t.x[j] = gx * k[1] * row;
      t.y[j] = gy * row;
      if (++gx == k[0]) gx = 0;
      if (++gy == k[1]) gy = 0;
    }
    t.z = first(2);
    t.m = load(t.w[2].m.data());
    t.d = load(t.w[2].d.data());
    t.dd = load(t.w[2].dd.data());
  }
  /// sum_xy a_x b_y phi(x, y, z) for three pairs of weights a, b: more at once would not stay in registers.
  using Weights = std::array<double, wide>;
  std::array<Row, 3> planes(const std::vector<double>& phi, const Touch& t, const std::array<std::array<const Weights*, 2>, 3>& w) const {
    Row first{}, second{}, third{};
    for (std::size_t x = 0; x < order; ++x)
      for (std::size_t y = 0; y < order; ++y) {
        const Row u = load(phi.data() + t.x[x] + t.y[y] + t.z);
        first += ((*w[0][0])[x] * (*w[0][1])[y]) * u;
        second += ((*w[1][0])[x] * (*w[1][1])[y]) * u;
        third += ((*w[2][0])[x] * (*w[2][1])[y]) * u;
      }
    return {first, second, third};
  }
  /// The transform of what all atoms spread: q M M M, and with v its derivative; `s` and `ds` are fractions.
  std::vector<c128> spread(Arrays p, const std::vector<Vec3>& s, const std::vector<Vec3>* ds, const double* dq) const {
    const std::size_t size = k[0] * k[1] * row, pieces = std::clamp<std::size_t>(n / atoms_of_a_chunk, 1, most_pieces);
    std::vector<std::vector<double>> grids(pieces);
    parallel_chunks(static_cast<std::int64_t>(pieces), [&](std::int64_t number) {
      const auto piece = static_cast<std::size_t>(number);
      std::vector<double>& grid = grids[piece];
      grid.assign(size, 0.0);
      Touch t{};
      for (std::size_t i = n * piece / pieces; i < n * (piece + 1) / pieces; ++i) {
        touch(s[i], ds != nullptr, t);
        const double q = p[2][i];
        for (std::size_t x = 0; x < order; ++x)
          for (std::size_t y = 0; y < order; ++y) {
            double* to = grid.data() + t.x[x] + t.y[y] + t.z;
            const double mm = t.w[0].m[x] * t.w[1].m[y];
            if (!ds) {
              store(to, load(to) + (q * mm) * t.m);
            } else {
              const Vec3& u = (*ds)[i];
              const double flat = (dq ? dq[i] * mm : 0) + q * (u[0] * static_cast<double>(k[0]) * t.w[0].d[x] * t.w[1].m[y] + u[1] * static_cast<double>(k[1]) * t.w[0].m[x] * t.w[1].d[y]);
              store(to, load(to) + (flat * t.m + (q * u[2] * static_cast<double>(k[2]) * mm) * t.d));
            }
          }
      }
    });
    std::vector<double> sum(k[0] * k[1] * k[2]);
    planes_of_grid([&](std::int64_t plane) {
      for (std::size_t line = static_cast<std::size_t>(plane) * k[1]; line < (static_cast<std::size_t>(plane) + 1) * k[1]; ++line) {
        double* to = sum.data() + line * k[2];
        for (const std::vector<double>& grid : grids) {
          const double* from = grid.data() + line * row;
          for (std::size_t z = 0; z < k[2]; ++z) to[z] += from[z];
          for (std::size_t z = 0; z < wide; ++z) to[z % k[2]] += from[k[2] + z];
        }
      }
    });
    const Tensor hat = contiguous(rfftn(tensor(sum, shape())));
    const auto* c = static_cast<const c128*>(hat.view().data);
    return {c, c + hat.size()};
  }
  tessera::Shape shape() const { return {static_cast<Index>(k[0]), static_cast<Index>(k[1]), static_cast<Index>(k[2])}; }
  /// The potential of waves, in rows that repeat their beginning.
  std::vector<double> potential(const std::vector<c128>& field) const {
    const Tensor t = contiguous(irfftn(tensor(field, {static_cast<Index>(k[0]), static_cast<Index>(k[1]), static_cast<Index>(half)}), {}, shape()));
    const auto* from = static_cast<const double*>(t.view().data);
    std::vector<double> phi(k[0] * k[1] * row);
    for (std::size_t line = 0; line < k[0] * k[1]; ++line) {
      std::copy_n(from + line * k[2], k[2], phi.begin() + static_cast<std::ptrdiff_t>(line * row));
      for (std::size_t z = 0; z < wide; ++z) phi[line * row + k[2] + z] = from[line * k[2] + z % k[2]];
    }
    return phi;
  }

  // ---- waves -------------------------------------------------------------------------------------------

  /// f(place in the half spectrum, n_x, n_y, n_z, multiplicity) for the waves of one x that count.
  template <class F>
  void waves_of(std::size_t x, F&& f) const {
    if (2 * x == k[0]) return;
    const auto whole = [&](std::size_t m, std::size_t a) { return static_cast<double>(m) - (2 * m > k[a] ? static_cast<double>(k[a]) : 0.0); };
    for (std::size_t y = 0; y < k[1]; ++y) {
      if (2 * y == k[1]) continue;
      for (std::size_t z = x == 0 && y == 0; z < half; ++z) {
        if (2 * z == k[2]) continue;
        f((x * k[1] + y) * half + z, y, z, Vec3{whole(x, 0), whole(y, 1), static_cast<double>(z)}, z == 0 ? 1.0 : 2.0);
      }
    }
  }
  static Vec3 wave(const Matrix<double>& inv, const Vec3& m) {
    Vec3 q;
    for (std::size_t a = 0; a < 3; ++a) q[a] = 2 * pi * (inv[a][0] * m[0] + inv[a][1] * m[1] + inv[a][2] * m[2]);
    return q;
  }
  static double square(const Vec3& q) { return q[0] * q[0] + q[1] * q[1] + q[2] * q[2]; }
  void prepare(const double* h, const Matrix<double>& inv) {
    if (h_of_influence.size() == 9 && std::memcmp(h_of_influence.data(), h, 9 * sizeof(double)) == 0) return;
    const double front = 4 * pi * ke / determinant(matrix(h));
    influence.assign(k[0] * k[1] * half, 0.0);
    planes_of_grid([&](std::int64_t plane) {
      const auto x = static_cast<std::size_t>(plane);
      waves_of(x, [&](std::size_t at, std::size_t y, std::size_t z, const Vec3& m, double) {
        const double k2 = square(wave(inv, m));
        influence[at] = front * std::exp(-k2 * decay) / (k2 * moduli[0][x] * moduli[1][y] * moduli[2][z]);
      });
    });
    h_of_influence.assign(h, h + 9);
  }
  template <class F>
  Waves sum_of_planes(F&& plane) const {
    std::vector<Waves> parts(k[0]);
    planes_of_grid([&](std::int64_t x) { plane(static_cast<std::size_t>(x), parts[static_cast<std::size_t>(x)]); });
    Waves sum;
    for (const Waves& w : parts) {
      sum.u += w.u;
      for (std::size_t a = 0; a < 9; ++a) sum.t[a / 3][a % 3] += w.t[a / 3][a % 3];
    }
    return sum;
  }

  // ---- derivatives -------------------------------------------------------------------------------------

  std::shared_ptr<const First> first(Arrays p) {
    std::vector<double> operands(p[0], p[0] + 3 * n);
    operands.insert(operands.end(), p[1], p[1] + 9);
    operands.insert(operands.end(), p[2], p[2] + n);
    if (last && std::memcmp(last->operands.data(), operands.data(), operands.size() * sizeof(double)) == 0) return last;
    const Matrix<double> inv = inverse(matrix(p[1]));
    prepare(p[1], inv);
    auto f = std::make_shared<First>();
    f->operands = std::move(operands);
    const std::vector<Vec3> s = all_fractions(p, inv);
    f->hat = spread(p, s, nullptr, nullptr);
    std::vector<c128> field(f->hat.size(), c128(0));
    const double points = static_cast<double>(k[0] * k[1] * k[2]);  // the inverse transform divides by it
    f->waves = sum_of_planes([&](std::size_t x, Waves& sum) {
      waves_of(x, [&](std::size_t at, std::size_t, std::size_t, const Vec3& m, double weight) {
        field[at] = influence[at] * points * f->hat[at];
        const double e = 0.5 * weight * influence[at] * std::norm(f->hat[at]);
        const Vec3 q = wave(inv, m);
        const double c = 2 * e * (1 / square(q) + decay);
        sum.u += e;
        for (std::size_t a = 0; a < 3; ++a)
          for (std::size_t b = a; b < 3; ++b) sum.t[a][b] += c * q[a] * q[b];
      });
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < a; ++b) sum.t[a][b] = sum.t[b][a];
    });
    f->phi = potential(field);
    f->g.resize(3 * n);
    f->q.resize(n);
    chunks([&](std::size_t i, Touch& t) {
      touch(s[i], 1, t);
      const auto &m0 = t.w[0].m, &m1 = t.w[1].m, &d0 = t.w[0].d, &d1 = t.w[1].d;
      const auto [flat, by_x, by_y] = planes(f->phi, t, {{{&m0, &m1}, {&d0, &m1}, {&m0, &d1}}});
      const Vec3 one = {total(by_x * t.m), total(by_y * t.m), total(flat * t.d)};
      f->q[i] = total(flat * t.m);
      for (std::size_t c = 0; c < 3; ++c) f->g[3 * i + c] = p[2][i] * along(one, inv, c);
    });
    last = f;
    return f;
  }
  /// sum_b K_b one_b (h^-1)_cb
  double along(const Vec3& one, const Matrix<double>& inv, std::size_t c) const {
    return static_cast<double>(k[0]) * one[0] * inv[c][0] + static_cast<double>(k[1]) * one[1] * inv[c][1] + static_cast<double>(k[2]) * one[2] * inv[c][2];
  }
  std::vector<Vec3> all_fractions(Arrays p, const Matrix<double>& inv) const {
    std::vector<Vec3> s(n);
    for (std::size_t i = 0; i < n; ++i) {
      s[i] = fractions(p[0] + 3 * i, inv);
      if (!std::isfinite(s[i][0] + s[i][1] + s[i][2])) throw Error(fmt::format("[pme] atom {} has no place: a coordinate is not a number", i + 1));
    }
    return s;
  }
  template <class F>
  void chunks(F&& f) const {
    parallel_chunks(static_cast<std::int64_t>((n + atoms_of_a_chunk - 1) / atoms_of_a_chunk), [&](std::int64_t chunk) {
      Touch t{};
      const std::size_t begin = static_cast<std::size_t>(chunk) * atoms_of_a_chunk, end = std::min(begin + atoms_of_a_chunk, n);
      for (std::size_t i = begin; i < end; ++i) f(i, t);
    });
  }

  void hand_out(const First& f, Arrays p, Results g) const {
    if (g[0])
      for (std::size_t i = 0; i < 3 * n; ++i) g[0][i] += f.g[i];
    if (g[2])
      for (std::size_t i = 0; i < n; ++i) g[2][i] += f.q[i];
    if (!g[1]) return;
    const Matrix<double> inv = inverse(matrix(p[1]));
    Matrix<double> rest = f.waves.t;  // T - x^T dU/dx
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t c = 0; c < 3; ++c) rest[a][c] -= p[0][3 * i + a] * f.g[3 * i + c];
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t c = 0; c < 3; ++c) {
        g[1][3 * b + c] -= f.waves.u * inv[c][b];
        for (std::size_t a = 0; a < 3; ++a) g[1][3 * b + c] += inv[a][b] * rest[a][c];
      }
  }

  void curvature(Arrays p, Arrays v, Results w) {
    const std::shared_ptr<const First> f = first(p);
    const Matrix<double> inv = inverse(matrix(p[1])), dh = matrix(v[1]), strain = product(inv, dh);
    prepare(p[1], inv);
    const std::vector<Vec3> s = all_fractions(p, inv);
    std::vector<Vec3> ds(n);
    for (std::size_t i = 0; i < n; ++i) {
      Vec3 moved{};
      for (std::size_t c = 0; c < 3; ++c) moved[c] = (v[0] ? v[0][3 * i + c] : 0) - (s[i][0] * dh[0][c] + s[i][1] * dh[1][c] + s[i][2] * dh[2][c]);
      for (std::size_t b = 0; b < 3; ++b) ds[i][b] = moved[0] * inv[0][b] + moved[1] * inv[1][b] + moved[2] * inv[2][b];
    }
    Matrix<double> dinv = product(strain, inv);
    for (auto& r : dinv)
      for (double& c : r) c = -c;
    const double trace = strain[0][0] + strain[1][1] + strain[2][2];

    const std::vector<c128> dhat = spread(p, s, &ds, v[2]);
    std::vector<c128> field(dhat.size(), c128(0));
    const double points = static_cast<double>(k[0] * k[1] * k[2]);
    const bool box = v[1] || w[1];
    const Waves moved = sum_of_planes([&](std::size_t x, Waves& sum) {
      waves_of(x, [&](std::size_t at, std::size_t, std::size_t, const Vec3& m, double weight) {
        if (!box) {
          field[at] = influence[at] * points * dhat[at];
          return;
        }
        const Vec3 q = wave(inv, m);
        Vec3 dq;
        for (std::size_t a = 0; a < 3; ++a) dq[a] = -(strain[a][0] * q[0] + strain[a][1] * q[1] + strain[a][2] * q[2]);
        const double k2 = square(q), dk2 = 2 * (q[0] * dq[0] + q[1] * dq[1] + q[2] * dq[2]), c = 1 / k2 + decay, turn = -c * dk2 - trace;
        field[at] = influence[at] * points * (dhat[at] + turn * f->hat[at]);
        const double front = weight * influence[at], e = 0.5 * front * std::norm(f->hat[at]);
        const double de = front * (f->hat[at].real() * dhat[at].real() + f->hat[at].imag() * dhat[at].imag()) + turn * e, dc = -dk2 / (k2 * k2);
        sum.u += de;
        for (std::size_t a = 0; a < 3; ++a)
          for (std::size_t b = 0; b < 3; ++b) sum.t[a][b] += 2 * ((de * c + e * dc) * q[a] * q[b] + e * c * (dq[a] * q[b] + q[a] * dq[b]));
      });
    });
    const std::vector<double> dphi = potential(field);

    std::vector<double> dg(3 * n);
    chunks([&](std::size_t i, Touch& t) {
      touch(s[i], 2, t);
      const auto &m0 = t.w[0].m, &m1 = t.w[1].m, &d0 = t.w[0].d, &d1 = t.w[1].d;
      const auto [flat, by_x, by_y] = planes(f->phi, t, {{{&m0, &m1}, {&d0, &m1}, {&m0, &d1}}});
      const auto [by_xx, by_yy, by_xy] = planes(f->phi, t, {{{&t.w[0].dd, &m1}, {&m0, &t.w[1].dd}, {&d0, &d1}}});
      const auto [moved_flat, moved_x, moved_y] = planes(dphi, t, {{{&m0, &m1}, {&d0, &m1}, {&m0, &d1}}});
      const Vec3 one = {total(by_x * t.m), total(by_y * t.m), total(flat * t.d)};
      Vec3 done = {total(moved_x * t.m), total(moved_y * t.m), total(moved_flat * t.d)};
      double dflat = total(moved_flat * t.m);
      const double xy = total(by_xy * t.m), xz = total(by_x * t.d), yz = total(by_y * t.d);
      const Matrix<double> two = {{{total(by_xx * t.m), xy, xz}, {xy, total(by_yy * t.m), yz}, {xz, yz, total(flat * t.dd)}}};
      Vec3 u;
      for (std::size_t a = 0; a < 3; ++a) {
        u[a] = ds[i][a] * static_cast<double>(k[a]);
        dflat += one[a] * u[a];
      }
      for (std::size_t a = 0; a < 3; ++a) done[a] += two[a][0] * u[0] + two[a][1] * u[1] + two[a][2] * u[2];
      if (w[2]) w[2][i] += dflat;
      const double q = p[2][i], dq = v[2] ? v[2][i] : 0;
      for (std::size_t c = 0; c < 3; ++c) {
        dg[3 * i + c] = dq * along(one, inv, c) + q * (along(done, inv, c) + along(one, dinv, c));
        if (w[0]) w[0][3 * i + c] += dg[3 * i + c];
      }
    });
    if (!w[1]) return;
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t c = 0; c < 3; ++c) {
        double sum = -moved.u * inv[c][b] - f->waves.u * dinv[c][b];
        for (std::size_t a = 0; a < 3; ++a) sum += dinv[a][b] * f->waves.t[a][c] + inv[a][b] * moved.t[a][c];
        for (std::size_t i = 0; i < n; ++i) sum -= ds[i][b] * f->g[3 * i + c] + s[i][b] * dg[3 * i + c];
        w[1][3 * b + c] += sum;
      }
  }
};

PmeSlopes::PmeSlopes(const System& s, const Nonbonded& o, const std::array<int, 3>& grid) : impl_(std::make_unique<Impl>(s, o, grid)) {}
PmeSlopes::~PmeSlopes() = default;

double PmeSlopes::value(Arrays p) const {
  const std::lock_guard hold(impl_->in_use);
  return impl_->first(p)->waves.u;
}
void PmeSlopes::gradient(Arrays p, Results g) const {
  const std::lock_guard hold(impl_->in_use);
  impl_->hand_out(*impl_->first(p), p, g);
}
void PmeSlopes::curvature(Arrays p, Arrays v, Results w) const {
  const std::lock_guard hold(impl_->in_use);
  impl_->curvature(p, v, w);
}

}  // namespace tessera::molecular
