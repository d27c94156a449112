// SPDX-License-Identifier: Apache-2.0
//
// Three primitives: attention, its tangent and its gradients, the latter two linear in tangents and
// cotangents and each other's transpose. All else follows from attention written in operations that
// hold all scores: docs/decisions/0141-attention-in-blocks.md.
#include "tessera/autodiff/ops/attention.h"

#include "../base/context.h"
#include "../core/cost.h"
#include "../core/rules.h"
#include "../kernels/attention.h"
#include "../kernels/gemm_blocked.h"
#include "../kernels/map.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera {
namespace {

using namespace kernels;
using Tensors = std::vector<Tensor>;

constexpr double inf = std::numeric_limits<double>::infinity();

// ---- in operations that hold all scores ----

/// x [B..., tokens, heads, features] with heads before tokens.
Tensor by_heads(const Tensor& x) { return moveaxis(x, -2, -3); }

/// {y, L}.
Tensors by_scores(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.dim(-1)));
  Tensor s = matmul(by_heads(q) * scale, transpose(by_heads(k)));
  if (o.mask) s = o.mask->dtype() == Dtype::boolean ? where(*o.mask, s, -inf) : s + *o.mask;
  if (o.causal) {
    const Index n = s.dim(-2), m = s.dim(-1);
    const Tensor last = expand_dims(arange(n) + (m - n), 1);
    s = where(expand_dims(arange(m), 0) <= last, s, -inf);
  }
  Tensor total, shift, e = s;
  if (s.dim(-1) > 0) {
    const Tensor largest = stop_gradient(max(s, {-1}, true));
    shift = where(equal(largest, -inf), 0, largest);
    e = exp(s - shift);
    total = sum(e, {-1}, true);
  } else {
    total = shift = sum(s, {-1}, true);
  }
  const Tensor none = equal(total, 0), divisor = where(none, 1, total);
  const Tensor y = moveaxis(matmul(e / divisor, by_heads(v)), -3, -2);
  return {y, squeeze(where(none, -inf, shift + log(divisor)), -1)};
}

// ---- in blocks ----

struct AttentionAttr {
  bool causal, masked;
  Index of;  ///< tangent: of which operands there are tangents; gradients: of which they are made:
             ///< bits for q, k, v
  TESSERA_ATTRIBUTES(causal, masked, of)
};
bool has(Index of, std::size_t k) { return of >> k & 1; }

/// Types of y and L.
Types infer_values(const char* name, std::span<const Type> in, const AttentionAttr& a) {
  const Shape &q = in[0].shape, &k = in[1].shape, &v = in[2].shape;
  const int nd = q.size();
  bool ok = nd >= 3 && k.size() == nd && v.size() == nd && contains(kReal, in[0].dtype) &&
            in[1].dtype == in[0].dtype && in[2].dtype == in[0].dtype;
  for (int d = 0; ok && d < nd - 3; ++d) ok = q[d] == k[d] && k[d] == v[d];
  ok = ok && k[nd - 3] == v[nd - 3] && q[nd - 2] == k[nd - 2] && k[nd - 2] == v[nd - 2] &&
       q[nd - 1] == k[nd - 1];
  Shape y = q, l = q;
  if (ok) {
    y[nd - 1] = v[nd - 1];
    l.erase(nd - 1);
    l[nd - 3] = q[nd - 2], l[nd - 2] = q[nd - 3];
  }
  Shape scores = l;
  if (ok) scores.push_back(k[nd - 3]);
  ok = ok && (!a.masked || (in.back().dtype == Dtype::boolean && in.back().shape == scores));
  if (!ok)
    fail(name, "cannot take " + to_string(in[0]) + ", " + to_string(in[1]) + ", " +
                   to_string(in[2]) + (a.masked ? ", mask " + to_string(in.back()) : ""));
  return {{in[0].dtype, y}, {in[0].dtype, l}};
}

/// Scores are made from q and k, and the values, tangents or gradients of each operand of `of` cost
/// as much again; scores behind a causal border are not made.
double flops_of(TypeSpan in, const AttentionAttr& a, Index of) {
  const Shape &q = in[0].shape, &v = in[2].shape;
  const int nd = q.size();
  const double n = static_cast<double>(q[nd - 3]), m = static_cast<double>(v[nd - 3]),
               seen = !a.causal ? n * m
                      : n <= m  ? n * (m - (n - 1) / 2)
                                : m * (m + 1) / 2;
  const double scores =
      n == 0 ? 0 : detail::count(in[0]) / static_cast<double>(q[nd - 1]) / n * seen;
  const double of_keys = static_cast<double>(q[nd - 1]) * (1 + has(of, 0) + has(of, 1)),
               of_values = static_cast<double>(v[nd - 1]) * (1 + has(of, 2));
  return scores * (2 * (of_keys + of_values) + detail::flops_each("exp", false));
}

