// SPDX-License-Identifier: Apache-2.0
//
// The kernels know fractions s, x = s h, whose images k are inside of them: what they give of the
// box is D_ab = sum over pairs d_a g_b, and as k h = x_i - x_j - d,
//
//   dU/dh at fixed x = -sum k (x) g = h^-T (D - X^T G),  G = dU/dx
//
// and the same for derivatives along a direction, with k constant. Pieces of the list are added up
// apart and then in order.
#include "nonbonded/pair_derivatives.h"

#include "nonbonded/kernels/pair_derivative_kernels.h"
#include "nonbonded/matrix.h"
#include "nonbonded/pair_constants.h"
#include "nonbonded/pair_list.h"
#include "nonbonded/pair_positions.h"
#include "nonbonded/series.h"
#include "system/box_of.h"
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

constexpr std::size_t most_pieces = 4;  ///< summed apart, whatever the number of threads
constexpr std::size_t kept_lists = 4;

/// Positions, and the list of their pairs closer than the cut-off.
struct Listed {
  std::vector<double> x, h;
  std::vector<std::uint8_t> has_lj;
  Box box;
  PairList list;
  Array<double> position[3];
  Array<std::int32_t> whole_position[3];
  Array<std::int32_t> type;
  std::int32_t common = 0;         ///< type of most atoms with wells
  std::vector<std::uint8_t> rare;  ///< DerivativeInput
  template <class T>
  const typename Input<T>::Position* positions(std::size_t a) const {
    if constexpr (sizeof(T) == 4)
      return whole_position[a].data();
    else
      return position[a].data();
  }
};

/// What is computed besides the derivatives in positions.
struct Wanted {
  Operands of = Operands::positions;
  bool energy = false, box = false;
  bool holds(const Wanted& w) const {
    return (of == Operands::all || w.of == Operands::positions) &&
           (energy || of == Operands::all || !w.energy) && (box || !w.box);
  }
};

template <class T>
struct Series {
  std::vector<T> energy, force, second;  ///< of one length
};
template <class T>
Series<T> series_of(double beta, double radius) {
  Series<T> out;
  out.energy = ewald_coefficients<T>(0, beta, radius);
  out.force = ewald_coefficients<T>(1, beta, radius, &out.second);
  const std::size_t terms = std::max(out.energy.size(), out.force.size());
  for (std::vector<T>* series : {&out.energy, &out.force, &out.second}) series->resize(terms, T(0));
  return out;
}

/// A direction in the order of slots; `unit`: what its numbers are multiples of.
template <class T>
struct Direction {
  Array<typename Input<T>::Position> w[3];
  double strain[3][3]{};
  bool strained = false;
  Array<T> dq;
  std::vector<T> dc6, dc12;
  double unit = 1;
};

/// What one piece of the list adds up.
template <class T>
struct Piece {
  Array<T> slots;
  std::vector<double> table;
  DerivativeSums<T> sums{};
};

}  // namespace

struct PairDerivatives::Impl {
  Nonbonded o;
  Wells wells;
  Precision precision;
  std::size_t n;
  std::int32_t types;
  std::vector<std::int32_t> type_of;
  std::vector<std::vector<std::int32_t>> excluded;
  bool modified;
  Field field = Field::none;
  double root_ke, radius;  ///< in both charges of a pair, as runs have it (pair_run.cpp)
  PairConstants constants;
  Series<float> single_series;
  Series<double> twice_series;
  const DerivativeKernels& kernels_;

  std::mutex in_use;
  std::deque<std::shared_ptr<const Listed>> lists;
  /// The first derivatives at the operands of the last value: a gradient is often asked for at the
  /// same.
  struct First {
    std::vector<double> operands, g, q, table;
    std::array<double, 9> box{};
    double energy = 0;
    Wanted wanted;
  };
  std::shared_ptr<const First> last;
  Wanted asked;                             ///< by the last gradient
  std::vector<Piece<float>> single_pieces;  ///< memory
  std::vector<Piece<double>> twice_pieces;

