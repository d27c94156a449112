// SPDX-License-Identifier: Apache-2.0
//
// Bonded terms and pairs add up in fixed point, each thread in sums of its own; reciprocal sums,
// whose bits do not depend on threads either, come on top. An energy U(x, h) has the virial W =
// -(x^T dU/dx + h^T dU/dh); what depends on the volume alone as C/V has W = U on the diagonal.
#include "tessera/molecular/forces.h"

#include "base/blocks.h"
#include "base/thread_sums.h"
#include "bonded/bonded_term.h"
#include "nonbonded/excluded_run.h"
#include "nonbonded/pair_run.h"
#include "nonbonded/pair_term.h"
#include "nonbonded/pme_run.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/shares.h"
#include "tessera/molecular/ewald.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>
#include <tuple>

namespace tessera::molecular {

double Forces::potential() const { return std::accumulate(energy.begin(), energy.end(), 0.0); }

struct ForceEvaluator::Impl {
  System system;
  Nonbonded options;
  Precision precision = Precision::mixed;
  std::vector<BondedTermPtr> bonded;
  PairTermPtr excluded_field;  ///< of a reaction field; else null
  std::optional<ExcludedRun> excluded;
  double tail = 0, background = 0;  ///< times 1/V
  double tail_alone = 0;            ///< of the tail, whatever the volume
  double tail_virial = 0;           ///< likewise
  double self = 0;

  // What evaluations leave behind for the next one.
  std::mutex in_use;
  std::optional<PairRun> pairs;
  ThreadSums<std::int64_t> force;  ///< [n, 3]
  EnergyPtr ewald;                 ///< null: no direct sum
  std::unique_ptr<PmeRun> pme;     ///< null: no PME

