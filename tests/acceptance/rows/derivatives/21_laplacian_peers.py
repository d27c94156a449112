# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "B1 beside vmap of jvp of grad in JAX jit and torch.func, f64, on as many threads"
BAR = "at least 1.8x the faster one at no more than half its memory (peak minus baseline), alone and with the weight gradient"


def measure(work):
    numbers = work.numbers("laplacian_bench")
    holds, text = True, []
    for name, what in (("laplacian_value", "Laplacian"), ("laplacian_step", "with weight gradient")):
        ratio, low, high, share, peak = rowkit.need(numbers, *(f"{name}_{k}" for k in
                                                    ("ratio", "ratio_low_quartile", "ratio_high_quartile", "memory_share", "peak_mib")))
        holds = holds and ratio >= 1.8 and share <= 0.5
        text.append(f"{what}: {ratio:.2f}x (quartiles {low:.2f} to {high:.2f}), {share:.2f} of its memory ({peak:.0f} MiB)")
    return holds, "\n".join(text)
