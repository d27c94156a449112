// SPDX-License-Identifier: Apache-2.0
//
// The unit 2^-k of a pair's force follows from the system: sums of int32 reach R = 2^31 units, the
// next power of two above 4e4 times the largest epsilon/sigma and 400 times k_e q^2 (water: 131072
// kJ/mol/nm, unit 2^-14). A pair may have an eighth of that. With r_0 the distance above which no
// pair of the system has so much, F/r <= (R/8)/r_0 assures it for pairs closer than r_0. Steps
// beyond it are done again in double precision, where sums are int64, with units 2^-22 as large;
// beyond their range with units 2^-12 as large, then with 2^-19.
//
// Without charges forces of a liquid are smaller beside epsilon/sigma, by as much as attraction
// that nothing opposes adds to contacts: units are then a quarter as large in single precision, and
// at first a sixteenth in double precision, where a pair may have 512 epsilon/sigma (0.82 sigma).
//
// A box without periodicity stands in a periodic one more than twice as large as what it holds.
#include "nonbonded/pair_run.h"

#include "base/blocks.h"
#include "base/others.h"
#include "base/thread_sums.h"
#include "domains/domain.h"
#include "nonbonded/pair_constants.h"
#include "nonbonded/pair_list.h"
#include "nonbonded/pair_positions.h"
#include "nonbonded/pair_reach.h"
#include "nonbonded/series.h"
#include "system/furthest.h"
#include "system/strain.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>

namespace tessera::molecular {

using namespace pairs;

namespace {

using Coulomb = Nonbonded::Coulomb;

const Kernels& chosen(Simd simd) {
  const std::span<const Kernels* const> all = kernels();
  const auto level = static_cast<std::size_t>(simd);
  if (simd == Simd::automatic) return *all.back();
  if (level > all.size())
    throw Error(
        fmt::format("[forces] this processor has no kernels of level {}; the widest it has is {}",
                    level, all.back()->name));
  return *all[level - 1];
}

/// sigma and epsilon of c6, c12 (0 where there is no well).
std::array<double, 2> well(double c6, double c12) {
  if (!(c6 > 0) || !(c12 > 0)) return {0, 0};
  return {std::pow(c12 / c6, 1.0 / 6), c6 * c6 / (4 * c12)};
}

/// Parameters of all atoms in the order of slots, with forces in units of 2^-k.
template <class T>
struct SlotParameters {
  Array<T> q_i, q_j, a_i, b_i, a_j, b_j;
  std::vector<T> c6, c12, force_series, energy_series;
};

}  // namespace

struct PairRun::Impl {
  System system;
  Nonbonded o;
  ForceOptions run;
  const Kernels& kernel;
  const Domain* domain;
  Others others;

  std::size_t n = 0;                 ///< atoms that this rank has, own ones and copies
  std::size_t own = 0;               ///< the first of them
  std::vector<std::int32_t> number;  ///< of each among those of the system
  std::uint64_t version = 0;         ///< of the domain
  int types;
  std::vector<double> c6, c12;  ///< [types, types], symmetric
  std::vector<double> half_sigma, root_epsilon;
  Rule rule = Rule::table;
  Field field = Field::none;
  bool charged, modified;
  double ke, radius, beta = 0;
  PairConstants constants;
  int k_usual = 16, k_single = 16;  ///< with charges, and as it is
  double worst_c6 = 0, worst_c12 = 0, worst_q = 0;

  std::vector<std::uint8_t> feels;  ///< of each type: Lennard-Jones forces
  std::vector<std::uint8_t> has_lj;
  std::vector<std::vector<std::int32_t>> excluded;
  ListInput list_input;

