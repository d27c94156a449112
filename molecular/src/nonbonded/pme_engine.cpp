// SPDX-License-Identifier: Apache-2.0
#include "nonbonded/pme_engine.h"

#include "base/four.h"
#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::molecular {
namespace {

using std::numbers::pi;
constexpr std::size_t rounded_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace

template <class T>
double pme_quantum(double most, double all) {
  const auto power = [](double q) { return q > 0 ? std::ilogb(q) + 1 : 0; };
  return std::ldexp(1.0, std::is_same_v<T, float> ? power(most) - 26
                                                  : std::max(power(most) - 49, power(all) - 62));
}

template <class T>
PmeEngine<T>::PmeEngine(int order, double beta, double ke) : ke_(ke), kernels_(pme_kernels<T>()) {
  if (order < 4 || order > most_pme_order)
    throw Error(
        fmt::format("[pme] splines of order 4 to {} are known, got {}", most_pme_order, order));
  grid_.decay = 0.25 / (beta * beta);
  grid_.order = static_cast<std::size_t>(order);
}

template <class T>
void PmeEngine<T>::set_charges(const double* charge, std::size_t n) {
  charge_.assign(charge, charge + n);
  double most = 0, all = 0;
  total_ = 0;
  for (const double q : charge_) {
    most = std::max(most, std::abs(q));
    all += std::abs(q);
    total_ += q;
  }
  grid_.quantum = pme_quantum<T>(most, all);
  take(charge_);
}

template <class T>
void PmeEngine<T>::take(const std::vector<double>& charge) {
  charge_ = charge;
  found_.resize(charge.size());
  grid_.atoms.resize(charge.size());
  grid_.felt.resize(charge.size());
}

template <class T>
void PmeEngine<T>::divide(PmeRanks<T>& ranks) {
  ranks_ = &ranks;
  ranks.lay_out(grid_);
}

template <class T>
void PmeEngine<T>::set_box(const std::array<int, 3>& points, const Matrix<double>& h) {
  if (points != points_) {
    lay_out(grid_, points);
    for (std::size_t a = 0; a < 3; ++a)
      moduli_[a] = spline_moduli(static_cast<int>(grid_.order), points[a]);
    points_ = points;
    quantum_of_influence_ = 0;
  }
  if (h == h_ && grid_.quantum == quantum_of_influence_) return;
  h_ = h;
  set_influence();
}

template <class T>
void PmeEngine<T>::shape(PmeGrid<T>& other) const {
  other.order = grid_.order;
  lay_out(other, points_);
  other.decay = grid_.decay;
  other.metric = grid_.metric;
}

template <class T>
void PmeEngine<T>::lay_out(PmeGrid<T>& g, const std::array<int, 3>& points) const {
  for (std::size_t a = 0; a < 3; ++a) {
    if (points[a] < static_cast<int>(g.order))
      throw Error(
          fmt::format("[pme] a grid of {} points is too coarse for splines of order {}: take at "
                      "least as many points",
                      points[a], static_cast<int>(g.order)));
    g.k[a] = static_cast<std::size_t>(points[a]);
  }
  const auto [kx, ky, kz] = g.k;
  g.half = (kx + 1) / 2;
  g.row = rounded_up(kz + 16, 16);
  g.plane = ky * g.row + 16;  // no power of two: planes side by side would share lines of the cache
  g.wave_row = rounded_up(kz, 16);
  g.wave_plane = rounded_up(ky, 4) * 2 * g.wave_row + 16;
  g.turned_row = rounded_up(ky, 16);
  g.x = LineFft<T>(kx);
  g.y = LineFft<T>(ky);
  g.z = LineFft<T>(kz);
  const std::size_t n_slabs = std::max<std::size_t>(1, kx / 8);
  g.slabs.clear();
  g.tiles.clear();
  g.parts.assign(kx, {});
  g.slab_of.assign(kx, 0);
  for (std::size_t s = 0; s < n_slabs; ++s) {
    const std::size_t first = s * kx / n_slabs, width = (s + 1) * kx / n_slabs - first;
    g.slabs.push_back({first, width});
    g.tiles.emplace_back((width + g.order - 1) * g.plane);
    for (std::size_t x = 0; x < width + g.order - 1; ++x)
      g.parts[(first + x) % kx].push_back({s, x});
    for (std::size_t x = 0; x < width; ++x) g.slab_of[first + x] = s;
  }
  g.first.assign(n_slabs + 1, 0);
  g.rows = {};
  g.rows[0] = {0, ky};
  g.lines = {};
  g.wrapped_x.clear();
  g.wrapped_y.clear();
  for (std::size_t x = 0; x < kx + g.order; ++x) g.wrapped_x.push_back(x % kx * g.plane);
  for (std::size_t y = 0; y < ky + g.order; ++y) g.wrapped_y.push_back(y % ky * g.row);
  g.waves = Aligned<T>(g.half * g.wave_plane);
  g.potential = Aligned<T>(kx * g.plane);
  g.influence = Aligned<T>(g.half * kz * g.turned_row);
  g.moments.resize(g.half);
  g.largest.resize((ky + 1) / 2);
}

template <class T>
void PmeEngine<T>::set_influence() {
  PmeGrid<T>& g = grid_;
  inverse_ = molecular::inverse(h_);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t b = 0; b < 3; ++b) by_fraction_[c][b] = inverse_[c][b] * points_[b];
  for (std::size_t e = 0; e < 6; ++e) {
    const auto [a, b] = pairs_of_axes[e];
    g.metric[e] = 0;
    for (std::size_t c = 0; c < 3; ++c)
      g.metric[e] += (a == b ? 1 : 2) * 4 * pi * pi * inverse_[c][a] * inverse_[c][b];
  }
  const double front = 4 * pi * ke_ / determinant(h_) * g.quantum;
  // Without slant the exponential is a product of one factor an axis.
  const bool slanted = g.metric[3] != 0 || g.metric[4] != 0 || g.metric[5] != 0;
  std::array<std::vector<double>, 3> number, factor;
  for (std::size_t a = 0; a < 3; ++a)
    for (int n = 0; n < points_[a]; ++n) {
      number[a].push_back(2 * n <= points_[a] ? n : n - points_[a]);
      factor[a].push_back(
          (2 * n == points_[a] ? 0.0
           : slanted           ? 1.0
                     : std::exp(-g.decay * g.metric[a] * number[a].back() * number[a].back())) /
          (2 * n == points_[a] ? 1.0 : moduli_[a][static_cast<std::size_t>(n)]));
    }
  parallel_chunks(static_cast<std::int64_t>(g.half), [&](std::int64_t chunk) {
    const auto x = static_cast<std::size_t>(chunk);
    const double nx = number[0][x];
    for (std::size_t z = 0; z < g.k[2]; ++z) {
      const double nz = number[2][z],
                   along_xz = g.metric[0] * nx * nx + g.metric[2] * nz * nz + g.metric[4] * nx * nz,
                   cross = g.metric[3] * nx + g.metric[5] * nz;
      const double share = front * factor[0][x] * factor[2][z];
      T* const to = g.influence.get() + (x * g.k[2] + z) * g.turned_row;
      for (std::size_t y = 0; y < g.k[1]; ++y) {
        const double ny = number[1][y], k2 = along_xz + (cross + g.metric[1] * ny) * ny;
        to[y] = static_cast<T>(
            k2 == 0 ? 0.0 : share * factor[1][y] * (slanted ? std::exp(-g.decay * k2) : 1.0) / k2);
      }
    }
  });
  quantum_of_influence_ = g.quantum;
}

