// SPDX-License-Identifier: Apache-2.0
// What goes with cells of one length alone, so that no line of the grid may move there.
#pragma once
#include "electromagnetics/waves/case.h"

#include <string>

namespace tessera::apps::waves {

/// What needs the cells at both sides of this line to stay as long as they are, as "source[0] ...
/// needs even cells"; empty: nothing does. Of a line within the domain.
std::string need_of_even_cells(const Case& c, int axis, int line);

}  // namespace tessera::apps::waves
