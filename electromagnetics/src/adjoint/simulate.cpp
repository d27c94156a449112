// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/yee_primitive.h"

#include <algorithm>

namespace tessera::electromagnetics {

Tensor simulate(const YeeOpPtr& op, const Tensor& c, const Tensor& currents, const SimulateOptions& options) {
  const Index driven = static_cast<Index>(op->driven.size());
  if (currents.ndim() != 2 || currents.dim(1) != driven)
    throw Error("[simulate] the currents should be [steps, " + std::to_string(driven) + "], got " + to_string(currents.type()));
  const Index steps = currents.dim(0), columns = std::max<Index>(1, op->scheme.n_injected() + op->scheme.n_recorded());
  const Index block = std::min(steps, options.block > 0 ? options.block : std::clamp<Index>((Index{8} << 20) / columns, 1, 32));
  if (block == 0) return zeros({0, op->scheme.n_recorded()}, op->scheme.dtype());
  const Index blocks = steps / block, rest = steps - blocks * block;
  const Tensor cb = cast(c, op->scheme.dtype()), w = cast(currents, op->scheme.dtype());
  const auto [state, records] = scan(
      [&](Tensor x, Tensor part) {
        const YeeResult r = advance(op, x, cb, part);
        return std::pair(r.state, r.records);
      },
      initial_state(op), reshape(slice(w, 0, 0, blocks * block), {blocks, block, driven}), {.checkpoint = options.checkpoint});
  const Tensor all = reshape(records, {blocks * block, op->scheme.n_recorded()});
  if (rest == 0) return all;
  return concatenate({all, advance(op, state, cb, slice(w, 0, blocks * block, steps)).records});
}

}  // namespace tessera::electromagnetics