  // What changes with positions.
  PairList list;
  bool listed = false;
  Box outer_box, inner_box;     ///< in which the lists were made
  double outer = 0, inner = 0;  ///< buffers
  std::vector<Vec3> s;
  Array<std::int32_t> x32[3], outer_at[3], inner_at[3];
  Array<double> x64[3];
  Array<std::int32_t> type;
  SlotParameters<float> single;
  SlotParameters<double> twice;
  int k_twice = 0;  ///< of `twice`
  ThreadSums<std::int32_t> sum32;
  ThreadSums<std::int64_t> sum64;
  Array<std::int32_t> of_slots32;
  Array<std::int64_t> of_slots64;

  Impl(const System& sys, const Nonbonded& options, const ForceOptions& r, const Domain* d)
      : system(sys),
        o(options),
        run(r),
        kernel(chosen(r.simd)),
        domain(d),
        types(std::max(sys.lj.types, 1)),
        charged(o.coulomb != Coulomb::none),
        modified(modifier_of(o.lj_modifier) != ForceModifier::none),
        ke(sys.coulomb_constant / o.epsilon_r),
        radius(pair_radius(o)),
        constants(o) {
    read_lennard_jones();
    for (const double q : system.atoms.charge_e) worst_q = std::max(worst_q, std::abs(q));
    if (worst_q == 0) charged = false;
    if (charged)
      field =
          o.coulomb == Coulomb::ewald || o.coulomb == Coulomb::pme ? Field::ewald : Field::power;
    if (domain) {
      others = domain->others();
    } else {
      std::vector<std::int32_t> all(system.n_atoms());
      std::iota(all.begin(), all.end(), 0);
      take(std::move(all), system.n_atoms());
    }
    double strong = 400 * ke * worst_q * worst_q;
    for (int t = 0; t < types; ++t) {
      const auto [sigma, epsilon] = well(c6[entry(t, t)], c12[entry(t, t)]);
      if (sigma > 0) strong = std::max(strong, 4e4 * epsilon / sigma);
    }
    k_usual = strong > 0 ? 31 - static_cast<int>(std::ceil(std::log2(strong))) : 16;
    k_single = k_usual + (charged ? 0 : 2);
    if (field == Field::ewald) {
      beta = ewald_beta(o);
      single.force_series = ewald_coefficients<float>(1, beta, o.cutoff_coulomb_nm);
      if (single.force_series.size() > short_terms) field = Field::ewald_long;
      twice.force_series = ewald_coefficients<double>(1, beta, o.cutoff_coulomb_nm);
      twice.energy_series = ewald_coefficients<double>(0, beta, o.cutoff_coulomb_nm);
      const std::size_t terms = std::max(twice.force_series.size(), twice.energy_series.size());
      twice.force_series.resize(terms, 0);
      twice.energy_series.resize(terms, 0);
    }
  }
  /// The atoms that this rank has from now on.
  void take(std::vector<std::int32_t> numbers, std::size_t own_ones) {
    number = std::move(numbers);
    n = number.size();
    own = own_ones;
    listed = false;
    has_lj.clear();
    for (const std::int32_t i : number)
      has_lj.push_back(
          feels[static_cast<std::size_t>(system.atoms.lj_type[static_cast<std::size_t>(i)])]);
    std::vector<std::int32_t> place(system.n_atoms(), -1);
    for (std::size_t i = 0; i < n; ++i)
      place[static_cast<std::size_t>(number[i])] = static_cast<std::int32_t>(i);
    excluded.resize(n);
    for (auto& partners : excluded) partners.clear();
    for (const auto& [a, b] : system.exclusions) {
      const std::int32_t i = place[static_cast<std::size_t>(a)],
                         j = place[static_cast<std::size_t>(b)];
      if (i < 0 || j < 0) continue;
      excluded[static_cast<std::size_t>(i)].push_back(j);
      excluded[static_cast<std::size_t>(j)].push_back(i);
    }
    list_input = {n, &has_lj, &excluded};
    if (!domain) return;
    list_input.middle = &domain->region();
    for (std::size_t a = 0; a < 3; ++a)
      list_input.centre[a] = 0x1p-32 * (static_cast<double>(domain->region().low[a]) +
                                        0.5 * static_cast<double>(domain->region().size[a]));
  }
  std::size_t of_system(std::int32_t atom) const {
    return static_cast<std::size_t>(number[static_cast<std::size_t>(atom)]);
  }
  std::size_t entry(int a, int b) const {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(types) +
           static_cast<std::size_t>(b);
  }

