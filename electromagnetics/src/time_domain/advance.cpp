// SPDX-License-Identifier: Apache-2.0
//
// The order of the steps. The new h of a row needs e of the row and of the next ones (j+1, k+1);
// the new e needs h of the row and of the ones before it. So the step of row (j, k), h first, may
// follow as soon as the previous step of rows (j+1, k) and (j, k+1) is done: T steps run as a wave
// through the planes, each one plane behind the last, and within a plane over tiles of rows that
// shift by one row per step. A tile's planes of T steps stay in the caches: the memory sees 12 + c
// words per cell once in T steps (M. Wonnacott, Int. J. Parallel Program. 27 (1999) 181-221: time
// skewing). Tile m waits at each plane for tile m - 1, which is how threads run side by side; every
// row is computed by the same instructions whatever the order, so results do not depend on it.
//
// Axes y or z that are joined to themselves allow no such wave: there all h, then all e. Over slabs
// along z the wave goes on (slab_waves.h); over those along y, and where tensors couple edges, it
// is all h, then all e, too.
#include "tessera/autodiff/forall.h"
#include "time_domain/blocking.h"
#include "time_domain/row.h"
#include "time_domain/seams.h"
#include "time_domain/slab_waves.h"
#include "time_domain/transposed_unknowns.h"

#include <immintrin.h>

#include <atomic>
#include <cmath>

namespace tessera::electromagnetics::time_domain {
namespace {

/// Numbers below the normal range count as zero: the fronts of waves and the ends of layers hold
/// many of them, each some hundred times slower than another number.
class FlushToZero {
 public:
  FlushToZero() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040u); }
  ~FlushToZero() { _mm_setcsr(before_); }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  unsigned before_;
};

/// One row in step n, h and then e: the bodies of every order.
template <class T, bool transposed>
inline void magnetic_row(Rows<T, transposed>& rows, const Tables<T>& t, int j, int k,
                         std::int64_t n) {
  if constexpr (transposed)
    if (t.has_layers)
      for (int c = 0; c < 3; ++c) {
        rows.convolve(c, 1, j + 1, k);
        rows.convolve(c, 2, j, k + 1);
      }
  for (int c = 3; c < 6; ++c) rows.step(c, j, k, n);
  if constexpr (transposed)
    if (t.has_layers)
      for (int c = 3; c < 6; ++c)
        for (const int axis : {1, 2})
          if (t.holds(c, j, k)) rows.convolve(c, axis, j, k);
}
template <class T, bool transposed>
inline void electric_row(Rows<T, transposed>& rows, const Tables<T>&, int j, int k,
                         std::int64_t n) {
  for (int c = 0; c < 3; ++c) rows.step(c, j, k, n);
}

/// Until the tile before has reached `wave`: a while awake, then asleep, so that a thread that lost
/// its processor is not in its way.
inline void await(const std::atomic<int>& done, int wave) {
  for (int spins = 0; spins < 4000; ++spins) {
    if (done.load(std::memory_order_acquire) >= wave) return;
    _mm_pause();
  }
  for (int now = done.load(std::memory_order_acquire); now < wave;
       now = done.load(std::memory_order_acquire))
    done.wait(now, std::memory_order_acquire);
}

/// Rows of a tile in plane k take step s of the block that begins with step `begin`.
template <class T, bool transposed>
inline void rows_of_tile(Rows<T, transposed>& rows, const Tables<T>& t, int from, int to, int k,
                         int s, std::int64_t begin) {
  for (int j = from; j < to; ++j) {
    if (s > 0)
      rows.fetch_ahead(j, k, j, k);  // is in the caches
    else if (j + 1 < to)
      rows.fetch_ahead(j, k, j + 1, k);
    else
      rows.fetch_ahead(j, k, from, k + 1);
    magnetic_row(rows, t, j, k, begin + s);
    electric_row(rows, t, j, k, begin + s);
  }
}

