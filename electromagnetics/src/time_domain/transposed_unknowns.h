// SPDX-License-Identifier: Apache-2.0
//
// In what unknowns transposed steps are steps of the scheme: from cotangents to these and back.
#pragma once
#include "tessera/autodiff/forall.h"
#include "time_domain/tables.h"

#include <cstdint>
#include <iterator>
#include <vector>

namespace tessera::electromagnetics::time_domain {

/// The Q of faces as the steps have them, -lambda_Q, or back.
template <class T>
void turn_faces(const Work<T>& w) {
  for (int c = 3; c < 6; ++c)
    for (const std::int32_t at : w.tables.component[c].special) {
      if (at < 0) continue;
      for (const Polarized<T>& p : w.tables.specials[static_cast<std::size_t>(at)].polarized)
        for (std::int64_t q = 0; q < 2 * p.length * std::ssize(p.alpha); ++q)
          w.state[p.state + q] = -w.state[p.state + q];
    }
}

/// What the first step's old h, and the Q of faces, have of the new ones: transposed steps take it
/// along in the step before, which there is none of here.
template <class T>
void finish_faces(const Work<T>& w) {
  const Tables<T>& t = w.tables;
  parallel_chunks(3 * (t.n[2] + 1), [&](std::int64_t chunk) {
    const int c = 3 + static_cast<int>(chunk % 3), k = static_cast<int>(chunk / 3);
    const ComponentTable<T>& f = t.component[c];
    if (k < f.first[2] || k >= f.last[2]) return;
    for (int j = f.first[1]; j < f.last[1]; ++j) {
      const std::int64_t index = t.row_index(j, k);
      const std::int32_t at = f.special.empty() ? -1 : f.special[index];
      const auto replaced = [&](const std::vector<const T*>& by, const T* own) {
        return at >= 0 && !by.empty() && by[at] ? by[at] : own;
      };
      const T *factor = replaced(w.special_factor, f.factor[index]),
              *keep = replaced(w.special_keep, f.keep.empty() ? nullptr : f.keep[index]);
      const T scale = t.scale(c, j, k);
      if (!keep && at < 0) continue;
      T* h = w.state + t.offset(c, 0, j, k);
      std::vector<T> more(at < 0 ? 0 : static_cast<std::size_t>(t.n[0] + 1));
      if (at >= 0) {
        const Special<T>& special = t.specials[static_cast<std::size_t>(at)];
        for (const Polarized<T>& p : special.polarized)
          for (std::size_t m = 0; m < p.alpha.size(); ++m) {
            T *re = w.state + p.state + 2 * static_cast<std::int64_t>(m) * p.length,
              *im = re + p.length;
            const T a = p.alpha[m], up = p.re_of_im[m], down = p.im_of_re[m];
            const T* gain = p.mixed < 0 ? p.gain.data() : w.mixed_gain + p.mixed;
            for (int i = 0; i < p.length; ++i) {
              const T x = re[i], y = im[i], g = gain[i] * p.pair[m] * h[p.first + i];
              more[static_cast<std::size_t>(p.first + i)] +=
                  p.beta[m].real() * x + p.beta[m].imag() * y;
              re[i] = a * x + down * y + (1 - a) * g;
              im[i] = a * y + up * x - up * g;
            }
          }
        for (const Mixed<T>& run : special.mixed)
          for (int q = 0; q < run.length && w.in_b; ++q) {
            const T* l = w.in_b + run.column + q * t.channels;
            T due = l[1] - l[0];
            for (std::size_t n = 0; n < run.polarized.size(); ++n) {
              const Polarized<T>& p = special.polarized[run.polarized[n]];
              due += run.response[n] * l[2 + n];
              for (std::size_t m = 0; m < p.alpha.size(); ++m) {
                T *re = w.state + p.state + 2 * static_cast<std::int64_t>(m) * p.length,
                  *im = re + p.length;
                re[q] -= p.pair[m] * (p.alpha[m] - 1) * l[2 + n];
                im[q] -= p.pair[m] * p.re_of_im[m] * l[2 + n];
              }
            }
            more[static_cast<std::size_t>(run.first + q)] -= due;
          }
      }
      for (int i = f.first[0]; i < f.last[0]; ++i) {
        if (keep) h[i] *= keep[i];
        if (at >= 0) h[i] += scale * factor[i] * more[static_cast<std::size_t>(i)];
      }
    }
  });
}

/// cb lambda_e, -ch lambda_h and tau = +- lambda_psi / b (E, H) from the cotangents, or back.
template <class T>
void change_unknowns(const Work<T>& w, bool back) {
  const Tables<T>& t = w.tables;
  parallel_chunks(6 * (t.n[2] + 1), [&](std::int64_t chunk) {  // a plane of a component
    const int c = static_cast<int>(chunk % 6), k = static_cast<int>(chunk / 6);
    const ComponentTable<T>& f = t.component[c];
    if (k < f.first[2] || k >= f.last[2]) return;
    for (int j = f.first[1]; j < f.last[1]; ++j) {
      const std::int64_t index = t.row_index(j, k);
      const T* factor = f.factor[index];
      if (!f.special.empty() && f.special[index] >= 0 && !w.special_factor.empty() &&
          w.special_factor[f.special[index]])
        factor = w.special_factor[f.special[index]];
      const T scale = is_electric(c) ? t.scale(c, j, k) : -t.scale(c, j, k);
      T* e = w.state + t.offset(c, 0, j, k);
      for (int i = f.first[0]; i < f.last[0];
           ++i) {  // the division whatever the factor is: no branch in the loop
        const bool conductor = factor[i] == 0;
        const T by = scale * factor[i], changed = back ? e[i] / (conductor ? T{1} : by) : e[i] * by;
        e[i] = conductor ? T{0} : changed;
      }
      if (!f.special.empty() && f.special[index] >= 0 && back)
        for (const Coupled& a : t.specials[static_cast<std::size_t>(f.special[index])].coupled)
          e[a.i] = w.coupled[a.slot];
    }
    for (int axis = 0; axis < 3; ++axis) {
      const LayerTable<T>& l = t.layer[c][axis];
      if (l.slabs == 0) continue;
      for (int j = f.first[1]; j < f.last[1]; ++j) {
        const int at = axis == 1 ? j : k;
        if (axis != 0 && l.slab[at] < 0) continue;
        T* tau = w.state + t.psi_row(l, axis, j, k);
        const auto one = [&](int i, T& v) {
          const T b = (is_electric(c) ? 1 : -1) * (axis == 0 ? l.b[i] : l.b[at]);
          v = back ? v * b : b == 0 ? 0 : v / b;
        };
        if (axis == 0) {
          for (int i = l.low_begin; i < l.low_end; ++i) one(i, *tau++);
          for (int i = l.high_begin; i < l.high_end; ++i) one(i, *tau++);
        } else {
          for (int i = f.first[0]; i < f.last[0]; ++i) one(i, tau[i]);
        }
      }
    }
  });
}

}  // namespace tessera::electromagnetics::time_domain
