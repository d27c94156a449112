// SPDX-License-Identifier: Apache-2.0
//
// Frames as an analysis or a picture wants them: molecules in one piece, paths without jumps,
// structures laid onto each other.
#pragma once
#include "tessera/molecular/system.h"

#include <span>
#include <vector>

namespace tessera::molecular {

/// What connects the atoms of a molecule, found once.
class MoleculeMap {
 public:
  explicit MoleculeMap(const System& system);
  std::size_t size() const { return atoms_.size(); }
  const std::vector<std::vector<std::int32_t>>& atoms() const {
    return atoms_;
  }  ///< of each molecule

  /// Puts every atom at the image nearest to the one it is bound to, or held by a spring where no
  /// bond leads to it. Both are shorter than half of the smallest width of the box.
  void make_whole(std::vector<Vec3>& x, const Box& box) const;
  /// Moves whole molecules so that their centres (of geometry) have fractions in [0, 1);
  /// `make_whole` comes before.
  void wrap(std::vector<Vec3>& x, const Box& box) const;

 private:
  struct Link {
    std::int32_t atom, to;
  };
  std::vector<Link> links_;  ///< each atom after the one it is put to
  std::vector<std::vector<std::int32_t>> atoms_;
};

/// The molecules of a group as one body: in the first frame at the images that lie nearest to each
/// other, joined pair by pair from the nearest atoms on; then each at the image where it lies, seen
/// from the one it is joined to, nearest to where it lay in the frame before. Between frames no
/// molecule moves as far from its partner as half of the smallest width of the box.
class Complex {
 public:
  Complex(const System& system, std::span<const std::int32_t> group);
  /// Moves whole molecules (`MoleculeMap::make_whole` comes before) of which an atom is in the
  /// group.
  void gather(std::vector<Vec3>& x, const Box& box);

 private:
  struct Link {
    std::size_t molecule, to;
    Vec3 apart{};  ///< from the centre of `to` to that of `molecule`, of their atoms in the group
  };
  void join(std::vector<Vec3>& x, const Box& box);
  void move(std::vector<Vec3>& x, std::size_t molecule, const Vec3& shift) const;
  Vec3 apart(const std::vector<Vec3>& x, const Link& link) const;

  std::vector<std::vector<std::int32_t>> atoms_,
      members_;  ///< of each molecule: all, and those in the group
  std::vector<std::size_t>
      molecule_of_;          ///< of each atom of the system; none for those of other molecules
  std::vector<Link> links_;  ///< each molecule after the one it is joined to
};

/// Takes the jumps at the faces out of paths: x'(t) = x'(t-1) + nearest image of w(t) - w(t-1), w
/// the image of x in the box of its frame (fractions in [0, 1)), the difference in the box of t:
/// whatever images a file has, diffusion is right in boxes that breathe (von Buelow, Bullerjahn &
/// Hummer, J. Chem. Phys. 153 (2020) 021101). With x in place of w a point n boxes away would move
/// by n times what the box does. Between frames no point moves as far as half of the smallest
/// width. Of what is one body, a molecule, the centre is such a point: its atoms cross a face one
/// by one, while the box changes.
class Unwrap {
 public:
  /// The first frame stays as it is.
  void apply(Frame& frame);

 private:
  std::vector<Vec3> last_, path_;  ///< in the box; all the way
};

/// Moves all atoms so that the centre of the group (weights 1 where `weights` is empty) comes to
/// `to`.
void centre(std::vector<Vec3>& x, std::span<const std::int32_t> group,
            std::span<const double> weights, const Vec3& to);
/// sum w x/sum w of the group.
Vec3 centre_of(const std::vector<Vec3>& x, std::span<const std::int32_t> group,
               std::span<const double> weights = {});
/// The middle of the box.
Vec3 middle(const Box& box);

/// x' = R (x - from) + to
struct Superposition {
  std::array<Vec3, 3> rotation{};
  Vec3 from{}, to{};
  double rmsd_nm = 0;  ///< sqrt(sum w |x' - reference|^2/sum w)
  Vec3 operator()(const Vec3& x) const;
};
/// The rotation and shift that bring the group nearest to the same atoms of `reference`: the
/// largest eigenvalue of a 4x4 matrix (Horn, J. Opt. Soc. Am. A 4 (1987) 629); never a mirror
/// image. Weights are one per atom of the group, or empty. Throws Error of groups without atoms or
/// weight.
Superposition superpose(const std::vector<Vec3>& x, const std::vector<Vec3>& reference,
                        std::span<const std::int32_t> group, std::span<const double> weights = {});

}  // namespace tessera::molecular
