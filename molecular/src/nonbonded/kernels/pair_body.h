// SPDX-License-Identifier: Apache-2.0
//
// One body of all pair kernels, over S: a vector of S::width numbers for each of S::rows atoms i at
// once (lanes_*.h). Included by one source per instruction set. With y = 1/r^2 the force on i is f
// d, d = x_i - x_j, by the formulas of pair_formulas.h.
#pragma once
#include "nonbonded/kernels/pair_formulas.h"

#include <algorithm>
#include <type_traits>

namespace tessera::molecular::pairs {

/// What all pairs share, as vectors that the compiler may keep in registers: read through `Input`
/// they might alias the forces.
template <class S, Field field>
struct Shared {
  using V = typename S::V;
  static constexpr int n = field == Field::ewald ? short_terms : 1;
  V radius2, scale, h[3], series[n];
  explicit Shared(const Input<typename S::N>& in)
      : radius2(S::set(in.radius2)), scale(S::set(in.scale)) {
    for (int a = 0; a < 3; ++a) h[a] = S::set(in.h[a][a]);
    if constexpr (field == Field::ewald)
      for (int k = 0; k < n; ++k) series[k] = S::set(in.force_series[k]);
  }
};
/// Parameters of the atoms i of one vector.
template <class S>
struct Mine {
  typename S::P x[3];
  typename S::V q, a, b;
  typename S::T at;
};
template <class S>
struct Strength {
  typename S::V f, lj, coulomb;  ///< F/r; energies where asked for
};

template <class S, Field field, bool modified, Rule rule, bool general, bool with_lj, bool energies>
[[gnu::always_inline]] inline Strength<S> strength(const Input<typename S::N>& in,
                                                   const Shared<S, field>& all, const Mine<S>& mine,
                                                   const Separation<S>& at, typename S::V q,
                                                   typename S::V a, typename S::V b,
                                                   typename S::T type) {
  using V = typename S::V;
  constexpr bool charged = field != Field::none;
  const V s = at.s, y = at.y;
  Strength<S> out;
  if constexpr (charged) {
    const auto far = [&](V t) __attribute__((always_inline)) {
      V sum;
      if constexpr (field == Field::ewald)
        sum = even_odd_short<S>(all.series, t);
      else
        even_odd<S>(in.force_series, in.terms, t, sum);
      return sum;
    };
    const V qq = mine.q * q, t = field == Field::power ? s : S::fma(s, all.scale, S::set(-1));
    const Shape<S> c = coulomb_shape<S, field, false>(in, at, t, energies, far, far);
    out.f = qq * c.f;
    if constexpr (energies) out.coulomb = qq * c.u;
    if (general && in.two_cutoffs) {
      const auto near = S::below(s, S::set(in.q_radius2));
      out.f = S::only(near, out.f);
      if constexpr (energies) out.coulomb = S::only(near, out.coulomb);
    }
  } else if constexpr (energies) {
    out.coulomb = S::set(0);
  }
  if constexpr (with_lj) {
    V f, u = S::set(0);
    const bool reshaped = modified && (!S::lean || in.modifier != ForceModifier::none);
    if (rule == Rule::lorentz_berthelot && !reshaped && !energies) {
      f = plain_well_of<S>(mine.a + a, mine.b * b, y);
    } else {
      V c6, c12;
      if constexpr (rule == Rule::lorentz_berthelot) {
        const V sigma = mine.a + a, e = mine.b * b, sigma2 = sigma * sigma,
                sigma6 = sigma2 * sigma2 * sigma2;
        c6 = e * sigma6;
        c12 = S::set(2) * c6 * sigma6;
      } else if constexpr (rule == Rule::geometric) {
        c6 = mine.a * a;
        c12 = mine.b * b;
      } else {
        const typename S::T at = S::entry(mine.at, type);
        c6 = S::pick(in.c6, at);
        c12 = S::pick(in.c12, at);
      }
      if (reshaped || energies) {
        const Shape<S> six = power_shape<S, 6, modified, false>(in, in.six, at, energies),
                       twelve = power_shape<S, 12, modified, false>(in, in.twelve, at, energies);
        f = c12 * twelve.f - c6 * six.f;
        if constexpr (energies) u = c12 * twelve.u - c6 * six.u;
      }
      if (!reshaped) f = plain_well<S>(c6, c12, y);
    }
    if (general && in.two_cutoffs) {
      const auto near = S::below(s, S::set(in.lj_radius2));
      f = S::only(near, f);
      u = S::only(near, u);
    }
    if constexpr (charged)
      out.f = out.f + f;
    else
      out.f = f;
    out.lj = u;
  } else if constexpr (energies) {
    out.lj = S::set(0);
  }
  return out;
}

template <class S, bool general = true>
[[gnu::always_inline]] inline void displacement(const Input<typename S::N>& in,
                                                const typename S::V* h, const typename S::P* xi,
                                                const typename S::P* xj, typename S::V* d) {
  using V = typename S::V;
  const V a = S::apart(xi[0], xj[0]), b = S::apart(xi[1], xj[1]), c = S::apart(xi[2], xj[2]);
  d[0] = a * h[0];
  d[1] = b * h[1];
  d[2] = c * h[2];
  if (general && in.slanted) {
    d[0] = S::fma(b, S::set(in.h[1][0]), S::fma(c, S::set(in.h[2][0]), d[0]));
    d[1] = S::fma(c, S::set(in.h[2][1]), d[1]);
  }
}
template <class S>
[[gnu::always_inline]] inline void displacement(const Input<typename S::N>& in,
                                                const typename S::P* xi, const typename S::P* xj,
                                                typename S::V* d) {
  const typename S::V h[3] = {S::set(in.h[0][0]), S::set(in.h[1][1]), S::set(in.h[2][2])};
  displacement<S, true>(in, h, xi, xj, d);
}
template <class S>
[[gnu::always_inline]] inline typename S::V square(const typename S::V* d) {
  return S::fma(d[2], d[2], S::fma(d[1], d[1], d[0] * d[0]));
}

template <class S, Field field, bool modified, Rule rule>
[[gnu::always_inline]] inline void load_mine(const Input<typename S::N>& in, std::int32_t i,
                                             Mine<S>* mine) {
  for (int v = 0; v < i_width / S::rows; ++v) {
    const std::size_t at = static_cast<std::size_t>(i) * i_width;
    for (int c = 0; c < 3; ++c) mine[v].x[c] = S::position_i(in.x[c] + at, v);
    if constexpr (field != Field::none) mine[v].q = S::number_i(in.q_i + at, v);
    if constexpr (rule != Rule::table) {
      mine[v].a = S::number_i(in.a_i + at, v);
      mine[v].b = S::number_i(in.b_i + at, v);
    } else {
      mine[v].at = S::row_of(in.type + at, in.types, v);
    }
  }
}

template <int n>
using Count = std::integral_constant<int, n>;

/// Forces of one row; n_lj: of the vectors of i, how many feel Lennard-Jones. A constant (`Count`)
/// or a number: a body for each, or one for all.
template <class S, Field field, bool modified, Rule rule, bool general, class Number>
[[gnu::always_inline]] inline void force_row(const Input<typename S::N>& in,
                                             const Shared<S, field>& all, const Row& row,
                                             const Entry* entries, typename S::Sum* const force[3],
                                             typename S::I& worst, const Number n_lj) {
  using V = typename S::V;
  using I = typename S::I;
  constexpr int n = i_width / S::rows;
  Mine<S> mine[n];
  load_mine<S, field, modified, rule>(in, row.i, mine);
  I pull[n][3];
  for (auto& p : pull)
    for (I& c : p) c = S::nothing();
  struct Met {
    V d[n][3], s[n], over[n], y[n];
  };
  /// Entries of the vectors [from, to) of i.
  const auto visit = [&](const Entry* e, const Entry* end, const auto from, const auto to)
      __attribute__((always_inline)) {
    if (e == end) return;
    const auto slot = [](const Entry* e, int half) __attribute__((always_inline)) {
      return static_cast<std::size_t>(e->j) * j_width +
             static_cast<std::size_t>(half) * (j_width / S::halves);
    };
    // Distances and their inverses of the next vectors are under way while forces of these are
    // computed: one after the other, each entry would wait for the whole chain from positions to
    // sums.
    const auto meet = [&](const Entry* e, int half) __attribute__((always_inline)) {
      const std::size_t at = slot(e, half);
      const typename S::P xj[3] = {S::position_j(in.x[0] + at), S::position_j(in.x[1] + at),
                                   S::position_j(in.x[2] + at)};
      Met m;
      for (int v = from; v < to; ++v) {
        displacement<S, general>(in, all.h, mine[v].x, xj, m.d[v]);
        m.s[v] = square<S>(m.d[v]);
        if constexpr (field != Field::none || modified)
          S::inverses(m.s[v], m.over[v], m.y[v]);
        else
          m.y[v] = S::set(1) / m.s[v];
      }
      return m;
    };
    for (; e != end; ++e)
      for (int half = 0; half < S::halves; ++half) {
        const Met met = meet(e, half);
        const std::size_t at = slot(e, half);
        V q = S::set(0), a = q, b = q;
        typename S::T type = S::no_type();
        if constexpr (field != Field::none) q = S::number_j(in.q_j + at);
        if (from < n_lj) {
          if constexpr (rule == Rule::table) {
            type = S::type_j(in.type + at);
          } else {
            a = S::number_j(in.a_j + at);
            b = S::number_j(in.b_j + at);
          }
        }
        I push[3] = {S::nothing(), S::nothing(), S::nothing()};
        const auto one = [&]<bool with_lj>(int v) __attribute__((always_inline)) {
          const Strength<S> w = strength<S, field, modified, rule, general, with_lj, false>(
              in, all, mine[v], {met.s[v], met.over[v], met.y[v]}, q, a, b, type);
          const V f = S::only(S::below(met.s[v], all.radius2, e->mask, v, half), w.f);
          worst = S::worse(worst, f);
          for (int c = 0; c < 3; ++c) {
            const I k = S::fixed(f * met.d[v][c]);
            pull[v][c] = S::plus(pull[v][c], k);
            push[c] = S::plus(push[c], k);
          }
        };
        for (int v = from; v < std::min<int>(to, n_lj); ++v) one.template operator()<true>(v);
        if constexpr (field != Field::none)
          for (int v = std::max<int>(from, n_lj); v < to; ++v) one.template operator()<false>(v);
        for (int c = 0; c < 3; ++c) S::take(force[c] + at, push[c]);
      }
  };
  if constexpr (S::lean || general) {
    const struct {
      std::int64_t begin, end;
      int from, to;
    } parts[] = {{row.begin, row.first, 0, n},
                 {row.first, row.last, 0, n / 2},
                 {row.last, row.end, n / 2, n}};
    for (const auto& p : parts) visit(entries + p.begin, entries + p.end, p.from, p.to);
  } else {
    visit(entries + row.begin, entries + row.first, Count<0>{}, Count<n>{});
    visit(entries + row.first, entries + row.last, Count<0>{}, Count<n / 2>{});
    visit(entries + row.last, entries + row.end, Count<n / 2>{}, Count<n>{});
  }
  for (int v = 0; v < n; ++v)
    for (int c = 0; c < 3; ++c)
      S::give(force[c] + static_cast<std::size_t>(row.i) * i_width +
                  static_cast<std::size_t>(v) * S::rows,
              pull[v][c]);
}

template <class S, Field field, bool modified, Rule rule, bool general>
bool forces(const Input<typename S::N>& given, const Row* begin, const Row* end,
            const Entry* entries, typename S::Sum* const force[3]) {
  constexpr int n = i_width / S::rows;
  const Input<typename S::N> in = given;
  typename S::Sum* const to[3] = {force[0], force[1], force[2]};
  const Shared<S, field> all(in);
  typename S::I worst = S::nothing();
  for (const Row* row = begin; row != end; ++row) {
    const auto of_row = [&](auto n_lj) __attribute__((always_inline)) {
      force_row<S, field, modified, rule, general>(in, all, *row, entries, to, worst, n_lj);
    };
    if constexpr (S::lean || general) {
      const int n_lj = row->lj == 0 ? 0 : row->lj <= i_width / 2 ? n / 2 : n;
      if (field != Field::none || n_lj != 0) of_row(field == Field::none ? n : n_lj);
    } else if (row->lj == 0) {
      if constexpr (field != Field::none) of_row(Count<0>{});
    } else if (field != Field::none && row->lj <= i_width / 2) {
      of_row(Count<n / 2>{});
    } else {
      of_row(Count<n>{});
    }
  }
  return S::any_beyond(worst, in.limit);
}
/// Slanted boxes and different cut-offs take instructions that the others do without.
template <class S, Field field, bool modified, Rule rule>
bool all_forces(const Input<typename S::N>& in, const Row* begin, const Row* end,
                const Entry* entries, typename S::Sum* const force[3]) {
  if constexpr (!modified && !S::lean)
    if (!in.slanted && !in.two_cutoffs)
      return forces<S, field, modified, rule, false>(in, begin, end, entries, force);
  return forces<S, field, modified, rule, true>(in, begin, end, entries, force);
}

template <class S, Field field, bool modified>
bool energies(const Input<typename S::N>& in, const Row* begin, const Row* end,
              const Entry* entries, std::int64_t sums[8]) {
  using V = typename S::V;
  const Shared<S, field> all(in);
  typename S::I worst = S::nothing(), total[8];
  for (auto& t : total) t = S::nothing();
  for (const Row* row = begin; row != end; ++row) {
    Mine<S> mine[i_width];
    load_mine<S, field, modified, Rule::table>(in, row->i, mine);
    for (const Entry *e = entries + row->begin, *last = entries + row->end; e != last; ++e)
      for (int half = 0; half < S::halves; ++half) {
        const std::size_t at = static_cast<std::size_t>(e->j) * j_width +
                               static_cast<std::size_t>(half) * (j_width / S::halves);
        const typename S::P xj[3] = {S::position_j(in.x[0] + at), S::position_j(in.x[1] + at),
                                     S::position_j(in.x[2] + at)};
        const V q = field == Field::none ? S::set(0) : S::number_j(in.q_j + at);
        const typename S::T type = S::type_j(in.type + at);
        for (int v = 0; v < i_width; ++v) {
          V d[3];
          displacement<S>(in, mine[v].x, xj, d);
          const V s = square<S>(d);
          Separation<S> apart{s, s, s};
          S::inverses(s, apart.over, apart.y);
          const Strength<S> w = strength<S, field, modified, Rule::table, true, true, true>(
              in, all, mine[v], apart, q, q, q, type);
          const auto near = S::below(s, S::set(in.radius2), e->mask, v, half);
          const V f = S::only(near, w.f), lj = S::only(near, w.lj),
                  coulomb = S::only(near, w.coulomb);
          worst = S::worse(S::worse(S::worse(worst, f * s), lj), coulomb);  // f s bounds the virial
          const V terms[8] = {lj,
                              coulomb,
                              f * d[0] * d[0],
                              f * d[0] * d[1],
                              f * d[0] * d[2],
                              f * d[1] * d[1],
                              f * d[1] * d[2],
                              f * d[2] * d[2]};
          for (int k = 0; k < 8; ++k) total[k] = S::plus(total[k], S::fixed(terms[k]));
        }
      }
  }
  for (int k = 0; k < 8; ++k) sums[k] = wrapped(sums[k], S::sum(total[k]));
  return S::any_beyond(worst, in.limit);
}

template <class C>
Row prune(const Coarse& in, std::int32_t i, const Entry* begin, const Entry* end, Entry* kept,
          Entry* spare) {
  using V = typename C::V;
  V xi[3], scale[3][3];
  for (int a = 0; a < 3; ++a) {
    xi[a] = C::each_i(in.x[a] + static_cast<std::size_t>(i) * i_width);
    for (int b = 0; b < 3; ++b) scale[a][b] = C::set(in.scale[a][b]);
  }
  Entry *all = kept, *first = spare,
        *last = spare + (end - begin);  // of the last two atoms: from the back
  for (const Entry* e = begin; e != end; ++e) {
    V d[3], sum = C::set(0);
    for (int a = 0; a < 3; ++a)
      d[a] = C::minus(xi[a], C::each_j(in.x[a] + static_cast<std::size_t>(e->j) * j_width));
    for (int b = 0; b < 3; ++b) {
      V length = C::scaled(d[b], scale[b][b]);
      if (in.slanted)
        for (int a = b + 1; a < 3; ++a) length = C::plus(length, C::scaled(d[a], scale[a][b]));
      sum = C::plus(sum, C::square(length));
    }
    const std::uint32_t near = C::within(sum, in.limit) & e->mask;
    const bool low = (near & 0xffffU) != 0, high = near >> 16 != 0;
    *all = *first = last[-1] = *e;
    all += low & high;
    first += low & !high;
    last -= !low & high;
  }
  Entry *const from_first = all, *const from_last = std::copy(spare, first, all);
  return {i,
          0,
          0,
          from_first - kept,
          from_last - kept,
          std::reverse_copy(last, spare + (end - begin), from_last) - kept};
}

/// A lean S has one kernel for all boxes, modifiers and lengths of Ewald's series, of the same
/// results: it compiles in a fraction of the time.
template <class Single, class Twice, class CoarseLanes>
constexpr Kernels kernels_of(const char* name) {
  constexpr bool lean = Single::lean;
  Kernels k{};
  k.name = name;
  const auto fields = [&]<Field field>() {
    const auto f = static_cast<std::size_t>(field);
    const auto shapes = [&]<bool modified>() {
      k.single[f][modified] = {&all_forces<Single, field, modified, Rule::lorentz_berthelot>,
                               &all_forces<Single, field, modified, Rule::geometric>,
                               &all_forces<Single, field, modified, Rule::table>};
      if constexpr (field !=
                    Field::ewald) {  // in double precision always as many coefficients as it takes
        k.twice[f][modified] = &all_forces<Twice, field, modified, Rule::table>;
        k.energy[f][modified] = &energies<Twice, field, modified>;
      }
    };
    shapes.template operator()<true>();
    if constexpr (lean)
      k.single[f][false] = k.single[f][true], k.twice[f][false] = k.twice[f][true],
      k.energy[f][false] = k.energy[f][true];
    else
      shapes.template operator()<false>();
  };
  fields.template operator()<Field::none>();
  fields.template operator()<Field::power>();
  fields.template operator()<Field::ewald_long>();
  if constexpr (lean)
    k.single[static_cast<std::size_t>(Field::ewald)] =
        k.single[static_cast<std::size_t>(Field::ewald_long)];
  else
    fields.template operator()<Field::ewald>();
  k.prune = &prune<CoarseLanes>;
  return k;
}

}  // namespace tessera::molecular::pairs
