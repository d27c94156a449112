// SPDX-License-Identifier: Apache-2.0
//
// Rows of attention, of its tangent and of its gradients: the formulas of kernels/attention.h,
// score by score.
#include "op_table.h"
#include "tessera/autodiff/ops/attention.h"

#include <cmath>

namespace tessera::table {
namespace {

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;

/// x [B, tokens, heads, features].
Wide& entry(Array& x, Index b, Index i, Index h, Index f) {
  return x[((b * x.shape[1] + i) * x.shape[2] + h) * x.shape[3] + f];
}
Wide entry(const Array& x, Index b, Index i, Index h, Index f) {
  return entry(const_cast<Array&>(x), b, i, h, f);
}

/// Everything about attention to q, k, v, the mask [n, m] (empty: none), tangents and cotangents.
struct AttentionByScores {
  bool causal;
  const Array &q, &k, &v;
  Array mask;
  Index stack = q.shape[0], n = q.shape[1], m = k.shape[1], heads = q.shape[2], d = q.shape[3],
        e = v.shape[3];
  long double scale = 1 / std::sqrt(static_cast<long double>(d));
  Array y{{stack, n, heads, e}}, l{{stack, heads, n}}, p{{stack, heads, n, m}};

  Wide& at(Array& x, Index b, Index h, Index i) const { return x[(b * heads + h) * n + i]; }
  Wide& of_pair(Array& x, Index b, Index h, Index i, Index j) const {
    return x[((b * heads + h) * n + i) * m + j];
  }
  Wide dot(const Array& x, Index i, const Array& z, Index j, Index b, Index h) const {
    Wide sum = 0;
    for (Index f = 0; f < x.shape[3]; ++f) sum += entry(x, b, i, h, f) * entry(z, b, j, h, f);
    return sum;
  }
  template <class F>
  void rows(F f) const {
    for (Index b = 0; b < stack; ++b)
      for (Index h = 0; h < heads; ++h)
        for (Index i = 0; i < n; ++i) f(b, h, i);
  }
  AttentionByScores(bool is_causal, const Array& q, const Array& k, const Array& v, Array sees)
      : causal(is_causal), q(q), k(k), v(v), mask(std::move(sees)) {
    rows([&](Index b, Index h, Index i) {
      Wide total = 0;
      for (Index j = 0; j < m; ++j) {
        const bool seen =
            (!causal || j <= i + m - n) && (mask.size() == 1 || mask[i * m + j] != Wide(0));
        of_pair(p, b, h, i, j) = seen ? std::exp(scale * dot(q, i, k, j, b, h)) : Wide(0);
        total += of_pair(p, b, h, i, j);
      }
      at(l, b, h, i) = std::log(total.real());
      for (Index j = 0; j < m; ++j) {
        of_pair(p, b, h, i, j) /= total;
        for (Index f = 0; f < e; ++f)
          entry(y, b, i, h, f) += of_pair(p, b, h, i, j) * entry(v, b, j, h, f);
      }
    });
  }
  Arrays tangents(const Array& tq, const Array& tk, const Array& tv) {
    Array ty(y.shape), tl(l.shape);
    rows([&](Index b, Index h, Index i) {
      for (Index j = 0; j < m; ++j) {
        const Wide pj = of_pair(p, b, h, i, j),
                   w = pj * scale * (dot(tq, i, k, j, b, h) + dot(q, i, tk, j, b, h));
        at(tl, b, h, i) += w;
        for (Index f = 0; f < e; ++f)
          entry(ty, b, i, h, f) +=
              w * (entry(v, b, j, h, f) - entry(y, b, i, h, f)) + pj * entry(tv, b, j, h, f);
      }
    });
    return {ty, tl};
  }
  Arrays gradients(const Array& u, Array w) {
    Array gq(q.shape), gk(k.shape), gv(v.shape);
    rows([&](Index b, Index h, Index i) {
      const Wide mean = dot(u, i, y, i, b, h) - at(w, b, h, i);
      for (Index j = 0; j < m; ++j) {
        const Wide pj = of_pair(p, b, h, i, j), r = scale * pj * (dot(u, i, v, j, b, h) - mean);
        for (Index f = 0; f < d; ++f) {
          entry(gq, b, i, h, f) += r * entry(k, b, j, h, f);
          entry(gk, b, j, h, f) += r * entry(q, b, i, h, f);
        }
        for (Index f = 0; f < e; ++f) entry(gv, b, j, h, f) += pj * entry(u, b, i, h, f);
      }
    });
    return {gq, gk, gv};
  }
};

enum class Kind : std::uint8_t { plain, causal, masked };

/// q [s, n, h, 3], k and v of one token more or (causal) one less; a mask in which all queries see
/// key 0.
Tensors operands_of(Kind kind, Dtype t, Index n, Rng& rng) {
  const Index m = kind == Kind::plain ? n + 2 : n + 1, heads = n > 100 ? 1 : 2;
  Tensors x{uniform_tensor(t, {1, n, heads, 3}, rng), uniform_tensor(t, {1, m, heads, 3}, rng),
            uniform_tensor(t, {1, m, heads, 2}, rng)};
  if (kind == Kind::masked)
    x.push_back(logical_or(uniform_tensor(Dtype::boolean, {n, m}, rng), equal(arange(m), 0)));
  return x;
}

/// {y, L} of the first operands of x, q, k and v.
FlatFunction attention_of(Kind kind, const Tensors& x) {
  AttentionOptions o{.causal = kind == Kind::causal};
  if (kind == Kind::masked) o.mask = x[3];
  return [o](const Tensors& x) {
    const AttentionPart r = attention_part(x[0], x[1], x[2], o);
    return Tensors{r.y, r.log_sum};
  };
}
AttentionByScores scores_of(Kind kind, const Arrays& in) {
  return {kind == Kind::causal, in[0], in[1], in[2], kind == Kind::masked ? in[3] : Array()};
}

}  // namespace

void attention_rows(std::vector<Row>& rows) {
  for (const auto& [name, kind] :
       {std::pair{"all seen", Kind::plain}, {"causal", Kind::causal}, {"masked", Kind::masked}}) {
    const auto begin = [kind = kind](Dtype t, Index n, Rng& rng) {
      return operands_of(kind, t, n, rng);
    };
    rows.push_back({.primitive = "attention",
                    .variant = name,
                    .dtypes = kReal,
                    .inputs = begin,
                    .f = [kind = kind](const Tensors& x) { return attention_of(kind, x)(x); },
                    .oracle =
                        [kind = kind](const Arrays& in) {
                          const AttentionByScores a = scores_of(kind, in);
                          return Arrays{a.y, a.l};
                        },
                    .tolerance = 16,
                    .large = 600});
    const std::size_t known = kind == Kind::masked ? 4 : 3;
    rows.push_back({.primitive = "attention_tangent",
                    .variant = name,
                    .dtypes = kReal,
                    .inputs =
                        [=](Dtype t, Index n, Rng& rng) {
                          Tensors x = begin(t, n, rng);
                          for (std::size_t k = 0; k < 3; ++k)
                            x.push_back(uniform_tensor(t, x[k].shape(), rng));
                          return x;
                        },
                    .f =
                        [kind = kind, known](const Tensors& x) {
                          return detail::jvp_flat(attention_of(kind, x), {x[0], x[1], x[2]},
                                                  {x[known], x[known + 1], x[known + 2]})
                              .second;
                        },
                    .oracle =
                        [kind = kind, known](const Arrays& in) {
                          return scores_of(kind, in).tangents(in[known], in[known + 1],
                                                              in[known + 2]);
                        },
                    .tolerance = 32,
                    .large = 600});
    rows.push_back({.primitive = "attention_gradients",
                    .variant = name,
                    .dtypes = kReal,
                    .inputs =
                        [=](Dtype t, Index n, Rng& rng) {
                          Tensors x = begin(t, n, rng);
                          const Index heads = x[0].dim(2);
                          x.push_back(uniform_tensor(t, {1, n, heads, 2}, rng));
                          x.push_back(uniform_tensor(t, {1, heads, n}, rng));
                          return x;
                        },
                    .f =
                        [kind = kind, known](const Tensors& x) {
                          const auto l = detail::linearize_flat("vjp", attention_of(kind, x),
                                                                {x[0], x[1], x[2]});
                          return detail::pull(l, {x[known], x[known + 1]});
                        },
                    .oracle =
                        [kind = kind, known](const Arrays& in) {
                          return scores_of(kind, in).gradients(in[known], in[known + 1]);
                        },
                    .tolerance = 32,
                    .large = 600});
  }
}

}  // namespace tessera::table
