// SPDX-License-Identifier: Apache-2.0
//
// The kernels know fractions s, x = s h, whose images k are inside of them: what they give of the box is D_ab = sum over pairs d_a g_b, and as
// k h = x_i - x_j - d,
//
//   dU/dh at fixed x = -sum k (x) g = h^-T (D - X^T G),  G = dU/dx
//
// and the same for derivatives along a direction, with k constant. Pieces of the list are added up apart and then in order.
#include "nonbonded/pair_slopes.h"

#include "nonbonded/kernels/slope_kernels.h"
#include "nonbonded/matrix.h"
#include "nonbonded/pair_list.h"
#include "nonbonded/pair_shapes.h"
#include "nonbonded/series.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <mutex>

namespace tessera::molecular {

using namespace pairs;

namespace {

using Coulomb = Nonbonded::Coulomb;
using Modifier = Nonbonded::Modifier;

constexpr std::size_t most_pieces = 4;  ///< summed apart, whatever the number of threads
constexpr std::size_t kept_lists = 4;

Box box_of(const double* h) {
  Box b;
  for (std::size_t k = 0; k < 9; ++k) b.edge[k / 3][k % 3] = h[k];
  return b;
}
/// The box itself, or one more than twice as large as the atoms where nothing is periodic.
Box stage(const double* x, std::size_t n, const Box& box) {
  if (is_periodic(box)) return box;
  Vec3 edge;
  for (std::size_t a = 0; a < 3; ++a) {
    double low = x[a], high = x[a];
    for (std::size_t i = 0; i < n; ++i) {
      low = std::min(low, x[3 * i + a]);
      high = std::max(high, x[3 * i + a]);
    }
    edge[a] = std::exp2(std::ceil(std::log2(std::max(2.01 * (high - low), 1e-3))));
  }
  return rectangular_box(edge);
}

/// Places, and the list of their pairs closer than the cut-off.
struct Listed {
  std::vector<double> x, h;
  std::vector<std::uint8_t> has_lj;
  Box box;
  PairList list;
  Array<double> place[3];
  Array<std::int32_t> type;
};

}  // namespace

struct PairSlopes::Impl {
  Nonbonded o;
  Wells wells;
  std::size_t n;
  std::int32_t types;
  std::vector<std::int32_t> type_of;
  std::vector<std::vector<std::int32_t>> excluded;
  bool modified;
  Field field = Field::none;
  double ke, radius;
  CoulombShape coulomb;
  PowerShape six, twelve;
  std::vector<double> energy_series, force_series, second_series;
  const SlopeKernels& kernels_;

  std::mutex in_use;
  std::deque<std::shared_ptr<const Listed>> lists;
  /// The first derivatives at the operands of the last value: a gradient is often asked for at the same.
  struct First {
    std::vector<double> operands, g, q, table;
    std::array<double, 9> box{};
    double energy = 0;
    Slope wanted = Slope::places;
  };
  std::shared_ptr<const First> last;
  Slope asked = Slope::places;  ///< by the last gradient

  Impl(const System& s, const Nonbonded& options, Wells which, const SlopeKernels& kernels)
      : o(options), wells(which), n(s.n_atoms()), types(s.lj.types), type_of(s.atoms.lj_type), excluded(n), modified(o.lj_modifier != Modifier::none && o.lj_modifier != Modifier::potential_shift),
        ke(s.coulomb_constant / o.epsilon_r), radius(o.cutoff_lj_nm), coulomb(o), six(6, o.lj_modifier, o.cutoff_lj_nm, o.lj_switch_nm), twelve(12, o.lj_modifier, o.cutoff_lj_nm, o.lj_switch_nm), kernels_(kernels) {
    for (const auto& [i, j] : s.exclusions) {
      excluded[static_cast<std::size_t>(i)].push_back(j);
      excluded[static_cast<std::size_t>(j)].push_back(i);
    }
    if (o.coulomb == Coulomb::none) return;
    radius = std::max(radius, o.cutoff_coulomb_nm);
    field = o.coulomb == Coulomb::ewald || o.coulomb == Coulomb::pme ? Field::ewald_long : Field::power;
    if (field == Field::power) return;
    const double beta = ewald_beta(o);
    const long double most = static_cast<long double>(beta) * beta * o.cutoff_coulomb_nm * o.cutoff_coulomb_nm;
    for (const long double c : ewald_series(0, most, 1e-17L, 2)) energy_series.push_back(static_cast<double>(c * beta));
    for (const long double c : ewald_series(1, most, 1e-17L, 2)) force_series.push_back(static_cast<double>(c * beta * beta * beta));
    const std::size_t terms = std::max(energy_series.size(), force_series.size());
    energy_series.resize(terms, 0);
    force_series.resize(terms, 0);
    second_series.assign(terms, 0);
    for (std::size_t k = 1; k < terms; ++k) second_series[k - 1] = static_cast<double>(k) * force_series[k];
  }

