// SPDX-License-Identifier: Apache-2.0
//
// The step of one row of edges: the plain update, and, in the rows that need it, what is added to
// the bracket first: absorbing layers, currents, polarization.
#pragma once
#include "time_domain/row_kernels.h"
#include "time_domain/row_terms.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::electromagnetics::time_domain {

/// The rows of one call on one thread. `transposed` as in yee_scheme.h.
template <class T, bool transposed>
class Rows {
 public:
  explicit Rows(const Work<T>& work)
      : w_(work),
        t_(work.tables),
        s_(work.state),
        kernels_(kernels<T>()),
        extra_(2 * (static_cast<std::size_t>(t_.row) + 32)) {
    x_ = extra_.data() + 16;
    v_ = x_ + t_.row + 32;
  }

  /// Fetches the row (j1, k1) while (j, k) is updated; the row itself: fetches none.
  void fetch_ahead(int j, int k, int j1, int k1) {
    ahead_ = (j1 - j) * t_.row + (k1 - k) * t_.plane;
    ahead_rows_ = t_.row_index(j1, k1) - t_.row_index(j, k);
  }
  /// Updates the row (c, j, k) in step n; nothing where the component has no such row.
  void step(int c, int j, int k, std::int64_t n) {
    const ComponentTable<T>& f = t_.component[c];
    if (j < f.first[1] || j >= f.last[1] || k < f.first[2] || k >= f.last[2]) return;
    const std::int64_t index = t_.row_index(j, k);
    std::uint8_t flags = f.flags[index];
    if (transposed && n == 0 && !is_electric(c)) flags &= ~lossy;  // as `before` has it
    T* e = s_ + t_.offset(c, 0, j, k);
    RowUpdate<T> u;
    u.field = e;
    u.factor = f.factor[index];
    u.scale = t_.scale(c, j, k);
    u.p = e + f.p, u.q = e + f.q, u.r = e + f.r, u.t = e + f.t;
    u.n = t_.run;
    u.next_field = u.next_factor = nullptr;
    if (ahead_ != 0) {
      u.next_field =
          e + ahead_ + (is_electric(c) ? t_.plane : 0);  // e of the next plane comes first
      const T* factor = f.factor[std::min(index + ahead_rows_, t_.rows())];
      if (factor != u.factor) u.next_factor = factor;
      __builtin_prefetch(f.factor.data() + index + 16);  // the tables themselves, a line further on
      __builtin_prefetch(f.flags.data() + index + 64);
    }
    if (flags & lossy) u.keep = f.keep[index];
    if (transposed ? (flags & ~(lossy | layer_x)) != 0 : (flags & listed) != 0) {
      step_with_more(c, f, j, k, u, flags, n);
    } else if (transposed) {
      kernels_.update[flags & lossy][0](u);
      if (flags & layer_x) back_ends(true, f, j, k, e, u.factor, u.scale);
    } else {
      const bool first = (flags & f.layer_flag[0]) && layer(u.first, c, f.axis[0], j, k);
      const bool second = (flags & f.layer_flag[1]) && layer(u.second, c, f.axis[1], j, k);
      kernels_.update[flags & lossy][(first ? 1 : 0) + (second ? 2 : 0)](u);
      if (flags & layer_x) add_ends(true, c, f, j, k, e, u.factor, u.scale);
    }
    if (t_.periodic[0]) {
      if (is_electric(c))
        e[t_.n[0]] = e[0];
      else
        e[-1] = e[t_.n[0] - 1];
    }
  }