  /// Tables, and the mixing rule that they follow within 1e-6, which is below the rounding of float
  /// kernels' sums.
  void read_lennard_jones() {
    const LennardJones& lj = system.lj;
    c6.assign(static_cast<std::size_t>(types) * static_cast<std::size_t>(types), 0);
    c12 = c6;
    std::vector<std::uint8_t> used(static_cast<std::size_t>(types), 0);
    feels.assign(static_cast<std::size_t>(types), 0);
    for (const std::int32_t t : system.atoms.lj_type) used[static_cast<std::size_t>(t)] = 1;
    for (int a = 0; a < lj.types; ++a)
      for (int b = 0; b < lj.types; ++b) {
        c6[entry(a, b)] = 0.5 * (lj.c6[entry(a, b)] + lj.c6[entry(b, a)]);
        c12[entry(a, b)] = 0.5 * (lj.c12[entry(a, b)] + lj.c12[entry(b, a)]);
        if (!used[static_cast<std::size_t>(a)] || !used[static_cast<std::size_t>(b)]) continue;
        worst_c6 = std::max(worst_c6, std::abs(c6[entry(a, b)]));
        worst_c12 = std::max(worst_c12, std::abs(c12[entry(a, b)]));
        if (c6[entry(a, b)] != 0 || c12[entry(a, b)] != 0)
          feels[static_cast<std::size_t>(a)] = feels[static_cast<std::size_t>(b)] = 1;
      }
    std::vector<double> sigma(static_cast<std::size_t>(types)),
        epsilon(static_cast<std::size_t>(types));
    for (int t = 0; t < types; ++t) {
      const auto [s1, e1] = well(c6[entry(t, t)], c12[entry(t, t)]);
      sigma[static_cast<std::size_t>(t)] = s1;
      epsilon[static_cast<std::size_t>(t)] = e1;
    }
    bool berthelot = true, geometric = true;
    for (int a = 0; a < types; ++a)
      for (int b = 0; b < types; ++b) {
        const auto ta = static_cast<std::size_t>(a), tb = static_cast<std::size_t>(b);
        if (!used[ta] || !used[tb]) continue;
        const double x6 = c6[entry(a, b)], x12 = c12[entry(a, b)];
        const double mean6 = std::pow(0.5 * (sigma[ta] + sigma[tb]), 6),
                     e = std::sqrt(epsilon[ta] * epsilon[tb]);
        const auto close = [](double u, double v) { return std::abs(u - v) <= 1e-6 * std::abs(u); };
        berthelot &= close(x6, 4 * e * mean6) && close(x12, 4 * e * mean6 * mean6);
        geometric &= c6[entry(a, a)] >= 0 && c12[entry(a, a)] >= 0 &&
                     close(x6, std::sqrt(c6[entry(a, a)] * c6[entry(b, b)])) &&
                     close(x12, std::sqrt(c12[entry(a, a)] * c12[entry(b, b)]));
      }
    rule = geometric ? Rule::geometric : berthelot ? Rule::lorentz_berthelot : Rule::table;
    for (int t = 0; t < types; ++t) {
      const auto at = static_cast<std::size_t>(t);
      half_sigma.push_back(rule == Rule::geometric ? std::sqrt(std::max(6 * c6[entry(t, t)], 0.0))
                                                   : 0.5 * sigma[at]);
      root_epsilon.push_back(rule == Rule::geometric
                                 ? std::sqrt(std::max(12 * c12[entry(t, t)], 0.0))
                                 : std::sqrt(24 * epsilon[at]));
    }
  }

