# SPDX-License-Identifier: Apache-2.0
"""JAX's side of training_steps_bench.cpp: the networks of training_steps_peer.py from the same weights (NAME.leaf, with the names
and layouts of Tessera's trees) and batches (NAME.batch.array), channels last. NAME_losses gives the losses of the first steps
in f64; NAME_f64 and NAME_f32 take one step of Adam, compiled as a whole and given its arguments."""
import jax
import jax.numpy as jnp
from jax import lax

from peerkit import serve

BATCHES = 4


def linear(p, name, x):
    y = x @ p[name + ".w"]
    return y + p[name + ".b"] if name + ".b" in p else y


def mlp(p, name, x, activation, layers):
    for k in range(layers):
        x = linear(p, f"{name}.{k}", x)
        x = activation(x) if k < layers - 1 else x
    return x


def conv(p, name, x, grow=1):
    """Border `same`; `grow` times as long by a transposed one."""
    w = p[name + ".w"]
    axes = w.ndim - 2
    letters = "WHD"[:axes]
    border = [w.shape[k] - 1 + grow - 1 for k in range(axes)]
    y = lax.conv_general_dilated(x, w, (1,) * axes, [(b // 2, b - b // 2) for b in border], lhs_dilation=(grow,) * axes,
                                 dimension_numbers=(f"N{letters}C", f"{letters}IO", f"N{letters}C"))
    return y + p[name + ".b"] if name + ".b" in p else y


def max_pool(x):
    window = (1,) + (2,) * (x.ndim - 2) + (1,)
    return lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID")


def normed(p, name, x, axes):
    m, v = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - m) * lax.rsqrt(v + 1e-5)


def scaled(p, name, x):
    return x * p[name + ".gain"] + p[name + ".bias"]


def layer_norm(p, name, x):
    return scaled(p, name, normed(p, name, x, -1))


def cross_entropy(logits, label):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), label[..., None], -1).mean()


def mlp_loss(p, b):
    return cross_entropy(mlp(p, "layers", b["x"], jax.nn.relu, 3), b["y"])


def small_mlp_loss(p, b):
    return jnp.square(mlp(p, "layers", b["x"], jax.nn.relu, 3) - b["y"]).mean()


def vae_loss(p, b):
    def layer(name, x, grow=1):
        y = conv(p, name + ".conv", x, grow)
        return jax.nn.silu(scaled(p, name + ".norm", normed(p, name, y, (0, 1))))

    t = b["x"][..., None]
    for k in range(6):
        t = layer(f"encoder.{k}", t)
        t = max_pool(t) if k % 2 else t
    t = t.reshape(len(t), -1)
    m, l = linear(p, "mean", t), linear(p, "log_variance", t)
    t = linear(p, "grow", m + jnp.exp(l / 2) * b["noise"]).reshape(len(t), 4, 64)
    for k in range(2):
        t = layer(f"decoder.{k}", t, 2)
    y = conv(p, "last", t, 2)[..., 0]
    return jnp.square(y - b["y"]).mean() + 0.01 * (0.5 * (jnp.exp(l) + m**2 - 1 - l)).sum(1).mean()


def unet_loss(p, b, groups):
    def pair(name, t):
        for part in ("first", "second"):
            t = conv(p, f"{name}.{part}", t)
            grouped = t.reshape(*t.shape[:-1], groups, -1)
            t = jax.nn.silu(scaled(p, f"{name}.{part}_norm", normed(p, name, grouped, (1, 2, 4)).reshape(t.shape)))
        return t

    t, given = b["x"][..., None], []
    for k in range(3):
        t = pair(f"down.{k}", max_pool(t) if k else t)
        given.append(t)
    for k in (1, 0):
        t = pair(f"merge.{k}", jnp.concatenate([given[k], conv(p, f"up.{k}", t, 2)], -1))
    return jnp.square(conv(p, "last", t)[..., 0] - b["y"]).mean()


def gpt_loss(p, b, blocks, heads):
    n, tokens = b["x"].shape
    t = p["words.table"][b["x"]] + p["positions.table"]
    for k in range(blocks):
        name = f"blocks.{k}"
        qkv = linear(p, name + ".attention.qkv", layer_norm(p, name + ".before_attention", t)).reshape(n, tokens, 3, heads, -1)
        a = jax.nn.dot_product_attention(qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2], is_causal=True)
        t = t + linear(p, name + ".attention.out", a.reshape(n, tokens, -1))
        t = t + mlp(p, name + ".mlp.layers", layer_norm(p, name + ".before_mlp", t), jax.nn.gelu, 2)
    return cross_entropy(linear(p, "logits", layer_norm(p, "last", t)), b["y"])