  /// Nonlinear edges of a row, when all D of the step are known: e from eps e + chi2 e^2 + chi3
  /// (e^2 + across) e = D, by Newton's method; then what follows from e. The plain update has left
  /// what e would be if the nonlinear part stood still: three steps from there are enough, and are
  /// checked.
  void solve(int c, int j, int k, std::int64_t n) {
    if (!t_.holds(c, j, k)) return;
    const Special<T>* special = special_of(c, j, k);
    if (!special || special->nonlinear.empty()) return;
    T* row = s_ + t_.offset(c, 0, j, k);
    for (const Nonlinear<T>& p : special->nonlinear) {
      T *e = row + p.first, *eps = x_;
      std::copy(p.eps.begin(), p.eps.end(), eps);
      if (!p.around[0].empty() || !p.around[1].empty())
        for (int q = 0; q < p.length; ++q)
          eps[q] += p.chi3[static_cast<std::size_t>(q)] *
                    p.to_unknown[static_cast<std::size_t>(q)] * across(p, q, s_);
      const T *chi2 = p.chi2.data(), *chi3 = p.chi3.data(), *d = s_ + p.state;
      const auto newton = [&](int q) {
        const T x = e[q];
        return ((((chi3[q] * x + chi2[q]) * x + eps[q]) * x - d[q]) /
                ((3 * chi3[q] * x + 2 * chi2[q]) * x + eps[q]));
      };
      T off = 0;
#pragma GCC ivdep
      for (int q = 0; q < p.length; ++q) {
        for (int step = 0; step < 3; ++step) e[q] -= newton(q);
        const T left = newton(q);
        off = std::max(off, left * left - 256 * std::numeric_limits<T>::epsilon() *
                                              std::numeric_limits<T>::epsilon() * e[q] * e[q]);
      }
      if (off > 0)
        for (int q = 0; q < p.length; ++q)
          for (int step = 0; step < 50; ++step) e[q] -= newton(q);
    }
    polarize(*special, row, s_);
    record(*special, row, n);
  }

  /// Transposed: tau <- b tau + field, for the layers along y and z of a row of a source component.
  /// Along x the row that takes the difference does so (back_ends). Along a cut axis also for the
  /// rows beside the slab that differences of this slab take.
  void convolve(int c, int axis, int j, int k) {
    const ComponentTable<T>& f = t_.component[c];
    const LayerTable<T>& l = t_.layer[c][axis];
    if (l.slabs == 0) return;
    int first[3] = {0, f.first[1], f.first[2]}, last[3] = {0, f.last[1], f.last[2]};
    if (axis == t_.cut) {
      if (is_electric(c))
        last[axis] += t_.slab.above >= 0;
      else
        first[axis] -= t_.slab.below >= 0;
    }
    if (j < first[1] || j >= last[1] || k < first[2] || k >= last[2]) return;
    const int at = axis == 1 ? j : k;
    if (l.slab[at] < 0) return;
    convolve_row(s_ + t_.psi_row(l, axis, j, k) + f.first[0], s_ + t_.offset(c, f.first[0], j, k),
                 l.b[at], f.last[0] - f.first[0]);
  }

  /// What couplings take of an edge in step n: its bracket, and in transposed steps the cotangents
  /// of its records.
  T source_of_couplings(const BracketPlace& place, std::int64_t n) const {
    return source_in(s_, place, next_records(w_.in_a, n));
  }

  /// Transposed: what comes to a row before the transpose of its brackets reads it, the cotangents
  /// of Q and of the traces of step n; gives the cotangents of the currents and brackets.
  void receive(int c, int j, int k, std::int64_t n) {
    const Special<T>* special = special_of(c, j, k);
    if (!special) return;
    T* e = s_ + t_.offset(c, 0, j, k);
    const T* factor = factor_of(c, j, k);
    const T scale = t_.scale(c, j, k), sign = is_electric(c) ? 1 : -1;
    const T* traces = w_.in_b ? w_.in_b + (w_.steps - 1 - n) * t_.n_traced : nullptr;
    for (const Polarized<T>& p : special->polarized)
      for (std::size_t m = 0; m < p.alpha.size(); ++m) {
        const T *re = s_ + p.state + 2 * static_cast<std::int64_t>(m) * p.length,
                *im = re + p.length;
        for (int i = 0; i < p.length; ++i)
          e[p.first + i] +=
              scale * factor[p.first + i] * (p.beta[m].real() * re[i] + p.beta[m].imag() * im[i]);
      }
    if (traces) {
      for (const Span& a : special->traced)
        for (int i = 0; i < a.length; ++i) e[a.first + i] += traces[a.column + i];
      for (const Mixed<T>& run : special->mixed)
        for (int q = 0; q < run.length; ++q) {
          const T* l = traces + run.column + q * t_.channels;
          e[run.first + q] += sign * scale * factor[run.first + q] * (l[0] + responses(run, l));
        }
    }
    if (w_.out_a) {
      T* currents = w_.out_a + (w_.steps - 1 - n) * t_.n_injected;
      give(special->injected, e, currents, sign);
      for (const Coupled& a : special->coupled)  // a current acts on its own edge alone
        for (const Span& at : special->injected)
          if (a.i >= at.first && a.i < at.first + at.length)
            currents[at.column + a.i - at.first] =
                scale * factor[a.i] * w_.coupled[a.slot] + trace_cotangent(*special, a.i, traces);
    }
    if (w_.out_b) give(special->traced, e, w_.out_b + (w_.steps - 1 - n) * t_.n_traced, 1);
  }

