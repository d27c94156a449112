// SPDX-License-Identifier: Apache-2.0
#include "sums.h"

#include "../core/own_primitive.h"

#include <algorithm>

namespace tessera::blocks {

Layout layout_of(const View& v) {
  const bool repeated =
      std::all_of(v.strides.begin(), v.strides.end(), [](Index s) { return s == 0; });
  return v.contiguous() ? Layout::packed : repeated ? Layout::repeated : Layout::other;
}

std::vector<Node> with_sums(std::vector<Operation> run, std::span<const Layout> operands) {
  std::vector<Node> nodes;
  std::vector<int> readers(run.size(), 0);
  for (Operation& o : run) {
    for (const Source& s : o.in)
      if (s.inside) ++readers[s.index];
    nodes.push_back({std::move(o), {}, false});
  }
  const auto layout = [&](const Source& s) {
    return s.inside ? Layout::packed : operands[s.index];
  };
  static const Primitive *const add = &detail::own_primitive("add"),
                                *const sub = &detail::own_primitive("sub"),
                                *const mul = &detail::own_primitive("mul");
  const auto only_here = [&](const Source& s) {
    return s.inside && readers[s.index] == 1 && nodes[s.index].o.result < 0;
  };
  const auto is_sum = [&](const Source& s) {
    return only_here(s) && !nodes[s.index].terms.empty();
  };
  const auto is_product = [&](const Source& s) {
    if (!only_here(s) || nodes[s.index].o.primitive != mul) return false;
    const Layout a = layout(nodes[s.index].o.in[0]), b = layout(nodes[s.index].o.in[1]);
    return a != Layout::other && b != Layout::other && (a == Layout::packed || b == Layout::packed);
  };
  const auto term = [&](const Source& s, bool minus) {
    if (!is_product(s))
      return Term{layout(s) == Layout::packed ? Term::Kind::value : Term::Kind::number, minus, s,
                  s};
    Node& n = nodes[s.index];
    n.gone = true;
    Source a = n.o.in[0], b = n.o.in[1];
    if (layout(a) == Layout::repeated) std::swap(a, b);
    return Term{layout(b) == Layout::repeated ? Term::Kind::scaled : Term::Kind::product, minus, a,
                b};
  };
  for (Node& n : nodes) {
    if (n.o.reduced.fold || n.o.by_row || n.o.spread) continue;
    const bool plus = n.o.primitive == add, minus = n.o.primitive == sub;
    if (!(plus || minus) || (n.o.dtype != Dtype::f64 && n.o.dtype != Dtype::f32)) continue;
    Source x = n.o.in[0], y = n.o.in[1];
    if (plus && (is_sum(y) && !is_sum(x))) std::swap(x, y);
    if (!is_sum(x) && !is_product(x) && !is_product(y)) continue;
    if (layout(x) == Layout::other || layout(y) == Layout::other || same(x, y)) continue;
    if (is_sum(x)) {
      n.terms = std::move(nodes[x.index].terms);
      nodes[x.index].gone = true;
    } else {
      n.terms = {term(x, false)};
    }
    n.terms.push_back(term(y, minus));
    n.o.kernel = nullptr;
    n.o.in.clear();
    for (const Term& t : n.terms) n.o.in.insert(n.o.in.end(), {t.a, t.b});
  }
  return nodes;
}

template <class T>
void add_terms(Index n, std::span<const Term> terms, const View* const* in, T* out) {
  using V [[gnu::vector_size(32), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
  constexpr Index lanes = 32 / sizeof(T), wide = 8, step = wide * lanes;
  const auto at = [](const View* v, Index i) { return static_cast<const T*>(v->data) + i; };
  Index i = 0;
  for (; i + step <= n; i += step) {
    V sum[wide] = {};
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const auto put = [&](auto value) {
        if (t == 0)
          for (Index k = 0; k < wide; ++k) sum[k] = value(k);
        else if (terms[t].minus)
          for (Index k = 0; k < wide; ++k) sum[k] = sum[k] - value(k);
        else
          for (Index k = 0; k < wide; ++k) sum[k] = sum[k] + value(k);
      };
      const View *a = in[2 * t], *b = in[2 * t + 1];
      const auto load = [&](const View* v, Index k) {
        return *reinterpret_cast<const V*>(at(v, i + k * lanes));
      };
      switch (terms[t].kind) {
        case Term::Kind::value:
          put([&](Index k) { return load(a, k); });
          break;
        case Term::Kind::number:
          put([&, x = *at(a, 0)](Index) { return x - V{}; });  // x + 0 would lose the sign of -0
          break;
        case Term::Kind::product:
          put([&](Index k) { return load(a, k) * load(b, k); });
          break;
        case Term::Kind::scaled:
          put([&, x = *at(b, 0)](Index k) { return load(a, k) * x; });
          break;
      }
    }
    for (Index k = 0; k < wide; ++k) *reinterpret_cast<V*>(out + i + k * lanes) = sum[k];
  }
  for (; i < n; ++i) {
    T sum{};
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const View *a = in[2 * t], *b = in[2 * t + 1];
      T x = *at(a, terms[t].kind == Term::Kind::number ? 0 : i);
      if (terms[t].kind == Term::Kind::product) x = x * *at(b, i);
      if (terms[t].kind == Term::Kind::scaled) x = x * *at(b, 0);
      sum = t == 0 ? x : terms[t].minus ? sum - x : sum + x;
    }
    out[i] = sum;
  }
}
template void add_terms<float>(Index, std::span<const Term>, const View* const*, float*);
template void add_terms<double>(Index, std::span<const Term>, const View* const*, double*);

}  // namespace tessera::blocks
