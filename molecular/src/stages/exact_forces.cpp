// SPDX-License-Identifier: Apache-2.0
#include "stages/exact_forces.h"

#include "tessera/molecular/parameters.h"

namespace tessera::molecular {

ForceFunction exact_forces(const System& system, const Nonbonded& options, const Box& box) {
  const PotentialEnergy u(system, options, box);
  const Parameters p = parameters(system, ScaledFrom::rows);
  return [u, p](const std::vector<Vec3>& x_nm, const Box& b, Forces& out) {
    const Tensor x = positions_of(x_nm), h = edges_of(b);
    out = Forces{};
    for (std::size_t k = 0; k < n_terms; ++k)
      out.energy[k] = u.term(static_cast<Term>(k), x, h, p).item<double>();
    const Tensor pushed = forces(u, x, h, p), pulled = virial(u, x, h, p);
    const auto f = pushed.data<double>(), w = pulled.data<double>();
    out.f.resize(x_nm.size());
    for (std::size_t i = 0; i < f.size(); ++i) out.f[i / 3][i % 3] = f[i];
    for (std::size_t i = 0; i < 9; ++i) out.virial[i / 3][i % 3] = w[i];
  };
}

}  // namespace tessera::molecular
