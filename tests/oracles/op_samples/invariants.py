# SPDX-License-Identifier: Apache-2.0
"""What is compared of operations whose results are not unique: signs and phases of vectors, the order of eigenvalues, which of
equal elements a position names; and what they are given where torch reads a part of a matrix. The rows of op_samples do the same."""
import torch


def put_together(v, w):
    return (v * w.to(v.dtype).unsqueeze(-2)) @ v.mH


def eigh(r, *_):
    return r[0], put_together(r[1], torch.sin(r[0]))


def eig(r, *_):
    e = torch.exp(r[0] * 0.25)
    return e.sum(-1), (r[1] * e.unsqueeze(-2)) @ torch.linalg.inv(r[1])


def svd(right_is_adjoint):
    def compared(r, *_):
        u, s, v = r
        vh = v if right_is_adjoint else v.mH
        k = s.shape[-1]
        return s, (u[..., :k] * torch.sin(s).to(u.dtype).unsqueeze(-2)) @ vh[..., :k, :]
    return compared


def qr(r, *_):
    """Signs and phases chosen so that the diagonal of R is real and not negative."""
    q, upper = r
    d = torch.diagonal(upper, 0, -2, -1)
    phase = torch.sgn(d)
    phase = torch.where(phase == 0, torch.ones_like(phase), phase)
    return q[..., :, :phase.shape[-1]] * phase.unsqueeze(-2), upper[..., :phase.shape[-1], :] * phase.conj().unsqueeze(-1)


def logarithm(r, *_):
    """Of complex numbers the imaginary part counts up to turns."""
    return torch.complex(r.real, torch.zeros_like(r.real)) + torch.exp(torch.complex(torch.zeros_like(r.imag), r.imag)) if r.is_complex() else r


def first(r, *_):
    return r[0] if isinstance(r, (tuple, list)) else r


RESULTS = {
    "linalg.eigh": eigh, "linalg.eig": eig, "svd": svd(False), "linalg.svd": svd(True), "linalg.qr": qr,
    "linalg.eigvals": lambda r, *_: torch.exp(r * 0.25).sum(-1),
    "linalg.lstsq.grad_oriented": first, "logaddexp": logarithm, "logsumexp": logarithm, "logcumsumexp": logarithm,
    "masked.logsumexp": logarithm,
    "median": first, "cummax": first, "cummin": first, "lu": first, "linalg.lu_factor": first, "linalg.lu_factor_ex": first,
    "linalg.cholesky_ex": first, "linalg.inv_ex": first, "linalg.solve_ex": first, "kthvalue": first, "topk": first,
    "nn.functional.max_pool1d": first, "nn.functional.max_pool2d": first, "nn.functional.max_pool3d": first,
}


def hermitian(tensors, named):
    """The Hermitian part of the first: torch reads one triangle, and its derivatives count both."""
    a, *rest = tensors
    return [(a + a.mH) / 2, *rest]


def triangle(which):
    """One triangle, which is all that torch reads of it."""
    def prepared(tensors, named):
        tensors[which] = tensors[which].triu() if named.get("upper") else tensors[which].tril()
        return tensors
    return prepared


ARGUMENTS = {name: hermitian for name in ("linalg.cholesky", "linalg.cholesky_ex", "linalg.eigh", "linalg.eigvalsh", "linalg.pinv.hermitian")}
ARGUMENTS |= {"cholesky_inverse": triangle(0), "cholesky_solve": triangle(1)}


def of(name):
    """(result, input, args, kwargs) -> what is compared."""
    return RESULTS.get(name, lambda r, *_: r)


def before(name):
    """(tensors, kwargs) -> what torch is given."""
    return ARGUMENTS.get(name, lambda t, _: t)
