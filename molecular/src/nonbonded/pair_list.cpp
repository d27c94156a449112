// SPDX-License-Identifier: Apache-2.0
//
// Distances between extents are bounded from below along the normals of the box's faces: with gaps
// g_a (nearest images) two atoms are at least sqrt(g.g) apart in a rectangular box, and at least
// max g_a in any.
#include "nonbonded/pair_list.h"

#include "base/blocks.h"
#include "tessera/autodiff/forall.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tessera::molecular::pairs {
namespace {

constexpr std::size_t clusters_per_chunk = 32;  // of j

bool is_rectangular(const Box& b) {
  return b.edge[1][0] == 0 && b.edge[2][0] == 0 && b.edge[2][1] == 0;
}

/// Distance of two intervals on a circle of length w, from their middles' distance and the sum of
/// their half lengths.
inline float gap(float middles, float halves, float w, float inverse_w) {
  const float d = std::abs(middles - w * std::nearbyint(middles * inverse_w));
  return d > halves ? d - halves : 0.0F;
}

/// Bounds of the squared distances of one extent from `n` others, a multiple of `stride`, all at
/// once.
constexpr std::size_t stride = 8;
template <bool rectangular>
void squares(const std::array<float, 3>& mid, const std::array<float, 3>& half,
             const std::array<const float*, 3>& middles, const std::array<const float*, 3>& halves,
             const std::array<float, 3>& w, const std::array<float, 3>& inverse_w, std::size_t n,
             float* __restrict to) {
  for (std::size_t first = 0; first < n; first += stride)
    for (std::size_t k = first; k < first + stride; ++k) {
      std::array<float, 3> g;
      for (std::size_t a = 0; a < 3; ++a)
        g[a] = gap(mid[a] - middles[a][k], half[a] + halves[a][k], w[a], inverse_w[a]);
      to[k] = rectangular ? g[0] * g[0] + g[1] * g[1] + g[2] * g[2]
                          : std::max({g[0] * g[0], g[1] * g[1], g[2] * g[2]});
    }
}

/// `row` of i with `lj` atoms that have Lennard-Jones parameters, where its entries begin at
/// `begin`.
Row placed(Row row, std::int32_t i, std::int32_t lj, std::size_t begin) {
  const auto at = static_cast<std::int64_t>(begin);
  return {i, lj, row.begin + at, row.first + at, row.last + at, row.end + at};
}

}  // namespace

