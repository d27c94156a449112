// SPDX-License-Identifier: Apache-2.0
//
// g(A) = V g(w) V^H of Hermitian matrices with derivatives of any order, equal eigenvalues
// included. The one primitive is
//
//   C(A; E_1 ... E_k) = V [sum over i_1 ... i_{k-1} of
//                          g[w_{i_0}, ..., w_{i_k}] M1_{i_0 i_1} ... Mk_{i_{k-1} i_k}] V^H,
//
// M = V^H E V, with g's divided differences, so that C(A;) = g(A), and (Daleckii and Krein 1965)
//
//   d/dA C(A; E_1 ... E_k) along E = sum over the k + 1 places at which E may enter the chain.
//
// R. Bhatia 1997, Matrix Analysis, V.3 and X.4; N. J. Higham 2008, Functions of Matrices, 3.2.
#include "tessera/autodiff/ops/spectral.h"

#include "../core/cost.h"
#include "../core/rules.h"
#include "../kernels/lapack.h"
#include "matrix_forms.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace tessera {
namespace {

using namespace kernels;
using detail::H;
using detail::Scratch;

/// g^(m)(x) / m!.
double taylor(const SpectralFunction& g, int m, double x) {
  switch (g.kind) {
    case SpectralFunction::Kind::exp:
      return std::exp(x) / std::tgamma(m + 1.0);
    case SpectralFunction::Kind::log:
      return m == 0 ? std::log(x) : (m % 2 ? 1.0 : -1.0) / (m * std::pow(x, m));
    default: {
      double c = 1;  // binomial (p over m)
      for (int j = 0; j < m; ++j) c *= (g.p - j) / (j + 1);
      return c == 0 ? 0 : c * std::pow(x, g.p - m);
    }
  }
}

/// g[x_0, ..., x_k]. Nodes near each other take Taylor's series about their mean c, sum over m of
/// g^(k+m)(c) / (k+m)! times the complete homogeneous polynomial of degree m of x - c; for
/// logarithms and powers it is that of x / c about 1 times c^(p-k), p = 0 for log, whose terms have
/// the size of the sum whatever c is, within a radius about 1/p of it. Others take the recursion
/// over the outermost two.
double divided_difference(const SpectralFunction& g, std::vector<double> x) {
  std::sort(x.begin(), x.end());
  const int k = static_cast<int>(x.size()) - 1;
  if (k == 0) return taylor(g, 0, x[0]);
  const double spread = x[k] - x[0], centre = std::accumulate(x.begin(), x.end(), 0.0) / (k + 1);
  const bool absolute = g.kind == SpectralFunction::Kind::exp;
  const bool power = g.kind == SpectralFunction::Kind::power;
  const double radius = absolute ? 1.0 : (power ? std::min(0.3, 4 / std::abs(g.p)) : 0.3) * centre;
  if (spread > radius)
    return (divided_difference(g, {x.begin() + 1, x.end()}) -
            divided_difference(g, {x.begin(), x.end() - 1})) /
           spread;
  constexpr int kTerms = 32;  // 0.3^32 < 1e-16, and (2/3 4)^32 / 32! of powers
  double h[kTerms] = {1};     // complete homogeneous polynomials, node by node
  const double unit = absolute ? 1.0 : centre, about = absolute ? centre : 1.0;
  for (double node : x)
    for (int m = 1; m < kTerms; ++m) h[m] += (node - centre) / unit * h[m - 1];
  double s = 0;
  for (int m = kTerms - 1; m >= 0; --m)
    if (h[m] != 0) s += taylor(g, k + m, about) * h[m];
  if (absolute) return s;
  return s * std::pow(centre, (power ? g.p : 0.0) - k);
}

struct SpectralAttr {
  int kind;
  double p;
  TESSERA_ATTRIBUTES(kind, p)
  SpectralFunction function() const { return {static_cast<SpectralFunction::Kind>(kind), p}; }
};

struct SpectralChain : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr const char* name = "spectral_chain";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::matrix_flops(in[0], 25);
  }
  static Types infer(std::span<const Type> in, const Attributes*) {
    need_matrices(name, in[0], true);
    for (const Type& t : in)
      if (t != in[0]) fail(name, "matrices differ: " + to_string(in[0]) + " and " + to_string(t));
    return {in[0]};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* a) {
        run<T>(in, *out[0], tessera::get<SpectralAttr>(a).function());
      };
    });
    return table[static_cast<int>(in[0])];
  }
  /// Of k matrices, their eigenvectors, products and LAPACK's memory.
  static std::size_t workspace(std::span<const View> in, std::span<const View>, const Attributes*) {
    const Matrices s(name, in[0]);
    const Index k = static_cast<Index>(in.size()) - 1, element = is_complex(in[0].dtype) ? 16 : 8,
                numbers = (k + 10) * s.n * s.n + 16 * s.n;
    return matrices_workspace(
        s.batch,
        s.n == 0 ? 0 : detail::whole_lines(static_cast<std::size_t>(numbers * element)) + 1024);
  }
  /// In double precision throughout: divided differences lose digits that single precision does not
  /// have.
  template <class T>
  static void run(Inputs in, const View& out, const SpectralFunction& g) {
    using W = std::conditional_t<is_cplx<T>, c128, double>;
    const Matrices s(name, *in[0]);
    const Index n = s.n;
    const int k = static_cast<int>(in.size()) - 1;
    const auto matrix = [&](int operand, Index b) {
      const T* p = static_cast<const T*>(in[operand]->data) + b * n * n;
      return Scratch<W>(p, p + n * n);
    };
    for_matrices(
        s.batch, (k + 9) * n * n * n,
        [&](Index b) {
          Scratch<W> v = matrix(0, b);
          Scratch<double> w(static_cast<std::size_t>(n));
          if (n == 0) return 0;
          for (const W& z : v)
            if (!std::isfinite(std::abs(z))) return -1;
          if (const int info = eigenvectors(v, w); info != 0) return info;
          if (g.kind != SpectralFunction::Kind::exp)
            for (double x : w)
              if (!(x > 0)) return -2;
          std::vector<Scratch<W>> m;
          for (int j = 1; j <= k; ++j) m.push_back(into_basis(v, matrix(j, b), n));
          Scratch<W> c(static_cast<std::size_t>(n * n), W(0));
          std::vector<Index> path(static_cast<std::size_t>(k) + 1);
          std::map<std::vector<Index>, double>
              known;  // divided differences do not depend on the order of their nodes
          const auto difference = [&] {
            std::vector<Index> sorted = path;
            std::sort(sorted.begin(), sorted.end());
            const auto [it, fresh] = known.try_emplace(sorted, 0.0);
            if (fresh) {
              std::vector<double> nodes;
              for (Index i : sorted) nodes.push_back(w[i]);
              it->second = divided_difference(g, nodes);
            }
            return it->second;
          };
          // All paths i_0 ... i_k: n^(k + 1) of them. For k = 0 the diagonal.
          Index paths = 1;
          for (int j = 0; j <= k; ++j) paths *= n;
          for (Index at = 0; at < paths; ++at) {
            Index rest = at;
            for (int j = k; j >= 0; --j) path[j] = rest % n, rest /= n;
            W product(1);
            for (int j = 0; j < k; ++j)
              product = multiply(product, m[j][path[j] * n + path[j + 1]]);
            if (product != W(0)) c[path[0] * n + path[k]] += product * difference();
          }
          const Scratch<W> y = out_of_basis(v, c, n);
          T* to = static_cast<T*>(out.data) + b * n * n;
          for (Index i = 0; i < n * n; ++i) to[i] = T(y[i]);
          return 0;
        },
        [&](Index b, int info) {
          fail(name, info == -1   ? matrix_name(b, s.batch) + " holds NaN or infinity"
                     : info == -2 ? matrix_name(b, s.batch) +
                                        " has an eigenvalue that is not positive; log and powers "
                                        "need positive definite matrices"
                                  : matrix_name(b, s.batch) + " did not converge (LAPACK code " +
                                        std::to_string(info) + ")");
        });
  }
  /// Eigenvectors of the lower triangle in the columns of v (row-major), eigenvalues rising.
  template <class W>
  static int eigenvectors(Scratch<W>& v, Scratch<double>& w) {
    const Index size = static_cast<Index>(w.size());
    v.resize(static_cast<std::size_t>(size * size + kSlack<W>));
    const int n = static_cast<int>(size), lwork = static_cast<int>(1 + 6 * size + 2 * size * size),
              liwork = static_cast<int>(3 + 5 * size);
    int info = 0;
    Scratch<W> work(static_cast<std::size_t>(lwork));
    Scratch<int> iwork(static_cast<std::size_t>(liwork));
    if constexpr (is_cplx<W>) {
      Scratch<double> rwork(static_cast<std::size_t>(1 + 5 * size + 2 * size * size));
      const int lrwork = static_cast<int>(rwork.size());
      zheevd_("V", "U", &n, v.data(), &n, w.data(), work.data(), &lwork, rwork.data(), &lrwork,
              iwork.data(), &liwork, &info);
    } else {
      dsyevd_("V", "U", &n, v.data(), &n, w.data(), work.data(), &lwork, iwork.data(), &liwork,
              &info);
    }
    // Stored by columns they are the vectors of conj(A).
    Scratch<W> rows(static_cast<std::size_t>(size * size));
    transpose_into(v.data(), size, size, rows.data());
    for (W& z : rows) z = conjugate(z);
    v = std::move(rows);
    return info;
  }
  template <class W>
  static Scratch<W> times(const Scratch<W>& a, const Scratch<W>& b, Index n, bool a_adjoint,
                          bool b_adjoint) {
    Scratch<W> y(static_cast<std::size_t>(n * n), W(0));
    for (Index i = 0; i < n; ++i)
      for (Index l = 0; l < n; ++l) {
        const W s = a_adjoint ? conjugate(a[l * n + i]) : a[i * n + l];
        for (Index j = 0; j < n; ++j)
          y[i * n + j] += multiply(s, b_adjoint ? conjugate(b[j * n + l]) : b[l * n + j]);
      }
    return y;
  }
  template <class W>
  static Scratch<W> into_basis(const Scratch<W>& v, const Scratch<W>& e, Index n) {
    return times(v, times(e, v, n, false, false), n, true, false);
  }
  template <class W>
  static Scratch<W> out_of_basis(const Scratch<W>& v, const Scratch<W>& c, Index n) {
    return times(v, times(c, v, n, false, true), n, false, false);
  }

  static Tensor chain(const AttributesPtr& attr, const std::vector<Tensor>& v) {
    std::vector<const Tensor*> in;
    for (const Tensor& t : v) in.push_back(&t);
    return dispatch1(primitive<SpectralChain>(), in, attr, detail::context_line());
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    const std::vector<Tensor> v(a.in.begin(), a.in.end());
    for (std::size_t k = 1; k < v.size(); ++k) {
      if (!t[k].defined()) continue;
      std::vector<Tensor> u = v;
      u[k] = t[k];
      o[0] = detail::add_tangents(o[0], chain(a.attr, u));
    }
    if (!t[0].defined()) return;
    for (std::size_t at = 1; at <= v.size(); ++at) {
      std::vector<Tensor> u = v;
      u.insert(u.begin() + static_cast<std::ptrdiff_t>(at), t[0]);
      o[0] = detail::add_tangents(o[0], chain(a.attr, u));
    }
  }
  /// The cotangent of E_j is C(A; E_{j-1}^H ... E_1^H, X, E_k^H ... E_{j+1}^H).
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    if (linear[0]) detail::no_rule(name, "transpose", "it is not linear in the matrix");
    const std::size_t k = a.in.size() - 1;
    for (std::size_t j = 1; j <= k; ++j) {
      if (!linear[j]) continue;
      std::vector<Tensor> u{a.in[0]};
      for (std::size_t l = j - 1; l >= 1; --l) u.push_back(H(a.in[l]));
      u.push_back(ct[0]);
      for (std::size_t l = k; l > j; --l) u.push_back(H(a.in[l]));
      o[j] = chain(a.attr, u);
    }
  }
};
TESSERA_REGISTER(SpectralChain);

}  // namespace

Tensor hermitian_function(Arg a, SpectralFunction g) {
  const Tensor t = detail::to_tensor("hermitian_function", a);
  need_matrices("hermitian_function", t.type(), true);
  return apply(primitive<SpectralChain>(), attributes(SpectralAttr{static_cast<int>(g.kind), g.p}),
               a.line, detail::hermitian_part(t));
}

}  // namespace tessera
