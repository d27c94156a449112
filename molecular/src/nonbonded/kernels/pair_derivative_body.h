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

/// One sweep over rows of the list. What the pairs of a row give adds up in vectors, which go to
/// `sums` at the end of the row; what they give to atoms j, at the end of an entry.
template <class S, Field field, bool modified, bool second, Operands wanted>
class DerivativeSweep {
  using V = typename S::V;
  using N = typename S::N;
  using Mask = decltype(S::below(V{}, V{}));
  static constexpr bool charged = field != Field::none, all = wanted == Operands::all;
  static constexpr int n = i_width / S::rows, width = j_width / S::halves;

  /// The atoms j of an entry, or half of them: what is read of them, and what they get.
  struct Others {
    std::size_t at;
    std::uint32_t mask, rare;
    int half;
    typename S::P x[3], w[3];
    V q, dq, is_common, push[3], push_q;
  };
  /// The pairs of a vector of atoms i with them. `more`: what d(q_i q_j) and dc give to df.
  struct Pairs {
    V d[3], dd[3], ds, f, df, more;
    Separation<S> apart;
    Mask near;
  };

 public:
  DerivativeSweep(const DerivativeInput<N>& given, DerivativeSums<N>& to)
      : k(given), energies(all || k.wants_energy), sums(to) {}

  [[gnu::always_inline]] inline void take_row(const Row& row, const Entry* entries) {
    begin_row(row);
    for (std::int64_t entry = row.begin; entry < row.end; ++entry)
      for (int half = 0; half < S::halves; ++half) {
        Others j = others(entries[entry], half);
        const int from = entry < row.last ? 0 : n / 2,
                  to = entry >= row.first && entry < row.last ? n / 2 : n;
        if constexpr (n == 2) {
          if (from == 0 && n_i > 0) take_pairs(0, j);
          if (to == 2 && n_i > 1) take_pairs(1, j);
        } else {
          for (int v = from; v < std::min(to, n_i); ++v) take_pairs(v, j);
        }
        for (int c = 0; c < 3; ++c) S::put(sums.g[c] + j.at, j.push[c]);
        if constexpr (charged && all) S::put(sums.q + j.at, j.push_q);
      }
    end_row();
  }
  void end() {
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        sums.box[3 * a + b] += S::total(box_sum[second || b >= a ? 3 * a + b : 3 * b + a]);
    sums.energy += S::total(energy_sum);
  }

 private:
  [[gnu::always_inline]] inline void begin_row(const Row& row) {
    const Input<N>& in = k.in;
    const V zero = S::set(N(0));
    first = static_cast<std::size_t>(row.i) * i_width;
    n_lj = all && k.every_well ? n : (row.lj + S::rows - 1) / S::rows;
    n_i = charged ? n : n_lj;
    load_mine<S, field, modified, Rule::table>(in, row.i, mine);
    for (std::size_t a = 0; a < i_width; ++a) {
      const auto entry = static_cast<std::size_t>(in.type[first + a] * in.types + k.common);
      usual[0][a] = in.c6[entry];
      usual[1][a] = in.c12[entry];
      if constexpr (second && all) {
        usual[2][a] = k.dc6[entry];
        usual[3][a] = k.dc12[entry];
      }
    }
    energy = zero;
    for (V& b : box) b = zero;
    for (int v = 0; v < n; ++v) {
      for (V& c : pull[v]) c = zero;
      table_sum[v][0] = table_sum[v][1] = zero;
      if constexpr (second)
        for (int c = 0; c < 3; ++c) wi[v][c] = S::position_i(k.w[c] + first, v);
    }
  }

  [[gnu::always_inline]] inline Others others(const Entry& e, int half) const {
    const Input<N>& in = k.in;
    const V zero = S::set(N(0));
    Others j;
    j.at = static_cast<std::size_t>(e.j) * j_width + static_cast<std::size_t>(half * width);
    j.mask = e.mask;
    j.rare = k.rare[e.j];
    j.half = half;
    for (int c = 0; c < 3; ++c) j.x[c] = S::position_j(in.x[c] + j.at);
    j.q = charged ? S::number_j(in.q_j + j.at) : zero;
    j.is_common = S::number_j(k.is_common + j.at);
    j.dq = zero;
    if constexpr (second) {
      for (int c = 0; c < 3; ++c) j.w[c] = S::position_j(k.w[c] + j.at);
      if constexpr (charged && all) j.dq = S::number_j(k.dq + j.at);
    }
    for (V& c : j.push) c = zero;
    j.push_q = zero;
    return j;
  }