  /// Distance above which no pair has a force of more than `most` [kJ/mol/nm].
  double safe_distance(double most) const {
    double low = 1e-4, high = radius;
    for (int k = 0; k < 60; ++k) {
      const double r = std::sqrt(low * high);
      const double force =
          std::max(12 * worst_c12 * std::pow(r, -13), 6 * worst_c6 * std::pow(r, -7)) +
          (charged ? ke * worst_q * worst_q / (r * r) : 0);
      (force > most ? low : high) = r;
    }
    return high;
  }

  // ---- parameters of the sorted atoms ----

  template <class T>
  void order(SlotParameters<T>& p, int k) {
    const std::size_t m = list.slots();
    const double unit = std::ldexp(1.0, k);
    for (Array<T>* a : {&p.q_i, &p.q_j, &p.a_i, &p.b_i, &p.a_j, &p.b_j}) a->assign(m, T(0));
    over_blocks(m, [&](std::size_t begin, std::size_t end) {
      for (std::size_t at = begin; at < end; ++at) {
        if (list.atom_of[at] < 0) continue;
        const std::size_t i = of_system(list.atom_of[at]);
        const auto t = static_cast<std::size_t>(system.atoms.lj_type[i]);
        // Either atom of a pair may be i: with the root of k_e in both, (2^k q_i) q_j has the same
        // bits from either side.
        p.q_j[at] = static_cast<T>(std::sqrt(ke) * system.atoms.charge_e[i]);
        p.q_i[at] = static_cast<T>(unit) * p.q_j[at];
        p.a_j[at] = static_cast<T>(half_sigma[t]);
        p.b_j[at] = static_cast<T>(root_epsilon[t]);
        p.a_i[at] = static_cast<T>(half_sigma[t] * (rule == Rule::geometric ? unit : 1));
        p.b_i[at] = static_cast<T>(root_epsilon[t] * unit);
      }
    });
    p.c6.clear();
    p.c12.clear();
    for (std::size_t e = 0; e < c6.size(); ++e) {
      p.c6.push_back(static_cast<T>(6 * unit * c6[e]));
      p.c12.push_back(static_cast<T>(12 * unit * c12[e]));
    }
  }

  template <class T>
  Input<T> input(const SlotParameters<T>& p, const Box& box, double limit) const {
    Input<T> in{};
    for (std::size_t a = 0; a < 3; ++a) {
      if constexpr (sizeof(T) == 4)
        in.x[a] = x32[a].data();
      else
        in.x[a] = x64[a].data();
      for (std::size_t b = 0; b < 3; ++b)
        in.h[a][b] = static_cast<T>(box.edge[a][b] * (sizeof(T) == 4 ? std::ldexp(1.0, -32) : 1.0));
    }
    in.slanted = box.edge[1][0] != 0 || box.edge[2][0] != 0 || box.edge[2][1] != 0;
    in.q_i = p.q_i.data();
    in.q_j = p.q_j.data();
    in.a_i = p.a_i.data();
    in.b_i = p.b_i.data();
    in.a_j = p.a_j.data();
    in.b_j = p.b_j.data();
    in.c6 = p.c6.data();
    in.c12 = p.c12.data();
    in.type = type.data();
    in.types = types;
    const double rl = o.cutoff_lj_nm, rq = charged ? o.cutoff_coulomb_nm : rl,
                 most = std::max(rl, rq);
    in.radius2 = static_cast<T>(most * most);
    in.lj_radius2 = static_cast<T>(rl * rl);
    in.q_radius2 = static_cast<T>(rq * rq);
    in.two_cutoffs = rl != rq;
    constants.put(in);
    in.force_series = p.force_series.data();
    in.energy_series = p.energy_series.data();
    in.terms = static_cast<int>(p.force_series.size());
    in.limit = static_cast<T>(limit);
    return in;
  }

