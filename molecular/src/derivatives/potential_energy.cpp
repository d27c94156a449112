// SPDX-License-Identifier: Apache-2.0
//
// U is the sum of the system's energy functions of x (with the sites put in their positions), h and
// tables, the tables being functions of the parameters in engine operations: chain rules outside of
// the kernels are the engine's.
#include "derivatives/energy_sum.h"
#include "derivatives/scaled_pairs.h"
#include "derivatives/sites.h"
#include "energy/generic.h"
#include "system/box_of.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/molecular/bonded.h"
#include "tessera/molecular/ewald.h"
#include "tessera/molecular/parameters.h"
#include "tessera/molecular/pme.h"

#include <fmt/format.h>

namespace tessera::molecular {
namespace {

const Tensor& own_table(const Parameters& p, Term term) {
  const Tensor* table = nullptr;
  each_bonded(
      [&](const BondedKind& kind, const Tensor& t) { table = kind.gives(term) ? &t : table; }, p);
  return *table;
}
Tensor volume_of(const Tensor& h) {
  const auto e = [&](int a) { return select(select(h, 0, a), 0, a); };
  return e(0) * e(1) * e(2);  // h is lower triangular
}

}  // namespace

struct PotentialEnergy::Impl {
  System system;
  Nonbonded options;
  Way way;
  bool periodic;
  std::vector<SiteGroup> sites;
  std::array<EnergyPtr, n_bonded> bonded;
  EnergyPtr pairs, lj, excluded, reciprocal;
  EnergyPtr whole;  ///< all of these (without `lj`), of x, h, charge, c6, c12, 1-4 pairs and the
                    ///< tables of `tabled` terms
  std::vector<Term> tabled;

