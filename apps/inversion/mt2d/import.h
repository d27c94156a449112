// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "support/app.h"

#include <vector>

namespace tessera::apps::mt2d {

/// MARE2DEM's data (.emdata) and models (.resistivity with its .poly), ModEM's lists (.dat).
std::vector<Importer> importers();

}  // namespace tessera::apps::mt2d
