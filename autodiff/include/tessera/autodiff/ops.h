// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/ops/convolution.h"  // IWYU pragma: export
#include "tessera/autodiff/ops/cumulative.h"   // IWYU pragma: export
#include "tessera/autodiff/ops/elementwise.h"  // IWYU pragma: export
#include "tessera/autodiff/ops/index.h"        // IWYU pragma: export
#include "tessera/autodiff/ops/linalg.h"       // IWYU pragma: export
#include "tessera/autodiff/ops/random.h"       // IWYU pragma: export
#include "tessera/autodiff/ops/reduce.h"       // IWYU pragma: export
#include "tessera/autodiff/ops/shape.h"        // IWYU pragma: export
#include "tessera/autodiff/ops/sort.h"         // IWYU pragma: export
#include "tessera/autodiff/ops/sparse.h"       // IWYU pragma: export
#include "tessera/autodiff/ops/statistics.h"   // IWYU pragma: export
