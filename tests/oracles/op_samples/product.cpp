// SPDX-License-Identifier: Apache-2.0
#include "compose.h"

namespace tessera::oracle {

Tensor product(const Tensor& a, const Tensor& b) {
  if (is_inexact(a.dtype())) return matmul(a, b);
  // Integers: sum over the shared axis of all products.
  const Tensor x = a.ndim() == 1 ? reshape(a, {1, a.dim(0)}) : a,
               y = b.ndim() == 1 ? reshape(b, {b.dim(0), 1}) : b;
  Tensor s = sum(expand_dims(x, -1) * expand_dims(y, -3), {-2});
  if (a.ndim() == 1) s = squeeze(s, s.ndim() - 2);
  if (b.ndim() == 1) s = squeeze(s, s.ndim() - 1);
  return s;
}

namespace {

/// beta x + alpha p; where beta is 0, x does not count, not even if it is NaN.
Tensor added(const Call& c, const Tensor& p) {
  const auto factor = [&](const Tensor& y, const char* name) {
    const Value* v = c.find(-1, name);
    if (!v) return y;
    return is_inexact(y.dtype()) ? y * like(v->number, y) : y * cast(c.tensor(*v), y.dtype());
  };
  const Value* beta = c.find(-1, "beta");
  const Tensor x =
      beta && beta->number == 0.0 ? zeros(c[0].shape(), c[0].dtype()) : factor(c[0], "beta");
  return x + factor(p, "alpha");
}
Tensor crossed(const Call& c) {
  auto [a, b] = c.both();
  const Shape s = broadcast_shape(a.shape(), b.shape());
  a = broadcast_to(a, s);
  b = broadcast_to(b, s);
  int axis = -1;
  if (c.has(2, "dim"))
    axis = axis_of(c.integer(2, "dim", -1), s.size());
  else
    axis = s.size() - 1;
  const auto at = [&](const Tensor& x, int k) { return select(x, axis, k % 3); };
  std::vector<Tensor> r;
  for (int k = 0; k < 3; ++k)
    r.push_back(at(a, k + 1) * at(b, k + 2) - at(a, k + 2) * at(b, k + 1));
  return stack(r, axis);
}
Tensor contracted(const Call& c) {
  Tensor a = c[0], b = c[1];
  const Value& v = *c.find(-1, "dims");
  Shape of_a, of_b;
  if (v.kind == Value::Kind::list) {
    for (const Value& i : v.items[0].items) of_a.push_back(axis_of(i.integer, a.ndim()));
    for (const Value& i : v.items[1].items) of_b.push_back(axis_of(i.integer, b.ndim()));
  } else
    for (Index k = 0; k < v.integer; ++k) {
      of_a.push_back(a.ndim() - v.integer + k);
      of_b.push_back(k);
    }
  for (int k = 0; k < of_a.size(); ++k) {  // torch stretches axes of length 1
    const int i = static_cast<int>(of_a[k]), j = static_cast<int>(of_b[k]);
    Shape sa = a.shape(), sb = b.shape();
    if (sa[i] == 1) sa[i] = sb[j];
    if (sb[j] == 1) sb[j] = sa[i];
    a = broadcast_to(a, sa);
    b = broadcast_to(b, sb);
  }
  std::string x, y, out;
  for (int k = 0; k < a.ndim(); ++k) x += static_cast<char>('a' + k);
  for (int k = 0; k < b.ndim(); ++k) y += static_cast<char>('m' + k);
  for (int k = 0; k < of_a.size(); ++k)
    y[static_cast<std::size_t>(of_b[k])] = x[static_cast<std::size_t>(of_a[k])];
  for (char l : x)
    if (y.find(l) == std::string::npos) out += l;
  for (char l : y)
    if (x.find(l) == std::string::npos) out += l;
  return through_f64(
      [&](const std::vector<Tensor>& p) { return einsum(x + "," + y + "->" + out, p); }, {a, b});
}
Tensor powered(const Call& c) {
  const Tensor x = c[0];
  Index n = c.integer(1, "n", 1);
  Tensor base = n < 0 ? inv(x) : x, r = broadcast_to(eye(x.dim(-1), x.dtype()), x.shape());
  for (n = std::abs(n); n; n /= 2) {
    if (n % 2) r = matmul(r, base);
    if (n > 1) base = matmul(base, base);
  }
  return r;
}
/// |a_i - b_j|_p for all pairs of rows.
Tensor distances(const Call& c) {
  const Tensor d = expand_dims(c[0], -2) - expand_dims(c.tensor(1, "x2"), -3);
  if (d.dim(-1) == 0)
    return zeros(
        [&] {
          Shape s = d.shape();
          s.erase(s.size() - 1);
          return s;
        }(),
        d.dtype());
  return p_norm(d, c.real(2, "p", 2), {d.ndim() - 1});
}

}  // namespace

void product_rows(Table& t) {
  for (const char* name : {"matmul", "mm", "bmm", "mv"})
    t[name] = [](const Call& c) { return product(c[0], c[1]); };
  t["__rmatmul__"] = [](const Call& c) { return product(c[1], c[0]); };
  t["dot"] = [](const Call& c) {
    return is_inexact(c[0].dtype()) ? dot(c[0], c[1]) : sum(c[0] * c[1]);
  };
  t["vdot"] = [](const Call& c) {
    return is_inexact(c[0].dtype()) ? dot(conj(c[0]), c[1]) : sum(c[0] * c[1]);
  };
  t["outer"] = [](const Call& c) {
    const auto [a, b] = c.both();
    return is_inexact(a.dtype())
               ? outer(a, b)
               : of_numbers([](const Tensor& x, const Tensor& y) { return expand_dims(x, 1) * y; },
                            a, b);
  };
  t["kron"] = [](const Call& c) {
    const Tensor a = c[0], b = c[1];
    Shape s, t2;
    Tensor x = a, y = b;
    for (int k = 0; k < a.ndim(); ++k) {  // [a0, 1, a1, 1, ...] times [1, b0, 1, b1, ...]
      x = expand_dims(x, 2 * k + 1);
      y = expand_dims(y, 2 * k);
      s.push_back(a.dim(k) * b.dim(k));
    }
    if (a.ndim() == 2 && b.ndim() == 2 && is_inexact(a.dtype())) return kron(a, b);
    return reshape(of_numbers([](const Tensor& p, const Tensor& q) { return p * q; }, x, y), s);
  };
  t["inner"] = [](const Call& c) {
    const Tensor a = c[0], b = c[1];
    if (a.ndim() == 0 || b.ndim() == 0) return a * b;
    std::string x, y, out;
    for (int k = 0; k < a.ndim() - 1; ++k) x += static_cast<char>('a' + k);
    for (int k = 0; k < b.ndim() - 1; ++k) y += static_cast<char>('m' + k);
    out = x + y;
    return through_f64(
        [&](const std::vector<Tensor>& p) { return einsum(x + "z," + y + "z->" + out, p); },
        {a, b});
  };
  t["tensordot"] = contracted;
  t["einsum"] = [](const Call& c) {
    return through_f64(
        [&](const std::vector<Tensor>& p) { return einsum(c.text(1, "equation", ""), p); },
        c.tensors(0));
  };
  for (const char* name : {"cross", "linalg.cross"}) t[name] = crossed;
  t["linalg.vecdot"] = [](const Call& c) {
    const auto [a, b] = c.both();
    const Shape s = broadcast_shape(a.shape(), b.shape());
    return sum(conj(a) * b, {axis_of(c.integer(2, "dim", -1), s.size())});
  };
  t["linalg.multi_dot"] = [](const Call& c) {
    const auto parts = c.tensors(0);
    Tensor r = parts[0];
    for (std::size_t k = 1; k < parts.size(); ++k) r = product(r, parts[k]);
    return r;
  };
  t["linalg.matrix_power"] = powered;
  for (const char* name : {"addmm", "addmm.decomposed", "addmv", "baddbmm"})
    t[name] = [](const Call& c) { return added(c, product(c[1], c[2])); };
  t["addbmm"] = [](const Call& c) { return added(c, sum(product(c[1], c[2]), {0})); };
  t["addr"] = [](const Call& c) {
    if (c[1].dtype() == Dtype::boolean)
      return logical_or(c[0], logical_and(expand_dims(c[1], 1), c[2]));
    return added(c, expand_dims(c[1], 1) * c[2]);
  };
  t["cdist"] = distances;
  t["nn.functional.pdist"] = [](const Call& c) {
    const Tensor x = c[0];
    std::vector<std::int64_t> first, second;
    for (Index i = 0; i < x.dim(0); ++i)
      for (Index j = i + 1; j < x.dim(0); ++j) {
        first.push_back(i);
        second.push_back(j);
      }
    return p_norm(take(x, tensor(first)) - take(x, tensor(second)), c.real(1, "p", 2), {1});
  };
  t["nn.functional.linear"] = [](const Call& c) {
    const Tensor w = c.tensor(1, "weight");
    const Tensor z = product(c[0], w.ndim() == 1 ? w : transpose(w));
    return c.has(2, "bias") ? z + c.tensor(2, "bias") : z;
  };
  t["nn.functional.bilinear"] = [](const Call& c) {
    const Tensor w = c.tensor(2, "weight");
    const Tensor left = product(expand_dims(expand_dims(c[0], -2), -2), w);  // [..., o, 1, n]
    const Tensor y = sum(squeeze(left, left.ndim() - 2) * expand_dims(c[1], -2), {-1});
    return c.has(3, "bias") ? y + c.tensor(3, "bias") : y;
  };
  t["nn.functional.scaled_dot_product_attention"] = [](const Call& c) {
    Tensor q = c[0], k = c.tensor(1, "key"), v = c.tensor(2, "value");
    if (c.flag(-1, "enable_gqa", false) &&
        k.dim(-3) != q.dim(-3)) {  // each key serves several heads of queries
      std::vector<std::int64_t> head;
      for (Index h = 0; h < q.dim(-3); ++h) head.push_back(h / (q.dim(-3) / k.dim(-3)));
      k = take(k, tensor(head), k.ndim() - 3);
      v = take(v, tensor(head), v.ndim() - 3);
    }
    Tensor s = matmul(q, transpose(k)) *
               c.real(-1, "scale", 1 / std::sqrt(static_cast<double>(q.dim(-1))));
    if (c.flag(-1, "is_causal", false))
      s = where(cast(tril(ones({q.dim(-2), k.dim(-2)}, q.dtype())), Dtype::boolean), s, -kInf);
    if (c.has(3, "attn_mask")) {
      const Tensor m = c.tensor(3, "attn_mask");
      s = m.dtype() == Dtype::boolean ? where(m, s, -kInf) : s + m;
    }
    return matmul(softmax(s), v);
  };
}

}  // namespace tessera::oracle
