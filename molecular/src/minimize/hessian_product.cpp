// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/bonded.h"
#include "tessera/molecular/ewald.h"
#include "tessera/molecular/minimize.h"
#include "tessera/molecular/pme.h"

#include <algorithm>
#include <array>

namespace tessera::molecular {
namespace {

/// An energy of x, h and constants.
struct Part {
  EnergyPtr energy;
  std::vector<std::vector<double>> constants;
};

std::vector<double> values(const Tensor& t) {
  const auto all = t.data<double>();
  return {all.begin(), all.end()};
}

}  // namespace

HessianProduct hessian_product(const System& system, const Nonbonded& options, const Box& box,
                               Precision precision) {
  std::vector<Part> parts;
  for (const Term kind : bonded_terms) {
    EnergyPtr u = acts(kind, options) ? bonded_energy(system, kind, options.epsilon_r) : nullptr;
    if (!u) continue;
    Part part{std::move(u), {values(table_of(system, kind))}};
    if (part.energy->shapes().size() == 4) part.constants.push_back(system.atoms.charge_e);
    parts.push_back(std::move(part));
  }
  const auto& q = system.atoms.charge_e;
  parts.push_back(
      {nonbonded_energy(system, options, Wells::all, precision), {q, system.lj.c6, system.lj.c12}});
  const bool pme = options.coulomb == Nonbonded::Coulomb::pme;
  if (pme || options.coulomb == Nonbonded::Coulomb::ewald) {
    if (EnergyPtr excluded = ewald_excluded_energy(system, options))
      parts.push_back({std::move(excluded), {q}});
    parts.push_back({pme ? pme_energy(system, options, pme_grid(options, box), precision)
                         : ewald_reciprocal_energy(system, options),
                     {q}});
  }
  return [parts = std::move(parts)](const std::vector<Vec3>& x, const Box& h,
                                    const std::vector<Vec3>& v, std::vector<Vec3>& w) {
    w.assign(x.size(), Vec3{});
    for (const Part& part : parts) {
      std::vector<const double*> p = {x[0].data(), h.edge[0].data()},
                                 along = {v[0].data(), nullptr};
      std::vector<double*> out = {w[0].data(), nullptr};
      for (const auto& constant : part.constants) {
        p.push_back(constant.data());
        along.push_back(nullptr);
        out.push_back(nullptr);
      }
      part.energy->hessian_product(p, along, out);
    }
  };
}

}  // namespace tessera::molecular
