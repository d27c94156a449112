// SPDX-License-Identifier: Apache-2.0
//
// Networks joined to larger ones, their planes shifted, and what S says at a glance. Shapes as in
// networks.h.
#pragma once
#include "tessera/electromagnetics/networks.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace tessera::electromagnetics {

/// Networks side by side, [..., n, n] each: block after block, not joined.
Tensor side_by_side(const std::vector<Tensor>& s);

/// Joins pairs of ports: V equal, I opposite. What is left are the other ports in their order, with
/// their references. References of joined ports may differ, and waves be of any kind: it is the
/// voltages that are joined. Solves a system of 2m x 2m for m pairs. Throws Error for a port that
/// is named twice or does not exist.
Tensor join_ports(const Tensor& s, const Tensor& reference,
                  const std::vector<std::pair<std::size_t, std::size_t>>& pairs,
                  Waves waves = Waves::power);

/// The first 2-port's second port on the second one's first.
Tensor cascade(const Tensor& first, const Tensor& first_reference, const Tensor& second,
               const Tensor& second_reference, Waves waves = Waves::power);

/// S at planes that are moved by a length l along lines of propagation constant gamma (fields e^{-
/// gamma l}): `gamma_l` [n] or [..., n] is gamma times l of each port, l > 0 away from the network,
/// so that line is added. The lines have the references of the ports.
Tensor shifted_planes(const Tensor& s, const Tensor& gamma_l);

/// -d arg S / d w in seconds, of S [frequency, ...] at rising frequencies [frequency], two or more:
/// slopes of the phase between neighbours, weighted to second order; at the ends, and beside
/// frequencies whose S is nan, the one that there is. The phase must turn by less than half a turn
/// between neighbours.
Tensor group_delay(const Tensor& s, const Tensor& frequency_hz);

/// [...]: the largest singular value of S: of power waves at most 1 if the network is passive.
Tensor largest_gain(const Tensor& s);
/// [...]: the largest |S_ij - S_ji|; 0 of a reciprocal network with real references, or power waves
/// of any.
Tensor nonreciprocity(const Tensor& s);

}  // namespace tessera::electromagnetics
