# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "memory of 50 million f32 weights under Adam, a batch of 8, arguments given away: weights, moments, gradients, all counted"
BAR = "at most 4.3 times the weights' bytes; results are the bits of a step that keeps its arguments"


def measure(work):
    weights, ratio = rowkit.need(work.numbers("adam_memory_bench"), "adam_weights", "adam_memory_ratio")
    holds, text = work.gtest_row("autodiff_tests", "GivenAway.*", minimum=8)
    return holds and ratio <= 4.3 and weights >= 49.9e6, f"{ratio:.3f} times the bytes of {weights / 1e6:.1f} million weights; {text}"
