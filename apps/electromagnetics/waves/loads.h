// SPDX-License-Identifier: Apache-2.0
// Lumped elements of a case on its grid.
#pragma once
#include "electromagnetics/waves/case.h"

#include <functional>

namespace tessera::apps::waves {

/// Whether an edge lies in a conductor of the case, which has to outlive this.
std::function<bool(const electromagnetics::Edge&)> conductor_of(const Case& c);
/// The faces that boundary.symmetry names.
electromagnetics::SymmetryFaces symmetry_of(const Case& c);
/// A box about `position`, with the current along `axis`; L and C exact in the case's band.
electromagnetics::LumpedElement element_of(const Case& c, const CircuitOptions& circuit,
                                           const Point& position, const Point& size, int axis);
/// The element on the grid. Throws InputError at `key` where it does not end on two conductors, has
/// no open edge, or lies in a layer.
electromagnetics::PlacedElement place_element(const Case& c,
                                              const electromagnetics::LumpedElement& element,
                                              const std::string& key, const data::Config& config);
/// The circuits that the case's options say by now, at the places that the elements have.
void change_circuits(Case& c);

}  // namespace tessera::apps::waves
