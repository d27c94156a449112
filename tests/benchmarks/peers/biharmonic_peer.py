# SPDX-License-Identifier: Apache-2.0
"""The biharmonic operator of a network at many points: nested, the Laplacian of the Laplacian, each the trace of a jvp of the gradient
along every coordinate; and by fourth derivatives along the axes and the diagonals of all planes, in JAX by Taylor mode, in
torch by four nested jvps."""
import itertools

import numpy

from network import jitted, network, parameters
from peerkit import serve


def directions(n):
    """sum_i d_i^4 + 2 sum_{i<j} d_i^2 d_j^2, of which 12 d_i^2 d_j^2 = (d_i + d_j)^4 + (d_i - d_j)^4 - 2 d_i^4 - 2 d_j^4."""
    eye = numpy.eye(n)
    pairs = list(itertools.combinations(range(n), 2))
    lines = [*eye, *(eye[i] + s * eye[j] for i, j in pairs for s in (1, -1))]
    weights = [1 - (n - 1) / 3] * n + [1 / 6] * (2 * len(pairs))
    return numpy.array(lines), numpy.array(weights)


def make(library, arrays):
    net = network(library)
    p = parameters(library, arrays)
    lines, weights = directions(arrays["x"].shape[1])
    if library == "jax":
        import jax
        from jax.experimental.jet import jet
        gradient, jvp, vmap, array = jax.grad, jax.jvp, jax.vmap, jax.numpy.asarray
    else:
        import torch
        from torch.func import grad as gradient, jvp, vmap
        array = torch.from_numpy
    x, basis, lines, weights = (array(a) for a in (arrays["x"], numpy.eye(arrays["x"].shape[1]), lines, weights))

    def laplacian(f):
        return lambda q: vmap(lambda e: (jvp(gradient(f), (q,), (e,))[1] * e).sum())(basis).sum()

    def along(f, v):  # q -> the derivative of f along v
        return lambda q: jvp(f, (q,), (v,))[1]

    def fourth(f, q, v):
        if library == "jax":
            return jet(f, (q,), ((v, 0 * v, 0 * v, 0 * v),))[1][3]
        return along(along(along(along(f, v), v), v), v)(q)

    def nested(p):
        return vmap(laplacian(laplacian(lambda q: net(p, q)[0])))(x)

    def jets(p):
        return vmap(lambda q: (vmap(lambda v: fourth(lambda r: net(p, r)[0], q, v))(lines) * weights).sum())(x)

    return {"nested": jitted(library, nested, p), "jet": jitted(library, jets, p)}


serve(make)