/// The tiles of a slab, on this thread. Transposed, what layers hold below the slab follows from
/// the h that comes from there.
template <class T, bool transposed>
void in_slab_waves(const Work<T>& w, int block, int tile_rows) {
  const Tables<T>& t = w.tables;
  const int first_plane = t.slab.begin - t.origin[2];
  const bool layers_below = transposed && t.has_layers && t.slab.below >= 0;
  const int planes = t.n[2] + 1;
  const FlushToZero flush;
  Seams<T>(t, {w.state}).exchange("e beside the slabs", t.electric);
  SlabWaves<T> slab(t, w.state);
  Rows<T, transposed> rows(w);
  const std::int64_t blocks = (w.steps + block - 1) / block;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t begin = b * w.steps / blocks;
    const int steps = static_cast<int>((b + 1) * w.steps / blocks - begin), shift = steps - 1;
    const int tiles = (t.n[1] + 1 + shift + tile_rows - 1) / tile_rows;
    slab.begin(tiles, tile_rows, steps);
    for (int tile = 0; tile < tiles; ++tile)
      for (int wave = 0; wave < planes + shift; ++wave)
        for (int s = 0; s < steps; ++s) {
          const int k = wave - s;
          const auto [from, to] = slab.rows(tile, s);
          if (k < 0 || k >= planes || from == to) continue;
          slab.before(tile, s, k);
          if (layers_below && k == first_plane)
            for (int j = from; j < to; ++j)
              for (int c = 3; c < 6; ++c) rows.convolve(c, 2, j, k - 1);
          rows_of_tile(rows, t, from, to, k, s, begin);
          slab.after(tile, s, k);
        }
  }
  slab.finish();
}

/// lag 1: as above. lag 2: where e of a row needs h of the next rows too (tensors), e follows one
/// row and plane behind h.
template <class T, bool transposed>
void in_waves(const Work<T>& w, int block, int tile_rows) {
  const int lag = w.tables.n_coupled > 0 ? 2 : 1;
  const Tables<T>& t = w.tables;
  const int rows_y = t.n[1] + 1, planes = t.n[2] + 1;
  const std::int64_t blocks = (w.steps + block - 1) / block;
  for (std::int64_t b = 0; b < blocks; ++b) {  // of about equal length
    const std::int64_t begin = b * w.steps / blocks;
    const int steps = static_cast<int>((b + 1) * w.steps / blocks - begin);
    const int shift = lag * steps - 1;  // of the last e
    const int tiles = (rows_y + shift + tile_rows - 1) / tile_rows;
    std::vector<std::atomic<int>> done(static_cast<std::size_t>(tiles));
    for (auto& d : done) d.store(-1, std::memory_order_relaxed);
    std::atomic<int> next{0};
    // Below some million row elements a block, waiting for each other costs more than a second
    // thread gains.
    const bool worth =
        static_cast<double>(steps) * rows_y * planes * static_cast<double>(t.row) > 2e6;
    parallel_chunks(worth ? std::min(num_threads(), tiles) : 1, [&](std::int64_t) {
      const FlushToZero flush;
      Rows<T, transposed> rows(w);
      for (int tile = next++; tile < tiles; tile = next++) {
        const int y0 = tile * tile_rows, y1 = y0 + tile_rows;
        for (int wave = 0; wave < planes + shift; ++wave) {
          if (tile > 0) await(done[static_cast<std::size_t>(tile) - 1], wave);
          for (int s = 0; s < steps; ++s) {
            const int back = lag * s, k = wave - back;
            if (k < 0 || k - lag + 1 >= planes) continue;
            const int from = std::max(y0 - back, 0), to = std::min(y1 - back, rows_y);
            if (lag == 1) {
              rows_of_tile(rows, t, from, to, k, s, begin);
            } else {
              if (k < planes)
                for (int j = from; j < to; ++j) magnetic_row(rows, t, j, k, begin + s);
              if (k > 0)
                for (int j = std::max(y0 - back - 1, 0); j < std::min(y1 - back - 1, rows_y); ++j)
                  electric_row(rows, t, j, k - 1, begin + s);
            }
          }
          done[static_cast<std::size_t>(tile)].store(wave, std::memory_order_release);
          done[static_cast<std::size_t>(tile)].notify_all();
        }
      }
    });
  }
}

