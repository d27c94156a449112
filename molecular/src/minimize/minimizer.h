// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/constraints.h"
#include "tessera/molecular/minimize.h"

namespace tessera::molecular {

using Positions = std::vector<Vec3>;

double dot(const Positions& a, const Positions& b);
/// Length of the longest of the vectors.
double longest(const Positions& a);
/// y += factor a.
void add(Positions& y, double factor, const Positions& a);

/// What the methods share: the surface that constraints leave, and forces on it.
struct Minimizer::Impl {
  System system;
  ForceFunction force;
  Minimization o;
  HessianProduct hessian;
  Constraints constraints;  ///< of atoms of equal mass: projections are those of Euclid
  std::vector<std::array<bool, 3>> held;  ///< directions that are frozen; without mass, all three

  Impl(const System& s, ForceFunction f, const Minimization& options, HessianProduct h);

  /// Forces at d.frame.x_nm, and what follows from them.
  void evaluate(Descent& d) const;
  /// The descent at positions moved by `move`; energy is infinite where forces cannot be computed
  /// there.
  Descent moved(const Descent& d, const Positions& move) const;
  void project(const Descent& d, Positions& v) const;
  static double energy(const Descent& d) { return d.forces.potential(); }
  /// Differences of energies below this are rounding.
  double noise(const Descent& d) const;

  bool steepest_descent(Descent& d) const;
  bool lbfgs(Descent& d) const;
  bool fire(Descent& d) const;
  bool newton_cg(Descent& d) const;
};

}  // namespace tessera::molecular