  [[gnu::always_inline]] inline void take_pairs(int v, Others& j) {
    Pairs p = met(v, j);
    if constexpr (charged) feel_charges(v, j, p);
    if (v < n_lj) feel_wells(v, j, p);
    V g[3];
    if constexpr (second) {
      const V change = S::fma(p.df, p.ds, p.more);
      for (int c = 0; c < 3; ++c) g[c] = -S::fma(change, p.d[c], p.f * p.dd[c]);
    } else {
      for (int c = 0; c < 3; ++c) g[c] = -p.f * p.d[c];
    }
    for (int c = 0; c < 3; ++c) {
      pull[v][c] = pull[v][c] + g[c];
      j.push[c] = j.push[c] - g[c];
    }
    if (!k.wants_box) return;
    for (int a = 0; a < 3; ++a)
      for (int b = second ? 0 : a; b < 3; ++b)
        box[3 * a + b] = S::fma(p.d[a], g[b], box[3 * a + b]);
  }

  /// Displacements, and their changes along the direction.
  [[gnu::always_inline]] inline Pairs met(int v, const Others& j) const {
    const V zero = S::set(N(0));
    Pairs p;
    p.ds = p.f = p.df = p.more = zero;
    displacement<S>(k.in, mine[v].x, j.x, p.d);
    p.apart.s = square<S>(p.d);
    p.near = S::below(p.apart.s, S::set(k.in.radius2), j.mask, v, j.half);
    S::inverses(p.apart.s, p.apart.over, p.apart.y);
    if constexpr (second) {
      const V* const d = p.d;
      for (int c = 0; c < 3; ++c)
        if constexpr (sizeof(N) == 4)
          p.dd[c] = S::apart(wi[v][c], j.w[c]);
        else
          p.dd[c] = wi[v][c] - j.w[c];
      if (k.strained)
        for (int c = 0; c < 3; ++c)
          p.dd[c] = S::fma(
              d[0], S::set(k.strain[0][c]),
              S::fma(d[1], S::set(k.strain[1][c]), S::fma(d[2], S::set(k.strain[2][c]), p.dd[c])));
      p.ds = S::set(N(2)) * S::fma(d[2], p.dd[2], S::fma(d[1], p.dd[1], d[0] * p.dd[0]));
    }
    return p;
  }

  [[gnu::always_inline]] inline void feel_charges(int v, Others& j, Pairs& p) {
    const Input<N>& in = k.in;
    const V s = p.apart.s;
    const Mask inside =
        in.two_cutoffs ? S::below(s, S::set(in.q_radius2), j.mask, v, j.half) : p.near;
    Shape<S> c = charges(p.apart);
    const V qq = mine[v].q * j.q;
    c.f = S::only(inside, c.f);
    p.f = qq * c.f;
    if constexpr (second) {
      p.df = qq * S::only(inside, c.df);
      if constexpr (all) {
        c.u = S::only(inside, c.u);
        const V dqi = S::number_i(k.dq + first, v), turn = S::set(N(-0.5)) * c.f * p.ds;
        p.more = S::fma(dqi, j.q, mine[v].q * j.dq) * c.f;
        pull[v][3] = S::fma(j.q, turn, S::fma(j.dq, c.u, pull[v][3]));
        j.push_q = S::fma(mine[v].q, turn, S::fma(dqi, c.u, j.push_q));
      }
    } else if (energies) {
      c.u = S::only(inside, c.u);
      energy = S::fma(qq, c.u, energy);
      if constexpr (all) {
        pull[v][3] = S::fma(j.q, c.u, pull[v][3]);
        j.push_q = S::fma(mine[v].q, c.u, j.push_q);
      }
    }
  }
  [[gnu::always_inline]] inline Shape<S> charges(const Separation<S>& apart) const {
    const Input<N>& in = k.in;
    const V t = field == Field::power ? apart.s : S::fma(apart.s, S::set(in.scale), S::set(N(-1)));
    const auto sum_of = [&](const N* series, V t) __attribute__((always_inline)) {
      V sum;
      even_odd<S>(series, field == Field::ewald ? short_terms : in.terms, t, sum);
      return sum;
    };
    return coulomb_shape<S, field, second>(
        in, apart, t, second ? all : energies,
        [&](V t) __attribute__((always_inline)) { return sum_of(in.force_series, t); },
        [&](V t) __attribute__((always_inline)) { return sum_of(k.second_series, t); });
  }