 private:
  const Special<T>* special_of(int c, int j, int k) const {
    const auto& list = t_.component[c].special;
    if (list.empty()) return nullptr;
    const std::int32_t at = list[t_.row_index(j, k)];
    return at < 0 ? nullptr : &t_.specials[at];
  }
  const T* factor_of(int c, int j, int k) const {
    const ComponentTable<T>& f = t_.component[c];
    const std::int64_t index = t_.row_index(j, k);
    if (!w_.special_factor.empty() && !f.special.empty() && f.special[index] >= 0)
      if (const T* replaced = w_.special_factor[f.special[index]]) return replaced;
    return f.factor[index];
  }
  const T* keep_of(int c, int j, int k) const {
    const ComponentTable<T>& f = t_.component[c];
    const std::int64_t index = t_.row_index(j, k);
    if (!w_.special_keep.empty() && !f.special.empty() && f.special[index] >= 0)
      if (const T* replaced = w_.special_keep[f.special[index]]) return replaced;
    return f.keep.empty() ? nullptr : f.keep[index];
  }
  const T* gain_of(const Polarized<T>& p) const {
    return p.mixed < 0 ? p.gain.data() : w_.mixed_gain + p.mixed;
  }
  static T trace_cotangent(const Special<T>& special, int i, const T* traces) {
    if (traces)
      for (const Span& at : special.traced)
        if (i >= at.first && i < at.first + at.length) return traces[at.column + i - at.first];
    return 0;
  }
  static void give(const std::vector<Span>& spans, const T* e, T* out, T sign) {
    for (const Span& a : spans)
      for (int i = 0; i < a.length; ++i) out[a.column + i] = sign * e[a.first + i];
  }

  /// The layer along y or z of the row's own component: false where it has none (a neighbour may).
  bool layer(RowLayer<T>& out, int c, int axis, int j, int k) const {
    const LayerTable<T>& l = t_.layer[c][axis];
    const int at = axis == 1 ? j : k;
    if (l.slabs == 0 || l.slab[at] < 0) return false;
    out = {s_ + t_.psi_row(l, axis, j, k), l.b[at], l.c[at], l.m[at]};
    return true;
  }

  [[gnu::noinline]] void step_with_more(int c, const ComponentTable<T>& f, int j, int k,
                                        RowUpdate<T>& u, std::uint8_t flags, std::int64_t n) {
    T* e = u.field;
    u.factor = factor_of(c, j, k);
    if (flags & lossy) u.keep = keep_of(c, j, k);
    u.extra = x_;
    std::fill(x_, x_ + t_.run, T{0});
    for (int term = 0; term < 2; ++term) layers(c, f, term, j, k);
    const Special<T>* special = flags & listed ? special_of(c, j, k) : nullptr;
    if (special) before(*special, c, f, e, n);
    kernels_.update[flags & lossy][static_cast<int>(Adds::extra)](u);
    if (special) {
      if (!special->coupled.empty()) couple(*special, f, e, n);
      after(*special, c, j, k, e, n);
    }
  }

  /// Forward: the layers along x of a row.
  void add_ends(bool weighted, int c, const ComponentTable<T>& f, int j, int k, T* out,
                const T* factor, T scale) {
    const LayerTable<T>& l = t_.layer[c][0];
    if (l.slabs == 0) return;
    const int term = f.axis[0] == 0 ? 0 : 1;
    const T* e = s_ + t_.offset(c, 0, j, k);
    kernels_.ends[weighted]({out, s_ + t_.psi_row(l, 0, j, k), factor, e + (term == 0 ? f.p : f.r),
                             e + (term == 0 ? f.q : f.t), l.b.data(), l.c.data(), l.m.data(), scale,
                             term == 0 ? T{1} : T{-1}, l.low_begin, l.low_end, l.high_begin,
                             l.high_end});
  }

