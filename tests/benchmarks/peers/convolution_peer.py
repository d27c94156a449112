# SPDX-License-Identifier: Apache-2.0
"""PyTorch's convolutions of convolution_bench.cpp: values, and both gradients by the operation that its autograd calls, with
arrays in its own order (channels before positions) and, as NAME_last, with channels last in memory. Results come as ours are:
channels last, weights [k..., in / groups, out]."""
import torch

from peerkit import serve

# stride, padding, dilation, groups, transposed, output padding
CASES = {"line": (1, 2, 1, 1, False, 0), "image": (1, 1, 1, 1, False, 0), "stride": (2, 1, 1, 1, False, 0), "dilation": (1, 2, 2, 1, False, 0),
         "pointwise": (1, 0, 1, 1, False, 0), "depthwise": (1, 1, 1, 16, False, 0), "transposed": (2, 1, 1, 1, True, 1), "volume": (1, 1, 1, 1, False, 0)}


def make(library, arrays):
    functions = {}
    for name in sorted({key.split(".")[0] for key in arrays}):
        stride, padding, dilation, groups, transposed, more = CASES[name]
        for kind, dtype in (("f32", torch.float32), ("f64", torch.float64)):
            for order in ("", "_last"):
                x, w, c = (torch.from_numpy(arrays[f"{name}.{what}"]).to(dtype) for what in "xwc")
                d = x.dim() - 2
                x, c = x.movedim(-1, 1), c.movedim(-1, 1)
                if transposed:  # [in, out, k...], turned around
                    w = w.flip(tuple(range(d))).movedim(-1, 0).movedim(-1, 0)
                else:  # [out, in / groups, k...]
                    w = w.movedim(-2, 0).movedim(-1, 0)
                if order and d > 1:
                    layout = torch.channels_last if d == 2 else torch.channels_last_3d
                    x, w, c = (t.contiguous(memory_format=layout) for t in (x, w, c))
                elif not order:
                    x, w, c = (t.contiguous() for t in (x, w, c))
                rest = ([stride] * d, [padding] * d, [dilation] * d, transposed, [more] * d, groups)

                def value(x=x, w=w, rest=rest):
                    with torch.no_grad():
                        return [torch.convolution(x, w, None, *rest)]

                def gradients(x=x, w=w, c=c, rest=rest):
                    return torch.ops.aten.convolution_backward(c, x, w, None, *rest, [True, True, False])[:2]

                def ours(run, w_like, d=d, transposed=transposed):
                    def result():
                        out = run()
                        return Lazy(out, w_like, d, transposed)
                    return result
                functions[f"{name}_{kind}{order}_value"] = ours(value, False)
                functions[f"{name}_{kind}{order}_gradients"] = ours(gradients, True)
    return functions


class Lazy:
    """Results in our order, made when they are saved, not in the time that is measured."""

    def __init__(self, out, gradients, d, transposed):
        self.out, self.gradients, self.d, self.transposed = out, gradients, d, transposed

    def __len__(self):
        return len(self.out)

    def __iter__(self):
        yield self.out[0].movedim(1, -1).contiguous()
        if self.gradients:
            w = self.out[1]
            if self.transposed:
                yield w.movedim(0, -1).movedim(0, -1).flip(tuple(range(self.d))).contiguous()
            else:
                yield w.movedim(0, -1).movedim(0, -2).contiguous()


serve(make)
