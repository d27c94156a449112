// SPDX-License-Identifier: Apache-2.0
//
// Rigid bonds and waters. A step that knows nothing of constraints takes positions x to y; forces
// along the bonds at x bring them back to
//
//   z_i = y_i + 1/m_i sum_k lambda_k s_ik r_k,   |z_a - z_b| = d_k for every constraint k = (a, b),
//   r_k = x_a - x_b, s = +-1
//
// Three-point waters are solved in closed form (SETTLE: Miyamoto & Kollman, J. Comput. Chem. 13
// (1992) 952). All others by Newton's method, molecule by molecule, with a sparse factorization of
// the exact Jacobian, whose pattern is found once: two to four iterations reach the tolerance
// (Lopez-Villellas et al., J. Chem. Theory Comput. 19 (2023) 8634). Results do not depend on the
// number of threads.
#pragma once
#include "tessera/molecular/system.h"

#include <memory>
#include <vector>

namespace tessera::molecular {

struct ConstraintOptions {
  double tolerance = 1e-10;  ///< of | |z| - d |/d
  int most_iterations = 50;
};

class Constraints {
 public:
  /// Throws Error where constraints meet a massless atom, or a water and another constraint share
  /// an atom.
  explicit Constraints(const System& system, const ConstraintOptions& options = {});
  ~Constraints();
  Constraints(Constraints&&) noexcept;
  Constraints& operator=(Constraints&&) noexcept;

  std::size_t size() const;  ///< constraints: three of each water

  /// Moves `y` to z, and adds (z - y)/t to `v` (null: not wanted). Displacements between atoms are
  /// those of the nearest image. Throws Error naming atoms and lengths where no solution is near,
  /// which is what a step that is too long looks like.
  void apply_to_positions(const std::vector<Vec3>& x, std::vector<Vec3>& y, const Box& box,
                          std::vector<Vec3>* v = nullptr, double t = 1) const;
  /// Takes from `v` what would change the lengths: (v_a - v_b).r_k = 0.
  void apply_to_velocities(const std::vector<Vec3>& x, std::vector<Vec3>& v, const Box& box) const;
  /// Group of atoms that constraints hold together, for every atom; -1: none.
  std::vector<std::int32_t> groups() const;
  /// Largest | |x_a - x_b| - d |/d.
  double largest_error(const std::vector<Vec3>& x, const Box& box) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

/// Which bonds are to become rigid.
enum class Rigid : std::uint8_t { none, h_bonds, all_bonds, h_angles };
/// The system with rigid bonds in place of flexible ones: the bonds of `which` become constraints
/// (with `h_angles` all, and the distances 1-3 of angles H-X-H and H-O-X), three-point waters rigid
/// bodies if `rigid_water`, whatever `which` says, of the lengths of their bonds or of the
/// constraints that hold them already. Terms whose atoms are rigid to each other are
/// dropped. Throws Error where a distance that becomes rigid is one of an atom without mass.
System constrained(System system, Rigid which, bool rigid_water = true);

}  // namespace tessera::molecular
