// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/rollout.h"

#include "derivatives/rigid.h"
#include "derivatives/sites.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>

namespace tessera::molecular {
namespace {

struct Carry {
  Tensor x, v, gradient;  ///< gradient: dU/dx at x
  TESSERA_TREE(x, v, gradient)
};

}  // namespace

Path rollout(const PotentialEnergy& u, const Tensor& x, const Tensor& v, const Tensor& h,
             const Parameters& p, const Rollout& o) {
  const bool verlet = o.scheme == Dynamics::Scheme::velocity_verlet;
  if (!verlet && o.scheme != Dynamics::Scheme::leap_frog)
    throw Error(
        "[rollout] steps are those of velocity_verlet or leap_frog; friction has no rollout");
  const RigidBonds rigid(u.system());
  const std::vector<SiteGroup> sites = site_groups(u.system());
  const std::vector<double>& masses = u.system().atoms.mass_amu;
  std::vector<double> inverse, moves;
  for (const double m : masses) {
    inverse.push_back(m > 0 ? 1 / m : 0);
    moves.push_back(m > 0 ? 1 : 0);
  }
  const Tensor mass = tensor(masses, {static_cast<Index>(masses.size()), 1}),
               per_mass = tensor(inverse, mass.shape());
  const auto energy = value_and_grad([&](const Tensor& y) { return u(y, h, p); });
  const auto kick = [&](const Tensor& w, const Tensor& gradient, double t) {
    return w - (t * per_mass) * gradient;
  };

  const auto step = [&](const Carry& s) {
    Tensor w = kick(s.v, s.gradient, verlet ? 0.5 * o.dt_ps : o.dt_ps), y = s.x + o.dt_ps * w;
    if (!rigid.empty()) {
      const Tensor z = rigid.positions(s.x, y, h, p);
      w = w + (z - y) / o.dt_ps;
      y = z;
    }
    y = with_sites(sites, y, h, p.virtual_sites);
    const auto [potential, gradient] = energy(y);
    if (verlet) {
      w = kick(w, gradient, 0.5 * o.dt_ps);
      if (!rigid.empty()) w = rigid.velocities(y, w, h);
    }
    return std::pair(Carry{y, w, gradient},
                     std::vector<Tensor>{potential, 0.5 * sum(mass * square(w))});
  };
  const Tensor start = with_sites(sites, x, h, p.virtual_sites),
               speed = std::ranges::count(moves, 0.0) > 0 ? tensor(moves, mass.shape()) * v : v;
  const auto [end, record] =
      scan(step, Carry{start, speed, energy(start).second}, o.steps, {.checkpoint = o.checkpoint});
  return {end.x, end.v, record[0], record[1]};
}

}  // namespace tessera::molecular
