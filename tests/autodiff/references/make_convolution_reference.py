# SPDX-License-Identifier: Apache-2.0
"""Writes convolution_reference.csv: PyTorch's convolutions, their values and gradients, in f64.

    python3 make_convolution_reference.py > convolution_reference.csv        (PyTorch 2.x)

Columns: case, what, numbers. `what` is shape_x, shape_w, stride, low, high, dilation, input_dilation, groups (as Tessera
takes them, channels last), then x, w (elements), y (the result), c (weights of the sum that is differentiated), gx and gw
(gradients of sum(c y)). Transposed convolutions are those of PyTorch: their weights turned around, and the borders that
dilation (k - 1) - padding is.
"""
import torch
import torch.nn.functional as F

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)


def first(t):  # [B, n..., C] as [B, C, n...]
    return t.movedim(-1, 1)


def row(name, what, values):
    print(",".join([name, what] + [f"{v:.17g}" for v in values]))


def case(name, x_shape, w_shape, stride, padding, dilation, groups=1, transposed=False, output_padding=None):
    d = len(stride)
    x, w = torch.randn(x_shape, requires_grad=True), torch.randn(w_shape, requires_grad=True)
    function = {(1, False): F.conv1d, (2, False): F.conv2d, (3, False): F.conv3d, (1, True): F.conv_transpose1d, (2, True): F.conv_transpose2d,
                (3, True): F.conv_transpose3d}[d, transposed]
    if transposed:  # PyTorch's [in, out / groups, k...] from ours [k..., in / groups, out]
        k, c, f = w_shape[:d], w_shape[d], w_shape[d + 1] // groups
        turned = w.flip(tuple(range(d))).reshape(*k, c, groups, f).movedim(d + 1, d).reshape(*k, groups * c, f)
        kernel = turned.movedim(-2, 0).movedim(-1, 1)
        y = function(first(x), kernel, stride=stride, padding=padding, output_padding=output_padding, dilation=dilation, groups=groups)
        reach = [dilation[a] * (w_shape[a] - 1) - padding[a] for a in range(d)]
        ours = dict(stride=[1] * d, low=reach, high=[r + o for r, o in zip(reach, output_padding)], dilation=dilation, input_dilation=stride)
    else:
        y = function(first(x), w.movedim(-1, 0).movedim(-1, 1), stride=stride, padding=padding, dilation=dilation, groups=groups)
        ours = dict(stride=stride, low=padding, high=padding, dilation=dilation, input_dilation=[1] * d)
    y = y.movedim(1, -1)
    c = torch.randn_like(y)
    gx, gw = torch.autograd.grad((c * y).sum(), (x, w))
    row(name, "shape_x", x_shape)
    row(name, "shape_w", w_shape)
    for what, values in ours.items():
        row(name, what, values)
    row(name, "groups", [groups])
    for what, t in (("x", x), ("w", w), ("y", y), ("c", c), ("gx", gx), ("gw", gw)):
        row(name, what, t.detach().reshape(-1).tolist())


case("line", (2, 9, 3), (5, 3, 4), [1], [2], [1])
case("image", (2, 5, 6, 4), (3, 2, 4, 3), [2, 1], [1, 1], [1, 2])
case("groups", (1, 4, 5, 6), (3, 3, 2, 9), [1, 2], [1, 0], [1, 1], groups=3)
case("depthwise", (2, 5, 5, 5), (3, 3, 1, 5), [1, 1], [1, 1], [1, 1], groups=5)
case("volume", (1, 4, 5, 3, 2), (2, 3, 2, 2, 3), [1, 2, 1], [1, 1, 0], [1, 1, 2])
case("transposed line", (2, 4, 3), (4, 3, 2), [3], [1], [1], transposed=True, output_padding=[2])
case("transposed image", (1, 4, 3, 4), (3, 3, 2, 6), [2, 2], [1, 2], [1, 2], groups=2, transposed=True, output_padding=[1, 0])
case("transposed volume", (1, 2, 3, 2, 2), (3, 2, 2, 2, 3), [2, 1, 2], [1, 0, 0], [1, 1, 1], transposed=True, output_padding=[1, 0, 1])
