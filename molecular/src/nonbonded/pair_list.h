// SPDX-License-Identifier: Apache-2.0
//
// Clusters of atoms and the list of their pairs that may interact (Pall & Hess, Comput. Phys.
// Commun. 184 (2013) 2641). Atoms are sorted into columns of the box, in a column by height, and
// cut into clusters of eight (j) and four (i).
//
// The list holds all pairs closer than cut-off + buffer when it was made. Until the two fastest
// atoms together have moved by the buffer no pair within the cut-off is missing: what a list adds
// up never depends on when it was made. An inner list with a thinner buffer is taken from it more
// often (rolling pruning).
#pragma once
#include "base/aligned_array.h"
#include "base/region.h"
#include "nonbonded/kernels/pair_kernels.h"
#include "tessera/molecular/box.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace tessera::molecular::pairs {

/// Rows that one thread takes at once.
struct Chunk {
  std::vector<Row> rows, inner_rows;
  Array<Entry> entries, inner;
};

/// What a list is made of, besides positions.
struct ListInput {
  std::size_t n = 0;
  const std::vector<std::uint8_t>* has_lj = nullptr;                 ///< of each atom
  const std::vector<std::vector<std::int32_t>>* excluded = nullptr;  ///< partners of each atom
  Vec3 centre = {0.5, 0.5, 0.5};   ///< fractions around which the atoms lie
  const Region* middle = nullptr;  ///< only pairs whose middle lies in it; null: all
};

class PairList {
 public:
  /// Sorts atoms at fractions `s` (in [0, 1)) of a box with edges h.
  void sort(const std::vector<Vec3>& s, const Box& box, const ListInput& in);
  /// Lists all pairs closer than `radius`; `positions` are those of the sorted atoms.
  void make(const Input<float>& positions, double radius, bool by_atoms, const ListInput& in,
            const Kernels& kernels);
  /// The inner list: pairs closer than `radius`.
  void prune(const Input<float>& positions, double radius, const Kernels& kernels);

  std::size_t slots() const { return atom_of.size(); }
  std::vector<std::int32_t> atom_of;  ///< of each slot; -1: none
  std::vector<std::int32_t> slot_of;  ///< of each atom
  std::vector<Chunk> chunks;

 private:
  struct Extent {
    float low[3], high[3];  ///< [nm], along the normals of the faces
  };
  Extent extent(std::size_t first, std::size_t count) const;
  /// Writes to `found` the j-clusters from `own` on whose extents are within r of its own, each
  /// once; how many. `square` is room to work.
  std::size_t near(std::int32_t own, float r, std::vector<float>& square,
                   std::vector<std::int32_t>& found) const;

  /// Two faces of a region across an axis of the box.
  struct Cut {
    std::size_t axis;
    float width, over_width, low, size;  ///< of the box; of the region [nm]
    float rounding;                      ///< of lengths in single precision
    std::uint32_t first, units;          ///< of the region
  };
  std::vector<Cut> cuts_of(const Region& region) const;
  /// Whether middles of pairs of two j-clusters lie inside between all cuts, or outside of one.
  enum class Lies : std::uint8_t { inside, outside, across };
  Lies lies(std::span<const Cut> cuts, std::int32_t own, std::int32_t j) const;
  /// Of an entry of the i-cluster the pairs whose middles lie inside.
  static std::uint32_t within(std::span<const Cut> cuts, const Input<float>& positions,
                              std::size_t i, const Entry& entry);

  /// What `prune` kernels read, for pairs closer than `radius` [nm].
  Coarse coarse(const Input<float>& positions, double radius);

  Box box_;
  Vec3 width_{};  ///< of the box
  std::array<std::int64_t, 2> columns_{};
  std::vector<std::int32_t> first_of_;    ///< first j-cluster of each column, and one past the last
  std::vector<std::array<float, 3>> at_;  ///< of each slot [nm]
  std::vector<std::int32_t> lj_;  ///< of each i-cluster: atoms with Lennard-Jones parameters
  std::array<std::vector<float>, 3> middle_, half_;  ///< of j-clusters
  std::array<Array<std::int16_t>, 3>
      coarse_;  ///< positions of slots in 16 bits, of the last call of `coarse`
  std::vector<std::uint32_t> present_;  ///< of each j-cluster: a bit for each slot with an atom
};

}  // namespace tessera::molecular::pairs
