// SPDX-License-Identifier: Apache-2.0
//
// w: for each window position j a product x_j^T y over the positions (b, o) that take part. Each
// run of kDepth positions is such a product for all j, of x and y where they are, which stay in the
// second-level cache meanwhile. Threads take runs, whose sums are kept apart and join in order, or,
// where w is large, parts of w.
#include "../base/scratch.h"
#include "convolution.h"
#include "convolution_channels.h"
#include "convolution_tiles.h"
#include "gemm_blocked.h"
#include "tessera/autodiff/forall.h"

#include <algorithm>
#include <complex>

namespace tessera::kernels {
namespace {

using Index = std::int64_t;

/// The positions o that one window position meets, along each axis (`tap` counts o, `at` is i).
using Met = std::array<MeetingClass, 3>;

template <class T>
Index runs_of(const ConvolutionShape& s) {
  return (s.batch * s.positions() + kDepth<T> - 1) / kDepth<T>;
}

template <class T>
struct Weights {
  const ConvolutionShape& s;
  const ConvolutionOperand<T>&x, &y;
  detail::List<Met> met;  ///< by window position
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
    runs = runs_of<T>(s);
  }
  /// From one term of a segment to the next.
  Index x_step() const { return met[0][2].t_moves * x.axis[2]; }
  Index y_step() const { return met[0][2].tap_step * y.axis[2]; }

  /// The terms among positions first ... last - 1 of (b, o) that window position m meets, in order.
  void list(const Met& m, Index first, Index last, detail::List<Segment>& out) const {
    out.clear();
    const Index row = s.axis[2].m, dx = x_step(), dy = y_step();
    const auto order = [](const MeetingClass& c, Index o) {  // which of those it meets; -1: none
      const Index d = o - c.tap, q = c.tap_step == 1 ? d : d / c.tap_step;
      return d < 0 || q >= c.taps || q * c.tap_step != d ? -1 : q;
    };
    const auto before = [](const MeetingClass& c, Index o) {  // how many it meets before o
      if (o <= c.tap) return Index{0};
      return std::min(c.taps, c.tap_step == 1 ? o - c.tap : (o - c.tap - 1) / c.tap_step + 1);
    };
    const Index line = first / row;
    Index o1 = line % s.axis[1].m, o0 = line / s.axis[1].m % s.axis[0].m,
          b = line / (s.axis[0].m * s.axis[1].m);
    for (Index at = line * row; at < last; at += row) {
      const Index t0 = order(m[0], o0), t1 = order(m[1], o1),
                  begin = at >= first ? 0 : before(m[2], first - at),
                  terms = (at + row <= last ? m[2].taps : before(m[2], last - at)) - begin;
      if (t0 >= 0 && t1 >= 0 && terms > 0) {
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
      if (++o1 == s.axis[1].m) o1 = 0, ++o0;
      if (o0 == s.axis[0].m) o0 = 0, ++b;
    }
  }
};

/// What the positions first ... last - 1 meet of x and y and those before them did not, about: it
/// is fetched little by little, while others are summed.
template <class T>
class Ahead {
 public:
  void clear() { stretches_.clear(), at_ = 0; }
  void list(const Weights<T>& w, Index first, Index last, Index parts) {
    clear();
    Index lines = 0;
    const auto add = [&](const T* from, Index n) {
      stretches_.push_back({from, (n + kLine - 1) / kLine});
      lines += stretches_.back().lines;
    };
    const auto& axis = w.s.axis;
    for (Index i = 0; i < axis[0].k; ++i)
      for (Index j = std::max<Index>(0, axis[1].k - std::max(axis[1].stride, axis[1].spread));
           j < axis[1].k; ++j) {
        w.list(w.met[static_cast<std::size_t>((i * axis[1].k + j + 1) * axis[2].k - 1)], first,
               last, segments_);
        const bool of_x = j >= axis[1].k - axis[1].stride,
                   of_y = i >= axis[0].k - axis[0].spread && j >= axis[1].k - axis[1].spread;
        for (const Segment& t : segments_) {
          if (of_x) add(w.x.data + t.a, (t.terms - 1) * w.x_step() + w.s.groups * w.s.c);
          if (of_y) add(w.y.data + t.b, (t.terms - 1) * w.y_step() + w.s.groups * w.s.f);
        }
      }
    per_part_ = (lines + parts - 1) / parts;
  }
  void fetch_part() {
    for (Index left = per_part_; left > 0 && at_ < stretches_.size(); --left) {
      Stretch& s = stretches_[at_];
      __builtin_prefetch(s.from, 0, 2);
      s.from += kLine;
      if (--s.lines == 0) ++at_;
    }
  }

