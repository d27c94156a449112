// SPDX-License-Identifier: Apache-2.0
// Bodies as pictures show them.
#pragma once
#include "electromagnetics/waves/options.h"
#include "tessera/electromagnetics/scene.h"

namespace tessera::apps::waves {

/// The bodies of a case for pictures alone. Media that are the same but for their names have one
/// number, so that no line parts them; bodies that are nowhere (flat, and of no conductor) are left
/// out.
electromagnetics::SceneOrder bodies_of(const CaseOptions& o);

}  // namespace tessera::apps::waves