void PairList::sort(const std::vector<Vec3>& s, const Box& box, const ListInput& in) {
  box_ = box;
  width_ = widths_nm(box);
  std::vector<std::array<Vec3, 2>> bounds((in.n + block - 1) / block);
  over_blocks(in.n, [&](std::size_t begin, std::size_t end) {
    Vec3 low, high;
    low.fill(1);
    high.fill(0);
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t a = 0; a < 3; ++a) {
        const double from = s[i][a] - in.centre[a] + 0.5, f = from - std::floor(from);
        low[a] = std::min(low[a], f);
        high[a] = std::max(high[a], f);
      }
    bounds[begin / block] = {low, high};
  });
  Vec3 low{}, high{};
  if (!bounds.empty()) {
    low = bounds[0][0];
    high = bounds[0][1];
  }
  for (const auto& [l, h] : bounds)
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = std::min(low[a], l[a]);
      high[a] = std::max(high[a], h[a]);
    }
  double volume = 1;
  for (std::size_t a = 0; a < 3; ++a) volume *= std::max(high[a] - low[a], 1e-3) * width_[a];
  // Columns as wide as a cluster of eight is high.
  const double side =
      std::cbrt(j_width * volume / static_cast<double>(std::max<std::size_t>(in.n, 1)));
  const double most = std::sqrt(static_cast<double>(in.n)) + 1;
  for (std::size_t a = 0; a < 2; ++a)
    columns_[a] = static_cast<std::int64_t>(std::clamp(std::round(width_[a] / side), 1.0, most));
  const auto n_columns = static_cast<std::size_t>(columns_[0] * columns_[1]);

  std::vector<std::uint32_t> count(n_columns + 1, 0), column(in.n);
  over_blocks(in.n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::array<std::int64_t, 2> c;
      for (std::size_t a = 0; a < 2; ++a)
        c[a] = std::clamp<std::int64_t>(
            static_cast<std::int64_t>(s[i][a] * static_cast<double>(columns_[a])), 0,
            columns_[a] - 1);
      column[i] = static_cast<std::uint32_t>(c[0] * columns_[1] + c[1]);
    }
  });
  for (const std::uint32_t c : column) ++count[c + 1];
  for (std::size_t c = 0; c < n_columns; ++c) count[c + 1] += count[c];
  std::vector<std::uint64_t> key(in.n);  // height, then number
  std::vector<std::uint32_t> next(count.begin(), count.end() - 1);
  for (std::size_t i = 0; i < in.n; ++i) {
    const auto z = static_cast<std::uint64_t>(std::clamp(s[i][2], 0.0, 1 - 1e-9) * 4294967296.0);
    key[next[column[i]]++] = z << 32 | i;
  }
  first_of_.assign(n_columns + 1, 0);
  for (std::size_t c = 0; c < n_columns; ++c)
    first_of_[c + 1] =
        first_of_[c] + static_cast<std::int32_t>((count[c + 1] - count[c] + j_width - 1) / j_width);
  atom_of.assign(static_cast<std::size_t>(first_of_.back()) * j_width, -1);
  slot_of.assign(in.n, 0);
  lj_.assign(atom_of.size() / i_width, 0);
  const auto fill = [&](std::int64_t chunk) {
    const auto c = static_cast<std::size_t>(chunk);
    std::sort(key.begin() + count[c], key.begin() + count[c + 1]);
    std::size_t slot = static_cast<std::size_t>(first_of_[c]) * j_width;
    for (std::uint32_t k = count[c]; k < count[c + 1]; ++k)
      atom_of[slot++] = static_cast<std::int32_t>(key[k] & 0xffffffffU);
  };
  if (in.n > 4096)
    parallel_chunks(static_cast<std::int64_t>(n_columns), fill);
  else
    for (std::size_t c = 0; c < n_columns; ++c)
      fill(static_cast<std::int64_t>(c));  // less than threads cost
  at_.assign(atom_of.size(), {});
  const auto has = [&](std::int32_t a) {
    return a >= 0 && (*in.has_lj)[static_cast<std::size_t>(a)] != 0;
  };
  over_blocks(lj_.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t cluster = first; cluster < last; ++cluster) {
      // Those with parameters first, in their order.
      std::int32_t* const of = atom_of.data() + cluster * i_width;
      std::array<std::int32_t, i_width> without;
      std::int32_t n_has = 0, n_without = 0;
      for (int k = 0; k < i_width; ++k) {
        if (has(of[k]))
          of[n_has++] = of[k];
        else
          without[static_cast<std::size_t>(n_without++)] = of[k];
      }
      std::copy_n(without.begin(), n_without, of + n_has);
      lj_[cluster] = n_has;
    }
    for (std::size_t k = first * i_width; k < last * i_width; ++k) {
      if (atom_of[k] < 0) continue;
      const auto i = static_cast<std::size_t>(atom_of[k]);
      slot_of[i] = static_cast<std::int32_t>(k);
      for (std::size_t a = 0; a < 3; ++a) at_[k][a] = static_cast<float>(s[i][a] * width_[a]);
    }
  });
  const std::size_t n_j = atom_of.size() / j_width;
  for (std::size_t a = 0; a < 3; ++a) {
    middle_[a].assign(n_j + stride, 0);
    half_[a].assign(n_j + stride, 0);
  }
  present_.resize(n_j);
  over_blocks(n_j, [&](std::size_t first, std::size_t last) {
    for (std::size_t j = first; j < last; ++j) {
      const Extent e = extent(j * j_width, j_width);
      for (std::size_t a = 0; a < 3; ++a) {
        middle_[a][j] = 0.5F * (e.low[a] + e.high[a]);
        half_[a][j] = 0.5F * (e.high[a] - e.low[a]);
      }
      present_[j] = 0;
      for (std::size_t k = 0; k < j_width; ++k)
        if (atom_of[j * j_width + k] >= 0) present_[j] |= 1U << k;
    }
  });
}

PairList::Extent PairList::extent(std::size_t first, std::size_t count) const {
  Extent e;
  for (std::size_t a = 0; a < 3; ++a) {
    e.low[a] = 1e30F;
    e.high[a] = -1e30F;
    for (std::size_t k = first; k < first + count; ++k) {
      if (atom_of[k] < 0) continue;
      e.low[a] = std::min(e.low[a], at_[k][a]);
      e.high[a] = std::max(e.high[a], at_[k][a]);
    }
  }
  return e;
}

