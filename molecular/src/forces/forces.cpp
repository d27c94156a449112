// SPDX-License-Identifier: Apache-2.0
//
// Bonded terms and pairs add up in fixed point, each thread in sums of its own; reciprocal sums,
// whose bits do not depend on threads either, come on top. An energy U(x, h) has the virial W =
// -(x^T dU/dx + h^T dU/dh); what depends on the volume alone as C/V has W = U on the diagonal.
#include "tessera/molecular/forces.h"

#include "base/blocks.h"
#include "domains/domain.h"
#include "forces/term_sums.h"
#include "nonbonded/pair_run.h"
#include "nonbonded/pme_run.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
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
  TermChoice choice;
  double tail = 0, background = 0;  ///< times 1/V
  double tail_alone = 0;            ///< of the tail, whatever the volume
  double tail_virial = 0;           ///< likewise
  double self = 0, self_field = 0;  ///< of charges with themselves: reciprocal; reaction field
  std::shared_ptr<Domain> domain;   ///< null: this is all
  Others others;
  bool brings = true;  ///< positions of copies; else another evaluator has

  // What evaluations leave behind for the next one.
  std::mutex in_use;
  std::uint64_t version = 0;  ///< of the domain
  TermSums terms;
  bool have_terms = true;
  std::optional<PairRun> pairs;
  EnergyPtr ewald;              ///< null: no direct sum
  std::unique_ptr<PmeRun> pme;  ///< null: no PME

  /// Whether a rank may have anything to add but pairs.
  bool has_terms() const {
    bool any = pme != nullptr;
    if (choice.bonded)
      each_bonded([&](const BondedKind&, const auto& list) { any = any || list.size() > 0; },
                  system);
    if (choice.ewald_excluded || choice.field_excluded) any = any || !system.exclusions.empty();
    return any;
  }
  bool has_reciprocal() const {
    return options.coulomb == Nonbonded::Coulomb::ewald ||
           options.coulomb == Nonbonded::Coulomb::pme;
  }
  /// The atoms that the domain has now.
  void follow_domain() {
    if (version == domain->version()) return;
    version = domain->version();
    terms = TermSums(force_part(system, domain->numbers(), domain->own().size()), options, choice);
  }
  /// Bonded terms and what excluded pairs and waves add; forces are left to be taken. In the finest
  /// units (fine ones in double precision only) that hold all of them, which depends on positions
  /// alone; none where no units do.
  std::optional<Sums> add_terms(const std::vector<Vec3>& x, const Box& box, bool energies) {
    const auto in = [&](const FixedScale& scale) {
      Sums sums = terms.add(x, box, energies, scale);
      if (pme && is_periodic(box)) pme->add(x.data(), box, energies, sums);
      return sums;
    };
    const auto hold = [&](const Sums& sums) {
      return have_terms ? others.all(sums.holds()) : sums.holds();
    };
    if (precision == Precision::f64)
      if (const Sums fine = in(fine_scale); hold(fine)) return fine;
    if (const Sums usual = in(FixedScale{}); hold(usual)) return usual;
    if (const Sums coarse = in(coarse_scale); hold(coarse)) return coarse;
    return std::nullopt;
  }
  /// f = the forces that `add_terms` left.
  void take_forces(const FixedScale& scale, bool periodic, std::vector<Vec3>& f) {
    over_blocks(f.size(), [&](std::size_t begin, std::size_t end) {
      if (!terms.any() && !pme)
        return std::fill(f.begin() + static_cast<std::ptrdiff_t>(begin),
                         f.begin() + static_cast<std::ptrdiff_t>(end), Vec3{});
      constexpr std::size_t strip = 64;
      for (; begin < end; begin += strip) {
        const std::size_t last = std::min(begin + strip, end);
        std::array<std::int64_t, 3 * strip> sum;
        terms.take(3 * begin, 3 * last, sum.data());
        if (pme && periodic) pme->add_forces(begin, last, sum.data());
        for (std::size_t k = 0; k < 3 * (last - begin); ++k)
          f[begin].data()[k] = from_fixed(sum[k], scale.forces);
      }
    });
    // Forces on copies are those of other ranks to take.
    if (!domain) terms.all_taken();
  }
  /// Energies and virial of all ranks.
  void add_over_ranks(Sums& sums) const {
    if (others.none() || !sums.wants_energies) return;
    std::vector<Others::Wide> units;
    for (const FixedSum& s : sums.energy) units.push_back(s.units);
    for (const FixedSum& s : sums.virial) units.push_back(s.units);
    others.add(units);
    for (std::size_t k = 0; k < n_terms; ++k) sums.energy[k].units = units[k];
    for (std::size_t k = 0; k < 9; ++k) sums.virial[k].units = units[n_terms + k];
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

ForceEvaluator::ForceEvaluator(const System& s, const Nonbonded& o, const ForceOptions& run)
    : ForceEvaluator(s, o, run, nullptr) {}

ForceEvaluator::ForceEvaluator(const System& s, const Nonbonded& o, const ForceOptions& run,
                               std::shared_ptr<Domain> domain) {
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
  if (domain) impl->others = domain->others();
  impl->domain = std::move(domain);
  const bool slow = run.part == ForceOptions::Part::slow,
             fast = run.part == ForceOptions::Part::fast;
  impl->choice = {.bonded = !slow,
                  .ewald_excluded = impl->has_reciprocal() && !fast
                                        ? std::make_shared<const ExcludedShapes>(ewald_beta(o))
                                        : nullptr,
                  .field_excluded = o.coulomb == Nonbonded::Coulomb::reaction_field &&
                                    o.reaction_field_of_excluded && !slow};
  impl->brings = !slow;
  if (!slow) impl->pairs.emplace(s, o, run, impl->domain.get());
  if (impl->choice.field_excluded) impl->self_field = field_of_itself(s, o);
  if (!impl->domain) {
    std::vector<std::int32_t> all(s.n_atoms());
    std::iota(all.begin(), all.end(), 0);
    impl->terms = TermSums(force_part(s, all, all.size()), o, impl->choice);
  }
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
  if (slow) impl->tail = impl->tail_alone = impl->tail_virial = 0;
  if (!fast && impl->has_reciprocal()) {
    if (o.coulomb == Nonbonded::Coulomb::ewald) impl->ewald = ewald_reciprocal_energy(s, o);
    if (o.coulomb == Nonbonded::Coulomb::pme)
      impl->pme = pme_run(s, o, run.precision == Precision::mixed, impl->domain.get());
    std::tie(impl->background, impl->self) = std::tuple_cat(parts([&](const Tensor& h) {
      return ewald_self_energy(s, o, h, charge).template item<double>();
    }));
  }
  impl->have_terms = impl->has_terms();
  impl_ = std::move(impl);
}

void ForceEvaluator::operator()(const std::vector<Vec3>& given, const Box& box, Forces& out) const {
  Impl& m = *impl_;
  const std::lock_guard hold(m.in_use);
  const std::size_t n = m.domain ? m.domain->own().size() : m.system.n_atoms();
  if (given.size() != n)
    throw Error(fmt::format("[forces] {} positions for {} atoms", given.size(), n));
  const auto fail = [&] {
    for (std::size_t i = 0; i < n && !m.domain; ++i)
      for (const double c : given[i])
        if (!std::isfinite(c))
          throw Error(fmt::format("[forces] the position of atom {} ({}) is not a number", i + 1,
                                  m.system.atoms.name[i]));
    throw Error("[forces] a force is beyond 2e9 kJ/mol/nm: atoms overlap");
  };
  if (m.domain) {
    if (m.brings && !m.domain->bring(box, given)) fail();
    m.follow_domain();
  }
  const std::vector<Vec3>& x = m.domain ? m.domain->x() : given;
  const bool energies = out.wants_energies;
  out.energy = {};
  out.virial = {};
  out.f.resize(n);
  const std::optional<Sums> found = m.add_terms(x, box, energies);
  if (!found) fail();
  Sums total = *found;
  m.take_forces(total.scale, is_periodic(box), out.f);
  m.add_over_ranks(total);
  PairRun::Energy of_pairs;
  if (m.pairs && !m.pairs->add(x, box, out.f, energies ? &of_pairs : nullptr)) fail();
  if (energies) {
    for (std::size_t k = 0; k < n_terms; ++k)
      out.energy[k] = total.energy[k].value(total.scale.energies);
    out.energy[static_cast<std::size_t>(Term::lj)] += of_pairs.lj;
    out.energy[static_cast<std::size_t>(Term::coulomb_short)] += of_pairs.coulomb + m.self_field;
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
