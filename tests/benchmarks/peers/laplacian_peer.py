# SPDX-License-Identifier: Apache-2.0
"""The Laplacian of a network at many points, as its users write it: the trace of the Hessian, by a jvp of the gradient along each
coordinate, under vmap over coordinates and points; alone, and the gradient of its mean square to the weights."""
from network import jitted, network, parameters
from peerkit import serve


def make(library, arrays):
    net = network(library)
    p = parameters(library, arrays)
    if library == "jax":
        import jax
        import jax.numpy as np
        jvp, vmap, value_and_grad, gradient, x = jax.jvp, jax.vmap, jax.value_and_grad, jax.grad, np.asarray(arrays["x"])
        basis = np.eye(x.shape[1])
    else:
        import torch
        from torch.func import grad as gradient, grad_and_value, jvp, vmap
        x = torch.from_numpy(arrays["x"])
        basis = torch.eye(x.shape[1], dtype=torch.float64)
        value_and_grad = grad_and_value

    def laplacian(p, point):
        g = gradient(lambda q: net(p, q)[0])
        return vmap(lambda e: (jvp(g, (point,), (e,))[1] * e).sum())(basis).sum()

    def laplacians(p):
        return vmap(lambda q: laplacian(p, q))(x)

    def loss(p):
        return (laplacians(p) ** 2).mean()

    def step(p):  # the gradient's arrays, then the loss
        pair = value_and_grad(loss)(p)
        return [*pair[1], pair[0]] if library == "jax" else [*pair[0], pair[1]]

    return {"value": jitted(library, laplacians, p), "gradient": jitted(library, step, p)}


serve(make)
