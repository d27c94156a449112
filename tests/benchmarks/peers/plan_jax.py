# SPDX-License-Identifier: Apache-2.0
"""JAX's side of plan_bench.cpp: tracing, and compiling, of the gradient of 1,000 operations."""
import jax
import jax.numpy as jnp

from peerkit import serve


def make(library, arrays):
    n = int(arrays["size"][0])
    x = jnp.ones((n, n), jnp.float32)
    w = [0.1 * x] * 8

    def chain(x, w):
        for k in range(500):
            x = jnp.tanh(x @ w[k % 8])
        return x.sum()

    lowered = []

    def trace():
        jax.clear_caches()
        lowered[:] = [jax.jit(jax.value_and_grad(chain, (0, 1))).lower(x, w)]
        return []

    def compiled():
        lowered[0].compile()
        return []

    return {"trace": trace, "compile": compiled}


serve(make)
