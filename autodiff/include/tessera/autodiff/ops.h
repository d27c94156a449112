// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/ops/elementwise.h"  // IWYU pragma: export
#include "tessera/autodiff/ops/linalg.h"       // IWYU pragma: export
#include "tessera/autodiff/ops/reduce.h"       // IWYU pragma: export
#include "tessera/autodiff/ops/shape.h"        // IWYU pragma: export
