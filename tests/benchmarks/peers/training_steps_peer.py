# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of training_steps_bench.cpp: draws the weights and batches of its networks, writes them to its folder
(NAME.safetensors with the names and layouts of Tessera's trees, NAME.npz), and takes steps of its fused Adam in f64 and f32 with
weights in its own layout. NAME_losses gives the losses of the first steps; NAME_f64_eager, _channels_last (which only networks
with channels have) and _compiled take one step."""
import json
import pathlib
import struct
import sys

import numpy
import torch
import torch.nn.functional as F

from peerkit import serve

BATCHES = 4


def write_safetensors(path, tensors):
    header, buffer = {}, b""
    for name, t in tensors.items():
        data = t.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F64", "shape": list(t.shape), "data_offsets": [len(buffer), len(buffer) + len(data)]}
        buffer += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + buffer)


class Weights:
    """Parameters in PyTorch's layouts under the names of Tessera's trees, and how to lay each out as Tessera's is."""

    def __init__(self):
        self.values, self.layouts = {}, {}

    def add(self, name, value, layout=lambda t: t):
        self.values[name], self.layouts[name] = value, layout

    def linear(self, name, n_in, n_out, bias=True):
        self.add(name + ".w", torch.randn(n_out, n_in) / n_in**0.5, lambda t: t.T)
        if bias:
            self.add(name + ".b", 0.1 * torch.randn(n_out))

    def norm(self, name, n):
        self.add(name + ".gain", 1 + 0.1 * torch.randn(n))
        self.add(name + ".bias", 0.1 * torch.randn(n))

    def conv(self, name, axes, size, n_in, n_out, bias=True, transposed=False):
        k = (size,) * axes
        if transposed:
            w, layout = torch.randn(n_in, n_out, *k), lambda t: t.flip(tuple(range(2, t.dim()))).movedim(0, -1).movedim(0, -1)
        else:
            w, layout = torch.randn(n_out, n_in, *k), lambda t: t.movedim(0, -1).movedim(0, -2)
        self.add(name + ".w", w / (n_in * size**axes) ** 0.5, layout)
        if bias:
            self.add(name + ".b", 0.1 * torch.randn(n_out))

    def ours(self):
        return {name: self.layouts[name](t) for name, t in self.values.items()}


def mlp_network(small):
    widths, n = ([20, 16, 16, 5], 8) if small else ([784, 512, 512, 10], 128)
    w = Weights()
    for k, (a, b) in enumerate(zip(widths, widths[1:])):
        w.linear(f"layers.{k}", a, b)

    def loss(p, x, label):
        for k in range(3):
            x = F.linear(x, p[f"layers.{k}.w"], p[f"layers.{k}.b"])
            x = F.relu(x) if k < 2 else x
        return F.cross_entropy(x, label)

    return w, loss, {"x": torch.randn(BATCHES, n, widths[0]), "y": torch.randint(widths[-1], (BATCHES, n))}


def small_mlp_network(_):
    w, widths = Weights(), (3, 32, 32, 1)
    for k, (a, b) in enumerate(zip(widths, widths[1:])):
        w.linear(f"layers.{k}", a, b)

    def loss(p, x, y):
        for k in range(3):
            x = F.linear(x, p[f"layers.{k}.w"], p[f"layers.{k}.b"])
            x = F.relu(x) if k < 2 else x
        return F.mse_loss(x, y)

    x = torch.randn(BATCHES, 32, 3)
    return w, loss, {"x": x, "y": x.square().sum(-1, keepdim=True)}


def vae_network(small, noise):
    n = noise.shape[0]
    w, widths = Weights(), (1, 16, 16, 32, 32, 64, 64)
    for k, (a, b) in enumerate(zip(widths, widths[1:])):
        w.conv(f"encoder.{k}.conv", 1, 3, a, b, bias=False)
        w.norm(f"encoder.{k}.norm", b)
    # Features are [length, channels] side by side there, [channels, length] here.
    w.add("mean.w", torch.randn(16, 64, 4) / 16, lambda t: t.permute(2, 1, 0).reshape(256, 16))
    w.add("mean.b", 0.1 * torch.randn(16))
    w.add("log_variance.w", torch.randn(16, 64, 4) / 64, lambda t: t.permute(2, 1, 0).reshape(256, 16))
    w.add("log_variance.b", 0.1 * torch.randn(16))
    w.add("grow.w", torch.randn(64, 4, 16) / 4, lambda t: t.permute(2, 1, 0).reshape(16, 256))
    w.add("grow.b", 0.1 * torch.randn(64, 4), lambda t: t.T.reshape(256))
    for k, (a, b) in enumerate(((64, 32), (32, 16))):
        w.conv(f"decoder.{k}.conv", 1, 6, a, b, bias=False, transposed=True)
        w.norm(f"decoder.{k}.norm", b)
    w.conv("last", 1, 6, 16, 1, transposed=True)

    def normed(p, name, t):
        return F.silu(F.batch_norm(t, None, None, p[name + ".norm.gain"], p[name + ".norm.bias"], training=True))

    def loss(p, x, _):
        t = x[:, None]
        for k in range(6):
            t = normed(p, f"encoder.{k}", F.conv1d(t, p[f"encoder.{k}.conv.w"], padding=1))
            t = F.max_pool1d(t, 2) if k % 2 else t
        t = t.flatten(1)
        m = F.linear(t, p["mean.w"].flatten(1), p["mean.b"])
        l = F.linear(t, p["log_variance.w"].flatten(1), p["log_variance.b"])
        z = m + (l / 2).exp() * noise.to(m.dtype)
        t = F.linear(z, p["grow.w"].flatten(0, 1), p["grow.b"].flatten()).reshape(len(z), 64, 4)
        for k in range(2):
            t = normed(p, f"decoder.{k}", F.conv_transpose1d(t, p[f"decoder.{k}.conv.w"], stride=2, padding=2))
        y = F.conv_transpose1d(t, p["last.w"], p["last.b"], stride=2, padding=2)[:, 0]
        return F.mse_loss(y, x) + 0.01 * (0.5 * (l.exp() + m**2 - 1 - l)).sum(1).mean()

    x = torch.randn(BATCHES, n, 32).cumsum(-1)
    return w, loss, {"x": x, "y": x}


def unet_network(small, size=128):
    widths, n, size, groups = ((4, 8, 16), 2, 16, 4) if small else ((16, 32, 64), 4, size, 8)
    w = Weights()

    def add_pair(name, a, b):
        for part, n_in in (("first", a), ("second", b)):
            w.conv(f"{name}.{part}", 2, 3, n_in, b)
            w.norm(f"{name}.{part}_norm", b)

    for k, (a, b) in enumerate(zip((1, *widths), widths)):
        add_pair(f"down.{k}", a, b)
    for k, a in enumerate(widths[:-1]):
        add_pair(f"merge.{k}", 2 * a, a)
    for k, (a, b) in enumerate(zip(widths, widths[1:])):
        w.conv(f"up.{k}", 2, 2, b, a, transposed=True)
    w.conv("last", 2, 1, widths[0], 1)

    def pair(p, name, t):
        for part in ("first", "second"):
            t = F.conv2d(t, p[f"{name}.{part}.w"], p[f"{name}.{part}.b"], padding=1)
            t = F.silu(F.group_norm(t, groups, p[f"{name}.{part}_norm.gain"], p[f"{name}.{part}_norm.bias"]))
        return t

    def loss(p, x, y):
        t, given = x[:, None], []
        for k in range(3):
            t = pair(p, f"down.{k}", F.max_pool2d(t, 2) if k else t)
            given.append(t)
        for k in (1, 0):
            t = torch.cat([given[k], F.conv_transpose2d(t, p[f"up.{k}.w"], p[f"up.{k}.b"], stride=2)], 1)
            t = pair(p, f"merge.{k}", t)
        return F.mse_loss(F.conv2d(t, p["last.w"], p["last.b"])[:, 0], y)

    x = torch.randn(BATCHES, n, size, size)
    return w, loss, {"x": x, "y": x.cumsum(-1).tanh()}


def gpt_network(small, blocks=2, tokens=256):
    blocks, width, heads, tokens, n, words = (2, 16, 2, 8, 2, 11) if small else (blocks, 512, 8, tokens, 4, 1000)
    w = Weights()
    w.add("words.table", 0.1 * torch.randn(words, width))
    w.add("positions.table", 0.1 * torch.randn(tokens, width))
    for k in range(blocks):
        w.norm(f"blocks.{k}.before_attention", width)
        w.linear(f"blocks.{k}.attention.qkv", width, 3 * width)
        w.linear(f"blocks.{k}.attention.out", width, width)
        w.norm(f"blocks.{k}.before_mlp", width)
        w.linear(f"blocks.{k}.mlp.layers.0", width, 4 * width)
        w.linear(f"blocks.{k}.mlp.layers.1", 4 * width, width)
    w.norm("last", width)
    w.linear("logits", width, words, bias=False)

    def loss(p, x, y):
        def norm(name, t):
            return F.layer_norm(t, (width,), p[name + ".gain"], p[name + ".bias"])

        def linear(name, t):
            return F.linear(t, p[name + ".w"], p.get(name + ".b"))

        t = F.embedding(x, p["words.table"]) + p["positions.table"]
        for k in range(blocks):
            b = f"blocks.{k}"
            q, key, v = linear(b + ".attention.qkv", norm(b + ".before_attention", t)).reshape(n, tokens, 3, heads, -1).permute(2, 0, 3, 1, 4)
            a = F.scaled_dot_product_attention(q, key, v, is_causal=True).transpose(1, 2).reshape(n, tokens, width)
            t = t + linear(b + ".attention.out", a)
            u = F.gelu(linear(b + ".mlp.layers.0", norm(b + ".before_mlp", t)), approximate="tanh")
            t = t + linear(b + ".mlp.layers.1", u)
        return F.cross_entropy(linear("logits", norm("last", t)).flatten(0, 1), y.flatten())

    text = torch.randint(words, (BATCHES, n, tokens + 1))
    return w, loss, {"x": text[..., :-1], "y": text[..., 1:]}


def edge_network(small):
    width, basis, n, atoms, cutoff = (8, 6, 4, 5, 2.0) if small else (64, 20, 32, 21, 2.0)
    w = Weights()
    w.add("species.table", torch.randn(5, width))
    for k in range(3):
        w.linear(f"blocks.{k}.send", width, width, bias=False)
        w.linear(f"blocks.{k}.filter.layers.0", basis, width)
        w.linear(f"blocks.{k}.filter.layers.1", width, width)
        w.linear(f"blocks.{k}.update.layers.0", width, width)
        w.linear(f"blocks.{k}.update.layers.1", width, width)
    w.linear("atom_energy.layers.0", width, width)
    w.linear("atom_energy.layers.1", width, 1)

    def loss(p, species, positions, energies, forces):
        def mlp(name, t):
            t = F.silu(F.linear(t, p[name + ".layers.0.w"], p[name + ".layers.0.b"]))
            return F.linear(t, p[name + ".layers.1.w"], p[name + ".layers.1.b"])

        x = positions
        h = F.embedding(species, p["species.table"])
        r2 = (x[:, None] - x[:, :, None]).square().sum(-1, keepdim=True)
        f = (1 - r2 / cutoff**2).clamp(min=0) ** 3 * (1 - torch.eye(atoms, dtype=x.dtype))[..., None]
        step = cutoff / (basis - 1)
        g = torch.exp(-(((r2 + (cutoff / 100) ** 2).sqrt() - step * torch.arange(basis, dtype=x.dtype)) ** 2) / (2 * step**2))
        for k in range(3):
            h = h + mlp(f"blocks.{k}.update", (mlp(f"blocks.{k}.filter", g) * f * F.linear(h, p[f"blocks.{k}.send.w"])[:, None]).sum(2))
        e = mlp("atom_energy", h).sum((1, 2))
        slope, = torch.autograd.grad(e.sum(), x, create_graph=True)
        return F.mse_loss(e, energies) + F.mse_loss(-slope, forces)

    return w, loss, {"species": torch.randint(5, (BATCHES, n, atoms)), "positions": torch.randn(BATCHES, n, atoms, 3),
                     "energies": torch.randn(BATCHES, n), "forces": torch.randn(BATCHES, n, atoms, 3)}


CHANNELS_LAST = {4: torch.channels_last, 5: torch.channels_last_3d}


class Training:
    def __init__(self, weights, loss, batches, dtype, how="eager"):
        def typed(t):
            return t.to(dtype) if t.is_floating_point() else t

        def laid_out(t):
            return t.to(memory_format=CHANNELS_LAST[t.dim()]) if how != "eager" and t.dim() in CHANNELS_LAST else t

        self.p = {name: laid_out(typed(t.detach().clone())).requires_grad_() for name, t in weights.values.items()}
        if how == "channels_last" and not any(t.dim() in CHANNELS_LAST for t in self.p.values()):
            raise NotImplementedError("no weights of two axes and channels")
        self.batches, self.count = [[typed(b)[k].requires_grad_(name == "positions") for name, b in batches.items()] for k in range(BATCHES)], 0
        self.loss = torch.compile(loss, fullgraph=True, dynamic=False) if how == "compiled" else loss
        self.adam = torch.optim.Adam(self.p.values(), lr=1e-3, fused=True)

    def step(self):
        self.adam.zero_grad()
        value = self.loss(self.p, *self.batches[self.count % BATCHES])
        value.backward(inputs=list(self.p.values()))
        self.adam.step()
        self.count += 1
        return [value]


def stepper(weights, loss, batches, dtype, how):
    """A training that begins where it is first asked for a step: compiled, it takes a while, and may not be possible."""
    training = []

    def step():
        if not training:
            first = Training(weights, loss, batches, dtype, how)
            values = [t.step()[0].item() for t in (Training(weights, loss, batches, dtype), first)]
            if abs(values[0] - values[1]) > 1e-4 * abs(values[0]):
                raise ArithmeticError(f"{how} gives a loss of {values[1]}, eager {values[0]}")
            training.append(first)
        return training[0].step()

    return step


def make(library, arrays):
    torch._dynamo.config.trace_autograd_ops = True  # else forces are beyond the compiler
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    folder, functions = pathlib.Path(sys.argv[2]), {}
    small, steps = (int(v) for v in arrays.pop("setting"))
    noise = torch.from_numpy(arrays.pop("noise"))
    makers = {"A": mlp_network, "B": lambda s: vae_network(s, noise), "C": unet_network, "D": gpt_network, "E": edge_network, "S": small_mlp_network}
    for name, maker in makers.items():
        weights, loss, batches = maker(small)
        write_safetensors(folder / f"{name}.safetensors", weights.ours())
        numpy.savez(folder / f"{name}.npz", **{key: b.numpy() for key, b in batches.items()})

        def losses(weights=weights, loss=loss, batches=batches):
            training = Training(weights, loss, batches, torch.float64)
            return [torch.stack([training.step()[0].detach() for _ in range(steps)])]

        functions[f"{name}_losses"] = losses
        for kind, dtype in (("f32", torch.float32), ("f64", torch.float64)):
            for how in ("eager", "channels_last", "compiled"):
                functions[f"{name}_{kind}_{how}"] = stepper(weights, loss, batches, dtype, how)
    return functions


if __name__ == "__main__":
    serve(make)
