// SPDX-License-Identifier: Apache-2.0
// What a case may say of sheets thinner than a cell, [[sheet]]. SI units. The keys and their
// documentation are in options_sheets.cpp.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::waves {

enum class SheetShape { rectangle, disc, polygon };
struct SheetOptions {
  SheetShape shape = SheetShape::rectangle;
  std::string name;
  std::string normal;  ///< an axis
  std::array<double, 3> position{};
  std::optional<std::array<double, 3>> size;  ///< of a rectangle; not given: the whole plane
  double radius = 0;
  std::vector<std::array<double, 2>> corners;
  std::optional<double> resistance;  ///< of a square
  std::optional<std::string> material;
  std::optional<double> thickness;

  int axis() const { return normal[0] - 'x'; }
};

}  // namespace tessera::apps::waves
