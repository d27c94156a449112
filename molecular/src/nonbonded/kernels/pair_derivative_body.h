// SPDX-License-Identifier: Apache-2.0
//
// The body of pair_derivative_kernels.h over a vector S of numbers (lanes_*.h).
#pragma once
#include "nonbonded/kernels/pair_body.h"
#include "nonbonded/kernels/pair_derivative_kernels.h"

#include <algorithm>
#include <cstring>

namespace tessera::molecular::pairs {

/// Adds two numbers of each lane that `lanes` names to the tables of its types.
template <class S>
void add_to_tables(double* table, std::int32_t types, const std::int32_t* type_i,
                   const std::int32_t* type_j, std::uint32_t lanes, const typename S::V& v6,
                   const typename S::V& v12) {
  using N = typename S::N;
  constexpr std::uint32_t width = j_width / S::halves;
  N of6[S::rows * width], of12[S::rows * width];
  std::memcpy(of6, static_cast<const void*>(&v6), sizeof v6);
  std::memcpy(of12, static_cast<const void*>(&v12), sizeof v12);
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto l = static_cast<std::uint32_t>(__builtin_ctz(lanes));
    double* const to =
        table +
        (static_cast<std::size_t>(type_i[l / width] * types + type_j[l % width]) * table_lanes +
         l % table_lanes) *
            2;
    to[0] += static_cast<double>(of6[l]);
    to[1] += static_cast<double>(of12[l]);
  }
}

