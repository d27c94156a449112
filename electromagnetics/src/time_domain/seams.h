// SPDX-License-Identifier: Apache-2.0
//
// What the slabs of a cut grid send each other in a step. The new h of a slab's last middles goes
// up, since e at the lines above takes its difference to theirs; the new e of its first lines goes
// down, since h at the middles below takes theirs. Tensors, which take means over the edges around
// a node, want the h of both sides; nonlinear media, whose |E|^2 takes the means of neighbours, all
// that these move by. Each slab has one line and middle more than it holds on either side, where
// that comes to lie, and knows the media there.
#pragma once
#include "time_domain/tables.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace tessera::electromagnetics::time_domain {

/// What is true of the whole grid, from what is true of each slab; called on all ranks.
template <class T>
void agree(Tables<T>& t);

template <class T>
void find_seams(Tables<T>& t);

/// What slabs of this whole grid would send (YeeScheme::seam_traffic).
template <class T>
SeamTraffic traffic_of_seams(const Tables<T>& t, int axis, std::int64_t n_steps);

/// Exchanges of one call of `advance`. `states`: of each part of the fields.
template <class T>
class Seams {
 public:
  Seams(const Tables<T>& tables, std::vector<T*> states)
      : t_(tables),
        states_(std::move(states)),
        turned_(states_.size() * n_turned()),
        beside_(states_.size() * n_beside()) {}
  void exchange(const char* what, const Seam& seam);
  /// What couplings want of edges across joined faces, and, if asked for, of the slabs next to this
  /// one: `value(part, place)`.
  using Value = std::function<T(std::size_t, const BracketPlace&)>;
  void exchange_values(const char* what, bool beside, const Value& value);
  const T* turned(std::size_t part) const { return turned_.data() + part * n_turned(); }
  const T* beside(std::size_t part) const { return beside_.data() + part * n_beside(); }

 private:
  std::size_t n_turned() const { return static_cast<std::size_t>(t_.turned.from); }
  std::size_t n_beside() const {
    return static_cast<std::size_t>(t_.beside.from_below + t_.beside.from_above);
  }
  using Buffer = std::vector<T>;
  void pack(const std::vector<Stretch>& from, Buffer& to) const;
  const T* unpack(const std::vector<Stretch>& to, const T* from, bool joined, double phase);

  const Tables<T>& t_;
  std::vector<T*> states_;
  Buffer sent_[2], received_[2];  ///< of the neighbours
  Buffer turned_, beside_;        ///< [parts, how many come]
};

}  // namespace tessera::electromagnetics::time_domain
