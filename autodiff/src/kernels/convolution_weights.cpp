// SPDX-License-Identifier: Apache-2.0
//
// w: for each window position j a product x_j^T y over the positions (b, o) that take part. Each
// run of kDepth positions is such a product for all j, of x and y where they are, which stay in the
// second-level cache meanwhile. Threads take runs, whose sums are kept apart and join in order, or,
// where w is large, parts of w.
#include "convolution.h"
#include "convolution_channels.h"
#include "convolution_tiles.h"
#include "gemm_blocked.h"
#include "tessera/autodiff/forall.h"

#include <algorithm>
#include <complex>
#include <memory>
#include <vector>

namespace tessera::kernels {
namespace {

using Index = std::int64_t;

/// The positions o that one window position meets, along each axis (`tap` counts o, `at` is i).
using Met = std::array<MeetingClass, 3>;

template <class T>
struct Weights {
  const ConvolutionShape& s;
  const ConvolutionOperand<T>&x, &y;
  std::vector<Met> met;  ///< by window position
  Index runs;

  Weights(const ConvolutionShape& shape, const ConvolutionOperand<T>& of_x,
          const ConvolutionOperand<T>& of_y)
      : s(shape), x(of_x), y(of_y) {
    for (Index j = 0; j < s.window(); ++j) {
      Index rest = j;
      Met m;
      for (std::size_t a = 3; a-- > 0; rest /= s.axis[a].k) {
        const ConvolutionAxis& axis = s.axis[a];
        m[a] = meeting_of({1, axis.m, axis.n, 1, axis.stride,
                           axis.dilation * (rest % axis.k) - axis.low, axis.spread},
                          0);
      }
      met.push_back(m);
    }
    runs = (s.batch * s.positions() + kDepth<T> - 1) / kDepth<T>;
  }
  Index x_step(const Met& m) const { return m[2].t_moves * x.axis[2]; }
  Index y_step(const Met& m) const { return m[2].tap_step * y.axis[2]; }