  // ---- positions ----

  /// Of all atoms; false where a coordinate is not a number.
  bool take_fractions(const std::vector<Vec3>& x, const Box& box) {
    s.resize(x.size());
    std::atomic<bool> fine = true;
    over_blocks(x.size(), [&](std::size_t begin, std::size_t end) {
      if (!exact_fractions(box, x.data() + begin, end - begin, s.data() + begin))
        fine.store(false, std::memory_order_relaxed);
    });
    return fine;
  }
  const std::vector<Vec3>& fractions() const { return domain ? domain->fractions() : s; }
  /// Positions of slots; what the atoms that moved most have come by since the lists were made
  /// [nm].
  struct Moved {
    double outer = 0, inner = 0;
  };
  Moved sort_positions(const Box& box, bool also_double) {
    const std::size_t m = list.slots();
    const std::vector<Vec3>& of_atoms = fractions();
    for (auto& a : x32) a.resize(m);
    if (also_double)
      for (auto& a : x64) a.resize(m);
    std::vector<std::array<double, 2>> moved((m + block - 1) / block);
    over_blocks(m, [&](std::size_t begin, std::size_t end) {
      for (std::size_t at = begin; at < end; ++at) {
        const std::int32_t i = list.atom_of[at];
        for (std::size_t a = 0; a < 3; ++a) {
          const double f = i < 0 ? 0 : of_atoms[static_cast<std::size_t>(i)][a];
          x32[a][at] = static_cast<std::int32_t>(in_units(f));
          if (also_double) x64[a][at] = f;
        }
      }
      if (listed)
        moved[begin / block] = {
            domain ? 0 : furthest(box, places(x32), places(outer_at), begin, end),
            inner > 0 ? furthest(box, places(x32), places(inner_at), begin, end) : 0};
    });
    Moved most;
    for (const auto& [outer_square, inner_square] : moved) {
      most.outer = std::max(most.outer, outer_square);
      most.inner = std::max(most.inner, inner_square);
    }
    return {std::sqrt(most.outer), std::sqrt(most.inner)};
  }
  static std::array<const std::int32_t*, 3> places(const Array<std::int32_t> (&x)[3]) {
    return {x[0].data(), x[1].data(), x[2].data()};
  }
  void prepare(const Box& box, bool also_double) {
    if (domain && domain->version() != version) {
      take(domain->numbers(), domain->own().size());
      version = domain->version();
    }
    if (listed) {
      const Moved moved = sort_positions(box, also_double);
      const auto holds = [&](double way, const Box& then, double buffer) {
        return 2 * way + strain(then, box) * (radius + buffer) + slip(radius) <= buffer;
      };
      if (domain || holds(moved.outer, outer_box, outer)) {
        if (inner == 0 || holds(moved.inner, inner_box, inner)) return;
        list.prune(input(single, box, 0), radius + inner, kernel);
        for (std::size_t a = 0; a < 3; ++a) inner_at[a] = x32[a];
        inner_box = box;
        return;
      }
    }
    listed = false;
    list.sort(fractions(), box, list_input);
    type.assign(list.slots(), 0);
    for (std::size_t at = 0; at < list.slots(); ++at)
      if (list.atom_of[at] >= 0) type[at] = system.atoms.lj_type[of_system(list.atom_of[at])];
    order(single, k_single);
    k_twice = 0;
    sort_positions(box, also_double);
    const ListReach to = list_reach(o, run, box);
    const bool by_atoms = to.by_atoms;
    outer = to.buffer_nm;
    inner = std::min(run.inner_buffer_nm < 0 ? 0.065 * radius : run.inner_buffer_nm, outer);
    const Input<float> in = input(single, box, 0);
    if (!by_atoms) inner = 0;
    list.make(in, radius + outer, by_atoms, list_input, kernel);
    for (std::size_t a = 0; a < 3; ++a) inner_at[a] = outer_at[a] = x32[a];
    if (inner > 0) list.prune(in, radius + inner, kernel);
    outer_box = inner_box = box;
    listed = true;
  }

