# SPDX-License-Identifier: Apache-2.0
"""One training gradient of a network for Maxwell's equations in a cavity (tests/benchmarks/cavity_torch_bench.cpp): in torch by
autograd.grad, 3 gradients and 9 second gradients with create_graph; in JAX by vmap of jacfwd of jacfwd under jit."""
from network import jitted, network, parameters
from peerkit import serve

K2 = 9.0


def residuals(u, first, second):
    """u[c], first[c][i], second[c][i][j] of the field -> curl curl u - k^2 u, div u."""
    r = []
    for c in range(3):
        a, b = (c + 1) % 3, (c + 2) % 3
        r.append(second[a][a][c] + second[b][b][c] - second[c][a][a] - second[c][b][b] - K2 * u[c])
    return r, first[0][0] + first[1][1] + first[2][2]


def in_jax(arrays):
    import jax
    import jax.numpy as np
    net, x = network("jax"), np.asarray(arrays["x"])

    def loss(p):
        def at_point(q):
            field = lambda v: net(p, v)
            r, d = residuals(field(q), jax.jacfwd(field)(q), jax.jacfwd(jax.jacfwd(field))(q))
            return np.stack(r), d
        r, d = jax.vmap(at_point)(x)
        return (r ** 2).mean() + (d ** 2).mean()
    return {"gradient": jitted("jax", jax.grad(loss), parameters("jax", arrays))}


def in_torch(arrays):
    import torch
    from torch.autograd import grad
    net = network("torch")
    p = [t.requires_grad_() for t in parameters("torch", arrays)]
    x = torch.from_numpy(arrays["x"]).requires_grad_()

    def gradient():
        u = net(p, x)
        first = [grad(u[:, c].sum(), x, create_graph=True)[0] for c in range(3)]
        second = [[grad(g[:, j].sum(), x, create_graph=True)[0].unbind(1) for j in range(3)] for g in first]
        r, d = residuals(u.unbind(1), [g.unbind(1) for g in first], second)
        return grad((torch.stack(r, 1) ** 2).mean() + (d ** 2).mean(), p)
    return {"gradient": jitted("torch", gradient)}


serve(lambda library, arrays: (in_jax if library == "jax" else in_torch)(arrays))
