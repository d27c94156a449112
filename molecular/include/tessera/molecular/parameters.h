// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a force field as tensors, and the energy as a function of them: what grad, hvp,
// hessian, jvp and vmap take.
//
//   const PotentialEnergy u(system, options, box);
//   const auto f = [&](const Tensor& x, const Tensor& h, const Parameters& p) { return u(x, h, p);
//   }; Parameters gradient = grad([&](const Parameters& p) { return f(x, h, p);
//   })(parameters(system));   // dU/dp, all of them Tensor force  = -grad([&](const Tensor& y) {
//   return f(y, h, p); })(x);
//
// Positions x [n, 3] and the box h [3, 3] (rows of Box::edge; zeros: no periodicity) in nm,
// energies in kJ/mol. First and second derivatives in all operands, mixed ones included, are
// hand-written kernels (energy_function.h); from the third on the engine's operations serve. What
// is constant under differentiation: the image of every pair, the list of pairs within the cut-off,
// the grid of PME.
#pragma once
#include "tessera/autodiff/tree.h"
#include "tessera/molecular/nonbonded.h"
#include "tessera/molecular/system.h"
#include "tessera/molecular/terms.h"

#include <memory>
#include <vector>

namespace tessera::molecular {

/// A table of bonded terms as a tensor.
template <int, int>
using TableOf = Tensor;
/// One leaf a table: first those of bonded terms [rows, parameters], correction maps [maps, points,
/// points], with rows and columns as in terms.h, then those named here. A table that the system
/// does not have has no rows. Rows of `pairs` stand beside what follows from the types of their
/// atoms: pair_scale.
struct Parameters : BondedTerms<TableOf, Tensor> {
  Tensor pair_scale;      ///< [rows, 2] times c6 and c12 of the types of the pair, added to `pairs`
  Tensor charge;          ///< [n]
  Tensor sigma, epsilon;  ///< [types]; without a mixing rule none
  Tensor exceptions;      ///< [exceptions, 2] c6, c12 of pairs of types that do not follow the rule
  Tensor c6, c12;         ///< [types, types] where there is no rule; else none
  Tensor virtual_sites;   ///< [sites, 12] weights
  Tensor constraints;     ///< [rows, 1] lengths; no energy depends on them, trajectories do
  Tensor rigid_waters;    ///< [rows, 2] d_OH, d_HH

  /// f(name, leaf) for every leaf of `p`, in order.
  template <class P, class F>
  static void each(P& p, F&& f) {
    each_bonded([&](const BondedKind& kind, auto& table) { f(kind.name, table); }, p);
    f("pair_scale", p.pair_scale), f("charge", p.charge), f("sigma", p.sigma);
    f("epsilon", p.epsilon), f("exceptions", p.exceptions), f("c6", p.c6), f("c12", p.c12);
    f("virtual_sites", p.virtual_sites), f("constraints", p.constraints);
    f("rigid_waters", p.rigid_waters);
  }
};
/// Names of the leaves, in their order.
std::vector<const char*> parameter_names();

/// What 1-4 pairs have to do with the types of their atoms.
enum class ScaledFrom : std::uint8_t {
  types,  ///< a row whose c6 and c12 are one factor times those of its types moves with them: the
          ///< factor is in `pair_scale`
  rows    ///< every row stands for itself
};
Parameters parameters(const System& system, ScaledFrom pairs = ScaledFrom::types);

/// c6 and c12 [types, types]: the tables, or by the mixing rule of the system from sigma and
/// epsilon with the exceptions put in. A pair of types without epsilon has none, and no derivative
/// in it either, although sqrt(epsilon_i epsilon_j) is vertical there.
struct LennardJonesTables {
  Tensor c6, c12;
};
LennardJonesTables lennard_jones_tables(const System& system, const Parameters& p);
/// Tables as files have them (prmtop) by a rule again: sigma and epsilon from the pairs of equal
/// types; pairs that the rule misses by more than a relative 1e-6 in c6 or c12 become exceptions,
/// the others are as the rule says.
LennardJones by_rule(const LennardJones& tables, LennardJones::Mixing rule);

/// All terms of a system. Positions of virtual sites in x do not matter: the sites follow their
/// parents. Copies share what was prepared; calls from several threads are fine.
class PotentialEnergy {
 public:
  /// By which derivatives up to the second are computed; `engine` is the oracle of `kernels`, of
  /// cost n^2 and more.
  enum class Way : std::uint8_t { kernels, engine };

  /// `box`: whether there is periodicity, and the grid of PME, which stays when h changes. Throws
  /// Error where options contradict the box or each other. `precision`: of the kernels of pairs and
  /// PME, first and second derivatives alike; mixed takes half the time for 1e-5 of the largest
  /// entry of each result (docs/decisions/0111).
  PotentialEnergy(const System& system, const Nonbonded& options, const Box& box,
                  Way way = Way::kernels, Precision precision = Precision::f64);

  /// U []; under vmap one of each sample.
  Tensor operator()(const Tensor& x, const Tensor& h, const Parameters& p) const;
  /// One part of it; zero where the system has no such term.
  Tensor term(Term kind, const Tensor& x, const Tensor& h, const Parameters& p) const;
  const System& system() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};
/// The same, prepared anew each time; h must have a value (not inside vmap or jit).
Tensor potential_energy(const System& system, const Nonbonded& options, const Tensor& x,
                        const Tensor& h, const Parameters& p);

/// -dU/dx [n, 3], zero on virtual sites, whose forces their parents have.
Tensor forces(const PotentialEnergy& u, const Tensor& x, const Tensor& h, const Parameters& p);
/// W_ab = -(sum_i x_ia dU/dx_ib + sum_k h_ka dU/dh_kb) [3, 3]: minus the derivative of U by a
/// strain of box and positions. The reference positions of restraints are not strained with the
/// box, as they are in runs.
Tensor virial(const PotentialEnergy& u, const Tensor& x, const Tensor& h, const Parameters& p);
/// (2 K + tr W)/(3 V) in bar, of a kinetic energy K [kJ/mol]; forces of constraints are not in it.
Tensor pressure_bar(const PotentialEnergy& u, const Tensor& x, const Tensor& h, const Parameters& p,
                    double kinetic_kj_mol = 0);

/// Positions [n, 3] and edges [3, 3] of a frame as tensors.
Tensor positions_of(const std::vector<Vec3>& x_nm);
Tensor edges_of(const Box& box);

}  // namespace tessera::molecular

/// Parameters are a tree of tensors (autodiff/tree.h), their leaves in the order of `each`.
template <>
struct tessera::Tree<tessera::molecular::Parameters> {
  template <class P, class F>
  static void visit(P& p, F&& f) {
    tessera::molecular::Parameters::each(p, [&](const char*, auto& leaf) { f(leaf); });
  }
  static void describe(const tessera::molecular::Parameters&, TreeStructure&) {}
};
