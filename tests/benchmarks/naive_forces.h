// SPDX-License-Identifier: Apache-2.0
//
// Non-bonded forces the plain way, from the formulas of nonbonded.h, ewald.h and pme.h: a double
// loop over all pairs of atoms, sums over waves one by one, Fourier transforms by their definition;
// all in long double (64 bits of mantissa). Nothing of it is the product's: no lists, no clusters,
// no fixed point, no series for erfc, no fast transforms.
#pragma once
#include "tessera/molecular/nonbonded.h"
#include "tessera/molecular/system.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace tessera::benchmarks::naive {

using namespace tessera::molecular;
using Real = long double;
using Vector = std::array<Real, 3>;
using Vectors = std::vector<Vector>;
inline constexpr Real pi = std::numbers::pi_v<Real>;

/// d less the whole number of edges that leaves every fraction in [-1/2, 1/2).
inline Vector nearest(const Box& box, Vector d) {
  if (!is_periodic(box)) return d;
  const auto& h = box.edge;
  const Real s2 = d[2] / h[2][2], s1 = (d[1] - s2 * h[2][1]) / h[1][1],
             s0 = (d[0] - s1 * h[1][0] - s2 * h[2][0]) / h[0][0];
  const std::array<Real, 3> k = {std::floor(s0 + 0.5L), std::floor(s1 + 0.5L),
                                 std::floor(s2 + 0.5L)};
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t b = 0; b < 3; ++b) d[c] -= k[b] * h[b][c];
  return d;
}
inline Vector apart(const Frame& f, std::int32_t i, std::int32_t j) {
  const Vec3 &a = f.x_nm[static_cast<std::size_t>(i)], &b = f.x_nm[static_cast<std::size_t>(j)];
  return nearest(f.box, {static_cast<Real>(a[0]) - b[0], static_cast<Real>(a[1]) - b[1],
                         static_cast<Real>(a[2]) - b[2]});
}
inline Real length(const Vector& d) { return std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]); }

using Pairs = std::vector<std::array<std::int32_t, 2>>;
/// All pairs closer than `radius` that are not excluded: n^2/2 distances.
inline Pairs near_pairs(const System& s, const Frame& f, double radius) {
  Pairs out;
  auto skip = s.exclusions.begin();
  const auto n = static_cast<std::int32_t>(s.n_atoms());
  const Vec3 edge = {f.box.edge[0][0], f.box.edge[1][1], f.box.edge[2][2]};
  const bool periodic = is_periodic(f.box),
             upright = f.box.edge[1][0] == 0 && f.box.edge[2][0] == 0 && f.box.edge[2][1] == 0;
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = i + 1; j < n; ++j) {
      while (skip != s.exclusions.end() && *skip < std::array{i, j}) ++skip;
      if (skip != s.exclusions.end() && *skip == std::array{i, j}) continue;
      double square = 0;
      if (upright) {  // quickly, and a little too many
        for (std::size_t c = 0; c < 3; ++c) {
          double d =
              f.x_nm[static_cast<std::size_t>(i)][c] - f.x_nm[static_cast<std::size_t>(j)][c];
          if (periodic) d -= edge[c] * std::nearbyint(d / edge[c]);
          square += d * d;
        }
        if (square > 1.0001 * radius * radius) continue;
      }
      if (length(apart(f, i, j)) < radius) out.push_back({i, j});
    }
  return out;
}

