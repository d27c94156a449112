// SPDX-License-Identifier: Apache-2.0
//
// The lines that bodies leave on a plane across an axis: what a picture of a field draws over it.
#pragma once
#include "tessera/electromagnetics/scene.h"

#include <array>
#include <vector>

namespace tessera::electromagnetics {

/// A rectangle of the plane across `axis` at `at`; u and v are the two other axes, the earlier one
/// first.
struct SectionWindow {
  int axis = 2;
  double at = 0;                         ///< m
  std::array<double, 2> low{}, high{};   ///< of u and v, m
  std::array<int, 2> steps{1024, 1024};  ///< along u and v: no detail is smaller
};

/// Points (u, v) in m; a closed line ends where it begins.
using SectionLine = std::vector<std::array<double, 2>>;

/// Where one medium of the scene ends and another begins, as `medium_at` sees it: bodies that
/// others cover leave no line, nor do faces between bodies of one medium. Media are the same where
/// their numbers are.
///
/// The lines are those of the bodies themselves, not of any grid: points lie on surfaces that are
/// smooth over some steps to 1 % of a step, and lines between them to a tenth. A sheet or a film
/// thinner than a step is a line there and back (a sheet in the plane itself its rim). What runs
/// along the rim of the window leaves no line: a body that ends there goes on as its image or not
/// at all.
///
/// The plane is halved down to the steps only where a surface is: the cost goes with the length of
/// the lines.
std::vector<SectionLine> section_lines(const SceneOrder& scene, const SectionWindow& window);

}  // namespace tessera::electromagnetics
