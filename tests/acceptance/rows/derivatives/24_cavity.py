# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "B4: gradient of a 3-D cavity network's residual, curl curl E - k^2 E and div E, 3-32x6-3, batch 256, f64"
BAR = "at least 10x nested autograd in libtorch, and in PyPI's torch"


def measure(work):
    numbers = work.numbers("cavity_torch_bench")
    ratio, low, high, ours = rowkit.need(numbers, "cavity_ratio", "cavity_ratio_low_quartile", "cavity_ratio_high_quartile", "cavity_seconds")
    text = f"{ours * 1e3:.2f} ms; libtorch {ratio:.1f}x (quartiles {low:.1f} to {high:.1f})"
    text += f"; by the vector Laplacian {rowkit.need(numbers, 'cavity_laplacian_ratio')[0]:.1f}x"
    torch, jax = rowkit.need(numbers, "cavity_peers_torch_ratio", "cavity_peers_jax_ratio")
    return min(ratio, torch) >= 10, f"{text}; PyPI's torch {torch:.1f}x; JAX by jacfwd of jacfwd {jax:.1f}x"
