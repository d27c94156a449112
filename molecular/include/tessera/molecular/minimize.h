// SPDX-License-Identifier: Apache-2.0
//
// Down to a minimum of the potential energy. With forces f = -dU/dx, projected on what constraints
// leave free, a minimizer has converged where no atom's |f| is above the tolerance.
//
//   steepest_descent   along f, the largest move grown by 1.2 after a step down and halved after
//                      one up (GROMACS's rule)
//   lbfgs              quasi-Newton of limited memory (Nocedal & Wright, Numerical Optimization,
//                      2006, algorithm 7.4)
//   fire               damped motion that stops wherever it runs uphill (Guenole et al., Comput.
//                      Mater. Sci. 175 (2020) 109584)
//   newton_cg          Newton steps by conjugate gradients with exact Hessian products in a trust
//                      region (Steihaug, SIAM J. Numer. Anal. 20 (1983) 626); quadratic
//                      convergence; without constraints and virtual sites
//
// All but fire go down in energy with every step.
#pragma once
#include "tessera/molecular/forces.h"
#include "tessera/molecular/nonbonded.h"
#include "tessera/molecular/system.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace tessera::molecular {

struct Minimization {
  enum class Method : std::uint8_t { steepest_descent, lbfgs, fire, newton_cg };
  Method method = Method::lbfgs;
  double force_tolerance = 10;  ///< kJ/mol/nm
  double first_move_nm = 0.01;  ///< how far the first step takes an atom at most
  double most_move_nm = 0.1;    ///< the same of every step
  int memory = 12;              ///< pairs that lbfgs keeps
  std::vector<std::array<bool, 3>>
      frozen;  ///< directions in which an atom stays where it is, [n]; empty: none
};

/// w = (d2U/dx2) v at the positions x.
using HessianProduct = std::function<void(const std::vector<Vec3>& x, const Box& box,
                                          const std::vector<Vec3>& v, std::vector<Vec3>& w)>;
/// That of all terms of a system by the kernels of its energies, exact, or in mixed precision to
/// 1e-5; prepared for one box.
HessianProduct hessian_product(const System& system, const Nonbonded& options, const Box& box,
                               Precision precision = Precision::f64);

/// All that a minimization goes on from: resumed from it, it takes the same steps bit by bit.
struct Descent {
  enum class Status : std::uint8_t {
    running,
    converged,
    stuck
  };              ///< stuck: no step leads further down in these numbers
  Frame frame;    ///< `step` counts steps
  Forces forces;  ///< at frame.x_nm, virtual sites spread: f = -dU/dx, of frozen atoms, too
  std::vector<Vec3> projected;  ///< f without what constraints and frozen directions hold
  double largest_force = 0;     ///< of `projected` [kJ/mol/nm]
  std::size_t largest_at = 0;   ///< whose it is
  Status status = Status::running;
  double move_nm = 0;  ///< steepest_descent: the next largest move; fire: its time step; newton_cg:
                       ///< radius of trust
  std::vector<double> memory;    ///< of the method
  std::int64_t evaluations = 0;  ///< of forces
};

class Minimizer {
 public:
  /// `hessian` is for newton_cg alone. Throws Error where options contradict each other or the
  /// system.
  Minimizer(const System& system, ForceFunction forces, const Minimization& options,
            HessianProduct hessian = {});
  ~Minimizer();
  Minimizer(Minimizer&&) noexcept;
  Minimizer& operator=(Minimizer&&) noexcept;

  /// Constraints are met and forces computed.
  Descent begin(Frame frame) const;
  /// Sets `projected` by frame and forces, as those of a checkpoint.
  void project(Descent& d) const;
  /// At most `n` steps, fewer where it converges or is stuck.
  void step(Descent& d, std::int64_t n = 1) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace tessera::molecular