  bool has_reciprocal() const {
    return options.coulomb == Nonbonded::Coulomb::ewald ||
           options.coulomb == Nonbonded::Coulomb::pme;
  }
  /// Bonded terms and what excluded pairs add; forces are left in `force`. In the finest units
  /// (fine ones in double precision only) that hold all of them, which depends on positions alone.
  Sums add_terms(const std::vector<Vec3>& x, const Box& box, bool energies) {
    if (precision == Precision::f64)
      if (const Sums fine = add_terms(x, box, energies, fine_scale); fine.holds()) return fine;
    if (const Sums usual = add_terms(x, box, energies, FixedScale{}); usual.holds()) return usual;
    return add_terms(x, box, energies, coarse_scale);
  }
  Sums add_terms(const std::vector<Vec3>& x, const Box& box, bool energies,
                 const FixedScale& scale) {
    constexpr std::size_t piece = 512;
    struct Piece {
      const BondedTerm* term;  ///< null: excluded pairs
      std::size_t begin, end;
    };
    std::vector<Piece> pieces;
    const auto cut = [&](const BondedTerm* term, std::size_t size) {
      for (std::size_t k = 0; k < size; k += piece)
        pieces.push_back({term, k, std::min(k + piece, size)});
    };
    for (const BondedTermPtr& t : bonded) cut(t.get(), t->size());
    if (excluded && is_periodic(box)) cut(nullptr, excluded->size());
    // A thread's share of every kind of term is about the same atoms.
    const auto from = [&](const Piece& p) {
      return static_cast<double>(p.begin) /
             static_cast<double>(p.term ? p.term->size() : excluded->size());
    };
    std::ranges::stable_sort(pieces, {}, from);
    const auto threads =
        std::clamp<std::size_t>(pieces.size(), 1, static_cast<std::size_t>(num_threads()));
    Sums none;
    none.scale = scale;
    none.wants_energies = energies;
    std::vector<Sums> sums(threads, none);
    force.begin(pieces.empty() && !excluded_field ? 0 : threads, 3 * x.size());
    Shares shares(static_cast<std::int64_t>(pieces.size()), static_cast<int>(threads));
    if (!force.empty())
      parallel_chunks(static_cast<std::int64_t>(threads), [&](std::int64_t thread) {
        const auto t = static_cast<std::size_t>(thread);
        Sums own = none;
        own.force = force.open(t);
        shares.take(thread, [&](std::int64_t k) {
          const Piece& p = pieces[static_cast<std::size_t>(k)];
          if (p.term)
            p.term->add(x.data(), box, p.begin, p.end, own);
          else
            excluded->add(x.data(), box, p.begin, p.end, energies, own);
          return true;
        });
        sums[t] = own;
      });
    if (pme && is_periodic(box)) pme->add(x.data(), box, energies, sums[0]);
    if (excluded_field) excluded_field->add_excluded(x, box, sums[0]);
    Sums total = sums[0];
    for (std::size_t t = 1; t < threads; ++t) total.add(sums[t]);
    return total;
  }
  /// f = the forces that `add_terms` left.
  void take_forces(const FixedScale& scale, bool periodic, std::vector<Vec3>& f) {
    over_blocks(f.size(), [&](std::size_t begin, std::size_t end) {
      if (force.empty() && !pme)
        return std::fill(f.begin() + static_cast<std::ptrdiff_t>(begin),
                         f.begin() + static_cast<std::ptrdiff_t>(end), Vec3{});
      constexpr std::size_t strip = 64;
      for (; begin < end; begin += strip) {
        const std::size_t last = std::min(begin + strip, end);
        std::array<std::int64_t, 3 * strip> sum;
        force.take(3 * begin, 3 * last, sum.data());
        if (pme && periodic) pme->add_forces(begin, last, sum.data());
        for (std::size_t k = 0; k < 3 * (last - begin); ++k)
          f[begin].data()[k] = from_fixed(sum[k], scale.forces);
      }
    });
    force.all_taken();
  }
  /// U(x, h, charges) of a sum in reciprocal space.
  void add(const EnergyPtr& u, const std::vector<Vec3>& x, const Box& box, Forces& out) const {
    std::vector<Vec3> by_x(x.size());
    std::array<Vec3, 3> by_h{};
    const std::array<const double*, 3> p = {x[0].data(), box.edge[0].data(),
                                            system.atoms.charge_e.data()};
    const std::array<double*, 3> g = {by_x[0].data(), out.wants_energies ? by_h[0].data() : nullptr,
                                      nullptr};
    if (out.wants_energies)
      out.energy[static_cast<std::size_t>(Term::coulomb_reciprocal)] += u->value(p);
    u->gradient(p, g);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t a = 0; a < 3; ++a) {
        out.f[i][a] -= by_x[i][a];
        if (out.wants_energies)
          for (std::size_t b = 0; b < 3; ++b) out.virial[a][b] -= x[i][a] * by_x[i][b];
      }
    if (!out.wants_energies) return;
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) out.virial[a][b] -= box.edge[k][a] * by_h[k][b];
  }
};