std::size_t PairList::near(std::int32_t own, float r, std::vector<float>& square,
                           std::vector<std::int32_t>& found) const {
  const bool rectangular = is_rectangular(box_);
  const float r2 = r * r;
  const auto at = static_cast<std::size_t>(own);
  const std::array<float, 3> mid = {middle_[0][at], middle_[1][at], middle_[2][at]},
                             half = {half_[0][at], half_[1][at], half_[2][at]};
  std::array<float, 3> w, inverse_w;
  for (std::size_t a = 0; a < 3; ++a) {
    w[a] = static_cast<float>(width_[a]);
    inverse_w[a] = 1 / w[a];
  }
  const std::array<float, 2> wide = {w[0] / static_cast<float>(columns_[0]),
                                     w[1] / static_cast<float>(columns_[1])};
  // Columns around the middle, each once; from and to are less than a box away from those inside.
  std::array<std::array<std::int64_t, 2>, 2> range;
  for (std::size_t a = 0; a < 2; ++a) {
    const float reach = r + half[a];
    range[a] = {static_cast<std::int64_t>(std::floor((mid[a] - reach) / wide[a] - 1e-3F)),
                static_cast<std::int64_t>(std::floor((mid[a] + reach) / wide[a] + 1e-3F))};
    if (range[a][1] - range[a][0] + 1 >= columns_[a]) range[a] = {0, columns_[a] - 1};
  }
  const auto inside = [&](std::size_t a, std::int64_t c) {
    return c < 0 ? c + columns_[a] : c >= columns_[a] ? c - columns_[a] : c;
  };
  const auto gap_of = [&](std::size_t a, std::int64_t c) {
    return gap(mid[a] - (static_cast<float>(c) + 0.5F) * wide[a],
               half[a] + 0.5F * wide[a] * 1.0001F, w[a], inverse_w[a]);
  };
  std::size_t n = 0;
  for (std::int64_t x = range[0][0]; x <= range[0][1]; ++x) {
    const std::int64_t cx = inside(0, x);
    if (first_of_[static_cast<std::size_t>((cx + 1) * columns_[1])] <= own) continue;
    const float gx = gap_of(0, cx);
    for (std::int64_t y = range[1][0]; y <= range[1][1]; ++y) {
      const std::int64_t cy = inside(1, y);
      const auto column = static_cast<std::size_t>(cx * columns_[1] + cy);
      const std::int32_t begin = std::max(first_of_[column], own), end = first_of_[column + 1];
      if (begin >= end) continue;
      const float gy = gap_of(1, cy);
      if (rectangular ? gx * gx + gy * gy > r2 : std::max(gx, gy) > r) continue;
      const auto count = static_cast<std::size_t>(end - begin);
      if (square.size() < count + stride) square.resize(count + stride);
      if (found.size() < n + count) found.resize(2 * (n + count));
      std::array<const float*, 3> middles, halves;
      for (std::size_t a = 0; a < 3; ++a) {
        middles[a] = middle_[a].data() + begin;
        halves[a] = half_[a].data() + begin;
      }
      (rectangular ? squares<true> : squares<false>)(mid, half, middles, halves, w, inverse_w,
                                                     (count + stride - 1) / stride * stride,
                                                     square.data());
      for (std::size_t k = 0; k < count; ++k) {
        found[n] = begin + static_cast<std::int32_t>(k);
        n += square[k] <= r2;
      }
    }
  }
  return n;
}

Coarse PairList::coarse(const Input<float>& positions, double radius) {
  Box box;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      box.edge[a][b] = std::ldexp(static_cast<double>(positions.h[a][b]), 32);
  const Vec3 width = widths_nm(box);
  Coarse out{};
  std::array<int, 3> skipped;  // bits of a fraction above those that are read: of the part of the
                               // edge that spans at least four radii
  double unit = 0;             // [nm] of lengths
  for (std::size_t a = 0; a < 3; ++a) {
    skipped[a] =
        std::clamp(static_cast<int>(std::floor(std::log2(width[a] / (4 * radius)))), 0, 16);
    for (std::size_t b = 0; b < 3; ++b)
      unit = std::max(unit, std::ldexp(std::abs(box.edge[a][b]), -16 - skipped[a]));
  }
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b)
      out.scale[a][b] =
          static_cast<std::int16_t>(32767 * std::ldexp(box.edge[a][b], -16 - skipped[a]) / unit);
    coarse_[a].resize(atom_of.size());
    out.x[a] = coarse_[a].data();
    over_blocks(atom_of.size(), [&](std::size_t begin, std::size_t end) {
      const std::int32_t* const from = positions.x[a];
      std::int16_t* const to = coarse_[a].data();
      const int shift = 16 - skipped[a];
      for (std::size_t at = begin; at < end; ++at)
        to[at] = static_cast<std::int16_t>(static_cast<std::uint32_t>(from[at]) >> shift);
    });
  }
  // A difference is off by less than 1 for bits that are cut, by 1/2 for a product's rounding and
  // by 1/2 for that of its factor; a length has up to three, and there are three lengths.
  out.slanted = positions.slanted;
  const double off = std::sqrt(3.0) * (out.slanted ? 6 : 2);
  out.limit =
      static_cast<std::uint16_t>(std::min(std::pow(radius / unit + off, 2) / 65536, 65535.0));
  return out;
}