template <class T>
void PmeEngine<T>::place(const double* x) {
  PmeGrid<T>& g = grid_;
  constexpr std::size_t of_a_chunk = 2048;
  const std::size_t n = charge_.size(), chunks = (n + of_a_chunk - 1) / of_a_chunk,
                    n_slabs = g.slabs.size();
  slots_.resize(n);
  first_.assign(chunks * n_slabs, 0);
  const auto first_of = [](std::int64_t chunk) {
    return static_cast<std::size_t>(chunk) * of_a_chunk;
  };
  const auto last_of = [&](std::int64_t chunk) {
    return std::min(n, first_of(chunk) + of_a_chunk);
  };
  parallel_chunks(static_cast<std::int64_t>(chunks), [&](std::int64_t chunk) {
    std::int32_t* const count = first_.data() + static_cast<std::size_t>(chunk) * n_slabs;
    const std::size_t end = last_of(chunk);
    const std::array<double, 3> points = {static_cast<double>(points_[0]),
                                          static_cast<double>(points_[1]),
                                          static_cast<double>(points_[2])};
    const Matrix<double> inverse = inverse_;
    const double quantum = g.quantum, before = static_cast<double>(g.order) - 1;
    for (std::size_t begin = first_of(chunk); begin < end; begin += Four::size) {
      std::array<Four, 3> u, w, point;
      for (std::size_t b = 0; b < 3; ++b) {
        const auto along = [&](std::size_t a) {
          return four_of(begin, end, [&](std::size_t i) { return x[3 * i + a]; }) * inverse[a][b];
        };
        const Four s = along(0) + along(1) + along(2);
        u[b] = (s - floor(s)) * points[b];
        const Four cell = floor(u[b]), first = cell - before;
        w[b] = u[b] - cell;
        point[b] = where(first < 0.0, first + points[b], first);
        point[b] = where(point[b] < points[b], point[b], point[b] - points[b]);
      }
      const Four charge = four_of(begin, end, [&](std::size_t i) { return charge_[i]; }) / quantum;
      for (std::size_t k = 0; k < std::min(Four::size, end - begin); ++k) {
        const std::size_t i = begin + k;
        const auto within = [&](std::size_t b) { return u[b][k] >= 0 && u[b][k] <= points[b]; };
        slots_[i] = -1;
        if (charge_[i] == 0 && !g.wants_potential) continue;
        if (!within(0) || !within(1) || !within(2))
          continue;  // not a number: other terms name the atom
        PmeAtom<T>& atom = found_[i];
        for (std::size_t b = 0; b < 3; ++b) {
          atom.w[b] = static_cast<T>(w[b][k]);
          atom.point[b] = static_cast<std::int32_t>(point[b][k]);
        }
        const std::size_t slab = g.slab_of[static_cast<std::size_t>(atom.point[0])];
        atom.point[0] -= static_cast<std::int32_t>(g.slabs[slab].first);
        if (ranks_) {
          const auto y = static_cast<std::size_t>(atom.point[1]);
          if (!ranks_->touches(y) || !ranks_->touches((y + g.order - 1) % g.k[1]))
            throw Error("[pme] an atom has left the rows of its rank");
        }
        atom.charge = static_cast<T>(charge[k]);
        atom.atom = static_cast<std::int32_t>(i);
        slots_[i] = static_cast<std::int32_t>(slab);
        ++count[slab];
      }
    }
  });
  std::int32_t sum = 0;
  for (std::size_t s = 0; s < n_slabs; ++s) {
    for (std::size_t c = 0; c < chunks; ++c) sum += std::exchange(first_[c * n_slabs + s], sum);
    g.first[s + 1] = static_cast<std::size_t>(sum);
  }
  parallel_chunks(static_cast<std::int64_t>(chunks), [&](std::int64_t chunk) {
    std::int32_t* const next = first_.data() + static_cast<std::size_t>(chunk) * n_slabs;
    for (std::size_t i = first_of(chunk); i < last_of(chunk); ++i) {
      if (slots_[i] < 0) continue;
      slots_[i] = next[slots_[i]]++;
      g.atoms[static_cast<std::size_t>(slots_[i])] = found_[i];
    }
  });
}