  Impl(const System& s, const Nonbonded& options, Wells which, const DerivativeKernels& kernels,
       Precision p)
      : o(options),
        wells(which),
        precision(p),
        n(s.n_atoms()),
        types(s.lj.types),
        type_of(s.atoms.lj_type),
        excluded(n),
        modified(modifier_of(o.lj_modifier) != ForceModifier::none),
        root_ke(std::sqrt(s.coulomb_constant / o.epsilon_r)),
        radius(o.cutoff_lj_nm),
        constants(o),
        kernels_(kernels) {
    for (const auto& [i, j] : s.exclusions) {
      excluded[static_cast<std::size_t>(i)].push_back(j);
      excluded[static_cast<std::size_t>(j)].push_back(i);
    }
    if (o.coulomb == Coulomb::none) return;
    radius = std::max(radius, o.cutoff_coulomb_nm);
    field =
        o.coulomb == Coulomb::ewald || o.coulomb == Coulomb::pme ? Field::ewald_long : Field::power;
    if (field == Field::power) return;
    if (precision == Precision::mixed) {
      single_series = series_of<float>(ewald_beta(o), o.cutoff_coulomb_nm);
      if (single_series.force.size() == short_terms) field = Field::ewald;
    } else {
      twice_series = series_of<double>(ewald_beta(o), o.cutoff_coulomb_nm);
    }
  }
  template <class T>
  const Series<T>& series() const {
    if constexpr (sizeof(T) == 4)
      return single_series;
    else
      return twice_series;
  }
  template <class T>
  std::vector<Piece<T>>& pieces() {
    if constexpr (sizeof(T) == 4)
      return single_pieces;
    else
      return twice_pieces;
  }