  /// The terms of a run that window position m meets, in order.
  void list(const Met& m, Index run, std::vector<Segment>& out) const {
    out.clear();
    const Index row = s.axis[2].m, first = run * kDepth<T>,
                last = std::min(s.batch * s.positions(), first + kDepth<T>);
    const auto before = [](const MeetingClass& c, Index o) {  // how many it meets before o
      return o <= c.tap ? 0 : std::min(c.taps, (o - c.tap - 1) / c.tap_step + 1);
    };
    const Index dx = x_step(m), dy = y_step(m);
    for (Index line = first / row; line * row < last; ++line) {
      const Index o0 = line / s.axis[1].m % s.axis[0].m, o1 = line % s.axis[1].m,
                  b = line / (s.axis[0].m * s.axis[1].m);
      const Index t0 = before(m[0], o0), t1 = before(m[1], o1);
      if (before(m[0], o0 + 1) == t0 || before(m[1], o1 + 1) == t1) continue;
      const Index begin = before(m[2], std::max<Index>(0, first - line * row)),
                  terms = before(m[2], std::min(row, last - line * row)) - begin;
      if (terms == 0) continue;
      const Index in_x = b * x.lead + (m[0].at + m[0].t_moves * t0) * x.axis[0] +
                         (m[1].at + m[1].t_moves * t1) * x.axis[1] +
                         (m[2].at + m[2].t_moves * begin) * x.axis[2],
                  in_y = b * y.lead + o0 * y.axis[0] + o1 * y.axis[1] +
                         (m[2].tap + m[2].tap_step * begin) * y.axis[2];
      if (!out.empty() && out.back().a + out.back().terms * dx == in_x &&
          out.back().b + out.back().terms * dy == in_y)
        out.back().terms += terms;
      else
        out.push_back({in_x, in_y, terms});
    }
  }
};

/// Terms of one run, for one window position and group, to or into c [C, F] with rows `ldc` apart,
/// a multiple of whole vectors.
template <class T, int width>
void add_run(const Weights<T>& w, const Met& m, Index group, const std::vector<Segment>& segments,
             bool add, T* c, Index ldc) {
  using K = Tiles<T, width>;
  using Table = TileTable<T, width, false>;
  const Panels<K::lanes> panels(w.s.f);
  const Index count = (w.s.c + K::max_rows - 1) / K::max_rows;
  SegmentTile<T> t{};
  t.segments = segments.data(), t.count = static_cast<Index>(segments.size());
  t.row = 1, t.step = w.x_step(m);
  t.unit = 1, t.ldb = w.y_step(m);
  t.add = add, t.ldc = ldc;
  for (Index p = 0; p < panels.count(); ++p) {
    const Index column = p * 2 * K::lanes;
    t.b = w.y.data + group * ldc + column;
    Index row = 0;
    for (Index i = 0; i < count; ++i) {  // rows are dealt out evenly
      const Index rows = w.s.c / count + (i < w.s.c % count);
      t.a = w.x.data + group * w.s.c + row;
      t.c = c + row * ldc + column;
      Table::tile[panels.width(p) > K::lanes][static_cast<std::size_t>(rows - 1)](t);
      row += rows;
    }
  }
}

/// y with the f of each group filled up to whole vectors.
template <class T>
ConvolutionOperand<T> padded(const ConvolutionShape& s, const ConvolutionOperand<T>& y, Index ldc,
                             std::vector<T>& memory) {
  const std::array<Index, 3> m = {s.axis[0].m, s.axis[1].m, s.axis[2].m};
  const Index all = s.groups * ldc;
  memory.assign(static_cast<std::size_t>(s.batch * s.positions() * all), T(0));
  forall(s.batch * s.positions() * s.groups,
         [=, to = memory.data(), &y, f = s.f, groups = s.groups](Index i) {
           const Index g = i % groups, o2 = i / groups % m[2], o1 = i / groups / m[2] % m[1],
                       o0 = i / groups / m[2] / m[1] % m[0], b = i / groups / m[2] / m[1] / m[0];
           const T* const from =
               y.data + b * y.lead + o0 * y.axis[0] + o1 * y.axis[1] + o2 * y.axis[2] + g * f;
           std::copy_n(from, f, to + i * ldc);
         });
  return {memory.data(), s.positions() * all, {m[1] * m[2] * all, m[2] * all, all}, 1};
}

template <class T, int width>
void run(const ConvolutionShape& s, const ConvolutionOperand<T>& x, ConvolutionOperand<T> y,
         T* out) {
  using K = Tiles<T, width>;
  // [F] of each group in whole vectors; where each has one channel, all groups together.
  const bool by_channels = s.groups > 1 && s.c == 1 && s.f == 1;
  const Index ldc = by_channels ? s.groups : Panels<K::lanes>(s.f).padded(), window = s.window(),
              parts = by_channels ? window : window * s.groups,
              part_size = by_channels ? s.groups : s.c * ldc, size = parts * part_size;
  std::vector<T> memory;
  if (!by_channels && ldc != s.f) y = padded(s, y, ldc, memory);
  const Weights<T> weights(s, x, y);
  if (weights.runs == 0) {
    std::fill_n(out, window * s.c * s.groups * s.f, T(0));
    return;
  }
  const auto take = [&](Index part, Index r, bool add, T* to) {
    thread_local std::vector<Segment> segments;
    const Met& m = weights.met[static_cast<std::size_t>(by_channels ? part : part / s.groups)];
    weights.list(m, r, segments);
    to += part * part_size;
    if (by_channels)
      add_channels(width, segments.data(), static_cast<Index>(segments.size()), x.data,
                   weights.x_step(m), y.data, weights.y_step(m), s.groups, add, to);
    else
      add_run<T, width>(weights, m, part % s.groups, segments, add, to, ldc);
  };
  const double work = static_cast<double>(s.batch * s.positions()) * static_cast<double>(size);
  const bool alone = work < 0x1p17 || num_threads() == 1 || detail::in_parallel();
  const bool by_runs = !alone && size <= (1 << 16) && weights.runs > 1;
  const Index at_once = by_runs ? std::min<Index>(weights.runs, 4 * num_threads()) : 0;
  // [window, groups, C, ldc]: the total, then each run in progress.
  const auto sums =
      std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>((1 + at_once) * size));
  if (by_runs) {
    for (Index first = 0; first < weights.runs; first += at_once) {
      const Index count = std::min(at_once, weights.runs - first);
      parallel_chunks(count, [&](Index i) {
        for (Index part = 0; part < parts; ++part)
          take(part, first + i, false, sums.get() + (1 + i) * size);
      });
      for (Index i = 0; i < count; ++i) {
        const T* const more = sums.get() + (1 + i) * size;
        if (first + i == 0)
          std::copy_n(more, size, sums.get());
        else
          for (Index k = 0; k < size; ++k) sums[static_cast<std::size_t>(k)] += more[k];
      }
    }
  } else if (alone) {
    for (Index r = 0; r < weights.runs; ++r)
      for (Index part = 0; part < parts; ++part) take(part, r, r > 0, sums.get());
  } else {
    parallel_chunks(parts, [&](Index part) {
      for (Index r = 0; r < weights.runs; ++r) take(part, r, r > 0, sums.get());
    });
  }
  if (by_channels) {
    std::copy_n(sums.get(), size, out);
    return;
  }
  for (Index j = 0; j < window; ++j)
    for (Index c = 0; c < s.c; ++c)
      for (Index g = 0; g < s.groups; ++g)
        std::copy_n(sums.get() + (j * s.groups + g) * part_size + c * ldc, s.f,
                    out + ((j * s.c + c) * s.groups + g) * s.f);
}

}  // namespace

template <class T>
void convolution_w(int width, const ConvolutionShape& s, const ConvolutionOperand<T>& x,
                   const ConvolutionOperand<T>& y, T* w) {
  if constexpr (!is_cplx<T>) {
    if (width == 64) return run<T, 64>(s, x, y, w);
    if (width == 32) return run<T, 32>(s, x, y, w);
  }
  run<T, 0>(s, x, y, w);
}
template void convolution_w<float>(int, const ConvolutionShape&, const ConvolutionOperand<float>&,
                                   const ConvolutionOperand<float>&, float*);
template void convolution_w<double>(int, const ConvolutionShape&, const ConvolutionOperand<double>&,
                                    const ConvolutionOperand<double>&, double*);
template void convolution_w<c64>(int, const ConvolutionShape&, const ConvolutionOperand<c64>&,
                                 const ConvolutionOperand<c64>&, c64*);
template void convolution_w<c128>(int, const ConvolutionShape&, const ConvolutionOperand<c128>&,
                                  const ConvolutionOperand<c128>&, c128*);

}  // namespace tessera::kernels