inline Real power(Real r, int n) {
  Real out = 1;
  for (int k = 0; k < n; ++k) out *= r;
  return out;
}
/// -u'(r)/r of r^-n with a modifier.
inline Real power_pull(Real r, int n, const Nonbonded& o) {
  using Modifier = Nonbonded::Modifier;
  const Real rc = o.cutoff_lj_nm, r1 = o.lj_switch_nm, width = rc - r1, plain = n / power(r, n + 1);
  switch (o.lj_modifier) {
    case Modifier::none:
    case Modifier::potential_shift:
      return plain / r;
    case Modifier::linear_force_shift:
      return (plain - n / power(rc, n + 1)) / r;
    case Modifier::force_switch: {
      if (r <= r1) return plain / r;
      const Real a = -n * ((n + 4) * rc - (n + 1) * r1) / (power(rc, n + 2) * width * width),
                 b = n * ((n + 3) * rc - (n + 1) * r1) / (power(rc, n + 2) * width * width * width);
      return (plain + a * (r - r1) * (r - r1) + b * (r - r1) * (r - r1) * (r - r1)) / r;
    }
    case Modifier::potential_switch: {
      if (r <= r1) return plain / r;
      const Real x = (r - r1) / width,
                 fade = 1 - 10 * x * x * x + 15 * x * x * x * x - 6 * x * x * x * x * x,
                 slope = (-30 * x * x + 60 * x * x * x - 30 * x * x * x * x) / width;
      return (plain * fade - slope / power(r, n)) / r;
    }
  }
  return 0;
}
inline Real reaction_field_k(const Nonbonded& o) {
  const Real rc = o.cutoff_coulomb_nm, e = o.epsilon_r, rf = o.epsilon_rf;
  return (rf == 0 ? 0.5L : (rf - e) / (2 * rf + e)) / (rc * rc * rc);
}
/// -u'(r)/r of a pair of unit charges within the cut-off, k_e/e_r left out.
inline Real charge_pull(Real r, const Nonbonded& o) {
  using Coulomb = Nonbonded::Coulomb;
  const Real rc = o.cutoff_coulomb_nm;
  switch (o.coulomb) {
    case Coulomb::none:
      return 0;
    case Coulomb::cutoff:
      return (1 / (r * r) -
              (o.coulomb_modifier == Nonbonded::Modifier::linear_force_shift ? 1 / (rc * rc) : 0)) /
             r;
    case Coulomb::reaction_field:
      return 1 / (r * r * r) - 2 * reaction_field_k(o);
    case Coulomb::ewald:
    case Coulomb::pme:
      break;
  }
  const Real beta = ewald_beta(o);
  return (std::erfc(beta * r) / r + 2 * beta / std::sqrt(pi) * std::exp(-beta * beta * r * r)) /
         (r * r);
}

inline void push(Vectors& f, const std::array<std::int32_t, 2>& pair, const Vector& d, Real by) {
  for (std::size_t c = 0; c < 3; ++c) {
    f[static_cast<std::size_t>(pair[0])][c] += by * d[c];
    f[static_cast<std::size_t>(pair[1])][c] -= by * d[c];
  }
}
inline void add_pairs(const System& s, const Nonbonded& o, const Frame& frame, const Pairs& pairs,
                      Vectors& f) {
  const Real ke = static_cast<Real>(s.coulomb_constant) / o.epsilon_r;
  const auto types = static_cast<std::size_t>(s.lj.types);
  for (const auto& pair : pairs) {
    const Vector d = apart(frame, pair[0], pair[1]);
    const Real r = length(d);
    const auto i = static_cast<std::size_t>(pair[0]), j = static_cast<std::size_t>(pair[1]);
    const auto a = static_cast<std::size_t>(s.atoms.lj_type[i]),
               b = static_cast<std::size_t>(s.atoms.lj_type[j]);
    const auto mean = [&](const std::vector<double>& table) {
      return 0.5L * (static_cast<Real>(table[a * types + b]) + table[b * types + a]);
    };
    Real by = 0;
    if (r < o.cutoff_lj_nm) {
      const Real c6 = mean(s.lj.c6), c12 = mean(s.lj.c12);
      if (c6 != 0) by -= c6 * power_pull(r, 6, o);
      if (c12 != 0) by += c12 * power_pull(r, 12, o);
    }
    const Real qq = ke * s.atoms.charge_e[i] * s.atoms.charge_e[j];
    if (qq != 0 && r < o.cutoff_coulomb_nm) by += qq * charge_pull(r, o);
    push(f, pair, d, by);
  }
}
/// What excluded pairs have of the reaction field, or what the reciprocal sum has too much of them.
inline void add_excluded(const System& s, const Nonbonded& o, const Frame& frame, Vectors& f) {
  const bool field =
      o.coulomb == Nonbonded::Coulomb::reaction_field && o.reaction_field_of_excluded;
  const bool waves = o.coulomb == Nonbonded::Coulomb::ewald || o.coulomb == Nonbonded::Coulomb::pme;
  if (!field && !waves) return;
  const Real ke = static_cast<Real>(s.coulomb_constant) / o.epsilon_r,
             beta = waves ? ewald_beta(o) : 0;
  for (const auto& pair : s.exclusions) {
    const Vector d = apart(frame, pair[0], pair[1]);
    const Real r = length(d), qq = ke * s.atoms.charge_e[static_cast<std::size_t>(pair[0])] *
                                   s.atoms.charge_e[static_cast<std::size_t>(pair[1])];
    if (field && r < o.cutoff_coulomb_nm) push(f, pair, d, -2 * reaction_field_k(o) * qq);
    if (waves)
      push(
          f, pair, d,
          qq *
              (2 * beta / std::sqrt(pi) * std::exp(-beta * beta * r * r) - std::erf(beta * r) / r) /
              (r * r));
  }
}