  // ---- lists ----

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
      if (std::memcmp(l->h.data(), p[1], 9 * sizeof(double)) == 0 &&
          std::memcmp(l->x.data(), p[0], 3 * n * sizeof(double)) == 0 && l->has_lj == has_lj)
        return l;
    auto l = std::make_shared<Listed>();
    l->x.assign(p[0], p[0] + 3 * n);
    l->h.assign(p[1], p[1] + 9);
    l->has_lj = has_lj;
    l->box = stage(p[0], n, box_of(p[1]));
    std::vector<Vec3> s(n);
    const Vec3 over = over_edges(l->box);
    for (std::size_t i = 0; i < n; ++i) {
      s[i] = exact_fractions(l->box, over, p[0] + 3 * i);
      if (!std::isfinite(s[i][0] + s[i][1] + s[i][2]))
        throw Error(fmt::format("[nonbonded] the position of atom {} is not a number", i + 1));
    }
    const ListInput in = {n, &l->has_lj, &excluded};
    l->list.sort(s, l->box, in);
    const std::size_t m = l->list.slots();
    for (std::size_t a = 0; a < 3; ++a) {
      l->whole_position[a].assign(m, 0);
      l->position[a].assign(m, 0);
    }
    l->type.assign(m, 0);
    for (std::size_t at = 0; at < m; ++at) {
      const std::int32_t i = l->list.atom_of[at];
      if (i < 0) continue;
      l->type[at] = type_of[static_cast<std::size_t>(i)];
      for (std::size_t a = 0; a < 3; ++a) {
        const double f = s[static_cast<std::size_t>(i)][a];
        l->position[a][at] = f;
        l->whole_position[a][at] = static_cast<std::int32_t>(
            static_cast<std::uint32_t>(static_cast<std::int64_t>(f * 4294967296.0 + 0.5)));
      }
    }
    l->common = common_type(l->has_lj);
    l->rare.assign(m / j_width, 0);
    for (std::size_t at = 0; at < m; ++at)
      if (const std::int32_t i = l->list.atom_of[at];
          i >= 0 && l->type[at] != l->common &&
          (wells == Wells::all || l->has_lj[static_cast<std::size_t>(i)]))
        l->rare[at / j_width] |= static_cast<std::uint8_t>(1U << at % j_width);
    Input<float> positions{};
    for (std::size_t a = 0; a < 3; ++a) {
      positions.x[a] = l->whole_position[a].data();
      for (std::size_t b = 0; b < 3; ++b)
        positions.h[a][b] = static_cast<float>(std::ldexp(l->box.edge[a][b], -32));
    }
    positions.slanted = slanted(l->box);
    // Beyond half of a slanted box's width the nearest image by fractions need not be the nearest:
    // clusters alone decide.
    const Vec3 width = widths_nm(l->box);
    l->list.make(positions, radius,
                 !positions.slanted || 2 * radius <= std::min({width[0], width[1], width[2]}), in,
                 *kernels().back());
    lists.push_front(l);
    if (lists.size() > kept_lists) lists.pop_back();
    return l;
  }
  static bool slanted(const Box& b) {
    return b.edge[1][0] != 0 || b.edge[2][0] != 0 || b.edge[2][1] != 0;
  }

  // ---- sums ----

  static constexpr std::size_t of_a_chunk = 1024;
  /// f(first, last) for chunks of slots.
  template <class F>
  static void each_chunk(const PairList& list, F&& f) {
    parallel_chunks(static_cast<std::int64_t>((list.slots() + of_a_chunk - 1) / of_a_chunk),
                    [&](std::int64_t chunk) {
                      const std::size_t first = static_cast<std::size_t>(chunk) * of_a_chunk;
                      f(first, std::min(first + of_a_chunk, list.slots()));
                    });
  }
  /// f(slot, atom) for every slot that has one.
  template <class F>
  static void each_slot(const PairList& list, F&& f) {
    each_chunk(list, [&](std::size_t first, std::size_t last) {
      for (std::size_t at = first; at < last; ++at)
        if (list.atom_of[at] >= 0) f(at, static_cast<std::size_t>(list.atom_of[at]));
    });
  }
  /// Numbers of atoms in the order of slots.
  template <class T>
  Array<T> sorted(const Listed& l, double factor, const double* values,
                  std::size_t stride = 1) const {
    Array<T> out(l.list.slots(), 0);
    if (values)
      each_slot(l.list, [&](std::size_t at, std::size_t i) {
        out[at] = static_cast<T>(factor * values[stride * i]);
      });
    return out;
  }
  template <class T>
  std::vector<T> tables(double factor, const double* t) const {
    const auto m = static_cast<std::size_t>(types);
    std::vector<T> out(m * m, 0);
    if (t)
      for (std::size_t a = 0; a < m; ++a)
        for (std::size_t b = 0; b < m; ++b)
          out[a * m + b] = static_cast<T>(factor * 0.5 * (t[a * m + b] + t[b * m + a]));
    return out;
  }

  template <class T>
  Direction<T> direction(const Listed& l, Arrays p, Arrays v) const {
    Direction<T> to;
    if (v[1] && is_periodic(box_of(p[1]))) {
      Matrix<double> h;
      for (std::size_t a = 0; a < 9; ++a) h[a / 3][a % 3] = p[1][a];
      const Matrix<double> inv = inverse(h);
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b)
          for (std::size_t c = 0; c < 3; ++c) to.strain[a][b] += inv[a][c] * v[1][3 * c + b];
      to.strained = true;
    }
    std::vector<double> w(3 * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t b = 0; b < 3; ++b) {
        w[3 * i + b] = v[0] ? v[0][3 * i + b] : 0;
        for (std::size_t a = 0; a < 3; ++a) w[3 * i + b] -= p[0][3 * i + a] * to.strain[a][b];
      }
    if constexpr (sizeof(T) == 4) {
      // Differences count alone. The largest w is 2^29 units, unless other numbers would then go
      // beyond 2^40.
      const std::array<double, 3> common = {w[0], w[1], w[2]};
      double most = 0, others = 0;
      for (std::size_t k = 0; k < 3 * n; ++k)
        most = std::max(most, std::abs(w[k] -= common[k % 3]));
      const auto count = [&](const double* values, std::size_t many) {
        for (std::size_t k = 0; values && k < many; ++k)
          others = std::max(others, std::abs(values[k]));
      };
      count(to.strain[0], 9);
      count(v[2], n);
      const auto square = static_cast<std::size_t>(types) * static_cast<std::size_t>(types);
      count(v[3], square);
      count(v[4], square);
      if (!std::isfinite(most + others))
        throw Error("[nonbonded] the direction of a second derivative is not finite");
      int units = most > 0 ? std::ilogb(most) - 28 : -1000;
      if (others > 0) units = std::max(units, std::ilogb(others) - 40);
      to.unit = most > 0 || others > 0 ? std::ldexp(1.0, units) : 1.0;
    }
    const double scale = 1 / to.unit;
    for (std::size_t a = 0; a < 3; ++a) {
      to.w[a].assign(l.list.slots(), 0);
      each_slot(l.list, [&](std::size_t at, std::size_t i) {
        if constexpr (sizeof(T) == 4)
          to.w[a][at] = static_cast<std::int32_t>(std::lrint(scale * w[3 * i + a]));
        else
          to.w[a][at] = w[3 * i + a];
      });
      for (std::size_t b = 0; b < 3; ++b) to.strain[a][b] *= scale;
    }
    to.dq = sorted<T>(l, scale * root_ke, v[2]);
    to.dc6 = tables<T>(scale * 6, v[3]);
    to.dc12 = tables<T>(scale * 12, v[4]);
    return to;
  }

  template <class T>
  Input<T> input(const Listed& l) const {
    Input<T> in{};
    const double by_position = sizeof(T) == 4 ? std::ldexp(1.0, -32) : 1.0;
    for (std::size_t a = 0; a < 3; ++a) {
      in.x[a] = l.positions<T>(a);
      for (std::size_t b = 0; b < 3; ++b)
        in.h[a][b] = static_cast<T>(by_position * l.box.edge[a][b]);
    }
    in.slanted = slanted(l.box);
    in.type = l.type.data();
    in.types = types;
    in.radius2 = static_cast<T>(radius * radius);
    in.lj_radius2 = static_cast<T>(o.cutoff_lj_nm * o.cutoff_lj_nm);
    in.q_radius2 = static_cast<T>(o.cutoff_coulomb_nm * o.cutoff_coulomb_nm);
    in.two_cutoffs = field != Field::none && o.cutoff_lj_nm != o.cutoff_coulomb_nm;
    constants.put(in);
    in.energy_series = series<T>().energy.data();
    in.force_series = series<T>().force.data();
    in.terms = static_cast<int>(series<T>().force.size());
    return in;
  }

  /// The first derivatives at p, or along v the second ones, of atoms: {g [n, 3], q [n], table
  /// [types, types, 2], D, U}.
  First run(const Listed& l, Arrays p, Arrays v, const Wanted& wanted) {
    return precision == Precision::mixed ? run_in<float>(l, p, v, wanted)
                                         : run_in<double>(l, p, v, wanted);
  }
  template <class T>
  First run_in(const Listed& l, Arrays p, Arrays v, const Wanted& wanted) {
    const bool second = !v.empty(), all = wanted.of == Operands::all;
    const std::size_t m = l.list.slots();
    DerivativeInput<T> k{};
    k.in = input<T>(l);
    const Array<T> q = sorted<T>(l, root_ke, p[2]);
    const std::vector<T> c6 = tables<T>(6, p[3]), c12 = tables<T>(12, p[4]);
    k.in.q_i = k.in.q_j = q.data();
    k.in.c6 = c6.data();
    k.in.c12 = c12.data();
    k.every_well = wells == Wells::all;
    k.wants_energy = wanted.energy;
    k.wants_box = wanted.box;
    k.common = l.common;
    Array<T> is_common(m, 0);
    for (std::size_t at = 0; at < m; ++at)
      is_common[at] = static_cast<T>(l.list.atom_of[at] >= 0 && l.type[at] == l.common);
    k.is_common = is_common.data();
    k.rare = l.rare.data();
    k.second_series = series<T>().second.data();
    Direction<T> along;
    if (second) {
      along = direction<T>(l, p, v);
      for (std::size_t a = 0; a < 3; ++a) {
        k.w[a] = along.w[a].data();
        for (std::size_t b = 0; b < 3; ++b) k.strain[a][b] = static_cast<T>(along.strain[a][b]);
      }
      k.strained = along.strained;
      k.dq = along.dq.data();
      k.dc6 = along.dc6.data();
      k.dc12 = along.dc12.data();
    }

    const auto square = static_cast<std::size_t>(types) * static_cast<std::size_t>(types);
    const std::size_t chunks = l.list.chunks.size(),
                      many = std::clamp<std::size_t>(chunks, 1, most_pieces);
    std::vector<Piece<T>>& parts = pieces<T>();
    parts.resize(many);
    const DerivativeKernel<T> kernel =
        kernels_.of<T>()[static_cast<std::size_t>(field)][modified][second]
                        [static_cast<std::size_t>(wanted.of)];
    parallel_chunks(static_cast<std::int64_t>(many), [&](std::int64_t number) {
      const auto t = static_cast<std::size_t>(number);
      Piece<T>& own = parts[t];
      own.slots.assign(4 * m, 0);
      own.table.assign(square * 2 * table_lanes, 0);
      own.sums = {};
      for (std::size_t a = 0; a < 3; ++a) own.sums.g[a] = own.slots.data() + a * m;
      own.sums.q = own.slots.data() + 3 * m;
      own.sums.table = own.table.data();
      for (std::size_t c = chunks * t / many; c < chunks * (t + 1) / many; ++c) {
        const Chunk& chunk = l.list.chunks[c];
        kernel(k, chunk.rows.data(), chunk.rows.data() + chunk.rows.size(), chunk.entries.data(),
               own.sums);
      }
    });
    First out;
    out.wanted = wanted;
    out.g.assign(3 * n, 0);
    out.q.assign(all ? n : 0, 0);
    out.table.assign(all ? 2 * square : 0, 0);
    each_chunk(l.list, [&](std::size_t first, std::size_t last) {
      double sum[4][of_a_chunk] = {};
      for (std::size_t a = 0; a < (all ? 4 : 3); ++a)
        for (const Piece<T>& part : parts)
          for (std::size_t at = first; at < last; ++at)
            sum[a][at - first] += static_cast<double>(part.slots[a * m + at]);
      for (std::size_t at = first; at < last; ++at) {
        if (l.list.atom_of[at] < 0) continue;
        const auto i = static_cast<std::size_t>(l.list.atom_of[at]);
        for (std::size_t a = 0; a < 3; ++a) out.g[3 * i + a] = along.unit * sum[a][at - first];
        if (all) out.q[i] = along.unit * root_ke * sum[3][at - first];
      }
    });
    for (const Piece<T>& part : parts) {
      for (std::size_t e = 0; e < out.table.size(); ++e)
        for (std::size_t lane = 0; lane < table_lanes; ++lane)
          out.table[e] += along.unit * part.table[(e / 2 * table_lanes + lane) * 2 + e % 2];
      for (std::size_t a = 0; a < 9; ++a) out.box[a] += along.unit * part.sums.box[a];
      out.energy += part.sums.energy;
    }
    return out;
  }
  /// Of the types with wells the one that most atoms have.
  std::int32_t common_type(const std::vector<std::uint8_t>& has_lj) const {
    std::vector<std::size_t> count(static_cast<std::size_t>(types), 0);
    for (std::size_t i = 0; i < n; ++i) count[static_cast<std::size_t>(type_of[i])] += has_lj[i];
    return static_cast<std::int32_t>(std::ranges::max_element(count) - count.begin());
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
      Vec3
          middle{};  // as sum G = 0, any origin will do: this one leaves least of the rounding of G
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t a = 0; a < 3; ++a) middle[a] += p[0][3 * i + a] / static_cast<double>(n);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t a = 0; a < 3; ++a)
          for (std::size_t b = 0; b < 3; ++b)
            rest[a][b] -= (p[0][3 * i + a] - middle[a]) * f.g[3 * i + b];
      const Matrix<double> inv = inverse(h);
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t b = 0; b < 3; ++b)
          for (std::size_t a = 0; a < 3; ++a) g[1][3 * k + b] += inv[a][k] * rest[a][b];
    }
    if (g[2])
      for (std::size_t i = 0; i < f.q.size(); ++i) g[2][i] += f.q[i];
    if (!g[3] && !g[4]) return;
    const auto m = static_cast<std::size_t>(types);
    const std::vector<std::uint8_t> feels =
        wells == Wells::all ? std::vector<std::uint8_t>(m, 1) : feeling(p);
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
    for (const auto& [array, size] :
         {std::pair{p[0], 3 * n}, {p[1], std::size_t{9}}, {p[2], n}, {p[3], m}, {p[4], m}})
      all.insert(all.end(), array, array + size);
    return all;
  }
  std::shared_ptr<const First> first(Arrays p, const Wanted& wanted) {
    std::vector<double> operands = joined(p);
    if (last && last->wanted.holds(wanted) && last->operands.size() == operands.size() &&
        std::memcmp(last->operands.data(), operands.data(), operands.size() * sizeof(double)) == 0)
      return last;
    auto f = std::make_shared<First>(run(*listed(p), p, {}, wanted));
    f->operands = std::move(operands);
    last = f;
    return f;
  }
};

