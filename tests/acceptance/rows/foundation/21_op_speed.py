# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "one-element f64 op, median over a chain of 1,000 dependent adds and multiplies of run-time values"
BAR = "planned 40 ns; eager 150 ns, with and without a recorder; libtorch C++ beside it in the same run"


def measure(work):
    numbers = work.numbers("op_torch_bench")
    planned, eager, recording, torch = rowkit.need(numbers, "planned_op", "eager_op", "eager_recording_op", "torch_op")
    text = f"planned {planned:.1f} ns; eager {eager:.1f} ns, while recording {recording:.1f} ns; libtorch {torch:.0f} ns; {rowkit.processor()}"
    return planned <= 40 and max(eager, recording) <= 150, text