/// Columns of h^-1: fractions are x h^-1, waves 2 pi h^-1 n.
inline std::array<Vector, 3> inverse(const Box& box, Real& volume) {
  std::array<Vector, 3> e, out;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t c = 0; c < 3; ++c) e[a][c] = box.edge[a][c];
  const auto cross = [](const Vector& u, const Vector& v) {
    return Vector{u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
  };
  for (std::size_t a = 0; a < 3; ++a) out[a] = cross(e[(a + 1) % 3], e[(a + 2) % 3]);
  volume = e[0][0] * out[0][0] + e[0][1] * out[0][1] + e[0][2] * out[0][2];
  for (Vector& v : out)
    for (Real& c : v) c /= volume;
  return out;
}
inline Vector wave(const std::array<Vector, 3>& inv, const std::array<int, 3>& n) {
  Vector k{};
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t a = 0; a < 3; ++a) k[c] += 2 * pi * n[a] * inv[a][c];
  return k;
}

/// The reciprocal sum over |k| < ewald_kmax.
inline void add_ewald(const System& s, const Nonbonded& o, const Frame& frame, Vectors& f) {
  Real volume = 0;
  const std::array<Vector, 3> inv = inverse(frame.box, volume);
  const Real ke = static_cast<Real>(s.coulomb_constant) / o.epsilon_r, beta = ewald_beta(o),
             most = o.ewald_kmax;
  const Vec3 edges = lengths_nm(frame.box);
  std::array<int, 3> far;
  for (std::size_t a = 0; a < 3; ++a)
    far[a] = static_cast<int>(o.ewald_kmax * edges[a] / (2 * std::numbers::pi)) + 1;
  const std::size_t n = s.n_atoms();
  std::vector<Real> c(n), d(n);
  for (int z = 0; z <= far[2]; ++z)
    for (int y = -far[1]; y <= far[1]; ++y)
      for (int x = -far[0]; x <= far[0]; ++x) {
        if (!(z > 0 || (z == 0 && (y > 0 || (y == 0 && x > 0))))) continue;  // one of k and -k
        const Vector k = wave(inv, {x, y, z});
        const Real k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
        if (k2 >= most * most) continue;
        Real re = 0, im = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const Real phase =
              k[0] * frame.x_nm[i][0] + k[1] * frame.x_nm[i][1] + k[2] * frame.x_nm[i][2];
          c[i] = s.atoms.charge_e[i] * std::cos(phase);
          d[i] = s.atoms.charge_e[i] * std::sin(phase);
          re += c[i];
          im += d[i];
        }
        const Real a = 8 * pi * ke / volume * std::exp(-k2 / (4 * beta * beta)) / k2;
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t b = 0; b < 3; ++b) f[i][b] += a * (re * d[i] - im * c[i]) * k[b];
      }
}