/// The parts of a field: one, or the real and the imaginary one where the faces are joined with a
/// phase.
template <class T>
using Parts = std::vector<Work<T>>;

/// Copies what lies across the joined faces: e of line 0 to line n, times e^{-i phase}; h of the
/// last middle before the first, times e^{+i phase}; of a cut axis, what lies beside the slabs.
template <class T>
void join(const Parts<T>& parts, Seams<T>& seams, bool electric) {
  const Tables<T>& t = parts[0].tables;
  const auto copy = [&](int axis, std::int64_t from, std::int64_t to, std::int64_t count) {
    if (parts.size() == 1) {
      std::copy_n(parts[0].state + from, count, parts[0].state + to);
      return;
    }
    const T cosine = static_cast<T>(std::cos(t.phase[axis])),
            sine = static_cast<T>(electric ? -std::sin(t.phase[axis]) : std::sin(t.phase[axis]));
    for (std::int64_t i = 0; i < count; ++i) {
      const T re = parts[0].state[from + i], im = parts[1].state[from + i];
      parts[0].state[to + i] = cosine * re - sine * im;
      parts[1].state[to + i] = cosine * im + sine * re;
    }
  };
  const auto ends = [&](int axis) {
    return electric ? std::pair{0, t.n[axis]} : std::pair{t.n[axis] - 1, -1};
  };
  const auto over_components = [&](auto body) {
    for (int c = electric ? 0 : 3; c < (electric ? 3 : 6); ++c) body(c);
  };
  const auto joined_here = [&](int axis) { return t.periodic[axis] && t.cut != axis; };
  if (joined_here(0))
    over_components([&](int c) {
      for (int k = 0; k <= t.n[2]; ++k)
        for (int j = 0; j <= t.n[1]; ++j)
          copy(0, t.offset(c, ends(0).first, j, k), t.offset(c, ends(0).second, j, k), 1);
    });
  const Seam& seam = electric ? t.electric : t.magnetic;
  const char* what = electric ? "e beside the slabs" : "h beside the slabs";
  if (t.cut == 1) seams.exchange(what, seam);
  if (joined_here(1))
    over_components([&](int c) {
      for (int k = -1; k <= t.n[2]; ++k)
        copy(1, t.offset(c, -1, ends(1).first, k), t.offset(c, -1, ends(1).second, k), t.n[0] + 2);
    });
  if (t.cut == 2) seams.exchange(what, seam);
  if (joined_here(2))
    over_components([&](int c) {
      copy(2, t.offset(c, -1, -1, ends(2).first), t.offset(c, -1, -1, ends(2).second), t.plane);
    });
}

