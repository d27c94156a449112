// SPDX-License-Identifier: Apache-2.0
//
// What a rank has of the atoms of a periodic box. Each rank has a region of the box (base/region.h)
// and adds up the pairs whose middle lies in it: for these it needs, beside its own atoms, copies
// of those within half of a list's radius of its region (the midpoint method: Bowers, Dror & Shaw,
// J. Chem. Phys. 124 (2006) 184109), and the partners that its atoms have terms with. Forces on
// copies go back to those that own the atoms, as whole numbers.
//
// Atoms that move together (moving_part.h: joined_atoms) belong to the rank in whose region the
// first of them is when they are dealt. Copies are found anew when atoms have moved so far since
// the last time that a list of pairs might miss one; when that comes near, the atoms should be
// dealt before the next step (`wants_dealing`). Neither changes a bit of what is added up.
//
// All ranks make the same calls in the same order.
#pragma once
#include "base/aligned_array.h"
#include "base/others.h"
#include "base/region.h"
#include "domains/list_reach.h"
#include "system/moving_part.h"
#include "tessera/molecular/box.h"
#include "tessera/parallel/communicator.h"

#include <functional>
#include <span>
#include <type_traits>
#include <vector>

namespace tessera::molecular {

class Domain {
 public:
  /// `reach`: of the lists that forces are computed by. Regions with shares of the atoms at x as
  /// their weights.
  Domain(const System& all, parallel::Communicator& c, std::function<ListReach(const Box&)> reach,
         const Box& box, const std::vector<Vec3>& x, const std::vector<double>& weights);

  parallel::Communicator& ranks() const { return c_; }
  const Others& others() const { return others_; }
  const std::vector<Region>& regions() const { return regions_; }
  const Region& region() const { return regions_[me_]; }

  // ---- who owns what
  /// Numbers of this rank's own atoms, ascending.
  const std::vector<std::int32_t>& own() const { return own_; }
  bool wants_dealing() const { return wants_dealing_; }
  /// Deals the atoms anew by where they were brought last; rows of `values` [own] go with them.
  void deal(const std::vector<std::vector<Vec3>*>& values);

  // ---- copies
  /// Positions of own atoms as they are now; copies follow. False, on all ranks, where a coordinate
  /// of one of them is not a number.
  bool bring(const Box& box, const std::vector<Vec3>& x);
  /// Own atoms, then copies.
  const std::vector<Vec3>& x() const { return x_; }
  const std::vector<Vec3>& fractions() const { return fractions_; }  ///< exact_fractions.h
  const std::vector<std::int32_t>& numbers() const { return numbers_; }
  /// Another one where the set of atoms is another.
  std::uint64_t version() const { return version_; }
  /// Own atoms' fractions in [low, low + size) of an axis of each rank, now and until the version
  /// changes; size 0: there are none.
  struct Extent {
    double low = 0, size = 0;
  };
  const std::vector<std::array<Extent, 3>>& extents() const { return extents_; }
  /// Adds to own rows of `sums` what ranks have in the rows of their copies: value(atom, component)
  /// is that of a local atom.
  template <class Sum, class Value>
  void add_from_copies(Value&& value) const {
    std::vector<std::vector<Sum>> to(peers_.size()), from(peers_.size());
    std::vector<parallel::Send> send;
    std::vector<parallel::Receive> receive;
    for (std::size_t p = 0; p < peers_.size(); ++p) {
      const Peer& peer = peers_[p];
      to[p].reserve(3 * peer.copies);
      for (std::size_t k = peer.first_copy; k < peer.first_copy + peer.copies; ++k)
        for (std::size_t a = 0; a < 3; ++a) to[p].push_back(value(k, a));
      from[p].resize(3 * peer.sent.size());
      if (!to[p].empty()) send.push_back({peer.rank, std::as_bytes(std::span(to[p]))});
      if (!from[p].empty())
        receive.push_back({peer.rank, std::as_writable_bytes(std::span(from[p]))});
    }
    c_.exchange("forces of copies", send, receive);
    for (std::size_t p = 0; p < peers_.size(); ++p)
      for (std::size_t k = 0; k < peers_[p].sent.size(); ++k)
        for (std::size_t a = 0; a < 3; ++a) {
          using Bits = std::make_unsigned_t<Sum>;
          Sum& sum = value(static_cast<std::size_t>(peers_[p].sent[k]), a);
          sum = static_cast<Sum>(static_cast<Bits>(sum) + static_cast<Bits>(from[p][3 * k + a]));
        }
  }

 private:
  struct Peer {
    int rank;
    std::vector<std::int32_t> sent;  ///< own atoms that it has copies of
    std::size_t first_copy = 0, copies = 0;
  };
  using Units = std::array<std::uint32_t, 3>;
  /// Of own atoms, in units of 2^-32 edges; an array an axis.
  struct Places {
    std::array<Array<std::int32_t>, 3> along;
    Units of(std::size_t i) const {
      return {static_cast<std::uint32_t>(along[0][i]), static_cast<std::uint32_t>(along[1][i]),
              static_cast<std::uint32_t>(along[2][i])};
    }
    std::array<const std::int32_t*, 3> rows() const {
      return {along[0].data(), along[1].data(), along[2].data()};
    }
  };
  /// False where a coordinate is not a number.
  bool take_places(const Box& box, const std::vector<Vec3>& x);
  void renew(const Box& box, const ListReach& reach);
  void push(const Box& box, const std::vector<Vec3>& x);

  parallel::Communicator& c_;
  Others others_;
  std::size_t me_;
  std::function<ListReach(const Box&)> reach_;
  std::vector<std::int32_t> joined_;  ///< of each atom of the system
  Partners partners_;
  std::vector<Region> regions_;
  std::vector<std::int32_t> home_;  ///< of each atom of the system: its rank
  std::vector<std::int32_t> own_;
  bool dealt_ = true, wants_dealing_ = false;

  std::vector<Vec3> x_, fractions_;
  std::vector<std::int32_t> numbers_;
  std::vector<Peer> peers_;
  std::vector<std::array<Extent, 3>> extents_;
  std::uint64_t version_ = 0;
  Places now_, then_;  ///< then: when copies were found
  Box then_box_;
  std::int64_t steps_ = 0;  ///< that copies have been used for
};

}  // namespace tessera::molecular