/// M_p(u) by its recursion.
inline Real spline(int p, Real u) {
  if (u <= 0 || u >= p) return 0;
  return p == 2 ? 1 - std::abs(u - 1)
                : (u * spline(p - 1, u) + (p - u) * spline(p - 1, u - 1)) / (p - 1);
}
/// Sums over one axis of a grid, sum_g Q(g) e^{-+ 2 pi i n g/K}, by the definition.
inline void transform(std::vector<std::complex<Real>>& grid, const std::array<int, 3>& points,
                      std::size_t axis, int sign) {
  const auto many = static_cast<std::size_t>(points[axis]);
  std::size_t stride = 1;
  for (std::size_t a = axis + 1; a < 3; ++a) stride *= static_cast<std::size_t>(points[a]);
  std::vector<std::complex<Real>> turn(many), line(many), out(many);
  for (std::size_t k = 0; k < many; ++k)
    turn[k] = std::polar<Real>(1, sign * 2 * pi * static_cast<Real>(k) / static_cast<Real>(many));
  for (std::size_t start = 0; start < grid.size(); ++start) {
    if (start / stride % many != 0) continue;
    for (std::size_t g = 0; g < many; ++g) line[g] = grid[start + g * stride];
    for (std::size_t n = 0; n < many; ++n) {
      Real re = 0, im = 0;
      for (std::size_t g = 0, at = 0; g < many; ++g, at = at + n < many ? at + n : at + n - many) {
        re += line[g].real() * turn[at].real() - line[g].imag() * turn[at].imag();
        im += line[g].real() * turn[at].imag() + line[g].imag() * turn[at].real();
      }
      out[n] = {re, im};
    }
    for (std::size_t n = 0; n < many; ++n) grid[start + n * stride] = out[n];
  }
}
/// Smooth PME on a grid.
inline void add_pme(const System& s, const Nonbonded& o, const std::array<int, 3>& points,
                    const Frame& frame, Vectors& f) {
  Real volume = 0;
  const std::array<Vector, 3> inv = inverse(frame.box, volume);
  const Real ke = static_cast<Real>(s.coulomb_constant) / o.epsilon_r, beta = ewald_beta(o);
  const int p = o.pme_order;
  const std::size_t n = s.n_atoms(), order = static_cast<std::size_t>(p);
  struct Axis {
    std::vector<int> at;
    std::vector<Real> m, slope;  ///< M and dM/du of the points that an atom touches
  };
  const auto axis_of = [&](std::size_t i, std::size_t a) {
    const Real u = points[a] * (frame.x_nm[i][0] * inv[a][0] + frame.x_nm[i][1] * inv[a][1] +
                                frame.x_nm[i][2] * inv[a][2]);
    const auto low = static_cast<std::int64_t>(std::floor(u));
    Axis out;
    for (std::int64_t g = low; g > low - p; --g) {
      out.at.push_back(static_cast<int>(((g % points[a]) + points[a]) % points[a]));
      const Real w = u - static_cast<Real>(g);
      out.m.push_back(spline(p, w));
      out.slope.push_back(spline(p - 1, w) - spline(p - 1, w - 1));
    }
    return out;
  };
  const auto place = [&](int x, int y, int z) {
    return (static_cast<std::size_t>(x) * static_cast<std::size_t>(points[1]) +
            static_cast<std::size_t>(y)) *
               static_cast<std::size_t>(points[2]) +
           static_cast<std::size_t>(z);
  };
  std::vector<std::complex<Real>> grid(place(points[0], 0, 0));
  std::vector<std::array<Axis, 3>> atoms(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t a = 0; a < 3; ++a) atoms[i][a] = axis_of(i, a);
    const auto& [ax, ay, az] = atoms[i];
    for (std::size_t x = 0; x < order; ++x)
      for (std::size_t y = 0; y < order; ++y)
        for (std::size_t z = 0; z < order; ++z)
          grid[place(ax.at[x], ay.at[y], az.at[z])] +=
              s.atoms.charge_e[i] * ax.m[x] * ay.m[y] * az.m[z];
  }
  for (std::size_t a = 0; a < 3; ++a) transform(grid, points, a, -1);
  std::array<std::vector<Real>, 3> moduli;
  for (std::size_t a = 0; a < 3; ++a)
    for (int k = 0; k < points[a]; ++k) {
      std::complex<Real> sum = 0;
      for (int j = 0; j <= p - 2; ++j)
        sum +=
            spline(p, static_cast<Real>(j + 1)) * std::polar<Real>(1, 2 * pi * k * j / points[a]);
      moduli[a].push_back(std::norm(sum));
    }
  for (int x = 0; x < points[0]; ++x)
    for (int y = 0; y < points[1]; ++y)
      for (int z = 0; z < points[2]; ++z) {
        std::complex<Real>& g = grid[place(x, y, z)];
        if ((x == 0 && y == 0 && z == 0) || 2 * x == points[0] || 2 * y == points[1] ||
            2 * z == points[2]) {
          g = 0;
          continue;
        }
        const Vector k =
            wave(inv, {2 * x < points[0] ? x : x - points[0], 2 * y < points[1] ? y : y - points[1],
                       2 * z < points[2] ? z : z - points[2]});
        const Real k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
        g *= 4 * pi * ke / volume * std::exp(-k2 / (4 * beta * beta)) / k2 /
             (moduli[0][static_cast<std::size_t>(x)] * moduli[1][static_cast<std::size_t>(y)] *
              moduli[2][static_cast<std::size_t>(z)]);
      }
  for (std::size_t a = 0; a < 3; ++a) transform(grid, points, a, 1);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& [ax, ay, az] = atoms[i];
    Vector slope{};
    for (std::size_t x = 0; x < order; ++x)
      for (std::size_t y = 0; y < order; ++y)
        for (std::size_t z = 0; z < order; ++z) {
          const Real phi = grid[place(ax.at[x], ay.at[y], az.at[z])].real();
          slope[0] += phi * ax.slope[x] * ay.m[y] * az.m[z];
          slope[1] += phi * ax.m[x] * ay.slope[y] * az.m[z];
          slope[2] += phi * ax.m[x] * ay.m[y] * az.slope[z];
        }
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t a = 0; a < 3; ++a)
        f[i][c] -= s.atoms.charge_e[i] * slope[a] * points[a] * inv[a][c];
  }
}

/// All non-bonded forces; `pairs` within the larger cut-off.
inline Vectors nonbonded_forces(const System& s, const Nonbonded& o,
                                const std::array<int, 3>& points, const Frame& frame,
                                const Pairs& pairs) {
  Vectors f(s.n_atoms());
  add_pairs(s, o, frame, pairs, f);
  add_excluded(s, o, frame, f);
  if (o.coulomb == Nonbonded::Coulomb::ewald) add_ewald(s, o, frame, f);
  if (o.coulomb == Nonbonded::Coulomb::pme) add_pme(s, o, points, frame, f);
  return f;
}

}  // namespace tessera::benchmarks::naive