  /// Transposed: the layers along x of the source of a row's difference.
  void back_ends(bool weighted, const ComponentTable<T>& f, int j, int k, T* out, const T* factor,
                 T scale) {
    const int term = f.axis[0] == 0 ? 0 : 1, source = f.source[term];
    const LayerTable<T>& l = t_.layer[source][0];
    if (l.slabs == 0) return;
    const int above =
        is_electric(source)
            ? 1
            : 0;  // the upper side of the difference lies at the row itself (E) or one further (H)
    kernels_.back[weighted]({out, v_, s_ + t_.psi_row(l, 0, j, k), factor,
                             s_ + t_.offset(source, 0, j, k), l.b.data(), l.c.data(), l.m.data(),
                             scale, term == 0 ? T{1} : T{-1}, l.low_begin, l.low_end, l.high_begin,
                             l.high_end, above, f.first[0], f.last[0]});
  }

  void layers(int c, const ComponentTable<T>& f, int term, int j, int k) {
    const int axis = f.axis[term];
    const T sign = term == 0 ? 1 : -1;
    if constexpr (!transposed) {
      if (axis == 0) return add_ends(false, c, f, j, k, x_, x_, 1);
      RowLayer<T> own;
      if (!layer(own, c, axis, j, k)) return;
      const T* e = s_ + t_.offset(c, 0, j, k);
      const T *hi = e + (term == 0 ? f.p : f.r), *lo = e + (term == 0 ? f.q : f.t);
      layer_row(x_, own, hi, lo, sign, t_.run);
    } else {
      // The convolution m F + c tau of the source F on both sides of the difference.
      const int source = f.source[term];
      const LayerTable<T>& l = t_.layer[source][axis];
      if (l.slabs == 0) return;
      if (axis == 0) return back_ends(false, f, j, k, x_, x_, 1);
      const int above = is_electric(c) ? 0 : 1;  // as for the ends
      const auto side = [&](int shift, T sgn) {
        const int jj = axis == 1 ? j + shift : j, kk = axis == 2 ? k + shift : k;
        const int at = axis == 1 ? jj : kk;
        if (at < 0 || at > t_.n[axis] || l.slab[at] < 0) return;
        const int i0 = f.first[0];
        back_row(x_ + i0, s_ + t_.offset(source, i0, jj, kk), s_ + t_.psi_row(l, axis, jj, kk) + i0,
                 sgn * l.m[at], sgn * l.c[at], f.last[0] - i0);
      };
      side(above, sign);
      side(above - 1, -sign);
    }
  }