  // ---- lists -------------------------------------------------------------------------------------------

  /// Types that interact with some type.
  std::vector<std::uint8_t> feeling(Arrays p) const {
    std::vector<std::uint8_t> of_type(static_cast<std::size_t>(types), 0);
    for (std::size_t a = 0; a < of_type.size(); ++a)
      for (std::size_t e = a * of_type.size(); e < (a + 1) * of_type.size(); ++e) {
        const std::size_t mirror = e % of_type.size() * of_type.size() + a;
        if (p[3][e] != 0 || p[4][e] != 0 || p[3][mirror] != 0 || p[4][mirror] != 0) of_type[a] = 1;
      }
    return of_type;
  }
  std::shared_ptr<const Listed> listed(Arrays p) {
    const std::vector<std::uint8_t> of_type = feeling(p);
    std::vector<std::uint8_t> has_lj;
    for (const std::int32_t t : type_of) has_lj.push_back(of_type[static_cast<std::size_t>(t)]);
    for (const auto& l : lists)
      if (std::memcmp(l->h.data(), p[1], 9 * sizeof(double)) == 0 && std::memcmp(l->x.data(), p[0], 3 * n * sizeof(double)) == 0 && l->has_lj == has_lj) return l;
    auto l = std::make_shared<Listed>();
    l->x.assign(p[0], p[0] + 3 * n);
    l->h.assign(p[1], p[1] + 9);
    l->has_lj = has_lj;
    l->box = stage(p[0], n, box_of(p[1]));
    std::vector<Vec3> s(n);
    for (std::size_t i = 0; i < n; ++i) {
      s[i] = fractions(l->box, {p[0][3 * i], p[0][3 * i + 1], p[0][3 * i + 2]});
      for (double& c : s[i]) {
        if (!std::isfinite(c)) throw Error(fmt::format("[nonbonded] atom {} has no place: a coordinate is not a number", i + 1));
        c = (c - std::floor(c) + 1) - 1;  // a multiple of 2^-52: differences are exact
      }
    }
    const ListInput in = {n, &l->has_lj, &excluded};
    l->list.sort(s, l->box, in);
    const std::size_t m = l->list.slots();
    Array<std::int32_t> x32[3];
    for (std::size_t a = 0; a < 3; ++a) {
      x32[a].assign(m, 0);
      l->place[a].assign(m, 0);
    }
    l->type.assign(m, 0);
    for (std::size_t at = 0; at < m; ++at) {
      const std::int32_t i = l->list.atom_of[at];
      if (i < 0) continue;
      l->type[at] = type_of[static_cast<std::size_t>(i)];
      for (std::size_t a = 0; a < 3; ++a) {
        const double f = s[static_cast<std::size_t>(i)][a];
        l->place[a][at] = f;
        x32[a][at] = static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(f * 4294967296.0 + 0.5)));
      }
    }
    Input<float> places{};
    for (std::size_t a = 0; a < 3; ++a) {
      places.x[a] = x32[a].data();
      for (std::size_t b = 0; b < 3; ++b) places.h[a][b] = static_cast<float>(std::ldexp(l->box.edge[a][b], -32));
    }
    places.slanted = slanted(l->box);
    // Beyond half of a slanted box's width the nearest image by fractions need not be the nearest: clusters alone decide.
    const Vec3 width = widths_nm(l->box);
    l->list.make(places, radius, !places.slanted || 2 * radius <= std::min({width[0], width[1], width[2]}), in, *kernels().back());
    lists.push_front(l);
    if (lists.size() > kept_lists) lists.pop_back();
    return l;
  }
  static bool slanted(const Box& b) { return b.edge[1][0] != 0 || b.edge[2][0] != 0 || b.edge[2][1] != 0; }

  // ---- sums --------------------------------------------------------------------------------------------

  /// f(slot, atom) for every slot that has one.
  template <class F>
  static void each_slot(const PairList& list, F&& f) {
    constexpr std::size_t of_a_chunk = 4096;
    parallel_chunks(static_cast<std::int64_t>((list.slots() + of_a_chunk - 1) / of_a_chunk), [&](std::int64_t chunk) {
      const std::size_t first = static_cast<std::size_t>(chunk) * of_a_chunk, last = std::min(first + of_a_chunk, list.slots());
      for (std::size_t at = first; at < last; ++at)
        if (list.atom_of[at] >= 0) f(at, static_cast<std::size_t>(list.atom_of[at]));
    });
  }
  /// Numbers of atoms in the order of slots.
  Array<double> sorted(const Listed& l, double factor, const double* values, std::size_t stride = 1) const {
    Array<double> out(l.list.slots(), 0);
    if (values) each_slot(l.list, [&](std::size_t at, std::size_t i) { out[at] = factor * values[stride * i]; });
    return out;
  }
  std::vector<double> tables(double factor, const double* t) const {
    const auto m = static_cast<std::size_t>(types);
    std::vector<double> out(m * m, 0);
    if (t)
      for (std::size_t a = 0; a < m; ++a)
        for (std::size_t b = 0; b < m; ++b) out[a * m + b] = factor * 0.5 * (t[a * m + b] + t[b * m + a]);
    return out;
  }

  /// The first derivatives at p, or along v the second ones, of atoms: {g [n, 3], q [n], table [types, types, 2], D, U}.
  First run(const Listed& l, Arrays p, Arrays v, Slope wanted) const {
    const bool second = !v.empty();
    const std::size_t m = l.list.slots();
    SlopeInput k{};
    Input<double>& in = k.in;
    const Array<double> q_i = sorted(l, ke, p[2]), q_j = sorted(l, 1, p[2]);
    const std::vector<double> c6 = tables(6, p[3]), c12 = tables(12, p[4]);
    for (std::size_t a = 0; a < 3; ++a) {
      in.x[a] = l.place[a].data();
      for (std::size_t b = 0; b < 3; ++b) in.h[a][b] = l.box.edge[a][b];
    }
    in.slanted = slanted(l.box);
    in.q_i = q_i.data();
    in.q_j = q_j.data();
    in.c6 = c6.data();
    in.c12 = c12.data();
    in.type = l.type.data();
    in.types = types;
    in.radius2 = radius * radius;
    in.lj_radius2 = o.cutoff_lj_nm * o.cutoff_lj_nm;
    in.q_radius2 = o.cutoff_coulomb_nm * o.cutoff_coulomb_nm;
    in.twin = field != Field::none && o.cutoff_lj_nm != o.cutoff_coulomb_nm;
    in.k = coulomb.k_rf;
    in.k2 = 2 * coulomb.k_rf;
    in.slope = coulomb.slope;
    in.shift = coulomb.shift;
    in.rc = o.cutoff_coulomb_nm;
    in.scale = 2 / in.q_radius2;
    in.energy_series = energy_series.data();
    in.force_series = force_series.data();
    in.terms = static_cast<int>(force_series.size());
    in.bend = o.lj_modifier == Modifier::linear_force_shift ? Bend::linear_force_shift : o.lj_modifier == Modifier::force_switch ? Bend::force_switch : Bend::potential_switch;
    const auto bent = [](const PowerShape& shape) {
      const double by_n = 1.0 / shape.n;
      return BentPower<double>{by_n * shape.a, by_n * shape.b, by_n * shape.slope, by_n * (shape.shift - shape.slope * shape.rc), by_n * shape.a / 3, by_n * shape.b / 4};
    };
    in.six = bent(six);
    in.twelve = bent(twelve);
    in.from = o.lj_switch_nm;
    in.inverse_width = 1 / (o.cutoff_lj_nm - o.lj_switch_nm);
    k.ke = ke;
    k.every_well = wells == Wells::all;
    std::vector<std::uint8_t> lanes(m / j_width, 0);
    for (std::size_t at = 0; at < m; ++at)
      if (l.list.atom_of[at] >= 0 && (k.every_well || l.has_lj[static_cast<std::size_t>(l.list.atom_of[at])])) lanes[at / j_width] |= static_cast<std::uint8_t>(1U << at % j_width);
    k.lj_lanes = lanes.data();
    k.second_series = second_series.data();

    std::array<Array<double>, 3> w;
    Array<double> dq_i, dq_j;
    std::vector<double> dc6, dc12;
    if (second) {
      std::vector<double> moved(3 * n, 0);
      Matrix<double> strain{};
      if (v[1] && is_periodic(box_of(p[1]))) {
        Matrix<double> h;
        for (std::size_t a = 0; a < 9; ++a) h[a / 3][a % 3] = p[1][a];
        const Matrix<double> inv = inverse(h);
        for (std::size_t a = 0; a < 3; ++a)
          for (std::size_t b = 0; b < 3; ++b)
            for (std::size_t c = 0; c < 3; ++c) strain[a][b] += inv[a][c] * v[1][3 * c + b];
        k.strained = true;
      }
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t b = 0; b < 3; ++b) {
          double by = v[0] ? v[0][3 * i + b] : 0;
          for (std::size_t a = 0; a < 3; ++a) by -= p[0][3 * i + a] * strain[a][b];
          moved[3 * i + b] = by;
        }
      for (std::size_t a = 0; a < 3; ++a) {
        w[a] = sorted(l, 1, moved.data() + a, 3);
        k.w[a] = w[a].data();
        for (std::size_t b = 0; b < 3; ++b) k.strain[a][b] = strain[a][b];
      }
      dq_i = sorted(l, ke, v[2]);
      dq_j = sorted(l, 1, v[2]);
      dc6 = tables(6, v[3]);
      dc12 = tables(12, v[4]);
      k.dq_i = dq_i.data();
      k.dq_j = dq_j.data();
      k.dc6 = dc6.data();
      k.dc12 = dc12.data();
    }

    const auto square = static_cast<std::size_t>(types) * static_cast<std::size_t>(types);
    struct Piece {
      Array<double> slots;
      std::vector<double> table;
      SlopeSums sums{};
    };
    const std::size_t chunks = l.list.chunks.size(), pieces = std::clamp<std::size_t>(chunks, 1, most_pieces);
    std::vector<Piece> parts(pieces);
    const SlopeKernel kernel = kernels_.of[static_cast<std::size_t>(field)][modified][second][static_cast<std::size_t>(wanted)];
    parallel_chunks(static_cast<std::int64_t>(pieces), [&](std::int64_t number) {
      const auto t = static_cast<std::size_t>(number);
      Piece& own = parts[t];
      own.slots.assign(4 * m, 0);
      own.table.assign(square * 2 * table_lanes, 0);
      for (std::size_t a = 0; a < 3; ++a) own.sums.g[a] = own.slots.data() + a * m;
      own.sums.q = own.slots.data() + 3 * m;
      own.sums.table = own.table.data();
      for (std::size_t c = chunks * t / pieces; c < chunks * (t + 1) / pieces; ++c) {
        const Chunk& chunk = l.list.chunks[c];
        kernel(k, chunk.rows.data(), chunk.rows.data() + chunk.rows.size(), chunk.entries.data(), own.sums);
      }
    });
    First out;
    out.wanted = wanted;
    out.g.assign(3 * n, 0);
    out.q.assign(wanted == Slope::all ? n : 0, 0);
    out.table.assign(wanted == Slope::all ? 2 * square : 0, 0);
    each_slot(l.list, [&](std::size_t at, std::size_t i) {
      for (const Piece& part : parts) {
        for (std::size_t a = 0; a < 3; ++a) out.g[3 * i + a] += part.slots[a * m + at];
        if (wanted == Slope::all) out.q[i] += part.slots[3 * m + at];
      }
    });
    for (const Piece& part : parts) {
      for (std::size_t e = 0; e < out.table.size(); ++e)
        for (std::size_t lane = 0; lane < table_lanes; ++lane) out.table[e] += part.table[(e / 2 * table_lanes + lane) * 2 + e % 2];
      for (std::size_t a = 0; a < 9; ++a) out.box[a] += part.sums.box[a];
      out.energy += part.sums.energy;
    }
    return out;
  }
  /// Adds to the results that are wanted.
  void hand_out(const First& f, Arrays p, Results g) const {
    if (g[0])
      for (std::size_t k = 0; k < 3 * n; ++k) g[0][k] += f.g[k];
    if (g[1] && is_periodic(box_of(p[1]))) {
      Matrix<double> h, rest;
      for (std::size_t a = 0; a < 9; ++a) {
        h[a / 3][a % 3] = p[1][a];
        rest[a / 3][a % 3] = f.box[a];
      }
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t a = 0; a < 3; ++a)
          for (std::size_t b = 0; b < 3; ++b) rest[a][b] -= p[0][3 * i + a] * f.g[3 * i + b];
      const Matrix<double> inv = inverse(h);
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t b = 0; b < 3; ++b)
          for (std::size_t a = 0; a < 3; ++a) g[1][3 * k + b] += inv[a][k] * rest[a][b];
    }
    if (g[2])
      for (std::size_t i = 0; i < f.q.size(); ++i) g[2][i] += f.q[i];
    if (!g[3] && !g[4]) return;
    const auto m = static_cast<std::size_t>(types);
    const std::vector<std::uint8_t> feels = wells == Wells::all ? std::vector<std::uint8_t>(m, 1) : feeling(p);
    for (std::size_t e = 0; e < f.table.size() / 2; ++e)
      for (const std::size_t to : {e, e % m * m + e / m}) {
        if (!feels[e / m] || !feels[e % m]) continue;  // seen from one side alone
        if (g[3]) g[3][to] -= 0.5 * 6 * f.table[2 * e];
        if (g[4]) g[4][to] += 0.5 * 12 * f.table[2 * e + 1];
      }
  }

  std::vector<double> joined(Arrays p) const {
    const auto m = static_cast<std::size_t>(types) * static_cast<std::size_t>(types);
    std::vector<double> all;
    all.reserve(4 * n + 9 + 2 * m);
    for (const auto& [array, size] : {std::pair{p[0], 3 * n}, {p[1], std::size_t{9}}, {p[2], n}, {p[3], m}, {p[4], m}}) all.insert(all.end(), array, array + size);
    return all;
  }
  std::shared_ptr<const First> first(Arrays p, Slope wanted) {
    std::vector<double> operands = joined(p);
    if (last && (last->wanted == Slope::all || wanted == Slope::places) && last->operands.size() == operands.size() &&
        std::memcmp(last->operands.data(), operands.data(), operands.size() * sizeof(double)) == 0)
      return last;
    auto f = std::make_shared<First>(run(*listed(p), p, {}, wanted));
    f->operands = std::move(operands);
    last = f;
    return f;
  }
};