template <class T, bool transposed>
void in_halves(Parts<T> parts) {
  const Tables<T>& t = parts[0].tables;
  std::vector<T*> states;
  for (const Work<T>& w : parts) states.push_back(w.state);
  Seams<T> seams(t, std::move(states));
  for (std::size_t part = 0; part < parts.size(); ++part) {
    parts[part].turned = seams.turned(part);
    parts[part].other_turned = seams.turned(parts.size() - 1 - part);
    parts[part].beside = seams.beside(part);
    parts[part].other_beside = seams.beside(parts.size() - 1 - part);
  }
  // One chunk a plane (a row in two dimensions), or one for all where waking threads would cost
  // more than the step.
  const int planes = t.n[2] > 1 ? t.n[2] + 1 : 1, rows_y = t.n[1] + 1;
  const int chunks = static_cast<double>(planes) * rows_y * static_cast<double>(t.row) < 1e5 ? 1
                     : planes > 1 ? planes
                                  : rows_y;
  std::vector<Rows<T, transposed>> rows_of_parts(parts.begin(), parts.end());
  const auto over_planes = [&](auto body) {
    for (std::size_t part = 0; part < parts.size(); ++part) {
      if (chunks == 1) {
        for (int k = 0; k < planes; ++k)
          for (int j = 0; j < rows_y; ++j) body(rows_of_parts[part], j, k);
        continue;
      }
      parallel_chunks(chunks, [&](std::int64_t chunk) {
        const FlushToZero flush;
        Rows<T, transposed> rows(parts[part]);
        if (planes > 1)
          for (int j = 0; j < rows_y; ++j) body(rows, j, static_cast<int>(chunk));
        else
          body(rows, static_cast<int>(chunk), 0);
      });
    }
  };
  const FlushToZero flush;
  const bool values = t.cut >= 0 && t.coupled && (transposed || t.periodic[t.cut]);
  join(parts, seams, true);
  for (std::int64_t n = 0; n < parts[0].steps; ++n)
    for (const bool electric : {false, true}) {
      const int first = electric ? 0 : 3, source = 3 - first;
      if constexpr (transposed)
        if (t.has_layers)
          over_planes([&](auto& rows, int j, int k) {
            for (int c = source; c < source + 3; ++c)
              for (const int axis : {1, 2}) rows.convolve(c, axis, j, k);
          });
      over_planes([&](auto& rows, int j, int k) {
        for (int c = first; c < first + 3; ++c) rows.step(c, j, k, n);
      });
      if (t.nonlinear && electric && t.cut >= 0) seams.exchange("D beside the slabs", t.displaced);
      if (t.nonlinear && electric)
        over_planes([&](auto& rows, int j, int k) {
          for (int c = 0; c < 3; ++c) rows.solve(c, j, k, n);
        });
      join(parts, seams, electric);
      if (values && !electric)
        seams.exchange_values("brackets beside the slabs", transposed,
                              [&](std::size_t part, const BracketPlace& place) {
                                return rows_of_parts[part].source_of_couplings(place, n);
                              });
    }
}

template <class T, bool transposed>
void run(const Parts<T>& parts, Blocking blocking) {
  const Work<T>& w = parts[0];
  const Tables<T>& t = w.tables;
  if (t.periodic[0])
    for (int c = 0; c < 3; ++c)
      for (int k = 0; k <= t.n[2]; ++k)
        for (int j = 0; j <= t.n[1]; ++j)
          w.state[t.offset(c, t.n[0], j, k)] = w.state[t.offset(c, 0, j, k)];
  const bool waves_cross_slabs = t.cut < 0 || (t.cut == 2 && t.agreed.one_thread && !t.coupled);
  if (t.periodic[1] || t.periodic[2] || parts.size() > 1 || t.nonlinear || !waves_cross_slabs)
    return in_halves<T, transposed>(parts);
  const Blocking chosen = choose_blocking(t, w.steps, blocking, t.cut >= 0);
  if (t.cut >= 0) return in_slab_waves<T, transposed>(w, chosen.steps, chosen.rows);
  in_waves<T, transposed>(w, chosen.steps, chosen.rows);
}

