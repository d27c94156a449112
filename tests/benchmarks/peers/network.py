# SPDX-License-Identifier: Apache-2.0
"""The network of tests/benchmarks/network.h in either library: weights w0, b0, w1, ... of a folder, u -> network."""


def parameters(library, arrays):
    names = [f"{kind}{k}" for k in range(len(arrays)) if f"w{k}" in arrays for kind in "wb"]
    if library == "jax":
        import jax.numpy
        return [jax.numpy.asarray(arrays[n]) for n in names]
    import torch
    return [torch.from_numpy(arrays[n]) for n in names]


def network(library, activation=None):
    if activation is None:
        if library == "jax":
            from jax.numpy import tanh as activation
        else:
            from torch import tanh as activation

    def evaluate(p, u):
        for k in range(0, len(p), 2):
            u = u @ p[k] + p[k + 1]
            if k + 2 < len(p):
                u = activation(u)
        return u
    return evaluate


def jitted(library, f, *arguments):
    """A function of nothing, whose result is a list of arrays that are there when it returns."""
    if library == "jax":
        import jax
        compiled = jax.jit(f)
        return lambda: [y.block_until_ready() for y in jax.tree_util.tree_leaves(compiled(*arguments))]
    from torch.utils import _pytree
    return lambda: _pytree.tree_leaves(f(*arguments))