void PairList::make(const Input<float>& positions, double radius, bool by_atoms,
                    const ListInput& in, const Kernels& kernels) {
  const std::size_t n_j = atom_of.size() / j_width;
  const auto r = static_cast<float>(radius * (1 + 1e-5));  // extents are rounded to float
  const Coarse in_16_bits = coarse(positions, radius);
  const std::vector<Cut> cuts = in.middle ? cuts_of(*in.middle) : std::vector<Cut>();
  chunks.resize((n_j + clusters_per_chunk - 1) / clusters_per_chunk);
  parallel_chunks(static_cast<std::int64_t>(chunks.size()), [&](std::int64_t number) {
    Chunk& chunk = chunks[static_cast<std::size_t>(number)];
    chunk.rows.clear();
    chunk.entries.clear();
    std::vector<float> square;
    std::vector<std::int32_t> others;
    Array<Entry> found, spare;
    std::vector<std::uint8_t> across;             // of `found`: some of its pairs lie outside
    std::vector<std::int32_t> index_of(n_j, -1);  // of a j-cluster in `found`
    const std::size_t first = static_cast<std::size_t>(number) * clusters_per_chunk,
                      last = std::min(first + clusters_per_chunk, n_j);
    for (std::size_t own = first; own < last; ++own) {
      std::size_t n = near(static_cast<std::int32_t>(own), r, square, others);
      if (!cuts.empty()) {
        across.resize(n);
        std::size_t kept = 0;
        for (std::size_t k = 0; k < n; ++k) {
          const Lies where = lies(cuts, static_cast<std::int32_t>(own), others[k]);
          others[kept] = others[k];
          across[kept] = where == Lies::across;
          kept += where != Lies::outside;
        }
        n = kept;
      }
      found.resize(n);
      spare.resize(n);
      for (std::size_t k = 0; k < n; ++k)
        index_of[static_cast<std::size_t>(others[k])] = static_cast<std::int32_t>(k);
      for (std::size_t i = 2 * own; i < 2 * own + 2; ++i) {
        std::uint32_t present = 0, after = 0;  // bits of all pairs with atoms of i; of those with
                                               // atoms of `own` after them
        for (std::size_t k = 0; k < i_width; ++k) {
          const std::size_t slot = i * i_width + k;
          if (atom_of[slot] < 0) continue;
          present |= 0xffU << (8 * k);
          after |= (0xfeU << slot % j_width & 0xffU) << (8 * k);
        }
        if (present == 0) continue;
        for (std::size_t k = 0; k < n; ++k)
          found[k] = {others[k],
                      present & 0x01010101U * present_[static_cast<std::size_t>(others[k])]};
        if (const std::int32_t self = index_of[own]; self >= 0)
          found[static_cast<std::size_t>(self)].mask &= after;
        for (std::size_t k = 0; k < i_width; ++k) {
          const std::int32_t atom = atom_of[i * i_width + k];
          if (atom < 0) continue;
          for (const std::int32_t partner : (*in.excluded)[static_cast<std::size_t>(atom)]) {
            const auto slot = static_cast<std::size_t>(slot_of[static_cast<std::size_t>(partner)]);
            const std::int32_t at = index_of[slot / j_width];
            if (at >= 0)
              found[static_cast<std::size_t>(at)].mask &= ~(1U << (8 * k + slot % j_width));
          }
        }
        const std::size_t begin = chunk.entries.size();
        chunk.entries.resize(begin + n);
        Entry* const to = chunk.entries.data() + begin;
        Row row{};
        if (by_atoms)
          row = kernels.prune(in_16_bits, static_cast<std::int32_t>(i), found.data(),
                              found.data() + n, to, spare.data());
        else {
          row.i = static_cast<std::int32_t>(i);
          row.first = row.last = row.end =
              std::ranges::copy_if(found, to, [](const Entry& entry) { return entry.mask != 0; })
                  .out -
              to;
        }
        if (!cuts.empty()) {
          std::int64_t kept = 0;
          const auto keep = [&](std::int64_t from, std::int64_t end) {
            for (std::int64_t k = from; k < end; ++k) {
              Entry e = to[k];
              if (across[static_cast<std::size_t>(index_of[static_cast<std::size_t>(e.j)])])
                e.mask = within(cuts, positions, i, e);
              to[kept] = e;
              kept += e.mask != 0;
            }
            return kept;
          };
          const Row all = row;
          row.first = keep(0, all.first);
          row.last = keep(all.first, all.last);
          row.end = keep(all.last, all.end);
        }
        chunk.entries.resize(begin + static_cast<std::size_t>(row.end));
        if (row.end > 0)
          chunk.rows.push_back(placed(row, static_cast<std::int32_t>(i), lj_[i], begin));
      }
      for (std::size_t k = 0; k < n; ++k) index_of[static_cast<std::size_t>(others[k])] = -1;
    }
  });
}