  void before(const Special<T>& special, int c, const ComponentTable<T>& f, T* e, std::int64_t n) {
    if constexpr (!transposed) {
      if (w_.out_b)
        for (const Mixed<T>& run : special.mixed)
          begin_traces(special, run, e, w_.out_b + n * t_.n_traced);
      for (const Polarized<T>& p : special.polarized)
        for (std::size_t m = 0; m < p.alpha.size(); ++m) {
          T *re = s_ + p.state + 2 * static_cast<std::int64_t>(m) * p.length, *im = re + p.length;
          const T a = p.alpha[m], up = p.re_of_im[m], down = p.im_of_re[m], br = p.beta[m].real(),
                  bi = p.beta[m].imag(), pair = p.pair[m];
          const T* gain = gain_of(p);
          for (int i = 0; i < p.length; ++i) {
            const T x = re[i], y = im[i], field = e[p.first + i];
            x_[p.first + i] += gain[i] * pair * ((1 - a) * x - up * y);
            re[i] = a * x + up * y + br * field;
            im[i] = a * y + down * x + bi * field;
          }
        }
      for (const Nonlinear<T>& p : special.nonlinear)
        for (int q = 0; q < p.length; ++q)
          s_[p.state + q] -= p.twice_loss[static_cast<std::size_t>(q)] * e[p.first + q];
      if (w_.in_a) {
        const T* currents = w_.in_a + n * t_.n_injected;
        for (const Span& a : special.injected)
          for (int i = 0; i < a.length; ++i) x_[a.first + i] += currents[a.column + i];
      }
      if (w_.out_b) {
        T* traces = w_.out_b + n * t_.n_traced;
        for (const Span& a : special.traced)
          for (int i = a.first; i < a.first + a.length; ++i)
            traces[a.column + i - a.first] =
                (e[i + f.p] - e[i + f.q]) - (e[i + f.r] - e[i + f.t]) + x_[i];
      }
    } else {
      // Before forward step n lies the record of e of step n - 1; the record of h is that of step n
      // itself.
      const T* records = is_electric(c) ? next_records(w_.in_a, n)
                         : w_.in_a      ? w_.in_a + (w_.steps - 1 - n) * t_.n_recorded
                                        : nullptr;
      if (records)
        for (const Span& a : special.recorded)
          for (int i = 0; i < a.length; ++i)
            x_[a.first + i] += (is_electric(c) ? 1 : -1) * records[a.column + i];
      // What the old h and Q have a part in is due a step later, with the old h.
      for (const Polarized<T>& p : special.polarized)
        for (std::size_t m = 0; m < p.alpha.size() && (is_electric(c) || n > 0); ++m) {
          T *re = s_ + p.state + 2 * static_cast<std::int64_t>(m) * p.length, *im = re + p.length;
          const T a = p.alpha[m], up = p.re_of_im[m], down = p.im_of_re[m], br = p.beta[m].real(),
                  bi = p.beta[m].imag(), pair = p.pair[m];
          const T* gain = gain_of(p);
          for (int i = 0; i < p.length; ++i) {
            const T x = re[i], y = im[i], g = gain[i] * pair * e[p.first + i];
            x_[p.first + i] += br * x + bi * y;
            re[i] = a * x + down * y + (1 - a) * g;
            im[i] = a * y + up * x - up * g;
          }
        }
      if (const std::int64_t late = is_electric(c) ? n : n - 1; w_.in_b && late >= 0) {
        const T* traces = w_.in_b + (w_.steps - 1 - late) * t_.n_traced;
        for (const Mixed<T>& run : special.mixed)
          trace_cotangents_before(special, run, traces, is_electric(c) ? 1 : -1);
        // The cotangent of a bracket alone ends here.
        for (const Span& a : special.traced)
          for (int i = 0; i < a.length; ++i) e[a.first + i] -= traces[a.column + i];
      }
    }
  }

  static T bracket(const T* at, const ComponentTable<T>& g) {
    return (at[g.p] - at[g.q]) - (at[g.r] - at[g.t]);
  }
  T source_in(const T* state, const BracketPlace& place, const T* cotangents) const {
    T u = bracket(state + place.offset, t_.component[place.component]);
    if (transposed && cotangents)
      for (auto r = place.recorded; r >= 0; r = t_.recorded_again[r]) u += cotangents[r];
    return u;
  }

  /// e += W u over the neighbours that a tensor couples; the cotangent of their records is part of
  /// u.
  void couple(const Special<T>& special, const ComponentTable<T>& f, T* e, std::int64_t n) {
    const T *records = next_records(w_.in_a, n), *other_records = next_records(w_.other_in_a, n);
    for (const Coupled& a : special.coupled) {
      T sum = 0;
      for (std::int64_t m = a.first; m < a.first + a.count; ++m) {
        const CouplingTerm<T>& term = t_.coupling[static_cast<std::size_t>(m)];
        const CouplingDetail<T> more = t_.detail_of(term);
        const auto source = [&](const T* state, const T* turned, const T* beside,
                                const T* cotangents) {
          if (more.turned >= 0) return turned[more.turned];
          if (transposed && more.beside >= 0) return beside[more.beside];
          return source_in(state, {term.offset, term.component, more.recorded}, cotangents);
        };
        sum += term.weight * source(s_, w_.turned, w_.beside, records);
        if (more.cross != 0)
          sum += w_.cross_sign * more.cross *
                 source(w_.other_state, w_.other_turned, w_.other_beside, other_records);
      }
      e[a.i] += sum;
      if (transposed) w_.coupled[a.slot] += bracket(e + a.i, f) + x_[a.i];
    }
  }
  /// Transposed: the cotangents of the records of e that were taken before forward step n, null in
  /// the last of all steps.
  const T* next_records(const T* cotangents, std::int64_t n) const {
    return transposed && cotangents && n + 1 < w_.steps
               ? cotangents + (w_.steps - 2 - n) * t_.n_recorded
               : nullptr;
  }

