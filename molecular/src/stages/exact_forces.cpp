// SPDX-License-Identifier: Apache-2.0
#include "stages/exact_forces.h"

#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/molecular/parameters.h"
#include "tessera/molecular/pme.h"

#include <array>

namespace tessera::molecular {
namespace {

/// What the virial of the tail is more than minus its derivative by a strain: a truncated energy
/// jumps at the cut-off, which no force knows, so that the tail's forces are those of the shifted
/// one (ForceEvaluator).
Tensor virial_of_jump(const System& s, const Nonbonded& truncated, const Tensor& h) {
  Nonbonded shifted = truncated;
  shifted.lj_modifier = Nonbonded::Modifier::potential_shift;
  const Tensor c6 = c6_of(s), c12 = c12_of(s);
  const auto more = [&](const Tensor& edges) {
    return tail_energy(s, shifted, edges, c6, c12) - tail_energy(s, truncated, edges, c6, c12);
  };
  return -matmul(transpose(h), grad(more)(h));
}

}  // namespace

ForceFunction exact_forces(const System& system, const Nonbonded& options, const Box& box) {
  const auto grid_in = [options](const Box& b) {
    return options.coulomb == Nonbonded::Coulomb::pme ? pme_grid(options, b) : std::array<int, 3>{};
  };
  const Parameters p = parameters(system, ScaledFrom::rows);
  const bool jumps = is_periodic(box) && options.tail != Nonbonded::Tail::none &&
                     options.lj_modifier == Nonbonded::Modifier::none;
  return [=, u = PotentialEnergy(system, options, box), grid = grid_in(box)](
             const std::vector<Vec3>& x_nm, const Box& b, Forces& out) mutable {
    if (grid_in(b) != grid) u = PotentialEnergy(u.system(), options, b), grid = grid_in(b);
    const Tensor x = positions_of(x_nm), h = edges_of(b);
    out = Forces{};
    for (std::size_t k = 0; k < n_terms; ++k)
      out.energy[k] = u.term(static_cast<Term>(k), x, h, p).item<double>();
    const Tensor pushed = forces(u, x, h, p), by_strain = virial(u, x, h, p),
                 pulled = jumps ? by_strain + virial_of_jump(u.system(), options, h) : by_strain;
    const auto f = pushed.data<double>(), w = pulled.data<double>();
    out.f.resize(x_nm.size());
    for (std::size_t i = 0; i < f.size(); ++i) out.f[i / 3][i % 3] = f[i];
    for (std::size_t i = 0; i < 9; ++i) out.virial[i / 3][i % 3] = w[i];
  };
}

}  // namespace tessera::molecular
