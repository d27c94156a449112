// SPDX-License-Identifier: Apache-2.0
//
// What the tensors of nodes (yee_scheme.h) couple in a plane across a guide.
#pragma once
#include "tessera/electromagnetics/grid_modes.h"

#include <cstddef>
#include <vector>

namespace tessera::electromagnetics::modes {

/// A step adds `weight` times the bracket of edge `from` to e of edge `to`, both numbers of a list;
/// that of its own has the weight `own`.
struct PlaneCoupling {
  std::size_t to = 0, from = 0;
  double weight = 0, own = 0;
};
/// Of the edges across `axis` at a line, as steps couple them: both ways. Edges of metal, of loss
/// or poles, cut ones and those in layers are not coupled.
std::vector<PlaneCoupling> plane_couplings(const YeeModel& model, int axis, int line,
                                           const std::vector<Edge>& edges);

/// Whether tensors at the nodes of a line couple edges across `axis` to those along it, within
/// [low, high] of the other axes.
bool couples_along(const YeeModel& model, int axis, int line, const int low[3], const int high[3]);

}  // namespace tessera::electromagnetics::modes
