// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/primitive.h"

#include <string_view>

namespace tessera::detail {

/// The engine's own primitive of this name: the first that was registered, for the engine is there
/// before those who use it. A name alone tells nothing: primitives of others may have the same.
/// Throws Error if there is none.
const Primitive& own_primitive(std::string_view name);

}  // namespace tessera::detail