int vector_bytes() { return blocked_widths().empty() ? 0 : blocked_widths().back(); }

template <class F>
KernelFn kernel_of(std::span<const Dtype> in, F make) {
  if (in[0] == Dtype::f32) return make(type_tag<float>{});
  return in[0] == Dtype::f64 ? make(type_tag<double>{}) : nullptr;
}
AttentionOperands operands_of(Inputs in, const AttentionAttr& a) {
  return {in[0], in[1], in[2], a.masked ? in.back() : nullptr, a.causal};
}

/// Tangents or gradients of `p`, with its operands.
Tensors apply_all(const Primitive& p, const Tensors& in, const AttentionAttr& a,
                  std::size_t results) {
  std::vector<const Tensor*> operands;
  for (const Tensor& t : in) operands.push_back(&t);
  Tensors out(results);
  dispatch(p, operands, attributes(a), detail::context_line(), out);
  return out;
}
Tensor or_zeros(const Tensor& t, const Type& like) {
  return t.defined() ? t : detail::zeros_of(like);
}

/// The function of q, k, v that holds all scores.
FlatFunction scores_of(const Application& a) {
  const AttentionAttr& attr = a.get<AttentionAttr>();
  AttentionOptions o{.causal = attr.causal};
  if (attr.masked) o.mask = a.in.back();
  return [o](const Tensors& x) { return by_scores(x[0], x[1], x[2], o); };
}
/// Derivative of f(q, k, v) along tangents t of them, added to o; nothing where none moves.
void add_derivative(const FlatFunction& f, const Application& a, std::span<const Tensor> t,
                    std::span<Tensor> o) {
  if (!t[0].defined() && !t[1].defined() && !t[2].defined()) return;
  Tensors moving;
  for (std::size_t k = 0; k < 3; ++k) moving.push_back(or_zeros(t[k], a.in[k].type()));
  const Tensors more = detail::jvp_flat(f, {a.in[0], a.in[1], a.in[2]}, moving).second;
  for (std::size_t k = 0; k < o.size(); ++k) o[k] = detail::add_tangents(o[k], more[k]);
}

/// q, k, v and, if there is one, the mask to y and L.
struct Attention : Hand<Attention>, LeadingBatch {
  static constexpr const char* name = "attention";
  static constexpr bool takes_strides = true, is_product = true;
  static constexpr None transpose{"it is not linear"};
  static double flops(TypeSpan in, TypeSpan, const Attributes* a) {
    return flops_of(in, get<AttentionAttr>(a), 0);
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    return infer_values(name, in, get<AttentionAttr>(a));
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    return kernel_of(in, [](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* a) {
        attention_values<T>(vector_bytes(), operands_of(in, get<AttentionAttr>(a)),
                            static_cast<T*>(out[0]->data), static_cast<T*>(out[1]->data));
      };
    });
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o);
};

/// q, k, v, y, L, the tangents that there are of q, k and v, the mask, to those of y and L. y and L
/// are those of q, k, v: derivatives count what moves them as moving q, k, v.
struct AttentionTangent : Hand<AttentionTangent>, LeadingBatch {
  static constexpr const char* name = "attention_tangent";
  static constexpr bool takes_strides = true, is_product = true;
  static double flops(TypeSpan in, TypeSpan, const Attributes* a) {
    return flops_of(in, get<AttentionAttr>(a), get<AttentionAttr>(a).of);
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    return infer_values(name, in, get<AttentionAttr>(a));
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    return kernel_of(in, [](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* attr) {
        const AttentionAttr& a = get<AttentionAttr>(attr);
        std::array<const View*, 3> t{};
        for (std::size_t k = 0, at = 5; k < 3; ++k)
          if (has(a.of, k)) t[k] = in[at++];
        attention_tangents<T>(vector_bytes(), operands_of(in, a), *in[3], *in[4], t,
                              static_cast<T*>(out[0]->data), static_cast<T*>(out[1]->data));
      };
    });
  }
  /// Of attention with operands q, k, v, y, L, `known`, along t; nothing where none moves.
  static void along(std::span<const Tensor> known, std::span<const Tensor> mask,
                    const AttentionAttr& attr, const std::array<Tensor, 3>& t,
                    std::span<Tensor> o) {
    AttentionAttr a = attr;
    a.of = 0;
    Tensors in(known.begin(), known.end());
    for (std::size_t k = 0; k < 3; ++k)
      if (t[k].defined()) in.push_back(t[k]), a.of |= Index{1} << k;
    if (a.of == 0) return;
    in.insert(in.end(), mask.begin(), mask.end());
    std::ranges::copy(apply_all(primitive<AttentionTangent>(), in, a, 2), o.begin());
  }
  static std::array<Tensor, 3> by_operand(const AttentionAttr& a, std::span<const Tensor> in) {
    std::array<Tensor, 3> t;
    for (std::size_t k = 0, at = 5; k < 3; ++k)
      if (has(a.of, k)) t[k] = in[at++];
    return t;
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    const AttentionAttr& attr = a.get<AttentionAttr>();
    along(a.in.first(5), a.in.last(attr.masked), attr, by_operand(attr, t), o);
    const FlatFunction tangent = [&](const Tensors& x) {
      Tensors moving;
      const std::array<Tensor, 3> along = by_operand(attr, a.in);
      for (std::size_t k = 0; k < 3; ++k) moving.push_back(or_zeros(along[k], a.in[k].type()));
      return detail::jvp_flat(scores_of(a), x, moving).second;
    };
    add_derivative(tangent, a, t, o);
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o);
};

