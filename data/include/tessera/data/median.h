// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace tessera::data {

/// Of the finite values; NaN where there is none. Of an even number of them, the upper one: always
/// a value that is there.
double median(std::vector<double> values);

}  // namespace tessera::data
