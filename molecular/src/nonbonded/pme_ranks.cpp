// SPDX-License-Identifier: Apache-2.0
#include "nonbonded/pme_ranks.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace tessera::molecular {

template <class T>
template <class V, class Pack, class Count, class Take>
void PmeRanks<T>::exchange(const char* what, Pack&& pack, Count&& count, Take&& take) const {
  std::vector<std::vector<V>> to(size()), from(size());
  std::vector<parallel::Send> send;
  std::vector<parallel::Receive> receive;
  for (std::size_t r = 0; r < size(); ++r) {
    if (r == me()) continue;
    to[r] = pack(r);
    from[r].resize(count(r));
    const auto rank = static_cast<int>(r);
    if (!to[r].empty()) send.push_back({rank, std::as_bytes(std::span(to[r]))});
    if (!from[r].empty()) receive.push_back({rank, std::as_writable_bytes(std::span(from[r]))});
  }
  domain_.ranks().exchange(what, send, receive);
  for (std::size_t r = 0; r < size(); ++r)
    if (!from[r].empty()) take(r, from[r].data());
}

template <class T>
void PmeRanks<T>::lay_out(PmeGrid<T>& g) {
  const auto n = static_cast<std::size_t>(domain_.ranks().size());
  const std::size_t all_pairs = (g.k[1] + 1) / 2;
  pairs_.resize(n);
  planes_.resize(n);
  touched_.assign(n, std::vector<std::uint8_t>(g.k[1], 0));
  const auto k = static_cast<double>(g.k[1]);
  for (std::size_t r = 0; r < n; ++r) {
    pairs_[r] = {r * all_pairs / n, (r + 1) * all_pairs / n};
    planes_[r] = {r * g.half / n, (r + 1) * g.half / n};
    const Domain::Extent& y = domain_.extents()[r][1];
    if (y.size <= 0) continue;
    // An atom touches `order` rows up to its own; one more at either end for a box that changes.
    const auto first = static_cast<std::int64_t>(std::floor(y.low * k)) -
                       static_cast<std::int64_t>(g.order),
               last = static_cast<std::int64_t>(std::floor((y.low + y.size) * k)) + 1,
               rows = static_cast<std::int64_t>(g.k[1]);
    for (std::int64_t row = first; row <= std::min(last, first + rows - 1); ++row)
      touched_[r][static_cast<std::size_t>(((row % rows) + rows) % rows)] = 1;
  }
  // Two runs of rows at most: what goes beyond the last goes on at the first.
  const std::vector<std::uint8_t>& mine = touched_[me()];
  g.rows = {};
  std::size_t run = 0;
  for (std::size_t y = 0; y < g.k[1]; ++y) {
    if (!mine[y]) continue;
    if (y > 0 && mine[y - 1]) {
      g.rows[run - 1][1] = y + 1;
    } else {
      g.rows[run++] = {y, y + 1};
    }
  }
  const Range own = rows_of(me(), g);
  g.first_line = own.begin;
  using Whole = typename PmeGrid<T>::Whole;
  g.lines = Aligned<Whole>(std::max<std::size_t>(own.end - own.begin, 1) * g.k[0] * g.row);
}

template <class T>
auto PmeRanks<T>::rows_of(std::size_t rank, const PmeGrid<T>& g) const -> Range {
  return {std::min(2 * pairs_[rank].begin, g.k[1]), std::min(2 * pairs_[rank].end, g.k[1])};
}

template <class T>
std::vector<std::size_t> PmeRanks<T>::rows(std::size_t toucher, std::size_t owner,
                                           const PmeGrid<T>& g) const {
  std::vector<std::size_t> out;
  const Range of = rows_of(owner, g);
  for (std::size_t y = of.begin; y < of.end; ++y)
    if (touched_[toucher][y]) out.push_back(y);
  return out;
}

template <class T>
void PmeRanks<T>::add_charges(PmeGrid<T>& g) const {
  using Whole = typename PmeGrid<T>::Whole;
  const auto [kx, ky, kz] = g.k;
  const auto add_tiles = [&g, kz = kz](std::size_t x, std::size_t y, Whole* to) {
    for (const auto& part : g.parts[x]) {
      const Whole* const from = g.tiles[part.slab].get() + part.x * g.plane + y * g.row;
      for (std::size_t z = 0; z < kz; ++z) to[z] += from[z];
    }
  };
  const Range own = rows_of(me(), g);
  const auto line = [&g, kx = kx](std::size_t x, std::size_t y) {
    return g.lines.get() + ((y - g.first_line) * kx + x) * g.row;
  };
  std::fill_n(g.lines.get(), (own.end - own.begin) * kx * g.row, Whole(0));
  for (std::size_t y = own.begin; y < own.end; ++y)
    if (touched_[me()][y])
      for (std::size_t x = 0; x < kx; ++x) add_tiles(x, y, line(x, y));
  exchange<Whole>(
      "charges of rows",
      [&, kx = kx, kz = kz](std::size_t r) {
        const std::vector<std::size_t> of = rows(me(), r, g);
        std::vector<Whole> out(of.size() * kx * kz, 0);
        Whole* to = out.data();
        for (const std::size_t y : of)
          for (std::size_t x = 0; x < kx; ++x, to += kz) add_tiles(x, y, to);
        return out;
      },
      [&, kx = kx, kz = kz](std::size_t r) { return rows(r, me(), g).size() * kx * kz; },
      [&, kx = kx, kz = kz](std::size_t r, const Whole* from) {
        for (const std::size_t y : rows(r, me(), g))
          for (std::size_t x = 0; x < kx; ++x, from += kz) {
            Whole* const to = line(x, y);
            for (std::size_t z = 0; z < kz; ++z) to[z] += from[z];
          }
      });
}