PairList::Lies PairList::lies(std::span<const Cut> cuts, std::int32_t own, std::int32_t j) const {
  Lies all = Lies::inside;
  const auto at = static_cast<std::size_t>(own), other = static_cast<std::size_t>(j);
  for (const Cut& c : cuts) {
    const float middle = middle_[c.axis][at], to = middle_[c.axis][other] - middle,
                halves = half_[c.axis][at] + half_[c.axis][other],
                way = to - c.width * std::nearbyint(to * c.over_width);
    if (std::abs(way) + halves + c.rounding >= 0.5F * c.width) {
      all = Lies::across;
      continue;
    }
    // From the region's lower face, within an edge of it.
    const float spread = 0.5F * halves + c.rounding, on = middle + 0.5F * way - c.low,
                from = on - c.width * std::floor(on * c.over_width);
    if (from >= c.size + spread && from <= c.width - spread) return Lies::outside;
    if (from < spread || from > c.size - spread) all = Lies::across;
  }
  return all;
}

std::vector<PairList::Cut> PairList::cuts_of(const Region& region) const {
  std::vector<Cut> cuts;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!region.is_cut(a)) continue;
    const auto w = static_cast<float>(width_[a]);
    cuts.push_back({a, w, 1 / w, 0x1p-32F * static_cast<float>(region.low[a]) * w,
                    0x1p-32F * static_cast<float>(region.size[a]) * w, 1e-4F + 2e-6F * w,
                    region.low[a], static_cast<std::uint32_t>(region.size[a])});
  }
  return cuts;
}

std::uint32_t PairList::within(std::span<const Cut> cuts, const Input<float>& positions,
                               std::size_t i, const Entry& entry) {
  std::array<std::uint32_t, i_width * j_width> bits;
  for (std::size_t bit = 0; bit < bits.size(); ++bit) bits[bit] = 1U << bit;
  for (const Cut& c : cuts) {
    const std::int32_t *const of_i = positions.x[c.axis] + i * i_width,
                              *const of_j =
                                  positions.x[c.axis] + static_cast<std::size_t>(entry.j) * j_width;
    for (std::size_t k = 0; k < i_width; ++k)
      for (std::size_t l = 0; l < j_width; ++l) {
        const std::uint32_t m =
            middle(static_cast<std::uint32_t>(of_i[k]), static_cast<std::uint32_t>(of_j[l]));
        bits[k * j_width + l] = m - c.first < c.units ? bits[k * j_width + l] : 0;
      }
  }
  std::uint32_t all = 0;
  for (const std::uint32_t bit : bits) all |= bit;
  return entry.mask & all;
}

void PairList::prune(const Input<float>& positions, double radius, const Kernels& kernels) {
  const Coarse in_16_bits = coarse(positions, radius);
  parallel_chunks(static_cast<std::int64_t>(chunks.size()), [&](std::int64_t number) {
    Chunk& chunk = chunks[static_cast<std::size_t>(number)];
    chunk.inner.resize(chunk.entries.size());
    chunk.inner_rows.clear();
    Array<Entry> spare;
    std::size_t at = 0;
    for (const Row& row : chunk.rows) {
      const auto count = static_cast<std::size_t>(row.end - row.begin);
      if (spare.size() < count) spare.resize(count);
      const Row kept =
          kernels.prune(in_16_bits, row.i, chunk.entries.data() + row.begin,
                        chunk.entries.data() + row.end, chunk.inner.data() + at, spare.data());
      if (kept.end > 0) chunk.inner_rows.push_back(placed(kept, row.i, row.lj, at));
      at += static_cast<std::size_t>(kept.end);
    }
  });
}

}  // namespace tessera::molecular::pairs