  Tensor value(const EnergyPtr& u, const std::vector<Tensor>& operands) const {
    return way == Way::kernels ? evaluate(u, operands) : u->generic(operands);
  }
  Tensor of_bonded(Term kind, const Tensor& x, const Tensor& h, const Parameters& p) const {
    const EnergyPtr& u = bonded[static_cast<std::size_t>(kind)];
    if (!u) return Tensor(0.0);
    if (kind == Term::pairs_lj || kind == Term::pairs_coulomb)
      return value(u,
                   {x, h, pairs_with_types(system, p, lennard_jones_tables(system, p)), p.charge});
    return value(u, {x, h, own_table(p, kind)});
  }
  Tensor tail(const Tensor& h, const LennardJonesTables& t) const {
    return periodic && options.tail != Nonbonded::Tail::none
               ? tail_energy(system, options, h, t.c6, t.c12)
               : Tensor(0.0);
  }
  bool has_scaled_pairs() const {
    return bonded[static_cast<std::size_t>(Term::pairs_lj)] ||
           bonded[static_cast<std::size_t>(Term::pairs_coulomb)];
  }
  void join() {
    std::vector<tessera::Shape> shapes = pairs->shapes();
    std::vector<EnergyPart> parts = {{pairs, {0, 1, 2, 3, 4}}};
    for (const EnergyPtr& u : {reciprocal, excluded})
      if (u) parts.push_back({u, {0, 1, 2}});
    if (has_scaled_pairs()) shapes.push_back({static_cast<Index>(system.pairs.rows.size()), 4});
    for (std::size_t k = 0; k < n_bonded; ++k) {
      const auto kind = static_cast<Term>(k);
      if (!bonded[k]) continue;
      if (kind == Term::pairs_lj || kind == Term::pairs_coulomb) {
        parts.push_back({bonded[k], {0, 1, 5, 2}});
        continue;
      }
      parts.push_back({bonded[k], {0, 1, shapes.size()}});
      shapes.push_back(bonded[k]->shapes()[2]);
      tabled.push_back(kind);
    }
    whole = energy_sum(std::move(shapes), std::move(parts));
  }
  Tensor of_reciprocal(const Tensor& x, const Tensor& h, const Tensor& charge) const {
    if (!reciprocal) return Tensor(0.0);
    const Tensor u =
        value(reciprocal, {x, h, charge}) + ewald_self_energy(system, options, h, charge);
    return excluded ? u + value(excluded, {x, h, charge}) : u;
  }
};

PotentialEnergy::PotentialEnergy(const System& s, const Nonbonded& o, const Box& box, Way way,
                                 Precision precision) {
  validate(s);
  check(o, box);
  auto impl = std::make_shared<Impl>();
  impl->system = s;
  impl->options = o;
  impl->way = way;
  impl->periodic = is_periodic(box);
  impl->sites = site_groups(s);
  for (const Term kind : bonded_terms)
    if (acts(kind, o))
      impl->bonded[static_cast<std::size_t>(kind)] = bonded_energy(s, kind, o.epsilon_r);
  // By a mixing rule, types without wells have no derivatives (parameters.h), unless an exception
  // names them.
  const bool rule = s.lj.mixing != LennardJones::Mixing::tables && s.lj.exceptions.empty();
  const Wells wells = rule ? Wells::existing : Wells::all;
  impl->pairs = nonbonded_energy(s, o, wells, precision);
  Nonbonded uncharged = o;
  uncharged.coulomb = Nonbonded::Coulomb::none;
  impl->lj = nonbonded_energy(s, uncharged, wells, precision);
  if (o.coulomb == Nonbonded::Coulomb::ewald || o.coulomb == Nonbonded::Coulomb::pme) {
    impl->excluded = ewald_excluded_energy(s, o);
    impl->reciprocal = o.coulomb == Nonbonded::Coulomb::ewald
                           ? ewald_reciprocal_energy(s, o)
                           : pme_energy(s, o, pme_grid(o, box), precision);
  }
  impl->join();
  impl_ = std::move(impl);
}

const System& PotentialEnergy::system() const { return impl_->system; }

Tensor PotentialEnergy::operator()(const Tensor& x, const Tensor& h, const Parameters& p) const {
  const Impl& m = *impl_;
  const Tensor y = with_sites(m.sites, x, h, p.virtual_sites);
  const LennardJonesTables lj = lennard_jones_tables(m.system, p);
  std::vector<Tensor> operands = {y, h, p.charge, lj.c6, lj.c12};
  if (m.has_scaled_pairs()) operands.push_back(pairs_with_types(m.system, p, lj));
  for (const Term kind : m.tabled) operands.push_back(own_table(p, kind));
  const Tensor u = m.value(m.whole, operands) + m.tail(h, lj);
  return m.reciprocal ? u + ewald_self_energy(m.system, m.options, h, p.charge) : u;
}

Tensor PotentialEnergy::term(Term kind, const Tensor& x, const Tensor& h,
                             const Parameters& p) const {
  const Impl& m = *impl_;
  const Tensor y = with_sites(m.sites, x, h, p.virtual_sites);
  const LennardJonesTables lj = lennard_jones_tables(m.system, p);
  switch (kind) {
    case Term::lj:
      return m.value(m.lj, {y, h, p.charge, lj.c6, lj.c12});
    case Term::lj_tail:
      return m.tail(h, lj);
    case Term::coulomb_short:
      return m.value(m.pairs, {y, h, p.charge, 0.0 * lj.c6, 0.0 * lj.c12});
    case Term::coulomb_reciprocal:
      return m.of_reciprocal(y, h, p.charge);
    default:
      return m.of_bonded(kind, y, h, p);
  }
}

Tensor potential_energy(const System& s, const Nonbonded& o, const Tensor& x, const Tensor& h,
                        const Parameters& p) {
  return PotentialEnergy(s, o, box_of(h.to_vector<double>().data()))(x, h, p);
}

Tensor forces(const PotentialEnergy& u, const Tensor& x, const Tensor& h, const Parameters& p) {
  return -grad([&](const Tensor& y) { return u(y, h, p); })(x);
}

Tensor virial(const PotentialEnergy& u, const Tensor& x, const Tensor& h, const Parameters& p) {
  const auto gradients =
      grad([&](const std::vector<Tensor>& v) { return u(v[0], v[1], p); })(std::vector{x, h});
  return -(matmul(transpose(x), gradients[0]) + matmul(transpose(h), gradients[1]));
}

Tensor pressure_bar(const PotentialEnergy& u, const Tensor& x, const Tensor& h, const Parameters& p,
                    double kinetic) {
  return bar_per_pressure_unit / 3 * (trace(virial(u, x, h, p)) + 2 * kinetic) / volume_of(h);
}

}  // namespace tessera::molecular
