// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

#include <string>
#include <vector>

// Identities that say something about the computation around them.

namespace tessera {

/// x, if every element of `condition` (bool) is true when the value is computed, eagerly or in a
/// compiled function; else it throws `message` with the first position that is false. Use the
/// result: a check whose result nobody needs is not computed. The derivative is that of x and is
/// not checked again. Under vmap the position begins with that of the sample.
Tensor check(Arg x, Arg condition, const std::string& message);

/// x, computed after all of `after`. Work is not shared across it: what follows is computed anew
/// even if equal work came before, and `after` is computed even if nobody else needs it. Costs
/// nothing at run time.
Tensor barrier(Arg x, const std::vector<Tensor>& after = {});

}  // namespace tessera