def edge_loss(p, b, cutoff, basis):
    species, atoms = b["species"], b["species"].shape[1]
    step = cutoff / (basis - 1)

    def energies(x):
        h = p["species.table"][species]
        r2 = jnp.square(x[:, None] - x[:, :, None]).sum(-1, keepdims=True)
        f = jax.nn.relu(1 - r2 / cutoff**2) ** 3 * (1 - jnp.eye(atoms, dtype=x.dtype))[..., None]
        g = jnp.exp(-jnp.square(jnp.sqrt(r2 + (cutoff / 100) ** 2) - step * jnp.arange(basis, dtype=x.dtype)) / (2 * step**2))
        for k in range(3):
            name = f"blocks.{k}"
            messages = mlp(p, name + ".filter.layers", g, jax.nn.silu, 2) * f * linear(p, name + ".send", h)[:, None]
            h = h + mlp(p, name + ".update.layers", messages.sum(2), jax.nn.silu, 2)
        e = mlp(p, "atom_energy.layers", h, jax.nn.silu, 2).sum((1, 2))
        return e.sum(), e

    (_, e), slope = jax.value_and_grad(energies, has_aux=True)(b["positions"])
    return jnp.square(e - b["energies"]).mean() + jnp.square(slope + b["forces"]).mean()


def training(loss, weights, batches, dtype):
    """A function that takes the next step."""
    def typed(tree):
        return {k: jnp.array(t, dtype if t.dtype.kind == "f" else t.dtype) for k, t in tree.items()}

    @jax.jit
    def batch_of(b, k):
        return {name: t[k] for name, t in b.items()}

    def step(p, m, v, count, b):
        value, g = jax.value_and_grad(loss)(p, b)
        count = count + 1
        tree = jax.tree_util.tree_map
        m = tree(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = tree(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        first, second = 1 - 0.9**count, 1 - 0.999**count
        p = tree(lambda p, m, v: p - 1e-3 * (m / first) / (jnp.sqrt(v / second) + 1e-8), p, m, v)
        return p, m, v, count, value

    step = jax.jit(step, donate_argnums=(0, 1, 2, 3))
    p, b = typed(weights), typed(batches)
    all_batches = [batch_of(b, k) for k in range(BATCHES)]
    zeros = {k: jnp.zeros_like(t) for k, t in p.items()}
    state, taken = [p, zeros, {k: jnp.zeros_like(t) for k, t in p.items()}, jnp.zeros((), dtype)], [0]

    def take():
        *state[:], value = step(*state, all_batches[taken[0] % BATCHES])
        taken[0] += 1
        return [jax.block_until_ready(value)]

    return take


def make(library, arrays):
    small, steps = (int(v) for v in arrays.pop("setting"))
    noise = arrays.pop("noise")
    losses = {"A": mlp_loss, "B": vae_loss, "C": lambda p, b: unet_loss(p, b, 4 if small else 8), "D": lambda p, b: gpt_loss(p, b, 2, 2 if small else 8),
              "E": lambda p, b: edge_loss(p, b, 2.0, 6 if small else 20), "S": small_mlp_loss}
    functions = {}
    for name, loss in losses.items():
        own = {key[2:]: t for key, t in arrays.items() if key.startswith(name + ".")}
        weights = {key: t for key, t in own.items() if not key.startswith("batch.")}
        batches = {key[6:]: t for key, t in own.items() if key.startswith("batch.")}
        if name == "B":
            batches["noise"] = jnp.stack([noise] * BATCHES)
        if not weights:
            continue

        def first_losses(loss=loss, weights=weights, batches=batches):
            take = training(loss, weights, batches, jnp.float64)
            return [jnp.stack([take()[0] for _ in range(steps)])]

        def stepper(loss, weights, batches, dtype):
            begun = []

            def step():
                if not begun:
                    begun.append(training(loss, weights, batches, dtype))
                return begun[0]()

            return step

        functions[f"{name}_losses"] = first_losses
        for kind, dtype in (("f32", jnp.float32), ("f64", jnp.float64)):
            functions[f"{name}_{kind}"] = stepper(loss, weights, batches, dtype)
    return functions


serve(make)