  // ---- sums ----

  /// Each thread adds to its own array.
  template <class T, class SumType>
  bool run_forces(const Input<T>& in, ForceKernel<T> f, ThreadSums<SumType>& sums) {
    const std::size_t m = list.slots();
    const auto threads = std::min<std::size_t>(static_cast<std::size_t>(num_threads()),
                                               std::max<std::size_t>(list.chunks.size(), 1));
    sums.begin(threads, 3 * m);
    Shares shares(static_cast<std::int64_t>(list.chunks.size()), static_cast<int>(threads));
    std::atomic<bool> beyond = false;
    parallel_chunks(static_cast<std::int64_t>(threads), [&](std::int64_t t) {
      SumType* const own = sums.open(static_cast<std::size_t>(t));
      SumType* const force[3] = {own, own + m, own + 2 * m};
      shares.take(t, [&](std::int64_t c) {
        const Chunk& chunk = list.chunks[static_cast<std::size_t>(c)];
        const std::vector<Row>& rows = inner > 0 ? chunk.inner_rows : chunk.rows;
        if (f(in, rows.data(), rows.data() + rows.size(),
              inner > 0 ? chunk.inner.data() : chunk.entries.data(), force))
          beyond.store(true, std::memory_order_relaxed);
        return true;
      });
    });
    return !beyond;
  }
  /// Adds up what threads have, and other ranks; in single precision false where the sum of an own
  /// atom is beyond half of the range.
  template <class SumType>
  bool collect(ThreadSums<SumType>& sums, Array<SumType>& of_slots) {
    const std::size_t m = list.slots();
    of_slots.resize(3 * m);
    const auto beyond_half = [](SumType v) {  // negative
      return static_cast<SumType>(
          v ^ static_cast<SumType>(static_cast<std::make_unsigned_t<SumType>>(v) << 1));
    };
    std::atomic<bool> fine = true;
    over_blocks(m, [&](std::size_t begin, std::size_t end) {
      SumType any = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        sums.take(a * m + begin, a * m + end, of_slots.data() + a * m + begin);
        for (std::size_t at = begin; at < end; ++at) any |= beyond_half(of_slots[a * m + at]);
      }
      if (!domain && any < 0) fine.store(false, std::memory_order_relaxed);
    });
    sums.all_taken();
    if (domain) {
      domain->add_from_copies<SumType>([&](std::size_t atom, std::size_t a) -> SumType& {
        return of_slots[a * m + static_cast<std::size_t>(list.slot_of[atom])];
      });
      SumType any = 0;
      for (std::size_t i = 0; i < own; ++i)
        for (std::size_t a = 0; a < 3; ++a)
          any |= beyond_half(of_slots[a * m + static_cast<std::size_t>(list.slot_of[i])]);
      fine = any >= 0;
    }
    return std::is_same_v<SumType, std::int64_t> || fine;
  }
  template <class SumType>
  void spread(const Array<SumType>& of_slots, int k, std::vector<Vec3>& f) const {
    const double unit = std::ldexp(1.0, -k);
    const std::size_t m = list.slots();
    over_blocks(own, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const SumType* const sum = of_slots.data() + list.slot_of[i];
        for (std::size_t a = 0; a < 3; ++a) f[i][a] += unit * static_cast<double>(sum[a * m]);
      }
    });
  }
  double limit_of(double range) const {
    const double most = 0.125 * range;
    return most / std::max(safe_distance(most), 1e-3);
  }
  std::size_t field_of(bool twice_precise) const {
    return static_cast<std::size_t>(twice_precise && field == Field::ewald ? Field::ewald_long
                                                                           : field);
  }

  bool forces_twice(const Box& box, std::vector<Vec3>& f) {
    sort_positions(box, true);
    // int64 sums by way of a mantissa: a pair has 2^51 units.
    for (const int k : {k_usual + 26, k_usual + 22, k_usual + 12, 19}) {
      if (charged && k == k_usual + 26) continue;
      if (k_twice != k) order(twice, k_twice = k);
      const Input<double> in = input(twice, box, std::ldexp(limit_of(std::ldexp(1.0, 53 - k)), k));
      if (!others.all(run_forces(in, kernel.twice[field_of(true)][modified], sum64))) continue;
      collect(sum64, of_slots64);
      spread(of_slots64, k, f);
      return true;
    }
    return false;
  }
  bool energies(const Box& box, Energy& e) {
    for (const int k : {k_usual + 26, k_usual + 20, k_usual + 12, 19}) {
      if (k_twice != k) order(twice, k_twice = k);
      const Input<double> in = input(twice, box, std::ldexp(1.0, 50));
      const auto f = kernel.energy[field_of(true)][modified];
      std::vector<std::array<std::int64_t, 8>> sums(list.chunks.size());
      std::atomic<bool> beyond = false;
      parallel_chunks(static_cast<std::int64_t>(list.chunks.size()), [&](std::int64_t c) {
        const Chunk& chunk = list.chunks[static_cast<std::size_t>(c)];
        const std::vector<Row>& rows = inner > 0 ? chunk.inner_rows : chunk.rows;
        auto& of_chunk = sums[static_cast<std::size_t>(c)];
        of_chunk.fill(0);
        if (f(in, rows.data(), rows.data() + rows.size(),
              inner > 0 ? chunk.inner.data() : chunk.entries.data(), of_chunk.data()))
          beyond.store(true, std::memory_order_relaxed);
      });
      if (!others.all(!beyond)) continue;
      std::array<Others::Wide, 8> total{};  // a million waters are beyond 2^63 units
      for (const auto& of_chunk : sums)
        for (std::size_t t = 0; t < 8; ++t) total[t] += of_chunk[t];
      others.add(total);
      const double unit = std::ldexp(1.0, -k);
      e.lj = unit * static_cast<double>(total[0]);
      e.coulomb = unit * static_cast<double>(total[1]);
      for (std::size_t t = 0; t < 6; ++t) e.virial[t] = unit * static_cast<double>(total[t + 2]);
      return true;
    }
    return false;
  }
};