template <class S, Field field, bool modified, bool second, Operands wanted>
void derivatives(const DerivativeInput<typename S::N>& given, const Row* begin, const Row* end,
                 const Entry* entries, DerivativeSums<typename S::N>& sums) {
  using V = typename S::V;
  using N = typename S::N;
  constexpr bool charged = field != Field::none, all = wanted == Operands::all;
  constexpr int n = i_width / S::rows, width = j_width / S::halves;
  const DerivativeInput<N> k = given;
  const Input<N>& in = k.in;
  const bool energies = all || k.wants_energy;
  const V zero = S::set(N(0));
  typename S::Long box_sum[9] = {}, energy_sum = {};
  for (const Row* row = begin; row != end; ++row) {
    const std::size_t first = static_cast<std::size_t>(row->i) * i_width;
    const int n_lj = all && k.every_well ? n : (row->lj + S::rows - 1) / S::rows,
              n_i = charged ? n : n_lj;
    Mine<S> mine[n];
    load_mine<S, field, modified, Rule::table>(in, row->i, mine);
    N usual[4][i_width] = {};  // what each atom has with the common type: c6, c12, dc6, dc12
    for (std::size_t a = 0; a < i_width; ++a) {
      const auto entry = static_cast<std::size_t>(in.type[first + a] * in.types + k.common);
      usual[0][a] = in.c6[entry];
      usual[1][a] = in.c12[entry];
      if constexpr (second && all) {
        usual[2][a] = k.dc6[entry];
        usual[3][a] = k.dc12[entry];
      }
    }
    typename S::P wi[n][3];
    V pull[n][4], table_sum[n][2], box[9], energy = zero;  // pull: x y z, charge
    for (V& b : box) b = zero;
    for (int v = 0; v < n; ++v) {
      for (V& c : pull[v]) c = zero;
      table_sum[v][0] = table_sum[v][1] = zero;
      if constexpr (second)
        for (int c = 0; c < 3; ++c) wi[v][c] = S::position_i(k.w[c] + first, v);
    }
    for (std::int64_t entry = row->begin; entry < row->end; ++entry)
      for (int half = 0; half < S::halves; ++half) {
        const Entry* const e = entries + entry;
        const int from = entry < row->last ? 0 : n / 2,
                  to = entry >= row->first && entry < row->last ? n / 2 : n;
        const std::size_t at =
            static_cast<std::size_t>(e->j) * j_width + static_cast<std::size_t>(half * width);
        const typename S::P xj[3] = {S::position_j(in.x[0] + at), S::position_j(in.x[1] + at),
                                     S::position_j(in.x[2] + at)};
        const V q = charged ? S::number_j(in.q_j + at) : zero,
                is_common = S::number_j(k.is_common + at);
        const std::uint32_t rare = k.rare[e->j];
        typename S::P wj[3];
        V dq = zero;
        if constexpr (second) {
          for (int c = 0; c < 3; ++c) wj[c] = S::position_j(k.w[c] + at);
          if constexpr (charged && all) dq = S::number_j(k.dq + at);
        }
        V push[3] = {zero, zero, zero}, push_q = zero;
        const auto one = [&](int v) __attribute__((always_inline)) {
          const std::size_t at_i = first + static_cast<std::size_t>(v) * S::rows;
          V d[3], dd[3], ds = zero, f = zero, df = zero, more = zero;
          displacement<S>(in, mine[v].x, xj, d);
          const V s = square<S>(d);
          const auto near = S::below(s, S::set(in.radius2), e->mask, v, half);
          Separation<S> apart{s, s, s};
          S::inverses(s, apart.over, apart.y);
          if constexpr (second) {
            for (int c = 0; c < 3; ++c)
              if constexpr (sizeof(N) == 4)
                dd[c] = S::apart(wi[v][c], wj[c]);
              else
                dd[c] = wi[v][c] - wj[c];
            if (k.strained)
              for (int c = 0; c < 3; ++c)
                dd[c] = S::fma(d[0], S::set(k.strain[0][c]),
                               S::fma(d[1], S::set(k.strain[1][c]),
                                      S::fma(d[2], S::set(k.strain[2][c]), dd[c])));
            ds = S::set(N(2)) * S::fma(d[2], dd[2], S::fma(d[1], dd[1], d[0] * dd[0]));
          }
          if constexpr (charged) {
            const auto inside =
                in.two_cutoffs ? S::below(s, S::set(in.q_radius2), e->mask, v, half) : near;
            const V t = field == Field::power ? s : S::fma(s, S::set(in.scale), S::set(N(-1)));
            const auto sum_of = [&](const N* series, V t) __attribute__((always_inline)) {
              V sum;
              even_odd<S>(series, field == Field::ewald ? short_terms : in.terms, t, sum);
              return sum;
            };
            Shape<S> c = coulomb_shape<S, field, second>(
                in, apart, t, second ? all : energies,
                [&](V t) __attribute__((always_inline)) { return sum_of(in.force_series, t); },
                [&](V t) __attribute__((always_inline)) { return sum_of(k.second_series, t); });
            const V qq = mine[v].q * q;
            c.f = S::only(inside, c.f);
            f = qq * c.f;
            if constexpr (second) {
              df = qq * S::only(inside, c.df);
              if constexpr (all) {
                c.u = S::only(inside, c.u);
                const V dqi = S::number_i(k.dq + first, v), turn = S::set(N(-0.5)) * c.f * ds;
                more = S::fma(dqi, q, mine[v].q * dq) * c.f;
                pull[v][3] = S::fma(q, turn, S::fma(dq, c.u, pull[v][3]));
                push_q = S::fma(mine[v].q, turn, S::fma(dqi, c.u, push_q));
              }
            } else if (energies) {
              c.u = S::only(inside, c.u);
              energy = S::fma(qq, c.u, energy);
              if constexpr (all) {
                pull[v][3] = S::fma(q, c.u, pull[v][3]);
                push_q = S::fma(mine[v].q, c.u, push_q);
              }
            }
          }
          if (v < n_lj) {
            const auto inside =
                in.two_cutoffs ? S::below(s, S::set(in.lj_radius2), e->mask, v, half) : near;
            const bool wanted_u = !second && energies;
            Shape<S> six = power_shape<S, 6, modified, second>(in, in.six, apart, wanted_u),
                     twelve = power_shape<S, 12, modified, second>(in, in.twelve, apart, wanted_u);
            V c6, c12, dc6 = zero, dc12 = zero;
            if (rare == 0) {
              c6 = is_common * S::number_i(usual[0], v);
              c12 = is_common * S::number_i(usual[1], v);
              if constexpr (second && all) {
                dc6 = is_common * S::number_i(usual[2], v);
                dc12 = is_common * S::number_i(usual[3], v);
              }
            } else {
              const typename S::T entry = S::entry(mine[v].at, S::type_j(in.type + at));
              c6 = S::pick(in.c6, entry);
              c12 = S::pick(in.c12, entry);
              if constexpr (second && all) {
                dc6 = S::pick(k.dc6, entry);
                dc12 = S::pick(k.dc12, entry);
              }
            }
            V u6 = zero, u12 = zero;
            six.f = S::only(inside, six.f);
            twelve.f = S::only(inside, twelve.f);
            f = f + (c12 * twelve.f - c6 * six.f);
            if constexpr (second) {
              df = df + S::only(inside, c12 * twelve.df - c6 * six.df);
              if constexpr (all) {
                more = more + (dc12 * twelve.f - dc6 * six.f);
                u6 = S::set(N(-0.5)) * six.f * ds;
                u12 = S::set(N(-0.5)) * twelve.f * ds;
              }
            } else if (energies) {
              u6 = S::only(inside, six.u);
              u12 = S::only(inside, twelve.u);
              energy = energy + (c12 * u12 - c6 * u6);
            }
            if constexpr (all) {
              table_sum[v][0] = S::fma(is_common, u6, table_sum[v][0]);
              table_sum[v][1] = S::fma(is_common, u12, table_sum[v][1]);
              if (rare != 0) {
                const std::uint32_t of_row = rare >> (half * width) & ((1U << width) - 1),
                                    of_rows = S::rows == 1 ? of_row : of_row | of_row << width;
                add_to_tables<S>(sums.table, in.types, in.type + at_i, in.type + at,
                                 S::bits(inside) & of_rows, u6, u12);
              }
            }
          }
          V g[3];
          if constexpr (second) {
            const V change = S::fma(df, ds, more);
            for (int c = 0; c < 3; ++c) g[c] = -S::fma(change, d[c], f * dd[c]);
          } else {
            for (int c = 0; c < 3; ++c) g[c] = -f * d[c];
          }
          for (int c = 0; c < 3; ++c) {
            pull[v][c] = pull[v][c] + g[c];
            push[c] = push[c] - g[c];
          }
          if (!k.wants_box) return;
          for (int a = 0; a < 3; ++a)
            for (int b = second ? 0 : a; b < 3; ++b)
              box[3 * a + b] = S::fma(d[a], g[b], box[3 * a + b]);
        };
        if constexpr (n == 2) {
          if (from == 0 && n_i > 0) one(0);
          if (to == 2 && n_i > 1) one(1);
        } else {
          for (int v = from; v < std::min(to, n_i); ++v) one(v);
        }
        for (int c = 0; c < 3; ++c) S::put(sums.g[c] + at, push[c]);
        if constexpr (charged && all) S::put(sums.q + at, push_q);
      }
    for (int v = 0; v < n_i; ++v) {
      N own[S::rows][4], pairs[S::rows][4];
      S::sums(pull[v], own);
      const V tables[4] = {table_sum[v][0], table_sum[v][1], zero, zero};
      if constexpr (all) S::sums(tables, pairs);
      for (std::size_t r = 0; r < S::rows; ++r) {
        const std::size_t at = first + static_cast<std::size_t>(v) * S::rows + r;
        for (int c = 0; c < 3; ++c) sums.g[c][at] += own[r][c];
        if constexpr (!all) continue;
        if constexpr (charged) sums.q[at] += own[r][3];
        if (v >= n_lj) continue;
        double* const to =
            sums.table +
            (static_cast<std::size_t>(in.type[at] * in.types + k.common) * table_lanes + r) * 2;
        to[0] += static_cast<double>(pairs[r][0]);
        to[1] += static_cast<double>(pairs[r][1]);
      }
    }
    S::lengthen(energy_sum, energy);
    if (k.wants_box)
      for (int b = 0; b < 9; ++b) S::lengthen(box_sum[b], box[b]);
  }
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      sums.box[3 * a + b] += S::total(box_sum[second || b >= a ? 3 * a + b : 3 * b + a]);
  sums.energy += S::total(energy_sum);
}

