// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/exact.h"

#include "tessera/molecular/parameters.h"

namespace tessera::apps::dynamics {

mol::ForceFunction exact_forces(const mol::System& system, const mol::Nonbonded& options,
                                const mol::Box& box) {
  const mol::PotentialEnergy u(system, options, box);
  const mol::Parameters p = mol::parameters(system, mol::ScaledFrom::rows);
  return [u, p](const std::vector<mol::Vec3>& x_nm, const mol::Box& b, mol::Forces& out) {
    const Tensor x = mol::positions_of(x_nm), h = mol::edges_of(b);
    out = mol::Forces{};
    for (std::size_t k = 0; k < mol::n_terms; ++k)
      out.energy[k] = u.term(static_cast<mol::Term>(k), x, h, p).item<double>();
    const Tensor forces = mol::forces(u, x, h, p), pulled = mol::virial(u, x, h, p);
    const auto f = forces.data<double>(), w = pulled.data<double>();
    out.f.resize(x_nm.size());
    for (std::size_t i = 0; i < f.size(); ++i) out.f[i / 3][i % 3] = f[i];
    for (std::size_t i = 0; i < 9; ++i) out.virial[i / 3][i % 3] = w[i];
  };
}

}  // namespace tessera::apps::dynamics
