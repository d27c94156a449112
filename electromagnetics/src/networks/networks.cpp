// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/networks.h"

#include "tessera/autodiff/ops.h"

#include <string>

namespace tessera::electromagnetics {
namespace {

using Modes = std::vector<data::NetworkMode>;

Index ports_of(const Tensor& m, const char* what) {
  const int rank = m.shape().size();
  if (rank < 2 || m.shape()[rank - 1] != m.shape()[rank - 2])
    throw Error(std::string("[networks] ") + what +
                " is no square matrix: " + to_string(m.shape()));
  return m.shape()[rank - 1];
}
void expect_two(const Tensor& m, const char* what) {
  if (ports_of(m, what) != 2)
    throw Error(std::string("[networks] ") + what + " is of 2-ports: " + to_string(m.shape()));
}

/// b a^-1
Tensor over(const Tensor& b, const Tensor& a) {
  return transpose(solve(transpose(a), transpose(b)));
}

Tensor unit_like(const Tensor& m) {
  return broadcast_to(eye(ports_of(m, "a matrix"), Dtype::c128), m.shape());
}

WaveFactors factors_of(const Tensor& reference, Waves waves) {
  const Tensor z = cast(expand_dims(reference, reference.shape().size()), Dtype::c128);
  const Tensor r = cast(real(z), Dtype::c128);
  switch (waves) {
    case Waves::power:
      return {z, conj(z), 0.5 / sqrt(r)};
    case Waves::pseudo:
      return {z, z, 0.5 * sqrt(r) / cast(abs(z), Dtype::c128)};
    case Waves::travelling:
      break;
  }
  return {z, z, 0.5 / sqrt(z)};
}

Terminals terminals_of(const Tensor& s, const WaveFactors& of) {
  const Tensor one = eye(ports_of(s, "S"), Dtype::c128), scale = of.u * (of.z + of.w);
  return {(of.w * one + of.z * s) / scale, (one - s) / scale};
}
Tensor s_of(const Terminals& t, const WaveFactors& of) {
  return over(of.u * (t.v - of.w * t.i), of.u * (t.v + of.z * t.i));
}

/// Row k of a matrix [..., n, n] as [..., 1, n].
Tensor row(const Tensor& m, Index k) { return slice(m, m.shape().size() - 2, k, k + 1); }
Tensor rows(const Tensor& first, const Tensor& second) {
  return concatenate({first, second}, first.shape().size() - 2);
}
/// (1, 0) or (0, 1) as a row of each matrix.
Tensor unit_row(const Tensor& like, Index k) { return row(unit_like(like), k); }

/// Voltages and currents of modes by those of ports: real matrices [n, n], the inverse of one the
/// transpose of the other, so that modes carry the power that ports do.
struct ModeMatrices {
  Tensor v, i;
};
ModeMatrices matrices_of(const Modes& modes) {
  using Kind = data::NetworkMode::Kind;
  const std::size_t n = modes.size();
  std::vector<double> v(n * n), i(n * n);
  std::vector<int> single(n), differential(n), common(n);
  std::vector<std::size_t> partner(n, n);
  bool good = true;
  for (std::size_t m = 0; m < n; ++m) {
    const auto [kind, p, q] = modes[m];
    if (p >= n || (kind != Kind::single && (q >= n || q == p)))
      throw Error("[networks] a mode names a port that there is not");
    double* const at_v = &v[m * n];
    double* const at_i = &i[m * n];
    if (kind == Kind::single) {
      single[p] += 1;
      at_v[p] = at_i[p] = 1;
      continue;
    }
    const bool difference = kind == Kind::differential;
    for (const auto& [a, b] : {std::pair(p, q), std::pair(q, p)}) {
      (difference ? differential : common)[a] += 1;
      good = good && (partner[a] == n || partner[a] == b);
      partner[a] = b;
    }
    at_v[p] = difference ? 1 : 0.5, at_v[q] = difference ? -1 : 0.5;
    at_i[p] = difference ? 0.5 : 1, at_i[q] = difference ? -0.5 : 1;
  }
  for (std::size_t p = 0; p < n; ++p)
    good = good && ((single[p] == 1 && differential[p] + common[p] == 0) ||
                    (single[p] == 0 && differential[p] == 1 && common[p] == 1));
  if (!good)
    throw Error("[networks] each port must be in one single mode, or in both modes of one pair");
  const auto size = static_cast<Index>(n);
  const auto matrix = [&](const std::vector<double>& x) {
    return cast(reshape(tensor(x), {size, size}), Dtype::c128);
  };
  return {matrix(v), matrix(i)};
}
void expect_modes(const Terminals& t, const Modes& modes) {
  if (ports_of(t.v, "V") != static_cast<Index>(modes.size()))
    throw Error("[networks] " + std::to_string(modes.size()) + " modes for " +
                std::to_string(ports_of(t.v, "V")) + " ports");
}

}  // namespace

WaveFactors wave_factors(const Tensor& reference, const std::vector<Waves>& waves) {
  const int axis = reference.shape().size() - 1;
  if (axis < 0 || reference.shape()[axis] != static_cast<Index>(waves.size()) || waves.empty())
    throw Error("[networks] " + std::to_string(waves.size()) + " kinds of waves for references " +
                to_string(reference.shape()));
  std::vector<Tensor> z, w, u;
  for (std::size_t k = 0; k < waves.size(); ++k) {
    const auto at = static_cast<Index>(k);
    const WaveFactors one = factors_of(slice(reference, axis, at, at + 1), waves[k]);
    z.push_back(one.z), w.push_back(one.w), u.push_back(one.u);
  }
  return {concatenate(z, axis), concatenate(w, axis), concatenate(u, axis)};
}

Terminals terminals_of_s(const Tensor& s, const Tensor& reference, Waves waves) {
  return terminals_of(s, factors_of(reference, waves));
}
Terminals terminals_of_s(const Tensor& s, const Tensor& reference,
                         const std::vector<Waves>& waves) {
  return terminals_of(s, wave_factors(reference, waves));
}
Terminals terminals_of_z(const Tensor& z) { return {z, unit_like(z)}; }
Terminals terminals_of_y(const Tensor& y) { return {unit_like(y), y}; }
Terminals terminals_of_h(const Tensor& h) {
  expect_two(h, "H");
  return {rows(row(h, 0), unit_row(h, 1)), rows(unit_row(h, 0), row(h, 1))};
}
Terminals terminals_of_g(const Tensor& g) {
  expect_two(g, "G");
  return {rows(unit_row(g, 0), row(g, 1)), rows(row(g, 0), unit_row(g, 1))};
}
Terminals terminals_of_abcd(const Tensor& abcd) {
  expect_two(abcd, "ABCD");
  return {rows(row(abcd, 0), unit_row(abcd, 0)), rows(row(abcd, 1), -unit_row(abcd, 1))};
}

Tensor s_of(const Terminals& t, const Tensor& reference, Waves waves) {
  return s_of(t, factors_of(reference, waves));
}
Tensor s_of(const Terminals& t, const Tensor& reference, const std::vector<Waves>& waves) {
  return s_of(t, wave_factors(reference, waves));
}
Tensor z_of(const Terminals& t) { return over(t.v, t.i); }
Tensor y_of(const Terminals& t) { return over(t.i, t.v); }
Tensor h_of(const Terminals& t) {
  expect_two(t.v, "H");
  return over(rows(row(t.v, 0), row(t.i, 1)), rows(row(t.i, 0), row(t.v, 1)));
}
Tensor g_of(const Terminals& t) {
  expect_two(t.v, "G");
  return over(rows(row(t.i, 0), row(t.v, 1)), rows(row(t.v, 0), row(t.i, 1)));
}
Tensor abcd_of(const Terminals& t) {
  expect_two(t.v, "ABCD");
  return over(rows(row(t.v, 0), row(t.i, 0)), rows(row(t.v, 1), -row(t.i, 1)));
}

Tensor renormalized(const Tensor& s, const Tensor& from, const Tensor& to, Waves from_waves,
                    Waves to_waves) {
  return s_of(terminals_of_s(s, from, from_waves), to, to_waves);
}

Terminals to_modes(const Terminals& t, const Modes& modes) {
  expect_modes(t, modes);
  const ModeMatrices m = matrices_of(modes);
  return {matmul(m.v, t.v), matmul(m.i, t.i)};
}
Terminals from_modes(const Terminals& t, const Modes& modes) {
  expect_modes(t, modes);
  const ModeMatrices m = matrices_of(modes);
  return {matmul(transpose(m.i), t.v), matmul(transpose(m.v), t.i)};
}

Tensor mode_references(const Tensor& reference, const Modes& modes) {
  using Kind = data::NetworkMode::Kind;
  std::vector<Tensor> out;
  const int axis = reference.shape().size() - 1;
  for (const data::NetworkMode& m : modes) {
    const double factor = m.kind == Kind::differential ? 2 : m.kind == Kind::common ? 0.5 : 1;
    out.push_back(factor * select(reference, axis, static_cast<Index>(m.port)));
  }
  return stack(out, axis);
}

}  // namespace tessera::electromagnetics
