// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/lumped_element.h"

namespace tessera::electromagnetics::circuits {

/// Throws Error for a circuit of nothing or of values that are not positive.
void check(const Circuit& circuit);
/// What a circuit adds to the medium of its edges (PlacedElement::added); L / W in 1/m.
Medium medium_of(const Circuit& circuit, double length_over_section);

}  // namespace tessera::electromagnetics::circuits