/// The first of the cotangents that arrive: of the records of e in the last step. Takes note of
/// lambda_e at coupled edges. Of a slab, what lies beside it comes, too.
template <class T>
void begin_transposed(const Parts<T>& parts) {
  const Tables<T>& t = parts[0].tables;
  const auto each_special = [&](const Work<T>& w, auto body) {
    for (int c = 0; c < 3; ++c)
      if (!t.component[c].special.empty())
        for (int k = 0; k <= t.n[2]; ++k)
          for (int j = 0; j <= t.n[1]; ++j)
            if (const std::int32_t at = t.component[c].special[t.row_index(j, k)]; at >= 0)
              body(t.specials[static_cast<std::size_t>(at)], w.state + t.offset(c, 0, j, k));
  };
  std::vector<T*> states;
  for (const Work<T>& w : parts) states.push_back(w.state);
  Seams<T> seams(t, states);
  std::vector<std::vector<T>> lambda;
  for (const Work<T>& w : parts)
    each_special(w, [&](const Special<T>& special, T* e) {
      if (w.in_a)
        for (const Span& a : special.recorded)
          for (int i = 0; i < a.length; ++i)
            e[a.first + i] += w.in_a[(w.steps - 1) * t.n_recorded + a.column + i];
    });
  if (t.cut >= 0 && t.coupled)
    seams.exchange_values(
        "cotangents of e beside the slabs", true,
        [&](std::size_t part, const BracketPlace& place) { return states[part][place.offset]; });
  for (const Work<T>& w : parts) {
    lambda.emplace_back(w.state, w.state + (t.n_coupled > 0 ? t.state_size : 0));
    change_unknowns(w, false);
    turn_faces(w);
  }
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const Work<T>& w = parts[part];
    const auto lambda_at = [&](std::size_t of, const CouplingTerm<T>& term,
                               const CouplingDetail<T>& more) {
      return more.turned >= 0   ? seams.turned(of)[more.turned]
             : more.beside >= 0 ? seams.beside(of)[more.beside]
                                : lambda[of][static_cast<std::size_t>(term.offset)];
    };
    each_special(w, [&](const Special<T>& special, T* e) {
      for (const Coupled& a : special.coupled) {
        w.coupled[a.slot] =
            lambda[part][static_cast<std::size_t>(e - w.state) + static_cast<std::size_t>(a.i)];
        for (std::int64_t m = a.first; m < a.first + a.count; ++m) {
          const CouplingTerm<T>& term = t.coupling[static_cast<std::size_t>(m)];
          const CouplingDetail<T> more = t.detail_of(term);
          e[a.i] += term.weight * lambda_at(part, term, more);
          if (more.cross != 0)
            e[a.i] += w.cross_sign * more.cross * lambda_at(1 - part, term, more);
        }
      }
    });
    Rows<T, true> rows(w);
    for (int c = 0; c < 3; ++c)
      if (!t.component[c].special.empty())
        for (int k = 0; k <= t.n[2]; ++k)
          for (int j = 0; j <= t.n[1]; ++j) rows.receive(c, j, k, 0);
  }
  if (t.cut >= 0) seams.exchange("layers beside the slabs", t.layers);
}

}  // namespace

template <class T>
Parts<T> parts_of(const Work<T>& w, bool transposed) {
  const Tables<T>& t = w.tables;
  if (!t.bloch) return {w};
  Work<T> second = w;
  const auto next = [&](auto*& p, std::int64_t columns) {
    if (p) p += w.steps * columns;
  };
  second.state += t.state_size;
  next(second.in_a, transposed ? t.n_recorded : t.n_injected);
  next(second.in_b, t.n_traced);
  next(second.out_a, transposed ? t.n_injected : t.n_recorded);
  next(second.out_b, t.n_traced);
  if (second.coupled) second.coupled += t.n_coupled;
  Work<T> first = w;
  first.other_state = second.state, first.other_in_a = second.in_a, first.cross_sign = -1;
  second.other_state = first.state, second.other_in_a = first.in_a, second.cross_sign = 1;
  return {first, second};
}

template <class T>
void advance(const Work<T>& w, Blocking blocking) {
  run<T, false>(parts_of(w, false), blocking);
}

template <class T>
void advance_transposed(const Work<T>& w, Blocking blocking) {
  if (w.steps == 0) return;
  const Parts<T> parts = parts_of(w, true);
  begin_transposed(parts);
  run<T, true>(parts, blocking);
  for (const Work<T>& part : parts) {
    finish_faces(part);
    turn_faces(part);
    change_unknowns(part, true);
  }
}

template void advance(const Work<float>&, Blocking);
template void advance(const Work<double>&, Blocking);
template void advance_transposed(const Work<float>&, Blocking);
template void advance_transposed(const Work<double>&, Blocking);

}  // namespace tessera::electromagnetics::time_domain
