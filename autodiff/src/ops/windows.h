// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/ops/window.h"

namespace tessera::detail {

/// Throws where the windows do not fit x.
void check_windows(const char* op, const Tensor& x, const Window& w, const SourceLine& line);

}  // namespace tessera::detail
