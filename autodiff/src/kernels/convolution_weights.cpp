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

  /// The terms among positions first ... last - 1 of (b, o) that window position m meets, in order.
  void list(const Met& m, Index first, Index last, std::vector<Segment>& out) const {
    out.clear();
    const Index row = s.axis[2].m;
    const auto before = [](const MeetingClass& c, Index o) {  // how many it meets before o
      if (o <= c.tap) return Index{0};
      return std::min(c.taps, c.tap_step == 1 ? o - c.tap : (o - c.tap - 1) / c.tap_step + 1);
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
  void fetch(const Met& m, const std::vector<Segment>& segments) const {
    for (const Segment& t : segments) {
      fetch_lines<false>(x.data + t.a, (t.terms - 1) * x_step(m) + s.groups * s.c);
      fetch_lines<false>(y.data + t.b, (t.terms - 1) * y_step(m) + s.groups * s.f);
    }
  }
};

/// Terms of one window position and group to c [C, F], whose rows are `ldc` apart, a multiple of
/// whole vectors; with `add` to the sums that c begins.
template <class T, int width>
void add_terms(const Weights<T>& w, const Met& m, Index group, const std::vector<Segment>& segments,
               bool add, T* c, Index ldc) {
  using K = Tiles<T, width>;
  using Table = TileTable<T, width, false>;
  const Panels<K::lanes> panels(w.s.f);
  SegmentTile<T> t{};
  t.segments = segments.data(), t.count = static_cast<Index>(segments.size());
  t.row = 1, t.step = w.x_step(m);
  t.unit = 1, t.ldb = w.y_step(m);
  t.add = add, t.ldc = ldc;
  for (Index p = 0; p < panels.count(); ++p) {
    const Index column = p * 2 * K::lanes;
    const bool two = panels.width(p) > K::lanes;
    const Index most = two ? K::max_rows : K::narrow_rows, count = (w.s.c + most - 1) / most;
    t.b = w.y.data + group * ldc + column;
    Index row = 0;
    for (Index i = 0; i < count; ++i) {  // rows are dealt out evenly
      const Index rows = w.s.c / count + (i < w.s.c % count);
      t.a = w.x.data + group * w.s.c + row;
      t.c = c + row * ldc + column;
      Table::tile(two, rows)(t);
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
  // A run in pieces of so many positions, whose x and y stay in the first-level cache while all
  // window positions take what they meet there.
  double of_x = static_cast<double>(s.c);
  for (const ConvolutionAxis& a : s.axis)
    of_x *= static_cast<double>(a.stride) / static_cast<double>(a.spread);
  const double bytes = (of_x + static_cast<double>(s.f)) *
                       static_cast<double>((by_channels ? s.groups : 1) * Index{sizeof(T)});
  const Index piece =
      static_cast<Index>(std::clamp(0x1p15 / bytes, 64.0, static_cast<double>(kDepth<T>)));
  const auto sum_run = [&](Index r, Index part, Index part_end, T* to) {
    thread_local std::vector<Segment> segments, ahead;
    const Index begin = r * kDepth<T>, all = s.batch * s.positions(),
                end = std::min(begin + kDepth<T>, all);
    for (Index first = begin; first < end; first += piece)
      for (Index p = part; p < part_end; ++p) {
        const Met& m = weights.met[static_cast<std::size_t>(by_channels ? p : p / s.groups)];
        weights.list(m, first, std::min(end, first + piece), segments);
        T* const c = to + p * part_size;
        if (by_channels)
          add_channels(width, segments.data(), static_cast<Index>(segments.size()), x.data,
                       weights.x_step(m), y.data, weights.y_step(m), s.groups, first > begin, c);
        else
          add_terms<T, width>(weights, m, p % s.groups, segments, first > begin, c, ldc);
        // Rows of x and y that the next piece takes come meanwhile.
        if ((p + 1) % (s.axis[2].k * (by_channels ? 1 : s.groups)) == 0) {
          weights.list(m, first + piece, std::min(first + 2 * piece, all), ahead);
          weights.fetch(m, ahead);
        }
      }
  };
  const double work = static_cast<double>(s.batch * s.positions()) * static_cast<double>(size);
  const bool alone = work < 0x1p17 || num_threads() == 1 || detail::in_parallel();
  const bool by_parts = !alone && (size > (1 << 16) || weights.runs == 1);
  const Index at_once = alone || by_parts ? 1 : std::min<Index>(weights.runs, 4 * num_threads());
  // [window, groups, C, ldc]: the total, then each run in progress.
  const auto sums =
      std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>((1 + at_once) * size));
  const auto join = [&](Index r, const T* more, Index begin, Index end) {
    T* const total = sums.get();
    if (r == 0) return void(std::copy(more + begin, more + end, total + begin));
    for (Index k = begin; k < end; ++k) total[k] += more[k];
  };
  if (by_parts) {
    T* const more = sums.get() + size;
    parallel_chunks(parts, [&](Index part) {
      for (Index r = 0; r < weights.runs; ++r) {
        sum_run(r, part, part + 1, more);
        join(r, more, part * part_size, (part + 1) * part_size);
      }
    });
  } else {
    for (Index first = 0; first < weights.runs; first += at_once) {
      const Index count = std::min(at_once, weights.runs - first);
      parallel_chunks(count,
                      [&](Index i) { sum_run(first + i, 0, parts, sums.get() + (1 + i) * size); });
      for (Index i = 0; i < count; ++i) join(first + i, sums.get() + (1 + i) * size, 0, size);
    }
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