/// Waves of rows of `lines` on planes of `planes`, in and out of a message.
template <class T, class Range, class Move>
void each_wave(PmeGrid<T>& g, const Range& rows, const Range& planes, Move&& move) {
  std::size_t at = 0;
  for (std::size_t k = planes.begin; k < planes.end; ++k)
    for (std::size_t y = rows.begin; y < rows.end; ++y)
      for (std::size_t part = 0; part < 2; ++part, at += g.k[2])
        move(g.wave(k, y) + part * g.wave_row, at);
}

template <class T>
void PmeRanks<T>::to_planes(PmeGrid<T>& g) const {
  const auto many = [&](const Range& rows, const Range& planes) {
    return (rows.end - rows.begin) * (planes.end - planes.begin) * 2 * g.k[2];
  };
  const Range own = rows_of(me(), g);
  exchange<T>(
      "waves to planes",
      [&](std::size_t r) {
        std::vector<T> out(many(own, planes_[r]));
        each_wave(g, own, planes_[r],
                  [&](const T* w, std::size_t at) { std::copy_n(w, g.k[2], out.data() + at); });
        return out;
      },
      [&](std::size_t r) { return many(rows_of(r, g), planes()); },
      [&](std::size_t r, const T* from) {
        each_wave(g, rows_of(r, g), planes(),
                  [&](T* w, std::size_t at) { std::copy_n(from + at, g.k[2], w); });
      });
}

template <class T>
void PmeRanks<T>::to_lines(PmeGrid<T>& g) const {
  const auto many = [&](const Range& rows, const Range& planes) {
    return (rows.end - rows.begin) * (planes.end - planes.begin) * 2 * g.k[2];
  };
  const Range own = rows_of(me(), g);
  exchange<T>(
      "waves to lines",
      [&](std::size_t r) {
        const Range of = rows_of(r, g);
        std::vector<T> out(many(of, planes()));
        each_wave(g, of, planes(),
                  [&](const T* w, std::size_t at) { std::copy_n(w, g.k[2], out.data() + at); });
        return out;
      },
      [&](std::size_t r) { return many(own, planes_[r]); },
      [&](std::size_t r, const T* from) {
        each_wave(g, own, planes_[r],
                  [&](T* w, std::size_t at) { std::copy_n(from + at, g.k[2], w); });
      });
}

template <class T>
void PmeRanks<T>::bring_potential(PmeGrid<T>& g) const {
  const auto [kx, ky, kz] = g.k;
  exchange<T>(
      "potential of rows",
      [&, kx = kx, kz = kz](std::size_t r) {
        std::vector<T> out;
        const std::vector<std::size_t> of = rows(r, me(), g);
        out.reserve(of.size() * kx * kz);
        for (const std::size_t y : of)
          for (std::size_t x = 0; x < kx; ++x) {
            const T* const from = g.potential.get() + x * g.plane + y * g.row;
            out.insert(out.end(), from, from + kz);
          }
        return out;
      },
      [&, kx = kx, kz = kz](std::size_t r) { return rows(me(), r, g).size() * kx * kz; },
      [&, kx = kx, kz = kz](std::size_t r, const T* from) {
        for (const std::size_t y : rows(me(), r, g))
          for (std::size_t x = 0; x < kx; ++x, from += kz) {
            T* const to = g.potential.get() + x * g.plane + y * g.row;
            std::copy_n(from, kz, to);
            for (std::size_t i = 0; i < 8; ++i) to[kz + i] = to[i];
          }
      });
}

template <class T>
void PmeRanks<T>::share_moments(PmeGrid<T>& g) const {
  exchange<std::array<double, pme_moments>>(
      "moments of planes",
      [&](std::size_t) {
        return std::vector(g.moments.begin() + static_cast<std::ptrdiff_t>(planes().begin),
                           g.moments.begin() + static_cast<std::ptrdiff_t>(planes().end));
      },
      [&](std::size_t r) { return planes_[r].end - planes_[r].begin; },
      [&](std::size_t r, const std::array<double, pme_moments>* from) {
        std::copy_n(from, planes_[r].end - planes_[r].begin,
                    g.moments.begin() + static_cast<std::ptrdiff_t>(planes_[r].begin));
      });
}

template class PmeRanks<float>;
template class PmeRanks<double>;

}  // namespace tessera::molecular
