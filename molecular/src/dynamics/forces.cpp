// SPDX-License-Identifier: Apache-2.0
//
// Bonded terms and pairs add up in fixed point; reciprocal sums, whose bits do not depend on threads either, come on top. An energy
// U(x, h) has the virial W = -(x^T dU/dx + h^T dU/dh); what depends on the volume alone as C/V has W = U on the diagonal.
#include "tessera/molecular/forces.h"

#include "bonded/bonded_term.h"
#include "nonbonded/pair_term.h"
#include "nonbonded/pme_run.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/molecular/ewald.h"

#include <fmt/format.h>

#include <cmath>
#include <mutex>

namespace tessera::molecular {

struct ForceEvaluator::Impl {
  System system;
  Nonbonded options;
  std::vector<BondedTermPtr> bonded;
  PairTermPtr pairs;
  EnergyPtr excluded;
  double tail = 0, background = 0;  ///< times 1/V
  double self = 0;
  EnergyPtr reciprocal;             ///< the direct sum
  std::unique_ptr<PmeRun> pme;
  mutable std::mutex grid;          ///< one caller at a time has the grid of `pme`

  bool has_reciprocal() const { return options.coulomb == Nonbonded::Coulomb::ewald || options.coulomb == Nonbonded::Coulomb::pme; }
  /// U(x, h, charges) of a sum in reciprocal space.
  void add(const EnergyPtr& u, const std::vector<Vec3>& x, const Box& box, Forces& out) const {
    std::vector<Vec3> by_x(x.size());
    std::array<Vec3, 3> by_h{};
    const std::array<const double*, 3> p = {x[0].data(), box.edge[0].data(), system.atoms.charge_e.data()};
    const std::array<double*, 3> g = {by_x[0].data(), by_h[0].data(), nullptr};
    out.energy[static_cast<std::size_t>(Term::coulomb_reciprocal)] += u->value(p);
    u->gradient(p, g);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t a = 0; a < 3; ++a) {
        out.f[i][a] -= by_x[i][a];
        for (std::size_t b = 0; b < 3; ++b) out.virial[a][b] -= x[i][a] * by_x[i][b];
      }
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) out.virial[a][b] -= box.edge[k][a] * by_h[k][b];
  }
};

ForceEvaluator::ForceEvaluator(const System& s, const Nonbonded& o) {
  validate(s);
  auto impl = std::make_shared<Impl>();
  impl->system = s;
  impl->options = o;
  for (std::size_t k = 0; k <= static_cast<std::size_t>(Term::distance_restraints); ++k)
    if (BondedTermPtr t = bonded_term(s, static_cast<Term>(k))) impl->bonded.push_back(std::move(t));
  impl->pairs = pair_term(s, o);
  const Tensor unit = tensor({1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, {3, 3}), charge = tensor(s.atoms.charge_e);
  impl->tail = tail_energy(s, o, unit, c6_of(s), c12_of(s)).item<double>();
  if (impl->has_reciprocal()) {
    impl->excluded = ewald_excluded_energy(s, o);
    if (o.coulomb == Nonbonded::Coulomb::ewald) impl->reciprocal = ewald_reciprocal_energy(s, o);
    else impl->pme = pme_run(s, o, false);
    const double once = ewald_self_energy(s, o, unit, charge).item<double>(), half = ewald_self_energy(s, o, unit * tensor({2.0, 1.0, 1.0}), charge).item<double>();
    impl->background = 2 * (once - half);
    impl->self = once - impl->background;
  }
  impl_ = std::move(impl);
}

void ForceEvaluator::operator()(const std::vector<Vec3>& x, const Box& box, Forces& out) const {
  const Impl& m = *impl_;
  const std::size_t n = m.system.n_atoms();
  if (x.size() != n) throw Error(fmt::format("[forces] {} places for {} atoms", x.size(), n));
  std::vector<std::int64_t> force(3 * n, 0);
  Sums sums;
  sums.force = force.data();
  for (const BondedTermPtr& t : m.bonded) t->add(x.data(), box, 0, t->size(), sums);
  m.pairs->add(x, box, sums);
  if (m.pme && is_periodic(box)) {
    const std::lock_guard one(m.grid);
    m.pme->add(x.data(), box, true, sums);
  }
  if (sums.out_of_range) {
    for (std::size_t i = 0; i < n; ++i)
      for (const double c : x[i])
        if (!std::isfinite(c)) throw Error(fmt::format("[forces] atom {} ({}) has no place: a coordinate is not a number", i + 1, m.system.atoms.name[i]));
    throw Error("[forces] a force is beyond 2e9 kJ/mol/nm: atoms lie upon each other; minimize first");
  }
  out = Forces{};
  out.f.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < 3; ++c) out.f[i][c] = from_fixed(force[3 * i + c]);
  for (std::size_t k = 0; k < n_terms; ++k) out.energy[k] = from_fixed(sums.energy[k]);
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) out.virial[a][b] = from_fixed(sums.virial[3 * a + b]);
  if (!is_periodic(box)) return;
  const double volume = volume_nm3(box), tail = m.tail / volume, background = m.background / volume;
  out.energy[static_cast<std::size_t>(Term::lj_tail)] = tail;
  for (std::size_t a = 0; a < 3; ++a) out.virial[a][a] += tail + background;
  if (!m.has_reciprocal()) return;
  out.energy[static_cast<std::size_t>(Term::coulomb_reciprocal)] += m.self + background;
  if (m.excluded) m.add(m.excluded, x, box, out);
  if (m.reciprocal) m.add(m.reciprocal, x, box, out);
}

}  // namespace tessera::molecular