PairDerivatives::PairDerivatives(const System& s, const Nonbonded& o, Wells wells,
                                 Precision precision, Simd simd)
    : impl_(std::make_unique<Impl>(
          s, o, wells,
          *derivative_kernels()[simd == Simd::automatic ? derivative_kernels().size() - 1
                                                        : static_cast<std::size_t>(simd) - 1],
          precision)) {}
PairDerivatives::~PairDerivatives() = default;

double PairDerivatives::value(Arrays p) const {
  if (impl_->n < 2) return 0;
  const std::lock_guard hold(impl_->in_use);
  return impl_->first(p, {impl_->asked.of, true, impl_->asked.box})->energy;
}
void PairDerivatives::gradient(Arrays p, Results g) const {
  if (impl_->n < 2) return;
  const std::lock_guard hold(impl_->in_use);
  impl_->asked = {g[2] || g[3] || g[4] ? Operands::all : Operands::positions, false,
                  g[1] != nullptr};
  impl_->hand_out(*impl_->first(p, impl_->asked), p, g);
}
double PairDerivatives::value_and_gradient(Arrays p, Results g) const {
  if (impl_->n < 2) return 0;
  const std::lock_guard hold(impl_->in_use);
  impl_->asked = {g[2] || g[3] || g[4] ? Operands::all : Operands::positions, true,
                  g[1] != nullptr};
  const auto first = impl_->first(p, impl_->asked);
  impl_->hand_out(*first, p, g);
  return first->energy;
}
void PairDerivatives::hessian_product(Arrays p, Arrays v, Results w) const {
  if (impl_->n < 2) return;
  const std::lock_guard hold(impl_->in_use);
  const bool all = v[2] || v[3] || v[4] || w[2] || w[3] || w[4];
  impl_->hand_out(impl_->run(*impl_->listed(p), p, v,
                             {all ? Operands::all : Operands::positions, false, w[1] != nullptr}),
                  p, w);
}

}  // namespace tessera::molecular
