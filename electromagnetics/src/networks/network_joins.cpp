// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/network_joins.h"

#include "tessera/autodiff/ops.h"

#include <numbers>
#include <string>

namespace tessera::electromagnetics {
namespace {

Tensor numbers_of(const std::vector<std::size_t>& list) {
  std::vector<std::int64_t> out(list.begin(), list.end());
  return tensor(out);
}

}  // namespace

Tensor side_by_side(const std::vector<Tensor>& s) {
  if (s.empty()) throw Error("[side_by_side] no network");
  Index all = 0, before = 0;
  for (const Tensor& m : s) all += m.shape()[m.shape().size() - 1];
  Tensor out;
  for (const Tensor& m : s) {
    const int rank = m.shape().size();
    const Index n = m.shape()[rank - 1];
    tessera::Shape low = tessera::Shape::filled(rank, 0), high = low;
    for (const int axis : {rank - 2, rank - 1}) low[axis] = before, high[axis] = all - before - n;
    const Tensor block = pad(m, low, high);
    out = out.defined() ? out + block : block;
    before += n;
  }
  return out;
}

Tensor join_ports(const Tensor& s, const Tensor& reference,
                  const std::vector<std::pair<std::size_t, std::size_t>>& pairs, Waves waves) {
  if (pairs.empty()) return s;
  const int rank = s.shape().size();
  const auto n = static_cast<std::size_t>(s.shape()[rank - 1]);
  std::vector<bool> inner(n);
  std::vector<std::size_t> first, second, inside, outside;
  for (const auto& [p, q] : pairs) {
    for (const std::size_t port : {p, q}) {
      if (port >= n || inner[port])
        throw Error("[join_ports] port " + std::to_string(port) +
                    (port >= n ? " is none of " + std::to_string(n) : " is joined twice"));
      inner[port] = true;
    }
    first.push_back(p), second.push_back(q);
  }
  for (std::size_t p = 0; p < n; ++p) (inner[p] ? inside : outside).push_back(p);
  const Terminals t = terminals_of_s(s, reference, waves);
  const int row = rank - 2, column = rank - 1;
  const auto of = [](const Tensor& m, const std::vector<std::size_t>& which, int axis) {
    return take(m, numbers_of(which), axis);
  };
  // In volts both: differences of voltages, sums of currents times the reference.
  const Tensor ohm = expand_dims(cast(abs(reference), Dtype::c128), reference.shape().size());
  const Tensor u = of(t.v, first, row) - of(t.v, second, row),
               i = (of(t.i, first, row) + of(t.i, second, row)) *
                   of(ohm, first, ohm.shape().size() - 2);
  const Tensor zero = concatenate({u, i}, row);
  // The waves into the inner ports that make these vanish.
  const Tensor a = -solve(of(zero, inside, column), of(zero, outside, column));
  const auto left = [&](const Tensor& m) {
    const Tensor rows = of(m, outside, row);
    return of(rows, outside, column) + matmul(of(rows, inside, column), a);
  };
  return s_of({left(t.v), left(t.i)}, of(reference, outside, reference.shape().size() - 1), waves);
}

Tensor cascade(const Tensor& first, const Tensor& first_reference, const Tensor& second,
               const Tensor& second_reference, Waves waves) {
  for (const Tensor& s : {first, second})
    if (s.shape().size() < 2 || s.shape()[s.shape().size() - 1] != 2)
      throw Error("[cascade] not of 2-ports: " + to_string(s.shape()));
  return join_ports(
      side_by_side({first, second}),
      concatenate({first_reference, second_reference}, first_reference.shape().size() - 1),
      {{1, 2}}, waves);
}

Tensor shifted_planes(const Tensor& s, const Tensor& gamma_l) {
  const Tensor f = exp(-cast(gamma_l, Dtype::c128));
  const int rank = f.shape().size();
  return expand_dims(f, rank) * s * expand_dims(f, rank - 1);
}

Tensor group_delay(const Tensor& s, const Tensor& frequency_hz) {
  const Index n = s.shape()[0];
  if (n < 2) throw Error("[group_delay] two frequencies or more are needed");
  const auto upper = [&](const Tensor& x) { return slice(x, 0, 1, x.shape()[0]); };
  const auto lower = [&](const Tensor& x) { return slice(x, 0, 0, x.shape()[0] - 1); };
  tessera::Shape as_columns = tessera::Shape::filled(s.shape().size(), 1);
  as_columns[0] = n - 1;
  const Tensor h = reshape(2 * std::numbers::pi * (upper(frequency_hz) - lower(frequency_hz)),
                           as_columns),
               slope = arg(upper(s) * conj(lower(s))) / h;
  std::vector<Tensor> parts{slice(slope, 0, 0, 1)};
  if (n > 2) {
    const Tensor before = lower(slope), behind = upper(slope);
    parts.push_back(
        where(is_finite(before),
              where(is_finite(behind),
                    (before * upper(h) + behind * lower(h)) / (lower(h) + upper(h)), before),
              behind));
  }
  parts.push_back(slice(slope, 0, n - 2, n - 1));
  return -concatenate(parts, 0);
}

Tensor largest_gain(const Tensor& s) {
  const Tensor values = svd(s).s;
  return select(values, values.shape().size() - 1, 0);
}

Tensor nonreciprocity(const Tensor& s) {
  const int rank = s.shape().size();
  const Index n = s.shape().back();
  // Pairs alone: the modulus of the zeros on the diagonal has no second derivative.
  std::vector<std::size_t> upper, lower;
  for (Index i = 0; i < n; ++i)
    for (Index j = i + 1; j < n; ++j) {
      upper.push_back(static_cast<std::size_t>(i * n + j));
      lower.push_back(static_cast<std::size_t>(j * n + i));
    }
  tessera::Shape flat = s.shape();
  flat.erase(rank - 1);
  flat[rank - 2] = n * n;
  if (upper.empty()) return real(select(reshape(s, flat), rank - 2, 0)) * 0.0;
  const Tensor all = reshape(s, flat);
  return max(abs(take(all, numbers_of(upper), rank - 2) - take(all, numbers_of(lower), rank - 2)),
             {rank - 2});
}

}  // namespace tessera::electromagnetics
