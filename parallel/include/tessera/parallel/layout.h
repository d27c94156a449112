// SPDX-License-Identifier: Apache-2.0
//
// How a tensor lies on ranks, and the way from one layout to another.
//
//   const RankMesh mesh(c, {{"data", 2}, {"model", 3}});            // six ranks
//   const Layout rows{{cut_over("data"), whole()}},                      // of a tensor [n, m]
//       tiles{{cut_over("data"), cut_over("model", {0, 10, 11, 40})}};        // unevenly
//   const auto there = redistribution(mesh, {100, 40}, rows, tiles);
//   const Tensor tile = redistribute(there, x);                     // x: this rank's part of
//   `rows`
//
// An axis of the mesh cuts an axis of the tensor; or the ranks along it hold the same (nothing is
// said), or each of them a part of a sum (`partial`). An axis that is cut may overlap: each rank
// holds some more on both sides, as far as the tensor goes, and these are the neighbours' values.
//
// A redistribution is direct: what a rank wants and does not hold comes from one that does, in one
// message from each, with nothing that it holds already; of ranks that hold the same the one in its
// own row of the mesh sends. Parts of a sum are added in the order of their ranks; where several
// ranks want the sum it is made once, cut among those that hold its parts, and dealt then, if that
// sends less. All ranks know all layouts: a plan is made without a message.
//
// It is an operation of the engine, linear, taking and giving what varies (exchanges.h). Its
// transpose, which any derivative runs, is the way back: sums of copies, copies of sums. So the
// cotangent of what is whole is partial, that of what is partial whole (`cotangent_of`).
#pragma once
#include "tessera/autodiff/box.h"
#include "tessera/parallel/communicator.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera::parallel {

/// The ranks of a program in a box with named axes; the last name counts fastest.
class RankMesh {
 public:
  struct Axis {
    std::string name;
    int size;
  };
  /// Throws Error where the sizes do not multiply to the number of ranks, or a name comes twice.
  RankMesh(Communicator& c, std::vector<Axis> axes, SourceLine line = SourceLine::here());

  Communicator& communicator() const { return *communicator_; }
  int axes() const { return static_cast<int>(axes_.size()); }
  const Axis& axis(int a) const { return axes_[static_cast<std::size_t>(a)]; }
  int index_of(const std::string& name) const;  ///< -1: there is none
  int place_of(int rank, int axis) const;       ///< of a rank along an axis

 private:
  Communicator* communicator_;
  std::vector<Axis> axes_;
};

/// How an axis of a tensor lies.
struct AxisLayout {
  std::vector<std::string> over;  ///< mesh axes that cut it, the last one fastest; none: whole
  std::vector<Index> begin = {};  ///< where each part begins, and the end; empty: as even as can be
  Index low = 0, high = 0;        ///< elements that are held besides, below and above
  bool operator==(const AxisLayout&) const = default;
};
inline AxisLayout whole() { return {}; }
inline AxisLayout cut_over(std::string over, std::vector<Index> begin = {}) {
  return {{std::move(over)}, std::move(begin)};
}
/// Cut, and overlapping by so much.
inline AxisLayout overlapping(std::string over, Index low, Index high,
                              std::vector<Index> begin = {}) {
  return {{std::move(over)}, std::move(begin), low, high};
}

struct Layout {
  std::vector<AxisLayout> axes;           ///< one for each axis of the tensor
  std::vector<std::string> partial = {};  ///< mesh axes along which ranks hold parts of a sum
  bool operator==(const Layout&) const = default;
};
/// What a cotangent of such a tensor is: partial where this is the same on ranks, and the other way
/// round. Throws Error where it overlaps: redistribute inside the function, from what does not.
Layout cotangent_of(const RankMesh& mesh, const Layout& layout);

/// What a rank holds of a tensor of that shape, with and without overlaps. Throws Error where the
/// layout does not fit the shape or the mesh: names, numbers, an axis of the mesh that is used
/// twice.
Box box_of(const RankMesh& mesh, const Shape& shape, const Layout& layout, int rank,
           bool with_overlaps = true);

class Redistribution;  // src/redistribution.h
using RedistributionPtr = std::shared_ptr<const Redistribution>;

/// Every rank makes it for itself; the communicator of the mesh outlives it.
RedistributionPtr redistribution(const RankMesh& mesh, const Shape& shape, const Layout& from,
                                 const Layout& to, SourceLine line = SourceLine::here());
/// Elements that all ranks send, together.
Index sent_by_all(const Redistribution& r);

/// x, this rank's part in the one layout -> its part in the other; of any type where nothing is
/// added up. What is whole is cut, and a part of a sum made, without a message.
Tensor redistribute(const RedistributionPtr& r, Arg x);

}  // namespace tessera::parallel