  [[gnu::always_inline]] inline void feel_wells(int v, const Others& j, Pairs& p) {
    const Input<N>& in = k.in;
    const V zero = S::set(N(0));
    const Mask inside =
        in.two_cutoffs ? S::below(p.apart.s, S::set(in.lj_radius2), j.mask, v, j.half) : p.near;
    const bool wants_u = !second && energies;
    Shape<S> six = power_shape<S, 6, modified, second>(in, in.six, p.apart, wants_u),
             twelve = power_shape<S, 12, modified, second>(in, in.twelve, p.apart, wants_u);
    V c6, c12, dc6 = zero, dc12 = zero;
    if (j.rare == 0) {
      c6 = j.is_common * S::number_i(usual[0], v);
      c12 = j.is_common * S::number_i(usual[1], v);
      if constexpr (second && all) {
        dc6 = j.is_common * S::number_i(usual[2], v);
        dc12 = j.is_common * S::number_i(usual[3], v);
      }
    } else {
      const typename S::T entry = S::entry(mine[v].at, S::type_j(in.type + j.at));
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
    p.f = p.f + (c12 * twelve.f - c6 * six.f);
    if constexpr (second) {
      p.df = p.df + S::only(inside, c12 * twelve.df - c6 * six.df);
      if constexpr (all) {
        p.more = p.more + (dc12 * twelve.f - dc6 * six.f);
        u6 = S::set(N(-0.5)) * six.f * p.ds;
        u12 = S::set(N(-0.5)) * twelve.f * p.ds;
      }
    } else if (energies) {
      u6 = S::only(inside, six.u);
      u12 = S::only(inside, twelve.u);
      energy = energy + (c12 * u12 - c6 * u6);
    }
    if constexpr (all) give_to_tables(v, j, inside, u6, u12);
  }
  /// To the table of the common type, which the row adds up, and to those of rare ones.
  [[gnu::always_inline]] inline void give_to_tables(int v, const Others& j, const Mask& inside,
                                                    const V& u6, const V& u12) {
    table_sum[v][0] = S::fma(j.is_common, u6, table_sum[v][0]);
    table_sum[v][1] = S::fma(j.is_common, u12, table_sum[v][1]);
    if (j.rare == 0) return;
    const std::size_t at_i = first + static_cast<std::size_t>(v) * S::rows;
    const std::uint32_t of_row = j.rare >> (j.half * width) & ((1U << width) - 1),
                        of_rows = S::rows == 1 ? of_row : of_row | of_row << width;
    add_to_tables<S>(sums.table, k.in.types, k.in.type + at_i, k.in.type + j.at,
                     S::bits(inside) & of_rows, u6, u12);
  }

  [[gnu::always_inline]] inline void end_row() {
    const V zero = S::set(N(0));
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
            (static_cast<std::size_t>(k.in.type[at] * k.in.types + k.common) * table_lanes + r) * 2;
        to[0] += static_cast<double>(pairs[r][0]);
        to[1] += static_cast<double>(pairs[r][1]);
      }
    }
    S::lengthen(energy_sum, energy);
    if (k.wants_box)
      for (int b = 0; b < 9; ++b) S::lengthen(box_sum[b], box[b]);
  }

  const DerivativeInput<N> k;  ///< a copy, which nothing that is written can be part of
  const bool energies;
  DerivativeSums<N>& sums;
  typename S::Long box_sum[9] = {}, energy_sum = {};
  // Of a row:
  std::size_t first = 0;
  int n_lj = 0, n_i = 0;  ///< vectors of atoms i with wells, and with anything
  Mine<S> mine[n];
  N usual[4][i_width] = {};  ///< what each atom has with the common type: c6, c12, dc6, dc12
  typename S::P wi[n][3];
  V pull[n][4], table_sum[n][2], box[9], energy;  ///< pull: x y z, charge
};

template <class S, Field field, bool modified, bool second, Operands wanted>
void derivatives(const DerivativeInput<typename S::N>& in, const Row* begin, const Row* end,
                 const Entry* entries, DerivativeSums<typename S::N>& sums) {
  DerivativeSweep<S, field, modified, second, wanted> sweep(in, sums);
  for (const Row* row = begin; row != end; ++row) sweep.take_row(*row, entries);
  sweep.end();
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
