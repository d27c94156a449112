// SPDX-License-Identifier: Apache-2.0
// Bodies as pictures show them.
#pragma once
#include "electromagnetics/fdtd/options.h"
#include "tessera/electromagnetics/scene.h"

namespace tessera::apps::fdtd {

/// The bodies of a case for pictures alone. Media that are the same but for their names have one
/// number, so that no line parts them; bodies that are nowhere (flat, and of no conductor) are left
/// out.
electromagnetics::SceneOrder bodies_of(const FdtdOptions& o);

}  // namespace tessera::apps::fdtd