  void after(const Special<T>& special, int c, int j, int k, T* e, std::int64_t n) {
    if constexpr (!transposed) {
      const ComponentTable<T>& f = t_.component[c];
      for (const Nonlinear<T>& p : special.nonlinear)
        for (int q = 0; q < p.length; ++q) {
          const T* at = e + p.first + q;
          s_[p.state + q] += p.gain[static_cast<std::size_t>(q)] *
                             ((at[f.p] - at[f.q]) - (at[f.r] - at[f.t]) + x_[p.first + q]);
        }
      if (w_.out_b)
        for (const Mixed<T>& run : special.mixed) end_traces(run, e, w_.out_b + n * t_.n_traced);
      if (!special.nonlinear.empty()) return;  // solve() comes first
      polarize(special, e, s_);
      record(special, e, n);
    } else if (is_electric(c)) {
      if (n + 1 < w_.steps) receive(c, j, k, n + 1);
    } else {
      receive(c, j, k, n);
    }
  }

  // The traces of a mixed edge, [e' - e, e' + e, P' - P, ..] with P' - P = pair [(alpha - 1) x +
  // re_of_im y] + response (e' + e): what the old field and Q have in them, what the new field has,
  // and the transpose of both.
  void begin_traces(const Special<T>& special, const Mixed<T>& run, const T* e, T* traces) const {
    for (int q = 0; q < run.length; ++q) {
      T* u = traces + run.column + q * t_.channels;
      const T old = e[run.first + q];
      u[0] = -old, u[1] = old;
      for (std::size_t k = 0; k < run.polarized.size(); ++k) {
        const Polarized<T>& p = special.polarized[run.polarized[k]];
        T sum = run.response[k] * old;
        for (std::size_t m = 0; m < p.alpha.size(); ++m) {
          const T *re = s_ + p.state + 2 * static_cast<std::int64_t>(m) * p.length,
                  *im = re + p.length;
          sum += p.pair[m] * ((p.alpha[m] - 1) * re[q] + p.re_of_im[m] * im[q]);
        }
        u[2 + k] = sum;
      }
    }
  }
  void end_traces(const Mixed<T>& run, const T* e, T* traces) const {
    for (int q = 0; q < run.length; ++q) {
      T* u = traces + run.column + q * t_.channels;
      u[0] += e[run.first + q], u[1] += e[run.first + q];
      for (std::size_t k = 0; k < run.response.size(); ++k)
        u[2 + k] += run.response[k] * e[run.first + q];
    }
  }
  static T responses(const Mixed<T>& run, const T* cotangents) {
    T sum = cotangents[1];
    for (std::size_t k = 0; k < run.response.size(); ++k)
      sum += run.response[k] * cotangents[2 + k];
    return sum;
  }
  void trace_cotangents_before(const Special<T>& special, const Mixed<T>& run, const T* traces,
                               T sign) {
    for (int q = 0; q < run.length; ++q) {
      const T* l = traces + run.column + q * t_.channels;
      x_[run.first + q] += sign * (responses(run, l) - l[0]);
      for (std::size_t k = 0; k < run.polarized.size(); ++k) {
        const Polarized<T>& p = special.polarized[run.polarized[k]];
        for (std::size_t m = 0; m < p.alpha.size(); ++m) {
          T *re = s_ + p.state + 2 * static_cast<std::int64_t>(m) * p.length, *im = re + p.length;
          re[q] += sign * p.pair[m] * (p.alpha[m] - 1) * l[2 + k];
          im[q] += sign * p.pair[m] * p.re_of_im[m] * l[2 + k];
        }
      }
    }
  }

  void record(const Special<T>& special, const T* e, std::int64_t n) {
    if (!w_.out_a) return;
    T* records = w_.out_a + n * t_.n_recorded;
    for (const Span& a : special.recorded)
      for (int i = 0; i < a.length; ++i) records[a.column + i] = e[a.first + i];
  }

  const Work<T>& w_;
  const Tables<T>& t_;
  T* s_;
  std::int64_t ahead_ = 0, ahead_rows_ = 0;
  const Kernels<T>& kernels_;
  std::vector<T> extra_;
  T* x_;  ///< what goes to the brackets of a row besides the differences
  T* v_;  ///< what a row of sources gives
};

}  // namespace tessera::electromagnetics::time_domain