template <class T>
void PmeEngine<T>::convolve(bool moments) {
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  using Range = typename PmeRanks<T>::Range;
  const Range pairs = ranks_ ? ranks_->pairs() : Range{0, pairs_of_lines()},
              planes = ranks_ ? ranks_->planes() : Range{0, grid_.half};
  const auto over = [&](const Range& r, auto&& f) {
    parallel_chunks(static_cast<std::int64_t>(r.end - r.begin),
                    [&](std::int64_t i) { f(r.begin + at(i)); });
  };
  over(Range{0, grid_.slabs.size()}, [&](std::size_t s) { kernels_.spread(grid_, s); });
  if (ranks_) ranks_->add_charges(grid_);
  over(pairs, [&](std::size_t p) { kernels_.forward(grid_, p); });
  if (ranks_) ranks_->to_planes(grid_);
  check_range(grid_, total_ / grid_.quantum);
  over(planes, [&](std::size_t k) { kernels_.convolve(grid_, k, moments); });
  if (ranks_) ranks_->to_lines(grid_);
  if (ranks_ && moments) ranks_->share_moments(grid_);
  over(pairs, [&](std::size_t p) { kernels_.backward(grid_, p); });
  if (ranks_) ranks_->bring_potential(grid_);
}

/// A point whose sum of whole numbers went around shows as one beyond half of the range, or in the
/// total charge, which is the wave zero.
template <class T>
void PmeEngine<T>::check_range(const PmeGrid<T>& g, double total) const {
  if constexpr (std::is_same_v<T, float>) {
    bool within = true;
    for (std::size_t p = ranks_ ? ranks_->pairs().begin : 0;
         p < (ranks_ ? ranks_->pairs().end : g.largest.size()); ++p)
      within = within && g.largest[p] < 0x1p30f;
    if (!ranks_ || (ranks_->planes().begin == 0 && ranks_->planes().end > 0)) {  // the wave zero
      double zero = 0;
      for (std::size_t y = 0; y < g.k[1]; ++y)
        for (std::size_t z = 0; z < g.k[2]; ++z) zero += static_cast<double>(g.wave(0, y)[z]);
      within = within && std::abs(zero - total) < 0x1p31;
    }
    if (ranks_ ? ranks_->others().all(within) : within) return;
    throw Error(
        fmt::format("[pme] charges of more than {:g} e fall on one grid point, beyond the range of "
                    "single precision: atoms overlap, or the run needs precision = f64",
                    0x1p30 * g.quantum));
  }
}

template <class T>
std::array<double, pme_moments> PmeEngine<T>::moments_of(const PmeGrid<T>& g) {
  std::array<double, pme_moments> m{};
  for (const auto& of_plane : g.moments)
    for (std::size_t k = 0; k < pme_moments; ++k) m[k] += of_plane[k] * g.quantum;
  return m;
}

template class PmeEngine<float>;
template class PmeEngine<double>;
template double pme_quantum<float>(double, double);
template double pme_quantum<double>(double, double);

}  // namespace tessera::molecular