/// A lean S has one kernel for positions alone and all operands, all modifiers and lengths of
/// Ewald's series.
template <class S>
constexpr DerivativeTable<typename S::N> derivative_table_of() {
  constexpr bool lean = S::lean;
  constexpr Operands few = lean ? Operands::all : Operands::positions;
  DerivativeTable<typename S::N> k{};
  const auto fields = [&]<Field field>() {
    const auto shapes = [&]<bool modified>() {
      auto& to = k[static_cast<std::size_t>(field)][modified];
      to[0] = {&derivatives<S, field, modified, false, few>,
               &derivatives<S, field, modified, false, Operands::all>};
      to[1] = {&derivatives<S, field, modified, true, few>,
               &derivatives<S, field, modified, true, Operands::all>};
    };
    shapes.template operator()<true>();
    if constexpr (lean)
      k[static_cast<std::size_t>(field)][false] = k[static_cast<std::size_t>(field)][true];
    else
      shapes.template operator()<false>();
  };
  fields.template operator()<Field::none>();
  fields.template operator()<Field::power>();
  fields.template operator()<Field::ewald_long>();
  if constexpr (lean)
    k[static_cast<std::size_t>(Field::ewald)] = k[static_cast<std::size_t>(Field::ewald_long)];
  else if constexpr (sizeof(typename S::N) == 4)
    fields.template operator()<Field::ewald>();
  return k;
}
template <class Single, class Twice>
constexpr DerivativeKernels derivative_kernels_of() {
  return {derivative_table_of<Single>(), derivative_table_of<Twice>()};
}

}  // namespace tessera::molecular::pairs
