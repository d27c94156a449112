// SPDX-License-Identifier: Apache-2.0
//
// The body of slope_kernels.h over a vector S of double numbers (lanes_*.h). u is the energy of a shape, f = -2 du/ds, df = f'(s); for r^-n all
// divided by n, as the tables are multiplied by it.
#pragma once
#include "nonbonded/kernels/pair_body.h"
#include "nonbonded/kernels/slope_kernels.h"

#include <cstring>

namespace tessera::molecular::pairs {

template <class S>
struct Shape {
  typename S::V u, f, df;
};

template <class S, int n, bool modified, bool second>
[[gnu::always_inline]] inline Shape<S> power_shape(const Input<double>& in, const BentPower<double>& p, typename S::V s, typename S::V over, typename S::V y) {
  using V = typename S::V;
  const V y3 = y * y * y, power = n == 6 ? y3 : y3 * y3;
  Shape<S> out;
  out.u = S::fma(power, S::set(1.0 / n), S::set(-p.shift));
  out.f = power * y;
  out.df = out.f * y * S::set(-(0.5 * n + 1));
  if constexpr (!modified) return out;
  const V r = s * over, half = S::set(0.5);
  if (in.bend == Bend::linear_force_shift) {
    const V slope = S::set(p.slope);
    out.u = out.u - slope * r;
    out.f = S::fma(slope, over, out.f);
    if constexpr (second) out.df = out.df - half * slope * over * y;
    return out;
  }
  const V x = S::larger(r - S::set(in.from), S::set(0.0));
  if (in.bend == Bend::force_switch) {
    const V a = S::set(p.a), b = S::set(p.b), x2 = x * x, bent = x2 * S::fma(b, x, a);
    out.u = out.u - x2 * x * S::fma(S::set(p.quarter_b), x, S::set(p.third_a));
    out.f = S::fma(bent, over, out.f);
    if constexpr (second) out.df = out.df + half * over * (x * S::fma(S::set(3.0) * b, x, S::set(2.0) * a) * over - bent * y);
    return out;
  }
  const V i = S::set(in.inverse_width), w = x * i, w2 = w * w, rest = S::set(1.0) - w, plain = power * S::set(1.0 / n);
  const V fade = S::fma(w2 * w, S::fma(w, S::fma(S::set(-6.0), w, S::set(15.0)), S::set(-10.0)), S::set(1.0));
  const V fade1 = S::set(-30.0) * w2 * rest * rest * i, by_r = plain * fade1 - power * over * fade;  // du/dr
  out.u = plain * fade;
  out.f = -by_r * over;
  if constexpr (second) {
    const V fade2 = S::set(-60.0) * w * rest * (rest - w) * i * i;
    const V by_r2 = S::set(n + 1.0) * power * y * fade - S::set(2.0) * power * over * fade1 + plain * fade2;
    out.df = half * over * (by_r * y - by_r2 * over);
  }
  return out;
}

template <class S, Field field, bool second>
[[gnu::always_inline]] inline Shape<S> coulomb_shape(const SlopeInput& k, typename S::V s, typename S::V over, typename S::V y) {
  using V = typename S::V;
  const Input<double>& in = k.in;
  Shape<S> out;
  out.f = over * y;
  out.df = S::set(-1.5) * out.f * y;
  if constexpr (field == Field::power) {
    const V slope = S::set(in.slope);
    out.u = S::fma(S::set(in.k), s, over) - S::set(in.shift) - slope * (s * over - S::set(in.rc));
    if constexpr (second) out.df = out.df - S::set(0.5) * slope * out.f;
    out.f = out.f + slope * over - S::set(in.k2);
  } else {
    const V t = S::fma(s, S::set(in.scale), S::set(-1.0));
    V far;
    even_odd<S>(in.energy_series, in.terms, t, far);
    out.u = over - far - S::set(in.shift);
    even_odd<S>(in.force_series, in.terms, t, far);
    out.f = out.f - far;
    if constexpr (second) {
      even_odd<S>(k.second_series, in.terms, t, far);
      out.df = out.df - S::set(in.scale) * far;
    }
  }
  return out;
}

template <class S>
[[gnu::always_inline]] inline double total(const typename S::V& v) {
  constexpr int width = sizeof(v) / sizeof(double);
  double lane[width], sum = 0;
  std::memcpy(lane, static_cast<const void*>(&v), sizeof v);
  for (const double x : lane) sum += x;
  return sum;
}
template <class S>
[[gnu::always_inline]] inline void add(double* p, const typename S::V& v) {
  typename S::V now;
  std::memcpy(static_cast<void*>(&now), p, sizeof now);
  now = now + v;
  std::memcpy(p, &now, sizeof now);
}

template <class S, Field field, bool modified, bool second, Slope wanted>
void slopes(const SlopeInput& k, const Row* begin, const Row* end, const Entry* entries, SlopeSums& sums) {
  using V = typename S::V;
  constexpr bool charged = field != Field::none, all = wanted == Slope::all;
  constexpr int width = sizeof(V) / sizeof(double);
  const Input<double>& in = k.in;
  const V zero = S::set(0.0);
  V box[9], energy = zero;
  for (V& b : box) b = zero;
  for (const Row* row = begin; row != end; ++row) {
    const std::size_t first = static_cast<std::size_t>(row->i) * i_width;
    const int n_lj = all && k.every_well ? i_width : row->lj, n_i = charged ? i_width : n_lj;
    Mine<S> mine[i_width];
    load_mine<S, field, modified, Rule::table>(in, row->i, mine);
    V pull[i_width][3], by_q[i_width];
    for (int v = 0; v < i_width; ++v) {
      for (V& c : pull[v]) c = zero;
      by_q[v] = zero;
    }
    for (const Entry *e = entries + row->begin, *last = entries + row->end; e != last; ++e)
      for (int half = 0; half < S::halves; ++half) {
        const std::size_t at = static_cast<std::size_t>(e->j) * j_width + static_cast<std::size_t>(half) * (j_width / S::halves);
        const typename S::P xj[3] = {S::place_j(in.x[0] + at), S::place_j(in.x[1] + at), S::place_j(in.x[2] + at)};
        const V q = charged ? S::number_j(in.q_j + at) : zero;
        const typename S::T type = S::type_j(in.type + at);
        V wj[3], dq = zero;
        if constexpr (second) {
          for (int c = 0; c < 3; ++c) wj[c] = S::number_j(k.w[c] + at);
          if constexpr (charged && all) dq = S::number_j(k.dq_j + at);
        }
        V push[3] = {zero, zero, zero}, push_q = zero;
        for (int v = 0; v < n_i; ++v) {
          V d[3];
          displacement<S>(in, mine[v].x, xj, d);
          const V s = square<S>(d);
          const auto near = S::below(s, S::set(in.radius2), e->mask, v, half);
          V over, y, f = zero, df = zero, dd[3], ds = zero, more = zero;
          S::inverses(s, over, y);
          if constexpr (second) {
            for (int c = 0; c < 3; ++c) dd[c] = S::set(k.w[c][first + static_cast<std::size_t>(v)]) - wj[c];
            if (k.strained)
              for (int c = 0; c < 3; ++c) dd[c] = S::fma(d[0], S::set(k.strain[0][c]), S::fma(d[1], S::set(k.strain[1][c]), S::fma(d[2], S::set(k.strain[2][c]), dd[c])));
            ds = S::only(near, S::set(2.0) * S::fma(d[2], dd[2], S::fma(d[1], dd[1], d[0] * dd[0])));
          }
          if constexpr (charged) {
            Shape<S> c = coulomb_shape<S, field, second>(k, s, over, y);
            const auto inside = S::below(s, S::set(in.twin ? in.q_radius2 : in.radius2), e->mask, v, half);
            c.f = S::only(inside, c.f);
            c.u = S::only(inside, c.u);
            const V qq = mine[v].q * q;
            f = qq * c.f;
            if constexpr (second) {
              df = qq * S::only(inside, c.df);
              if constexpr (all) {
                const V dqi = S::set(k.dq_i[first + static_cast<std::size_t>(v)]), turn = S::set(-0.5) * c.f * ds;
                more = (dqi * q + mine[v].q * dq) * c.f;
                by_q[v] = S::fma(q, turn, S::fma(dq, c.u, by_q[v]));
                push_q = S::fma(mine[v].q, turn, S::fma(dqi, c.u, push_q));
              }
            } else {
              energy = S::fma(qq, c.u, energy);
              if constexpr (all) {
                by_q[v] = S::fma(q, c.u, by_q[v]);
                push_q = S::fma(mine[v].q, c.u, push_q);
              }
            }
          }
          if (v < n_lj) {
            Shape<S> six = power_shape<S, 6, modified, second>(in, in.six, s, over, y), twelve = power_shape<S, 12, modified, second>(in, in.twelve, s, over, y);
            const auto inside = S::below(s, S::set(in.twin ? in.lj_radius2 : in.radius2), e->mask, v, half);
            six.f = S::only(inside, six.f);
            twelve.f = S::only(inside, twelve.f);
            const typename S::T entry = S::entry(mine[v].at, type);
            const V c6 = S::pick(in.c6, entry), c12 = S::pick(in.c12, entry);
            f = f + (c12 * twelve.f - c6 * six.f);
            V u6, u12;
            if constexpr (second) {
              df = df + S::only(inside, c12 * twelve.df - c6 * six.df);
              if constexpr (all) {
                more = more + (S::pick(k.dc12, entry) * twelve.f - S::pick(k.dc6, entry) * six.f);
                u6 = S::set(-0.5) * six.f * ds;
                u12 = S::set(-0.5) * twelve.f * ds;
              }
            } else {
              u6 = S::only(inside, six.u);
              u12 = S::only(inside, twelve.u);
              energy = energy + (c12 * u12 - c6 * u6);
            }
            if constexpr (all) {
              double lane6[width], lane12[width];
              std::memcpy(lane6, &u6, sizeof u6);
              std::memcpy(lane12, &u12, sizeof u12);
              const std::int32_t* tj = in.type + at;
              double* table = sums.table + static_cast<std::size_t>(in.type[first + static_cast<std::size_t>(v)]) * static_cast<std::size_t>(in.types) * 2 * table_lanes;
              for (std::uint32_t lanes = k.lj_lanes[e->j] >> (half * width) & e->mask >> (8 * v + half * width) & ((1U << width) - 1); lanes != 0; lanes &= lanes - 1) {
                const int l = __builtin_ctz(lanes);
                double* to = table + (static_cast<std::size_t>(tj[l]) * table_lanes + static_cast<std::size_t>(l)) * 2;
                to[0] += lane6[l];
                to[1] += lane12[l];
              }
            }
          }
          V g[3];
          if constexpr (second) {
            const V change = S::fma(df, ds, more);
            for (int c = 0; c < 3; ++c) g[c] = -S::only(near, S::fma(change, d[c], f * dd[c]));
          } else {
            for (int c = 0; c < 3; ++c) g[c] = -f * d[c];
          }
          for (int c = 0; c < 3; ++c) {
            pull[v][c] = pull[v][c] + g[c];
            push[c] = push[c] - g[c];
          }
          for (int a = 0; a < 3; ++a)
            for (int b = second ? 0 : a; b < 3; ++b) box[3 * a + b] = S::fma(d[a], g[b], box[3 * a + b]);
        }
        for (int c = 0; c < 3; ++c) add<S>(sums.g[c] + at, push[c]);
        if constexpr (charged && all) add<S>(sums.q + at, push_q);
      }
    for (int v = 0; v < n_i; ++v) {
      for (int c = 0; c < 3; ++c) sums.g[c][first + static_cast<std::size_t>(v)] += total<S>(pull[v][c]);
      if constexpr (charged && all) sums.q[first + static_cast<std::size_t>(v)] += k.ke * total<S>(by_q[v]);
    }
  }
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) sums.box[3 * a + b] += total<S>(box[second || b >= a ? 3 * a + b : 3 * b + a]);
  sums.energy += total<S>(energy);
}

/// `lean`: one kernel for places alone and for all operands, which compiles in half the time.
template <class S, bool lean = false>
constexpr SlopeKernels slope_kernels_of() {
  constexpr Slope places = lean ? Slope::all : Slope::places;
  SlopeKernels k{};
  const auto fields = [&]<Field field>() {
    const auto shapes = [&]<bool modified>() {
      auto& to = k.of[static_cast<std::size_t>(field)][modified];
      to[0] = {&slopes<S, field, modified, false, places>, &slopes<S, field, modified, false, Slope::all>};
      to[1] = {&slopes<S, field, modified, true, places>, &slopes<S, field, modified, true, Slope::all>};
    };
    shapes.template operator()<false>();
    shapes.template operator()<true>();
  };
  fields.template operator()<Field::none>();
  fields.template operator()<Field::power>();
  fields.template operator()<Field::ewald_long>();
  return k;
}

}  // namespace tessera::molecular::pairs