PairSlopes::PairSlopes(const System& s, const Nonbonded& o, Wells wells, Simd simd)
    : impl_(std::make_unique<Impl>(s, o, wells, *slope_kernels()[simd == Simd::automatic ? slope_kernels().size() - 1 : static_cast<std::size_t>(simd) - 1])) {}
PairSlopes::~PairSlopes() = default;

double PairSlopes::value(Arrays p) const {
  if (impl_->n < 2) return 0;
  const std::lock_guard hold(impl_->in_use);
  return impl_->first(p, impl_->asked)->energy;
}
void PairSlopes::gradient(Arrays p, Results g) const {
  if (impl_->n < 2) return;
  const std::lock_guard hold(impl_->in_use);
  impl_->asked = g[2] || g[3] || g[4] ? Slope::all : Slope::places;
  impl_->hand_out(*impl_->first(p, impl_->asked), p, g);
}
void PairSlopes::curvature(Arrays p, Arrays v, Results w) const {
  if (impl_->n < 2) return;
  const std::lock_guard hold(impl_->in_use);
  const bool all = v[2] || v[3] || v[4] || w[2] || w[3] || w[4];
  impl_->hand_out(impl_->run(*impl_->listed(p), p, v, all ? Slope::all : Slope::places), p, w);
}

}  // namespace tessera::molecular