 private:
  static constexpr Index kLine = 64 / static_cast<Index>(sizeof(T));
  struct Stretch {
    const T* from;
    Index lines;
  };
  detail::List<Stretch> stretches_;
  detail::List<Segment> segments_;
  std::size_t at_ = 0;
  Index per_part_ = 0;  ///< lines of the cache
};

/// Rows of C, channels of x, that one call sums.
struct Rows {
  Index group, first, count;
};

/// Terms of one window position to c [rows, F], whose rows are `ldc` apart, a multiple of whole
/// vectors; with `add` to the sums that c begins.
template <class T, int width>
void add_terms(const Weights<T>& w, const Rows& rows, const detail::List<Segment>& segments,
               bool add, T* c, Index ldc) {
  using K = Tiles<T, width>;
  using Table = TileTable<T, width, false>;
  const Panels<K::lanes> panels(w.s.f);
  SegmentTile<T> t{};
  t.segments = segments.data(), t.count = static_cast<Index>(segments.size());
  t.row = 1, t.step = w.x_step();
  t.unit = 1, t.ldb = w.y_step();
  t.add = add, t.ldc = ldc;
  for (Index p = 0; p < panels.count(); ++p) {
    const Index column = p * 2 * K::lanes;
    const bool two = panels.width(p) > K::lanes;
    const Index most = two ? K::max_rows : K::narrow_rows, count = (rows.count + most - 1) / most;
    t.b = w.y.data + rows.group * ldc + column;
    for (Index i = 0, row = 0; i < count; ++i) {  // rows are dealt out evenly
      const Index here = rows.count / count + (i < rows.count % count);
      t.a = w.x.data + rows.group * w.s.c + rows.first + row;
      t.c = c + row * ldc + column;
      Table::tile(two, here)(t);
      row += here;
    }
  }
}

/// The same where channels are many: x by tiles and y by panels packed, as rows far apart share few
/// sets of the caches.
template <class T, int width>
void add_packed_terms(const Weights<T>& w, const Rows& rows, const detail::List<Segment>& segments,
                      bool add, T* c, Index ldc) {
  using K = Tiles<T, width>;
  using Table = TileTable<T, width, false>;
  const Panels<K::lanes> panels(w.s.f);
  const Index count = (rows.count + K::max_rows - 1) / K::max_rows;
  Segment all{0, 0, 0};
  for (const Segment& s : segments) all.terms += s.terms;
  thread_local detail::List<T> packed_x, packed_y;
  packed_x.resize(static_cast<std::size_t>(all.terms * rows.count));
  packed_y.resize(static_cast<std::size_t>(all.terms * 2 * K::lanes));
  const auto pack = [&](const T* from, Index step, Index Segment::*at, Index n, T* to) {
    for (const Segment& s : segments)
      for (Index l = 0; l < s.terms; ++l, to += n) std::copy_n(from + s.*at + l * step, n, to);
  };
  const auto rows_of = [&](Index i) { return rows.count / count + (i < rows.count % count); };
  for (Index i = 0, row = 0; i < count; row += rows_of(i++))
    pack(w.x.data + rows.group * w.s.c + rows.first + row, w.x_step(), &Segment::a, rows_of(i),
         packed_x.data() + row * all.terms);
  SegmentTile<T> t{};
  t.segments = &all, t.count = 1;
  t.row = 1, t.unit = 1, t.add = add, t.ldc = ldc;
  t.b = packed_y.data();
  for (Index p = 0; p < panels.count(); ++p) {
    const Index column = p * 2 * K::lanes;
    t.ldb = panels.width(p);
    pack(w.y.data + rows.group * ldc + column, w.y_step(), &Segment::b, t.ldb, packed_y.data());
    for (Index i = 0, row = 0; i < count; row += rows_of(i++)) {
      t.a = packed_x.data() + row * all.terms, t.step = rows_of(i);
      t.c = c + row * ldc + column;
      Table::tile(t.ldb > K::lanes, t.step)(t);
    }
  }
}

/// y with the f of each group filled up to whole vectors.
template <class T>
ConvolutionOperand<T> padded(const ConvolutionShape& s, const ConvolutionOperand<T>& y, Index ldc,
                             detail::Scratch<T>& memory) {
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

/// w as sums lie while they are made: [window, groups, C, F in whole vectors] in parts of some rows
/// of a window position and group, or where groups have one channel [window, groups] in parts of a
/// position.
template <class T, int width>
struct Sums {
  const Weights<T>& w;
  bool by_channels, packs;
  Index ldc;
  Index blocks = 1;  ///< parts of C
  /// A run goes in pieces of so many positions, whose x and y stay in the second-level cache while
  /// all window positions take what they meet there; where groups have one channel, in the first.
  Index piece;

  Sums(const Weights<T>& weights, bool channels, Index f)
      : w(weights), by_channels(channels), ldc(channels ? w.s.groups : f) {
    using K = Tiles<T, width>;
    packs = !channels && w.s.c >= kMany && f >= kMany;
    double of_x = static_cast<double>(w.s.c);
    for (const ConvolutionAxis& a : w.s.axis)
      of_x *= static_cast<double>(a.stride) / static_cast<double>(a.spread);
    const double side_by_side = static_cast<double>((channels ? w.s.groups : 1) * Index{sizeof(T)}),
                 positions = packs ? 0x1p20 / (static_cast<double>(w.s.c) * side_by_side)
                                   : (channels ? 0x1p15 : 0x1p19) /
                                         ((of_x + static_cast<double>(w.s.f)) * side_by_side);
    piece = static_cast<Index>(std::clamp(positions, 64.0, static_cast<double>(kDepth<T>)));
    const Index places = w.s.window() * (channels ? 1 : w.s.groups);
    if (!channels && size() > kLarge)
      blocks =
          std::clamp<Index>(4 * num_threads() / places, 1, (w.s.c + K::max_rows - 1) / K::max_rows);
  }
  static constexpr Index kMany = 256;  ///< channels on either side from where on packing pays
  /// From where on threads take parts of w, not runs.
  static constexpr Index kLarge = 1 << 16;
  Index size() const { return w.s.window() * (by_channels ? 1 : w.s.groups * w.s.c) * ldc; }
  Index parts() const { return w.s.window() * (by_channels ? 1 : w.s.groups * blocks); }
  const Met& met(Index part) const {
    return w.met[static_cast<std::size_t>(by_channels ? part : part / blocks / w.s.groups)];
  }
  Rows rows(Index part) const {
    const Index block = part % blocks, first = w.s.c * block / blocks;
    return {part / blocks % w.s.groups, first, w.s.c * (block + 1) / blocks - first};
  }
  Index offset(Index part) const {
    return by_channels ? part * ldc : (part / blocks * w.s.c + rows(part).first) * ldc;
  }

  /// Run r of some parts.
  void run(Index r, Index part, Index part_end, T* to) const {
    const Index begin = r * kDepth<T>, all = w.s.batch * w.s.positions(),
                end = std::min(begin + kDepth<T>, all);
    const Index step = by_channels ? kChannelSums : 1, row = by_channels ? 1 : w.s.groups * blocks;
    // Of threads that have a part each, some fetch for all.
    const bool fetches = part_end - part > step || part_end % (w.s.axis[2].k * row) == 0;
    thread_local Ahead<T> ahead;
    if (!fetches) ahead.clear();
    for (Index first = begin; first < end; first += piece) {
      const Index last = std::min(end, first + piece);
      if (fetches)
        ahead.list(w, first + piece, std::min(first + 2 * piece, all),
                   (part_end - part) / step + 1);
      for (Index p = part; p < part_end; p += step) {
        add(first, last, p, std::min(p + step, part_end), p == part || p % row == 0, first > begin,
            to);
        ahead.fetch_part();
      }
    }
  }
  /// Groups and rows of a window position have one list of terms, made anew where `lists`.
  void add(Index first, Index last, Index p, Index p_end, bool lists, bool add, T* to) const {
    thread_local std::array<detail::List<Segment>, kChannelSums> segments;
    if (!by_channels) {
      if (lists) w.list(met(p), first, last, segments[0]);
      const auto terms = packs ? add_packed_terms<T, width> : add_terms<T, width>;
      return terms(w, rows(p), segments[0], add, to + offset(p), ldc);
    }
    ChannelSum<T> sums[kChannelSums];
    for (Index q = p; q < p_end; ++q) {
      const auto k = static_cast<std::size_t>(q - p);
      w.list(met(q), first, last, segments[k]);
      sums[k] = {segments[k].data(), static_cast<Index>(segments[k].size()), to + offset(q)};
    }
    add_channels<T>(width, {sums, static_cast<std::size_t>(p_end - p)}, w.x.data, w.x_step(),
                    w.y.data, w.y_step(), ldc, add);
  }
};

/// How threads share the runs of a sum of `size` numbers.
struct RunsAtOnce {
  bool by_parts;  ///< they take parts of it, not runs
  Index count;    ///< runs in progress: many, for threads wait for the last one before their sums
                  ///< join, in 2^18 numbers
  RunsAtOnce(Index runs, Index size, Index large, Index depth) {
    const double work = static_cast<double>(size) * static_cast<double>(runs * depth);
    const bool alone = work < 0x1p17 || num_threads() == 1 || detail::in_parallel();
    by_parts = !alone && (size > large || runs == 1);
    count =
        alone || by_parts
            ? 1
            : std::min<Index>(runs, std::max<Index>(4 * num_threads(), (Index{1} << 18) / size));
  }
};

/// All of w, in `total`: run after run.
template <class T, int width>
void add_runs(const Sums<T, width>& sums, T* total) {
  const Index size = sums.size(), runs = sums.w.runs;
  const RunsAtOnce at_once(runs, size, sums.kLarge, kDepth<T>);
  detail::Scratch<T> in_progress(static_cast<std::size_t>(at_once.count * size));
  T* const more = in_progress.data();
  const auto join = [total](Index r, const T* more, Index begin, Index end) {
    if (r == 0) return void(std::copy(more + begin, more + end, total + begin));
    for (Index k = begin; k < end; ++k) total[k] += more[k];
  };
  if (at_once.by_parts) {
    parallel_chunks(sums.parts(), [&](Index part) {
      for (Index r = 0; r < runs; ++r) {
        sums.run(r, part, part + 1, more);
        join(r, more, sums.offset(part), sums.offset(part + 1));
      }
    });
    return;
  }
  for (Index first = 0; first < runs; first += at_once.count) {
    const Index count = std::min(at_once.count, runs - first);
    parallel_chunks(count, [&](Index i) { sums.run(first + i, 0, sums.parts(), more + i * size); });
    for (Index i = 0; i < count; ++i) join(first + i, more + i * size, 0, size);
  }
}

template <class T, int width>
void run(const ConvolutionShape& s, const ConvolutionOperand<T>& x, ConvolutionOperand<T> y,
         T* out) {
  const Index elements = s.window() * s.c * s.groups * s.f;
  if (elements == 0) return;
  const bool by_channels = s.groups > 1 && s.c == 1 && s.f == 1;
  const Index f = Panels<Tiles<T, width>::lanes>(s.f).padded();
  detail::Scratch<T> memory;
  if (!by_channels && f != s.f) y = padded(s, y, f, memory);
  const Weights<T> weights(s, x, y);
  if (weights.runs == 0) {
    std::fill_n(out, elements, T(0));
    return;
  }
  const Sums<T, width> sums(weights, by_channels, f);
  if (by_channels) return add_runs(sums, out);
  detail::Scratch<T> total(static_cast<std::size_t>(sums.size()));
  add_runs(sums, total.data());
  for (Index j = 0; j < s.window(); ++j)
    for (Index c = 0; c < s.c; ++c)
      for (Index g = 0; g < s.groups; ++g)
        std::copy_n(total.data() + ((j * s.groups + g) * s.c + c) * f, s.f,
                    out + ((j * s.c + c) * s.groups + g) * s.f);
}

template <class T, int width>
std::size_t bytes(const ConvolutionShape& s) {
  const bool by_channels = s.groups > 1 && s.c == 1 && s.f == 1;
  const Index f = Panels<Tiles<T, width>::lanes>(s.f).padded(),
              size = s.window() * s.groups * (by_channels ? 1 : s.c * f),
              y = by_channels || f == s.f ? 0 : s.batch * s.positions() * s.groups * f;
  const RunsAtOnce runs(runs_of<T>(s), size, Sums<T, width>::kLarge, kDepth<T>);
  return detail::scratch_bytes<T>(y) + detail::scratch_bytes<T>(by_channels ? 0 : size) +
         detail::scratch_bytes<T>(runs.count * size);
}

}  // namespace

template <class T>
std::size_t convolution_w_workspace(int width, const ConvolutionShape& s) {
  if constexpr (!is_cplx<T>) {
    if (width == 64) return bytes<T, 64>(s);
    if (width == 32) return bytes<T, 32>(s);
  }
  return bytes<T, 0>(s);
}
template std::size_t convolution_w_workspace<float>(int, const ConvolutionShape&);
template std::size_t convolution_w_workspace<double>(int, const ConvolutionShape&);
template std::size_t convolution_w_workspace<c64>(int, const ConvolutionShape&);
template std::size_t convolution_w_workspace<c128>(int, const ConvolutionShape&);

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
