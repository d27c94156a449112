# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "attention, 4,096 tokens, 8 heads of 64, f32, causal and not, value and gradients, beside scaled_dot_product_attention, the better of 1 and 2 threads each"
BAR = "at most 64 MiB beyond operands and results; each at least 0.8x PyTorch; f64 is said"


def measure(work):
    found = work.numbers("attention_bench", timeout=3600)
    parts = [f"{order}_f32_{part}" for order in ("all", "causal") for part in ("value", "gradients")]
    ratios = rowkit.need(found, *(f"{part}_ratio" for part in parts))
    memory = rowkit.need(found, *(f"{part}_memory_mib" for part in parts))
    doubles = rowkit.need(found, *(f"{part.replace('f32', 'f64')}_ratio" for part in parts))
    text = "; ".join(f"{part} {ratio:.2f}x (f64 {double:.2f}x), {more:.1f} MiB" for part, ratio, double, more in zip(parts, ratios, doubles, memory))
    holds, tests = work.gtest_row("autodiff_tests", "Attention*:OpTable.*:Allocations.OfAttention*", minimum=30)
    return holds and min(ratios) >= 0.8 and max(memory) <= 64, f"{text}; {tests}"
