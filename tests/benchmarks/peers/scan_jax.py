# SPDX-License-Identifier: Apache-2.0
"""The scan of scan_bench.cpp in JAX: 614 steps over 60 separate scalars, gradient of the sum of squares, f64, jit-compiled.

Prints what scan_bench prints: 'name value unit'. XLA's thread pool follows the processors it may use: run with
taskset for one thread."""
import math
import os
import statistics
import time

if os.environ.get("TESSERA_VECTOR_BITS") == "256":  # as tests/benchmarks/peer_vectors.h does for peers of programs
    os.environ["XLA_FLAGS"] = "--xla_cpu_max_isa=AVX2"

import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402

N, STEPS, DT = 60, 614, 0.01


def step(x, _):
    return tuple(x[i] + DT * (jnp.tanh(x[(i + 1) % N]) - x[i] * jnp.exp(-x[(i - 1) % N] ** 2)) for i in range(N)), None


def loss(x):
    end, _ = jax.lax.scan(step, x, None, length=STEPS)
    return sum(v * v for v in end)


def main():
    x = tuple(jnp.float64(math.sin(0.7 * i)) for i in range(N))
    began = time.perf_counter()
    gradient = jax.jit(jax.grad(loss))
    jax.block_until_ready(gradient(x))
    first = time.perf_counter() - began
    times = []
    for _ in range(31):
        began = time.perf_counter()
        jax.block_until_ready(gradient(x))
        times.append(1e3 * (time.perf_counter() - began))
    print(f"# jax {jax.__version__}, {len(os.sched_getaffinity(0))} processors")
    print(f"scan_gradient_jax_ms {statistics.median(times):.4g} ms")
    print(f"scan_gradient_jax_first_call_ms {1e3 * first:.4g} ms")
    print(f"scan_gradient_jax_checksum {float(sum(gradient(x))):.17g} 1")


if __name__ == "__main__":
    main()
