# SPDX-License-Identifier: Apache-2.0
"""PyTorch's scaled_dot_product_attention on the arrays of attention_bench.cpp, [tokens, heads, features] each: values, and values with
the gradients of all three operands. Results come as ours are, heads behind tokens."""
import torch
from torch.nn.functional import scaled_dot_product_attention

from peerkit import serve


def make(library, arrays):
    functions = {}
    for kind, dtype in (("f32", torch.float32), ("f64", torch.float64)):
        q, k, v, c = (torch.from_numpy(arrays[name]).to(dtype).transpose(0, 1)[None] for name in "qkvc")
        q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
        for order, causal in (("all", False), ("causal", True)):

            def value(q=q, k=k, v=v, causal=causal):
                with torch.no_grad():
                    return [scaled_dot_product_attention(q, k, v, is_causal=causal)[0].transpose(0, 1)]

            def gradients(q=q, k=k, v=v, c=c, causal=causal):
                y = scaled_dot_product_attention(q, k, v, is_causal=causal)
                return [g[0].transpose(0, 1) for g in torch.autograd.grad(y, (q, k, v), c)]
            functions[f"{order}_{kind}_value"] = value
            functions[f"{order}_{kind}_gradients"] = gradients
    return functions


serve(make)
