// SPDX-License-Identifier: Apache-2.0
#include "adjoint/operands.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/yee_primitive.h"

#include <algorithm>

namespace tessera::electromagnetics {

Tensor simulate(const YeeOpPtr& op, const Tensor& c, const Tensor& currents,
                const SimulateOptions& options) {
  adjoint::expect_currents(*op, "simulate", currents);
  const int parts = op->scheme.parts(), time = parts - 1;  // time: the axis of the steps
  const Index driven = static_cast<Index>(op->driven.size()), recorded = op->n_recorded();
  const Index steps = currents.dim(time),
              columns = std::max<Index>(1, parts * (op->n_injected() + recorded));
  const Index block =
      std::min(steps, options.block > 0 ? options.block
                                        : std::clamp<Index>((Index{8} << 20) / columns, 1, 32));
  if (block == 0) return zeros(adjoint::table_of(*op, 0, recorded), op->scheme.dtype());
  const Index blocks = steps / block, rest = steps - blocks * block;
  tessera::Shape in_blocks = adjoint::table_of(*op, block, driven);
  in_blocks.insert(time, blocks);
  const Tensor cb = cast(c, op->scheme.dtype()), w = cast(currents, op->scheme.dtype());
  // The blocks come first while they are taken one by one.
  const auto [state, records] = scan(
      [&](Tensor x, Tensor part) {
        const YeeResult r = advance(op, x, cb, part);
        return std::pair(r.state, r.records);
      },
      initial_state(op), moveaxis(reshape(slice(w, time, 0, blocks * block), in_blocks), time, 0),
      {.checkpoint = options.checkpoint});
  const Tensor all =
      reshape(moveaxis(records, 0, time), adjoint::table_of(*op, blocks * block, recorded));
  if (rest == 0) return all;
  return concatenate({all, advance(op, state, cb, slice(w, time, blocks * block, steps)).records},
                     time);
}

}  // namespace tessera::electromagnetics
