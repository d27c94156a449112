// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/section.h"

namespace tessera::electromagnetics::detail {

/// The lines between pixels of different media that are seen in the window, and between pixels and
/// what is around their block.
void add_pixel_outlines(const SceneOrder& scene, const SectionWindow& window,
                        std::vector<SectionLine>& lines);

}  // namespace tessera::electromagnetics::detail
