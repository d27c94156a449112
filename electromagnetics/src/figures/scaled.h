// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace tessera::electromagnetics::detail {

std::vector<double> scaled(std::vector<double> v, double by);

}  // namespace tessera::electromagnetics::detail