PairRun::PairRun(const System& system, const Nonbonded& options, const ForceOptions& run,
                 const Domain* domain)
    : impl_(std::make_unique<Impl>(system, options, run, domain)) {}
PairRun::~PairRun() = default;

bool PairRun::add(const std::vector<Vec3>& x, const Box& given, std::vector<Vec3>& f,
                  Energy* energy) {
  Impl& m = *impl_;
  check(m.o, given);
  if (m.system.n_atoms() < 2) return true;
  const Box box = m.domain ? given : stage(x[0].data(), x.size(), given);
  if (!m.domain && !m.take_fractions(x, box)) return false;
  const bool twice = m.run.precision == Precision::f64;
  m.prepare(box, twice || energy != nullptr);
  bool done = false;
  if (!twice) {
    const Input<float> in = m.input(
        m.single, box, std::ldexp(m.limit_of(std::ldexp(1.0, 31 - m.k_single)), m.k_single));
    const bool within = m.run_forces(
        in, m.kernel.single[m.field_of(false)][m.modified][static_cast<std::size_t>(m.rule)],
        m.sum32);
    // With a domain all collect, whose sums belong together.
    done = (m.domain || within) && m.collect(m.sum32, m.of_slots32);
    done = m.others.all(done && within);
    if (done) m.spread(m.of_slots32, m.k_single, f);
  }
  if (!done && !m.forces_twice(box, f)) return false;
  return energy == nullptr || m.energies(box, *energy);
}

}  // namespace tessera::molecular
