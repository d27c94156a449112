// SPDX-License-Identifier: Apache-2.0
//
// GradBench's `gmm` (from ADBench): log-likelihood of points x [n, d] under a mixture of k
// Gaussians with a Wishart prior, with respect to the weights alpha [k], means mu [k, d] and
// inverse covariance factors: log-diagonals q [k, d] and strict lower triangles l [k, d (d-1)/2],
// column by column:
//   L = -n d/2 log 2 pi + sum_i logsumexp_k(alpha_k + sum q_k - |Q_k (x_i - mu_k)|^2 / 2)
//       - n logsumexp(alpha) + sum_k (m sum q_k - gamma^2/2 (|exp q_k|^2 + |l_k|^2)) + k C.
//
// Whole-array: all Q_k x_i are one matrix product [n, d] x [d, k d].
#pragma once
#include "tessera/autodiff/grad.h"
#include "verify.h"

#include <numbers>

namespace gradbench::gmm {

struct Params {
  tessera::Tensor alpha, mu, q, l;
  TESSERA_TREE(alpha, mu, q, l)
};
struct Input {
  int n, d, k;
  Doubles alpha, mu, q, l, x;
  double gamma = 1;
  int m = 0;
  int triangle() const { return d * (d - 1) / 2; }
};
inline Input make_input(int n, int d, int k) {
  std::mt19937_64 rng(1);
  const auto size = [](int a, int b = 1) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
  };
  Input in{n, d, k, {}, {}, {}, {}, {}};
  in.alpha = uniform(size(k), rng, -1, 1);
  in.mu = uniform(size(k, d), rng);
  in.q = uniform(size(k, d), rng, -1, 1);
  in.l = uniform(size(k, in.triangle()), rng, -1, 1);
  in.x = uniform(size(n, d), rng, -1, 2);
  return in;
}
inline Params params(const Input& in) {
  return {tessera::tensor(in.alpha), tessera::tensor(in.mu, {in.k, in.d}),
          tessera::tensor(in.q, {in.k, in.d}), tessera::tensor(in.l, {in.k, in.triangle()})};
}

/// k C, C = nu d (log gamma - log(2)/2) - log Gamma_d(nu/2), nu = d + m + 1.
inline double prior_constant(const Input& in) {
  const double nu = in.d + in.m + 1;
  double log_gamma = 0.25 * in.d * (in.d - 1) * std::log(std::numbers::pi);
  for (int j = 0; j < in.d; ++j) log_gamma += std::lgamma(0.5 * (nu - j));
  return in.k * (nu * in.d * (std::log(in.gamma) - 0.5 * std::log(2.0)) - log_gamma);
}

/// Q_k [k, d, d]: lower triangular, exp(q) on the diagonal.
inline tessera::Tensor factors(const tessera::Tensor& q, const tessera::Tensor& l) {
  using namespace tessera;
  const Index d = q.dim(1), size = l.dim(1);
  std::vector<std::int64_t> place(static_cast<std::size_t>(d * d),
                                  size);  // a zero is appended to l
  std::int64_t next = 0;
  for (Index i = 0; i < d; ++i)
    for (Index j = i + 1; j < d; ++j) place[static_cast<std::size_t>(j * d + i)] = next++;
  return take(pad(l, {0, 0}, {0, 1}), tensor(place, {d, d}), 1) + diag(exp(q));
}

inline tessera::Tensor objective(const Input& in, const tessera::Tensor& x, const Params& p) {
  using namespace tessera;
  const Index n = in.n, d = in.d, k = in.k;
  const Tensor big = factors(p.q, p.l), sums = sum(p.q, {1});
  const Tensor all = reshape(matmul(x, transpose(reshape(big, {k * d, d}))), {n, k, d});  // Q_k x_i
  const Tensor centre = sum(big * expand_dims(p.mu, 1), {2});  // Q_k mu_k
  const Tensor terms = p.alpha + sums - 0.5 * sum(square(all - centre), {2});
  const Tensor frobenius = sum(exp(2.0 * p.q)) + sum(square(p.l));
  return -0.5 * in.n * in.d * std::log(2 * std::numbers::pi) + sum(logsumexp(terms, {1})) -
         static_cast<double>(in.n) * logsumexp(p.alpha) - 0.5 * in.gamma * in.gamma * frobenius +
         static_cast<double>(in.m) * sum(sums) + prior_constant(in);
}

/// The same in loops; `v` holds alpha, mu, q and l one after the other.
template <class T>
T plain_objective(const Input& in, const T* v) {
  using std::exp;
  using std::log;
  const int d = in.d, k = in.k, size = in.triangle();
  const T *alpha = v, *mu = alpha + k, *q = mu + k * d, *l = q + k * d;
  const auto log_sum_exp = [](const std::vector<T>& t) {
    T most = t[0], s(0.0);
    for (const T& u : t)
      if constexpr (std::is_same_v<T, std::complex<double>>)
        most = u.real() > most.real() ? u : most;
      else if (u > most)
        most = u;
    for (const T& u : t) s += exp(u - most);
    return T(log(s) + most);
  };
  std::vector<T> diagonal(static_cast<std::size_t>(k * d)),
      sums(static_cast<std::size_t>(k), T(0.0)), y(static_cast<std::size_t>(d)),
      terms(static_cast<std::size_t>(k));
  T frobenius(0.0), total(0.0), of_sums(0.0);
  for (int j = 0; j < k; ++j) {
    for (int e = 0; e < d; ++e) {
      T& diag = diagonal[static_cast<std::size_t>(j * d + e)];
      diag = exp(q[j * d + e]);
      sums[static_cast<std::size_t>(j)] += q[j * d + e];
      frobenius += diag * diag;
    }
    of_sums += sums[static_cast<std::size_t>(j)];
    for (int e = 0; e < size; ++e) frobenius += l[j * size + e] * l[j * size + e];
  }
  for (int i = 0; i < in.n; ++i) {
    for (int j = 0; j < k; ++j) {
      for (int e = 0; e < d; ++e)
        y[static_cast<std::size_t>(e)] =
            diagonal[static_cast<std::size_t>(j * d + e)] *
            (in.x[static_cast<std::size_t>(i * d + e)] - mu[j * d + e]);
      int at = j * size;
      for (int a = 0; a < d; ++a) {
        const T centred = in.x[static_cast<std::size_t>(i * d + a)] - mu[j * d + a];
        for (int b = a + 1; b < d; ++b) y[static_cast<std::size_t>(b)] += l[at++] * centred;
      }
      T norm(0.0);
      for (const T& u : y) norm += u * u;
      terms[static_cast<std::size_t>(j)] =
          alpha[j] + sums[static_cast<std::size_t>(j)] - 0.5 * norm;
    }
    total += log_sum_exp(terms);
  }
  const std::vector<T> weights(alpha, alpha + k);
  return total - double(in.n) * log_sum_exp(weights) - 0.5 * in.gamma * in.gamma * frobenius +
         double(in.m) * of_sums - 0.5 * in.n * d * std::log(2 * std::numbers::pi) +
         prior_constant(in);
}

inline Doubles flat(const Input& in) {
  Doubles v = in.alpha;
  for (const Doubles* part : {&in.mu, &in.q, &in.l}) v.insert(v.end(), part->begin(), part->end());
  return v;
}
inline Doubles flat(const Params& p) {
  Doubles v;
  for (const tessera::Tensor& t : tessera::flatten_tree(p)) {
    const Doubles part = t.to_vector();
    v.insert(v.end(), part.begin(), part.end());
  }
  return v;
}

}  // namespace gradbench::gmm
