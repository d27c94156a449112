// SPDX-License-Identifier: Apache-2.0
//
// Constraints in engine operations, in the symbols of constraints.h: with W_kl = sum over shared
// atoms of s_k s_l/m and d the bonds of y,
//
//   positions    e_k = d_k + sum_l W_kl lambda_l r_l,  |e_k| = length_k:
//                (W_kl e_k.r_l) dlambda = (length^2 - e.e)/2
//   velocities   (W_kl r_k.r_l) mu = -r_k.(v_a - v_b)
//
// Groups of equally many bonds are solved together, as stacks of small dense systems; rigid waters
// are groups of three.
#pragma once
#include "tessera/molecular/parameters.h"

#include <vector>

namespace tessera::molecular {

class RigidBonds {
 public:
  explicit RigidBonds(const System& system);
  bool empty() const { return stacks_.empty(); }
  /// z for free positions y after positions x.
  Tensor positions(const Tensor& x, const Tensor& y, const Tensor& h, const Parameters& p) const;
  Tensor velocities(const Tensor& x, const Tensor& v, const Tensor& h) const;

 private:
  struct Stack {
    Tensor a, b;          ///< [groups, bonds] atoms
    Tensor length;        ///< [groups, bonds] entry in the list of all lengths
    Tensor weight;        ///< [groups, bonds, bonds] W
    Tensor per_a, per_b;  ///< [groups, bonds, 1] 1/m
  };
  std::vector<Stack> stacks_;
};

}  // namespace tessera::molecular