/// q, k, v, y, L, cotangents of y and L, the mask, to the gradients of those of q, k, v that are
/// asked for.
struct AttentionGradients : Hand<AttentionGradients>, LeadingBatch {
  static constexpr const char* name = "attention_gradients";
  static constexpr bool takes_strides = true, is_product = true;
  static double flops(TypeSpan in, TypeSpan, const Attributes* a) {
    return flops_of(in, get<AttentionAttr>(a), get<AttentionAttr>(a).of);
  }
  static Types infer(std::span<const Type> in, const Attributes* attr) {
    const AttentionAttr& a = get<AttentionAttr>(attr);
    infer_values(name, in, a);
    Types types;
    for (std::size_t k = 0; k < 3; ++k)
      if (has(a.of, k)) types.push_back(in[k]);
    return types;
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    return kernel_of(in, [](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* attr) {
        const AttentionAttr& a = get<AttentionAttr>(attr);
        std::array<T*, 3> g{};
        for (std::size_t k = 0, at = 0; k < 3; ++k)
          if (has(a.of, k)) g[k] = static_cast<T*>(out[at++]->data);
        attention_gradients<T>(vector_bytes(), operands_of(in, a), *in[3], *in[4], *in[5], *in[6],
                               g);
      };
    });
  }
  /// For cotangents ct of y and L, of which not both are undefined.
  static Tensors of(std::span<const Tensor> known, std::span<const Tensor> mask,
                    const AttentionAttr& a, std::span<const Tensor> ct) {
    Tensors in(known.begin(), known.end());
    in.push_back(or_zeros(ct[0], known[3].type())), in.push_back(or_zeros(ct[1], known[4].type()));
    in.insert(in.end(), mask.begin(), mask.end());
    return apply_all(primitive<AttentionGradients>(), in, a,
                     static_cast<std::size_t>(has(a.of, 0) + has(a.of, 1) + has(a.of, 2)));
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    const AttentionAttr& attr = a.get<AttentionAttr>();
    if (t[5].defined() || t[6].defined())
      std::ranges::copy(of(a.in.first(5), a.in.last(attr.masked), attr, t.subspan(5, 2)),
                        o.begin());
    const FlatFunction gradients = [&](const Tensors& x) {
      const Tensors all =
          detail::pull(detail::linearize_flat(name, scores_of(a), x), {a.in[5], a.in[6]});
      Tensors wanted;
      for (std::size_t k = 0; k < 3; ++k)
        if (has(attr.of, k)) wanted.push_back(all[k]);
      return wanted;
    };
    add_derivative(gradients, a, t, o);
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    if (std::ranges::count(linear.first(5), true) > 0)
      detail::no_rule(name, "transpose", "it is linear in cotangents alone");
    const AttentionAttr& attr = a.get<AttentionAttr>();
    std::array<Tensor, 3> t;
    for (std::size_t k = 0, at = 0; k < 3; ++k)
      if (has(attr.of, k)) t[k] = ct[at++];
    Tensor u_and_w[2];
    AttentionTangent::along(a.in.first(5), a.in.last(attr.masked), attr, t, u_and_w);
    for (std::size_t k = 0; k < 2; ++k)
      if (linear[5 + k]) o[5 + k] = u_and_w[k];
  }
};

void Attention::jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
  const AttentionAttr& attr = a.get<AttentionAttr>();
  const Tensor known[] = {a.in[0], a.in[1], a.in[2], a.out[0], a.out[1]};
  AttentionTangent::along(known, a.in.last(attr.masked), attr, {t[0], t[1], t[2]}, o);
}