ForceEvaluator::ForceEvaluator(const System& s, const Nonbonded& o, const ForceOptions& run) {
  validate(s);
  if (!(run.buffer_nm >= 0) || !std::isfinite(run.buffer_nm) || std::isnan(run.inner_buffer_nm))
    throw Error(
        fmt::format("[forces] a list's buffer must not be negative, got {} nm (inner {} nm); 0 "
                    "takes a quarter of the cut-off",
                    run.buffer_nm, run.inner_buffer_nm));
  auto impl = std::make_shared<Impl>();
  impl->system = s;
  impl->options = o;
  impl->precision = run.precision;
  for (const Term kind : bonded_terms) {
    BondedTermPtr t = acts(kind, o) ? bonded_term(s, kind, o.epsilon_r) : nullptr;
    if (t) impl->bonded.push_back(std::move(t));
  }
  impl->pairs.emplace(s, o, run);
  if (o.coulomb == Nonbonded::Coulomb::reaction_field && o.reaction_field_of_excluded)
    impl->excluded_field = pair_term(s, o);
  const Tensor unit = tensor({1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, {3, 3}),
               charge = tensor(s.atoms.charge_e);
  // What goes with 1/V and what does not, from the volumes 1 and 2.
  const Tensor twice = unit * tensor({2.0, 1.0, 1.0});
  const auto parts = [&](auto&& u) {
    const double once = u(unit), part = 2 * (once - u(twice));
    return std::array{part, once - part};
  };
  const auto tail_of = [&](const Nonbonded& n) {
    return parts([&](const Tensor& h) {
      return tail_energy(s, n, h, c6_of(s), c12_of(s)).template item<double>();
    });
  };
  impl->tail = tail_of(o)[0];
  impl->tail_alone = tail_of(o)[1];
  // A truncated energy jumps at the cut-off, which no force knows. Its forces are those of the
  // shifted one, whose tail holds what pairs feel beyond: for r^-6, W = 2 U.
  Nonbonded forces = o;
  if (o.lj_modifier == Nonbonded::Modifier::none)
    forces.lj_modifier = Nonbonded::Modifier::potential_shift;
  impl->tail_virial = tail_of(forces)[0];
  if (o.coulomb == Nonbonded::Coulomb::ewald) impl->ewald = ewald_reciprocal_energy(s, o);
  if (o.coulomb == Nonbonded::Coulomb::pme)
    impl->pme = pme_run(s, o, run.precision == Precision::mixed);
  if (impl->has_reciprocal()) {
    impl->excluded.emplace(s, o);
    std::tie(impl->background, impl->self) = std::tuple_cat(parts([&](const Tensor& h) {
      return ewald_self_energy(s, o, h, charge).template item<double>();
    }));
  }
  if (run.part == ForceOptions::Part::slow) {
    impl->bonded.clear();
    impl->pairs.reset();
    impl->excluded_field.reset();
    impl->tail = impl->tail_alone = impl->tail_virial = 0;
  } else if (run.part == ForceOptions::Part::fast) {
    impl->ewald.reset();
    impl->pme.reset();
    impl->excluded.reset();
    impl->self = impl->background = 0;
  }
  impl_ = std::move(impl);
}

void ForceEvaluator::operator()(const std::vector<Vec3>& x, const Box& box, Forces& out) const {
  Impl& m = *impl_;
  const std::lock_guard hold(m.in_use);
  const std::size_t n = m.system.n_atoms();
  if (x.size() != n) throw Error(fmt::format("[forces] {} positions for {} atoms", x.size(), n));
  const bool energies = out.wants_energies;
  out.energy = {};
  out.virial = {};
  out.f.resize(n);
  Sums total = m.add_terms(x, box, energies);
  m.take_forces(total.scale, is_periodic(box), out.f);
  PairRun::Energy of_pairs;
  if (!total.holds() || (m.pairs && !m.pairs->add(x, box, out.f, energies ? &of_pairs : nullptr))) {
    for (std::size_t i = 0; i < n; ++i)
      for (const double c : x[i])
        if (!std::isfinite(c))
          throw Error(fmt::format("[forces] the position of atom {} ({}) is not a number", i + 1,
                                  m.system.atoms.name[i]));
    throw Error("[forces] a force is beyond 2e9 kJ/mol/nm: atoms overlap; minimize first");
  }
  if (energies) {
    for (std::size_t k = 0; k < n_terms; ++k)
      out.energy[k] = total.energy[k].value(total.scale.energies);
    out.energy[static_cast<std::size_t>(Term::lj)] += of_pairs.lj;
    out.energy[static_cast<std::size_t>(Term::coulomb_short)] += of_pairs.coulomb;
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b)
        out.virial[a][b] = total.virial[3 * a + b].value(total.scale.energies) +
                           of_pairs.virial[a <= b ? a + b + (a > 0) : a + b + (b > 0)];
  }
  if (!is_periodic(box)) return;
  if (energies) {
    const double volume = volume_nm3(box), tail = m.tail / volume + m.tail_alone,
                 background = m.background / volume;
    out.energy[static_cast<std::size_t>(Term::lj_tail)] = tail;
    for (std::size_t a = 0; a < 3; ++a) out.virial[a][a] += m.tail_virial / volume + background;
    if (m.has_reciprocal())
      out.energy[static_cast<std::size_t>(Term::coulomb_reciprocal)] += m.self + background;
  }
  if (m.ewald) m.add(m.ewald, x, box, out);
}

}  // namespace tessera::molecular
