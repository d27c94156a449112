// SPDX-License-Identifier: Apache-2.0
//
// The 35 test functions of J. Moré, B. Garbow & K. Hillstrom, "Testing unconstrained optimization
// software", ACM TOMS 7 (1981) 17, as residuals r(x) [m] of x [n]; F(x) = sum r_i^2. Numbers, data,
// starts and minima are the paper's.
#pragma once
#include "tessera/autodiff/ops.h"

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

namespace tessera::mgh {

struct Problem {
  int number;
  std::string name;
  std::vector<double> start;
  std::function<Tensor(Tensor)> residual;
  std::vector<double> minima;  ///< published values of F at minimisers, the global one first; some
                               ///< of them lie at infinity
};

/// x_i, counted from 1 as in the paper.
inline Tensor at(const Tensor& x, Index i) { return select(x, 0, i - 1); }
/// x_i ... x_j.
inline Tensor part(const Tensor& x, Index i, Index j) { return slice(x, 0, i - 1, j); }
/// i, i + 1, ..., j.
inline Tensor count(Index i, Index j) {
  return arange(j - i + 1, Dtype::f64) + static_cast<double>(i);
}
inline Tensor vec(const std::vector<Tensor>& v) { return stack(v); }
inline std::vector<double> repeat(int n, double v) {
  return std::vector<double>(static_cast<std::size_t>(n), v);
}
inline std::vector<double> tiled(int times, const std::vector<double>& v) {
  std::vector<double> out;
  for (int k = 0; k < times; ++k) out.insert(out.end(), v.begin(), v.end());
  return out;
}
inline std::vector<double> made(int n, const std::function<double(int)>& f) {
  std::vector<double> out;
  for (int i = 1; i <= n; ++i) out.push_back(f(i));
  return out;
}

inline Tensor watson(const Tensor& x) {
  const Index n = x.dim(0);
  const Tensor t = count(1, 29) / 29.0;  // [29]
  std::vector<Tensor> power{ones({29})};
  while (static_cast<Index>(power.size()) < n) power.push_back(power.back() * t);
  const Tensor p = stack(power, 1);  // t_i^(j-1)
  const Tensor derivative =
      matmul(part(p, 1, 29), concatenate({part(x, 2, n) * count(1, n - 1), zeros({1})}));
  const Tensor r = derivative - square(matmul(p, x)) - 1.0;
  return concatenate({r, vec({at(x, 1), at(x, 2) - square(at(x, 1)) - 1.0})});
}
inline Tensor penalty_ii(const Tensor& x) {
  const Index n = x.dim(0);
  const double root_a = std::sqrt(1e-5);
  const Tensor i = count(2, n), e = exp(x / 10.0), y = exp(i / 10.0) + exp((i - 1.0) / 10.0);
  return concatenate({vec({at(x, 1) - 0.2}), root_a * (part(e, 2, n) + part(e, 1, n - 1) - y),
                      root_a * (part(e, 2, n) - std::exp(-0.1)),
                      vec({dot(static_cast<double>(n) - count(1, n) + 1.0, square(x)) - 1.0})});
}
inline Tensor osborne2(const Tensor& x, const Tensor& y) {
  const Tensor t = count(0, 64) / 10.0;
  Tensor model = at(x, 1) * exp(-t * at(x, 5));
  for (Index k = 2; k <= 4; ++k)
    model = model + at(x, k) * exp(-square(t - at(x, k + 7)) * at(x, k + 4));
  return y - model;
}
/// r_i = (1/n) sum_j T_i(2 x_j - 1) - integral of T_i(2 t - 1) over 0 ... 1.
inline Tensor chebyquad(const Tensor& x) {
  const int m = static_cast<int>(x.dim(0));
  const Tensor u = 2.0 * x - 1.0;
  Tensor before = ones(x.shape()), t = u;
  std::vector<Tensor> r;
  for (int i = 1; i <= m; ++i) {
    r.push_back(mean(t) + (i % 2 == 0 ? 1.0 / (i * i - 1.0) : 0.0));
    const Tensor next = 2.0 * u * t - before;
    before = t, t = next;
  }
  return vec(r);
}
/// The sum of x_i's neighbours, zero beyond the ends.
inline Tensor before(const Tensor& x) { return pad(slice(x, 0, 0, -1), {1}, {0}); }
inline Tensor after(const Tensor& x) { return pad(slice(x, 0, 1, x.dim(0)), {0}, {1}); }

inline const std::vector<Problem>& problems() {
  static const Tensor bard = tensor(
      {0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39});
  static const Tensor gaussian =
      tensor({0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989, 0.3521, 0.2420,
              0.1295, 0.0540, 0.0175, 0.0044, 0.0009});
  static const Tensor meyer =
      tensor({34780.0, 28610.0, 23650.0, 19630.0, 16370.0, 13720.0, 11540.0, 9744.0, 8261.0, 7030.0,
              6005.0, 5147.0, 4427.0, 3820.0, 3307.0, 2872.0});
  static const Tensor kowalik_y = tensor(
      {0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246});
  static const Tensor kowalik_u =
      tensor({4.0, 2.0, 1.0, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625});
  static const Tensor osborne_1 =
      tensor({0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751,
              0.718, 0.685, 0.658, 0.628, 0.603, 0.580, 0.558, 0.538, 0.522, 0.506, 0.490,
              0.478, 0.467, 0.457, 0.448, 0.438, 0.431, 0.424, 0.420, 0.414, 0.411, 0.406});
  static const Tensor osborne_2 = tensor(
      {1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608,
       0.655, 0.616, 0.606, 0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661,
       0.612, 0.558, 0.533, 0.495, 0.500, 0.423, 0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428,
       0.429, 0.523, 0.562, 0.607, 0.653, 0.672, 0.708, 0.633, 0.668, 0.645, 0.632, 0.591, 0.559,
       0.597, 0.625, 0.739, 0.710, 0.729, 0.720, 0.636, 0.581, 0.428, 0.292, 0.162, 0.098, 0.054});
  const double infinity_bard = 17.4286, infinity_kowalik = 1.02734e-3;
  const auto boundary_start = [](int n) {
    return made(n, [n](int i) {
      const double t = i / (n + 1.0);
      return t * (t - 1);
    });
  };
  static const std::vector<Problem> all{
      {1,
       "Rosenbrock",
       {-1.2, 1},
       [](Tensor x) {
         return vec({10.0 * (at(x, 2) - square(at(x, 1))), 1.0 - at(x, 1)});
       },
       {0}},
      {2,
       "Freudenstein and Roth",
       {0.5, -2},
       [](Tensor x) {
         const Tensor a = at(x, 1), b = at(x, 2);
         return vec(
             {-13.0 + a + ((5.0 - b) * b - 2.0) * b, -29.0 + a + ((b + 1.0) * b - 14.0) * b});
       },
       {0, 48.9842}},
      {3,
       "Powell badly scaled",
       {0, 1},
       [](Tensor x) {
         return vec({1e4 * at(x, 1) * at(x, 2) - 1.0, exp(-at(x, 1)) + exp(-at(x, 2)) - 1.0001});
       },
       {0}},
      {4,
       "Brown badly scaled",
       {1, 1},
       [](Tensor x) {
         return vec({at(x, 1) - 1e6, at(x, 2) - 2e-6, at(x, 1) * at(x, 2) - 2.0});
       },
       {0}},
      {5,
       "Beale",
       {1, 1},
       [](Tensor x) {
         const Tensor b = at(x, 2);
         return tensor({1.5, 2.25, 2.625}) - at(x, 1) * (1.0 - vec({b, square(b), b * square(b)}));
       },
       {0}},
      {6,
       "Jennrich and Sampson",
       {0.3, 0.4},
       [](Tensor x) {
         const Tensor i = count(1, 10);
         return 2.0 + 2.0 * i - (exp(i * at(x, 1)) + exp(i * at(x, 2)));
       },
       {124.362}},
      {7,
       "Helical valley",
       {-1, 0, 0},
       [](Tensor x) {
         const Tensor a = at(x, 1), b = at(x, 2), c = at(x, 3);
         const Tensor theta = atan(b / a) / (2 * std::numbers::pi) + where(a < 0.0, 0.5, 0.0);
         return vec({10.0 * (c - 10.0 * theta), 10.0 * (hypot(a, b) - 1.0), c});
       },
       {0}},
      {8,
       "Bard",
       {1, 1, 1},
       [](Tensor x) {
         const Tensor u = count(1, 15), v = 16.0 - u, w = minimum(u, v);
         return bard - (at(x, 1) + u / (v * at(x, 2) + w * at(x, 3)));
       },
       {8.21487e-3, infinity_bard}},
      {9,
       "Gaussian",
       {0.4, 1, 0},
       [](Tensor x) {
         const Tensor t = (8.0 - count(1, 15)) / 2.0;
         return at(x, 1) * exp(-at(x, 2) * square(t - at(x, 3)) / 2.0) - gaussian;
       },
       {1.12793e-8}},
      {10,
       "Meyer",
       {0.02, 4000, 250},
       [](Tensor x) {
         return at(x, 1) * exp(at(x, 2) / (45.0 + 5.0 * count(1, 16) + at(x, 3))) - meyer;
       },
       {87.9458}},
      {11,
       "Gulf research and development",
       {5, 2.5, 0.15},
       [](Tensor x) {
         const Tensor t = count(1, 99) / 100.0, y = 25.0 + pow(-50.0 * log(t), 2.0 / 3);
         return exp(-pow(abs(y - at(x, 2)), at(x, 3)) / at(x, 1)) - t;
       },
       {0}},
      {12,
       "Box three-dimensional",
       {0, 10, 20},
       [](Tensor x) {
         const Tensor t = 0.1 * count(1, 10);
         return exp(-t * at(x, 1)) - exp(-t * at(x, 2)) - at(x, 3) * (exp(-t) - exp(-10.0 * t));
       },
       {0}},
      {13,
       "Powell singular",
       {3, -1, 0, 1},
       [](Tensor x) {
         const Tensor a = at(x, 1), b = at(x, 2), c = at(x, 3), d = at(x, 4);
         return vec({a + 10.0 * b, std::sqrt(5.0) * (c - d), square(b - 2.0 * c),
                     std::sqrt(10.0) * square(a - d)});
       },
       {0}},
      {14,
       "Wood",
       {-3, -1, -3, -1},
       [](Tensor x) {
         const Tensor a = at(x, 1), b = at(x, 2), c = at(x, 3), d = at(x, 4);
         return vec({10.0 * (b - square(a)), 1.0 - a, std::sqrt(90.0) * (d - square(c)), 1.0 - c,
                     std::sqrt(10.0) * (b + d - 2.0), (b - d) / std::sqrt(10.0)});
       },
       {0}},
      {15,
       "Kowalik and Osborne",
       {0.25, 0.39, 0.415, 0.39},
       [](Tensor x) {
         const Tensor u = kowalik_u, uu = square(u);
         return kowalik_y - at(x, 1) * (uu + u * at(x, 2)) / (uu + u * at(x, 3) + at(x, 4));
       },
       {3.07505e-4, infinity_kowalik}},
      {16,
       "Brown and Dennis",
       {25, 5, -5, -1},
       [](Tensor x) {
         const Tensor t = count(1, 20) / 5.0;
         return square(at(x, 1) + t * at(x, 2) - exp(t)) +
                square(at(x, 3) + at(x, 4) * sin(t) - cos(t));
       },
       {85822.2}},
      {17,
       "Osborne 1",
       {0.5, 1.5, -1, 0.01, 0.02},
       [](Tensor x) {
         const Tensor t = 10.0 * count(0, 32);
         return osborne_1 -
                (at(x, 1) + at(x, 2) * exp(-t * at(x, 4)) + at(x, 3) * exp(-t * at(x, 5)));
       },
       {5.46489e-5}},
      {18,
       "Biggs EXP6",
       {1, 2, 1, 1, 1, 1},
       [](Tensor x) {
         const Tensor t = 0.1 * count(1, 13),
                      y = exp(-t) - 5.0 * exp(-10.0 * t) + 3.0 * exp(-4.0 * t);
         return at(x, 3) * exp(-t * at(x, 1)) - at(x, 4) * exp(-t * at(x, 2)) +
                at(x, 6) * exp(-t * at(x, 5)) - y;
       },
       {0, 5.65565e-3}},
      {19,
       "Osborne 2",
       {1.3, 0.65, 0.65, 0.7, 0.6, 3, 5, 7, 2, 4.5, 5.5},
       [](Tensor x) { return osborne2(x, osborne_2); },
       {4.01377e-2}},
      {20, "Watson, n = 6", repeat(6, 0), watson, {2.28767e-3}},
      {20, "Watson, n = 9", repeat(9, 0), watson, {1.39976e-6}},
      {21,
       "Extended Rosenbrock",
       tiled(5, {-1.2, 1}),
       [](Tensor x) {
         const Tensor p = reshape(x, {x.dim(0) / 2, 2}), a = select(p, 1, 0), b = select(p, 1, 1);
         return concatenate({10.0 * (b - square(a)), 1.0 - a});
       },
       {0}},
      {22,
       "Extended Powell singular",
       tiled(3, {3, -1, 0, 1}),
       [](Tensor x) {
         const Tensor p = reshape(x, {x.dim(0) / 4, 4}), a = select(p, 1, 0), b = select(p, 1, 1),
                      c = select(p, 1, 2), d = select(p, 1, 3);
         return concatenate({a + 10.0 * b, std::sqrt(5.0) * (c - d), square(b - 2.0 * c),
                             std::sqrt(10.0) * square(a - d)});
       },
       {0}},
      {23,
       "Penalty I, n = 4",
       {1, 2, 3, 4},
       [](Tensor x) {
         return concatenate({std::sqrt(1e-5) * (x - 1.0), vec({dot(x, x) - 0.25})});
       },
       {2.24997e-5}},
      {23,
       "Penalty I, n = 10",
       made(10, [](int i) { return i; }),
       [](Tensor x) {
         return concatenate({std::sqrt(1e-5) * (x - 1.0), vec({dot(x, x) - 0.25})});
       },
       {7.08765e-5}},
      {24, "Penalty II, n = 4", repeat(4, 0.5), penalty_ii, {9.37629e-6}},
      {24, "Penalty II, n = 10", repeat(10, 0.5), penalty_ii, {2.93660e-4}},
      {25,
       "Variably dimensioned",
       made(10, [](int j) { return 1 - j / 10.0; }),
       [](Tensor x) {
         const Tensor s = dot(count(1, x.dim(0)), x - 1.0);
         return concatenate({x - 1.0, vec({s, square(s)})});
       },
       {0}},
      {26,
       "Trigonometric",
       repeat(10, 0.1),
       [](Tensor x) {
         const Index n = x.dim(0);
         return static_cast<double>(n) - sum(cos(x)) + count(1, n) * (1.0 - cos(x)) - sin(x);
       },
       {0, 2.79506e-5}},
      {27,
       "Brown almost-linear",
       repeat(10, 0.5),
       [](Tensor x) {
         const Index n = x.dim(0);
         return concatenate(
             {part(x, 1, n - 1) + sum(x) - static_cast<double>(n + 1), vec({prod(x) - 1.0})});
       },
       {0, 1}},
      {28,
       "Discrete boundary value",
       boundary_start(10),
       [](Tensor x) {
         const Index n = x.dim(0);
         const double h = 1.0 / static_cast<double>(n + 1);
         return 2.0 * x - before(x) - after(x) + h * h / 2 * pow(x + h * count(1, n) + 1.0, 3);
       },
       {0}},
      {29,
       "Discrete integral equation",
       boundary_start(10),
       [](Tensor x) {
         const Index n = x.dim(0);
         const double h = 1.0 / static_cast<double>(n + 1);
         const Tensor t = h * count(1, n), c = pow(x + t + 1.0, 3), from_left = cumsum(t * c),
                      from_right = cumsum((1.0 - t) * c, 0, true) - (1.0 - t) * c;
         return x + h / 2 * ((1.0 - t) * from_left + t * from_right);
       },
       {0}},
      {30,
       "Broyden tridiagonal",
       repeat(10, -1),
       [](Tensor x) { return (3.0 - 2.0 * x) * x - before(x) - 2.0 * after(x) + 1.0; },
       {0}},
      {31,
       "Broyden banded",
       repeat(10, -1),
       [](Tensor x) {
         const Index n = x.dim(0);
         // 1 within five below and one above the diagonal, 0 on it.
         const Tensor band = tril(ones({n, n}), 1) - tril(ones({n, n}), -6) - eye(n);
         return x * (2.0 + 5.0 * square(x)) + 1.0 - matmul(band, x * (1.0 + x));
       },
       {0}},
      {32,
       "Linear, full rank",
       repeat(5, 1),
       [](Tensor x) {
         return concatenate({x, zeros({5})}) - 2.0 / 10 * sum(x) - 1.0;
       },
       {5}},
      {33,
       "Linear, rank 1",
       repeat(5, 1),
       [](Tensor x) { return count(1, 10) * dot(count(1, 5), x) - 1.0; },
       {10.0 * 9 / (2 * 21)}},
      {34,
       "Linear, rank 1 with zero columns and rows",
       repeat(5, 1),
       [](Tensor x) {
         const Tensor i = concatenate({count(0, 8), zeros({1})});
         return i * dot(count(2, 4), part(x, 2, 4)) - 1.0;
       },
       {(100.0 + 30 - 6) / (2 * 17)}},
      {35, "Chebyquad, n = 7", made(7, [](int i) { return i / 8.0; }), chebyquad, {0}},
      {35, "Chebyquad, n = 8", made(8, [](int i) { return i / 9.0; }), chebyquad, {3.51687e-3}},
  };
  return all;
}

}  // namespace tessera::mgh