void AttentionTangent::transpose(const Application& a, std::span<const bool> linear,
                                 std::span<const Tensor> ct, std::span<Tensor> o) {
  if (std::ranges::count(linear.first(5), true) > 0)
    detail::no_rule(name, "transpose", "it is linear in tangents alone");
  AttentionAttr wanted = a.get<AttentionAttr>();
  const Index there = wanted.of;
  wanted.of = 0;
  for (std::size_t k = 0, at = 5; k < 3; ++k)
    if (has(there, k) && linear[at++]) wanted.of |= Index{1} << k;
  const Tensors g = AttentionGradients::of(a.in.first(5), a.in.last(wanted.masked), wanted, ct);
  std::size_t next = 0;
  for (std::size_t k = 5; k < linear.size(); ++k)
    if (linear[k]) o[k] = g[next++];
}

TESSERA_REGISTER(Attention);
TESSERA_REGISTER(AttentionTangent);
TESSERA_REGISTER(AttentionGradients);

}  // namespace

AttentionPart attention_part(Arg q_arg, Arg k_arg, Arg v_arg, const AttentionOptions& o) {
  constexpr const char* op = "attention";
  const SourceLine line = q_arg.line;
  const detail::CalledAt called(line);
  Tensor x[3];
  const Arg* const args[] = {&q_arg, &k_arg, &v_arg};
  for (int i = 0; i < 3; ++i) {
    x[i] = detail::to_tensor(op, *args[i]);
    if (x[i].ndim() < 3)
      fail(op,
           std::string(1, "qkv"[i]) + " has axes [..., tokens, heads, features], got " +
               to_string(x[i].type()),
           args[i]->line);
  }
  auto& [q, k, v] = x;
  const std::string all =
      to_string(q.type()) + ", " + to_string(k.type()) + ", " + to_string(v.type());
  if (q.dim(-1) != k.dim(-1) || k.dim(-3) != v.dim(-3) || q.dim(-2) != k.dim(-2) ||
      k.dim(-2) != v.dim(-2))
    fail(op, "heads, features of q and k, or tokens of k and v differ: " + all, line);
  Dtype t = q.dtype();
  for (const Tensor& y : x) {
    if (!can_promote(t, y.dtype()) || !contains(kReal, promote(t, y.dtype())))
      fail(op, "takes f32 and f64, got " + all + "; use cast", line);
    t = promote(t, y.dtype());
  }
  // Leading axes, of the mask too.
  Shape lead;
  const auto meet = [&](const Tensor& y, int own) {
    const int n = y.ndim() - own;
    while (lead.size() < n) lead.insert(0, 1);
    for (int d = 0; d < n; ++d) {
      Index& at = lead[lead.size() - n + d];
      const Index here = y.dim(d);
      if (at != here && at != 1 && here != 1)
        fail(op,
             "leading axes of " + all + (o.mask ? ", mask " + to_string(o.mask->type()) : "") +
                 " do not broadcast",
             line);
      if (at == 1) at = here;
    }
  };
  for (const Tensor& y : x) meet(y, 3);
  const Shape scores{q.dim(-2), q.dim(-3), k.dim(-3)};
  if (o.mask) {
    const int own = std::min(3, o.mask->ndim());
    meet(*o.mask, own);
    for (int d = -own; d < 0; ++d)
      if (o.mask->dim(d) != 1 && o.mask->dim(d) != scores[3 + d])
        fail(op,
             "a mask has axes [..., heads, queries, keys], here [..., " +
                 to_string(scores).substr(1) + " or 1 in their place, got " +
                 to_string(o.mask->type()),
             line);
    if (is_complex(o.mask->dtype()))
      fail(op, "a mask is of truth values or real numbers, got " + to_string(o.mask->type()), line);
  }
  for (Tensor& y : x) {
    Shape s = lead;
    for (int d = -3; d < 0; ++d) s.push_back(y.dim(d));
    y = broadcast_to(cast(y, t), s);
  }
  if (o.mask && o.mask->dtype() != Dtype::boolean) {
    AttentionOptions typed = o;
    typed.mask = cast(*o.mask, t);
    const Tensors r = by_scores(q, k, v, typed);
    return {r[0], r[1]};
  }
  Tensors in{q, k, v};
  if (o.mask) {
    Shape s = lead;
    for (const Index n : scores) s.push_back(n);
    in.push_back(broadcast_to(*o.mask, s));
  }
  std::vector<const Tensor*> operands;
  for (const Tensor& y : in) operands.push_back(&y);
  Tensor out[2];
  dispatch(primitive<Attention>(), operands,
           attributes(AttentionAttr{o.causal, o.mask.has_value(), 0}), line, out);
  return {out[0], out[1]};
}

Tensor attention(Arg q, Arg k, Arg v, const AttentionOptions& o) {
  return attention_part(q, k, v, o).y;
}

}  // namespace tessera
