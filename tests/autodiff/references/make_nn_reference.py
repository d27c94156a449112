# SPDX-License-Identifier: Apache-2.0
"""Writes nn_reference.csv: layers, activations and losses of PyTorch, their values and gradients, in f64.

    python3 make_nn_reference.py > nn_reference.csv        (PyTorch 2.x)

Columns: case, what, shape (a x b x ...), then the elements. `what` is x0, x1, ... (operands and parameters, as Tessera
takes them: weights [in, out], channels last), y (the result), c (weights of the sum that is differentiated), and g0,
g1, ... (gradients of sum(c y) with respect to those operands that are real).
"""
import torch
import torch.nn.functional as F

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)


def case(name, f, *operands):
    operands = [o.clone().requires_grad_(o.is_floating_point()) for o in operands]
    y = f(*operands)
    c = torch.randn_like(y)
    real = [o for o in operands if o.requires_grad]
    gradients = iter(torch.autograd.grad((c * y).sum(), real))
    rows = [(f"x{k}", o) for k, o in enumerate(operands)] + [("y", y), ("c", c)]
    rows += [(f"g{k}", next(gradients)) for k, o in enumerate(operands) if o.requires_grad]
    for what, t in rows:
        print(",".join([name, what, "x".join(map(str, t.shape)) or "1"] + [f"{v:.17g}" for v in t.detach().reshape(-1).tolist()]))


x = torch.cat([torch.randn(12), torch.tensor([-30.0, -8.0, -1e-3, 1e-3, 8.0, 30.0])])
for name, f in (("relu", F.relu), ("leaky_relu", F.leaky_relu), ("elu", F.elu), ("gelu", F.gelu), ("gelu_tanh", lambda t: F.gelu(t, approximate="tanh")),
                ("silu", F.silu), ("softplus", F.softplus), ("tanh", torch.tanh), ("logistic", torch.sigmoid)):
    case(name, f, x)

case("linear", lambda t, w, b: F.linear(t, w.T, b), torch.randn(2, 3, 5), torch.randn(5, 4), torch.randn(4))
case("layer_norm", lambda t, w, b: F.layer_norm(t, (6,), w, b), torch.randn(4, 6), torch.randn(6), torch.randn(6))
case("group_norm", lambda t, w, b: F.group_norm(t.movedim(-1, 1), 3, w, b).movedim(1, -1), torch.randn(2, 2, 6), torch.randn(6), torch.randn(6))
case("batch_norm_train", lambda t, w, b: F.batch_norm(t.reshape(-1, 4), None, None, w, b, training=True).reshape(t.shape), torch.randn(5, 3, 4), torch.randn(4), torch.randn(4))
case("batch_norm_run", lambda t, w, b, m, v: (t - m) / (v + 1e-5).sqrt() * w + b, torch.randn(7, 4), torch.randn(4), torch.randn(4), torch.randn(4), torch.rand(4) + 0.5)
case("embedding", lambda i, table: F.embedding(i, table), torch.tensor([[3, 0, 3], [1, 2, 0]]), torch.randn(4, 5))

y, t = torch.randn(6, 5), torch.randn(6, 5)
case("mean_square", F.mse_loss, y, t)
case("mean_absolute", F.l1_loss, y, t)
case("huber", lambda a, b: F.huber_loss(a, b, delta=0.7), y, t)
case("relative_l2", lambda a, b: ((a - b).norm(dim=1) / b.norm(dim=1)).mean(), y, t)
labels = torch.tensor([0, 4, 2, 2, 1, 3])
case("cross_entropy", F.cross_entropy, 3 * y, labels)
case("cross_entropy_smooth", lambda z, l: F.cross_entropy(z, l, label_smoothing=0.1), 3 * y, labels)
case("cross_entropy_of", F.cross_entropy, y, torch.softmax(t, 1))
case("binary_cross_entropy", F.binary_cross_entropy_with_logits, 5 * y, torch.sigmoid(t))
case("kl_normal", lambda m, l: (0.5 * (l.exp() + m**2 - 1 - l)).sum(1).mean(), y, t)

# The running statistics after one batch, from 0 and 1.
data, mean, variance = torch.randn(5, 3), torch.zeros(3), torch.ones(3)
case("running_mean", lambda d: F.batch_norm(d, mean, variance, training=True) * 0 + mean, data)
mean, variance = torch.zeros(3), torch.ones(3)
case("running_variance", lambda d: F.batch_norm(d, mean, variance, training=True) * 0 + variance, data)


# Convolutions, channels last: weights [k..., in / groups, out]; those of transposed ones are PyTorch's turned around.
def first(t):
    return t.movedim(-1, 1)


def last(t):
    return t.movedim(1, -1)


def weights(w):
    return w.movedim(-1, 0).movedim(-1, 1)  # [out, in, k...]


def turned(w):
    return w.flip(tuple(range(w.dim() - 2))).movedim(-1, 0).movedim(-1, 0)  # [in, out, k...]


case("conv_same", lambda t, w, b: last(F.conv1d(first(t), weights(w), b, padding=2)), torch.randn(2, 7, 3), torch.randn(5, 3, 4), torch.randn(4))
case("conv_stride", lambda t, w, b: last(F.conv2d(first(t), weights(w), b, stride=2, padding=1)), torch.randn(2, 6, 5, 2), torch.randn(3, 3, 2, 3), torch.randn(3))
case("conv_groups", lambda t, w: last(F.conv2d(first(t), weights(w), dilation=(1, 2), groups=2)), torch.randn(1, 4, 6, 4), torch.randn(2, 3, 2, 6))
case("conv_transpose_4", lambda t, w, b: last(F.conv_transpose2d(first(t), turned(w), b, stride=2, padding=1)), torch.randn(2, 3, 4, 3), torch.randn(4, 4, 3, 2), torch.randn(2))
case("conv_transpose_3", lambda t, w: last(F.conv_transpose1d(first(t), turned(w), stride=2, padding=1, output_padding=1)), torch.randn(2, 5, 3), torch.randn(3, 3, 2))
case("conv_transpose_full", lambda t, w: last(F.conv_transpose1d(first(t), turned(w), stride=3)), torch.randn(1, 4, 2), torch.randn(3, 2, 2))
case("max_pool", lambda t: last(F.max_pool2d(first(t), (2, 3))), torch.randn(2, 5, 7, 3))
case("mean_pool", lambda t: last(F.avg_pool1d(first(t), 3)), torch.randn(2, 7, 2))
case("global_mean_pool", lambda t: t.mean((1, 2)), torch.randn(2, 3, 4, 2))
case("upsample_nearest", lambda t: last(F.interpolate(first(t), scale_factor=(2, 3))), torch.randn(2, 3, 2, 2))


# Attention: [batch, tokens, heads, features]; masks true where a query sees a key, as PyTorch's.
def heads_first(t):
    return t.movedim(-2, -3)


def attend(q, k, v, mask=None, causal=False):
    return heads_first(F.scaled_dot_product_attention(heads_first(q), heads_first(k), heads_first(v), attn_mask=mask, is_causal=causal))


def multi_head(t, context, w_in, b_in, w_out, b_out, heads, mask=None):
    width = t.shape[-1]
    layer = torch.nn.MultiheadAttention(width, heads, batch_first=True)
    named = {"in_proj_weight": w_in.T, "in_proj_bias": b_in, "out_proj.weight": w_out.T, "out_proj.bias": b_out}
    return torch.func.functional_call(layer, named, (t, context, context), {"need_weights": False, "attn_mask": mask})[0]


causal = torch.ones(4, 4).tril().bool()
allowed = torch.tensor([[True, False, True], [False, True, True], [True, True, True], [False, False, True]])
case("attention_plain", attend, torch.randn(2, 3, 2, 4), torch.randn(2, 5, 2, 4), torch.randn(2, 5, 2, 3))
case("attention_causal", lambda q, k, v: attend(q, k, v, causal=True), torch.randn(1, 4, 2, 3), torch.randn(1, 4, 2, 3), torch.randn(1, 4, 2, 3))
case("attention_cached", lambda q, k, v: attend(q, k, v, causal[2:]), torch.randn(1, 2, 2, 3), torch.randn(1, 4, 2, 3), torch.randn(1, 4, 2, 3))
case("attention_boolean", lambda q, k, v: attend(q, k, v, allowed), torch.randn(2, 4, 1, 3), torch.randn(2, 3, 1, 3), torch.randn(2, 3, 1, 3))
case("attention_added", attend, torch.randn(2, 3, 2, 4), torch.randn(2, 4, 2, 4), torch.randn(2, 4, 2, 4), torch.randn(2, 3, 4))
case("attention_self", lambda t, *p: multi_head(t, t, *p, heads=2), torch.randn(2, 3, 4), torch.randn(4, 12), torch.randn(12), torch.randn(4, 4), torch.randn(4))
case("attention_cross", lambda t, u, *p: multi_head(t, u, *p, heads=2, mask=~causal[1:]), torch.randn(1, 3, 4), torch.randn(1, 4, 4), torch.randn(4, 12), torch.randn(12), torch.randn(4, 4), torch.randn(4))


def transformer_block(t, g1, h1, w_in, b_in, w_out, b_out, g2, h2, w1, b1, w2, b2, heads=2):
    width = t.shape[-1]
    hidden = ~torch.ones(t.shape[-2], t.shape[-2]).tril().bool()
    n = F.layer_norm(t, (width,), g1, h1)
    t = t + multi_head(n, n, w_in, b_in, w_out, b_out, heads, hidden)
    n = F.layer_norm(t, (width,), g2, h2)
    return t + F.gelu(n @ w1 + b1, approximate="tanh") @ w2 + b2


def block_weights(width):
    sizes = [(width,), (width,), (width, 3 * width), (3 * width,), (width, width), (width,), (width,), (width,), (width, 4 * width), (4 * width,), (4 * width, width), (width,)]
    return [0.5 * torch.randn(s) for s in sizes]


case("attention_block", transformer_block, torch.randn(2, 3, 4), *block_weights(4))


# Whole networks: the operands behind the inputs are their parameters, in the order of the tree.
def gpt(words, table, positions, *p):
    t = F.embedding(words, table) + positions[: words.shape[-1]]
    for k in range(2):
        t = transformer_block(t, *p[12 * k : 12 * k + 12])
    gain, bias, logits = p[24:]
    return F.layer_norm(t, (t.shape[-1],), gain, bias) @ logits


case("net_gpt", gpt, torch.tensor([[3, 0, 3], [1, 2, 4]]), torch.randn(5, 4), torch.randn(4, 4), *block_weights(4), *block_weights(4),
     torch.randn(4), torch.randn(4), torch.randn(4, 5))


def draw(*shapes):
    return [0.5 * torch.randn(s) for s in shapes]


def conv_pair_shapes(axes, n_in, n_out):
    k = (3,) * axes
    return [(*k, n_in, n_out), (n_out,), (n_out,), (n_out,), (*k, n_out, n_out), (n_out,), (n_out,), (n_out,)]


def unet(axes, levels, groups):
    conv, up, pool = (F.conv1d, F.conv2d)[axes - 1], (F.conv_transpose1d, F.conv_transpose2d)[axes - 1], (F.max_pool1d, F.max_pool2d)[axes - 1]

    def pair(t, w1, b1, g1, h1, w2, b2, g2, h2):
        t = F.silu(F.group_norm(conv(t, weights(w1), b1, padding=1), groups, g1, h1))
        return F.silu(F.group_norm(conv(t, weights(w2), b2, padding=1), groups, g2, h2))

    def net(t, *p):
        p, t, given = list(p), first(t), []
        take = lambda n: [p.pop(0) for _ in range(n)]
        for level in range(levels):
            t = pair(pool(t, 2) if level else t, *take(8))
            given.append(t)
        merges, ups = [take(8) for _ in range(levels - 1)], [take(2) for _ in range(levels - 1)]
        for level in reversed(range(levels - 1)):
            w, b = ups[level]
            t = pair(torch.cat([given[level], up(t, turned(w), b, stride=2)], 1), *merges[level])
        w, b = p
        return last(conv(t, weights(w), b))

    return net


def unet_shapes(axes, n_in, widths, n_out):
    two, one, pairs = (2,) * axes, (1,) * axes, list(zip(widths, widths[1:]))
    shapes = [s for a, b in zip([n_in, *widths], widths) for s in conv_pair_shapes(axes, a, b)]
    shapes += [s for a, _ in pairs for s in conv_pair_shapes(axes, 2 * a, a)]
    shapes += [s for a, b in pairs for s in ((*two, b, a), (a,))]
    return shapes + [(*one, widths[0], n_out), (n_out,)]


case("net_unet_line", unet(1, 3, 1), torch.randn(2, 8, 2), *draw(*unet_shapes(1, 2, (2, 4, 2), 3)))
case("net_unet_image", unet(2, 2, 1), torch.randn(1, 4, 6, 1), *draw(*unet_shapes(2, 1, (2, 3), 1)))


# Columns of 8, widths 2 and 3, codes of 2; the noise is an operand.
def vae(training):
    def norm_of(statistics):
        pending = list(statistics)

        def norm(t, gain, bias):
            if training:
                return F.silu(F.batch_norm(t, None, None, gain, bias, training=True))
            mean, variance = pending.pop(0), pending.pop(0)
            return F.silu((t - mean[:, None]) / (variance[:, None] + 1e-5).sqrt() * gain[:, None] + bias[:, None])

        return norm

    def net(t, noise, *p):
        norm = norm_of(p[-10:])
        p = list(p)
        take = lambda n: [p.pop(0) for _ in range(n)]
        t = t[:, None]
        for k in range(4):
            w, gain, bias = take(3)
            t = norm(F.conv1d(t, weights(w), padding=1), gain, bias)
            t = F.max_pool1d(t, 2) if k % 2 else t
        t = t.movedim(1, -1).reshape(len(t), -1)
        wm, bm, wl, bl, wg, bg = take(6)
        m, l = t @ wm + bm, t @ wl + bl
        t = ((m + (l / 2).exp() * noise) @ wg + bg).reshape(len(t), 2, 3).movedim(-1, 1)
        w, gain, bias = take(3)
        t = norm(F.conv_transpose1d(t, turned(w), stride=2, padding=2), gain, bias)
        w, b = take(2)
        return F.conv_transpose1d(t, turned(w), b, stride=2, padding=2)[:, 0]

    return net


def vae_operands():
    pairs = ((1, 2), (2, 2), (2, 3), (3, 3))
    shapes = [s for a, b in pairs for s in ((3, a, b), (b,), (b,))]
    shapes += [(6, 2), (2,), (6, 2), (2,), (2, 6), (6,), (6, 3, 2), (2,), (2,), (6, 2, 1), (1,)]
    statistics = [f for _, b in pairs + ((3, 2),) for f in (0.3 * torch.randn(b), torch.rand(b) + 0.5)]
    return [torch.randn(3, 8), torch.randn(3, 2), *draw(*shapes), *statistics]


case("net_vae_run", vae(False), *vae_operands())
operands = vae_operands()
operands[16], operands[17] = 0 * operands[16], operands[17] - 2000  # a deviation of 0: the noise says nothing
case("net_vae_train", lambda *p: vae(True)(*p) + 0 * sum(t.sum() for t in p[-10:]), *operands)


# Two molecules of four atoms, three species, width 4, a basis of 3, two blocks, a cut-off of 2.
def edge_energy(species, positions, table, *p):
    p = list(p)
    take = lambda n: [p.pop(0) for _ in range(n)]
    mlp = lambda t, w1, b1, w2, b2: F.silu(t @ w1 + b1) @ w2 + b2
    h, cutoff, n = F.embedding(species, table), 2.0, positions.shape[1]
    r2 = (positions[:, None] - positions[:, :, None]).square().sum(-1, keepdim=True)
    f = (1 - r2 / cutoff**2).clamp(min=0) ** 3 * (1 - torch.eye(n))[..., None]
    width = cutoff / 2
    g = torch.exp(-(((r2 + (cutoff / 100) ** 2).sqrt() - width * torch.arange(3)) ** 2) / (2 * width**2))
    for _ in range(2):
        (send,) = take(1)
        h, update = (mlp(g, *take(4)) * f * (h @ send)[:, None]).sum(2), h
        h = update + mlp(h, *take(4))
    return mlp(h, *p).sum((1, 2))


def edge_forces(species, positions, *p):
    x = positions.clone().detach().requires_grad_() if not positions.requires_grad else positions
    return -torch.autograd.grad(edge_energy(species, x, *p).sum(), x, create_graph=True)[0]


def edge_operands():
    block = [(4, 4), (3, 4), (4,), (4, 4), (4,), (4, 4), (4,), (4, 4), (4,)]
    positions = torch.randn(2, 4, 3)
    positions[1, 0] = 5.0  # beyond the cut-off of all others
    return [torch.tensor([[0, 1, 2, 1], [2, 2, 0, 1]]), positions, *draw((3, 4), *block, *block, (4, 4), (4,), (4, 1), (1,))]


case("net_edge_energy", edge_energy, *edge_operands())
case("net_edge_forces", lambda *p: edge_forces(*p) + 0 * p[-1], *edge_operands())


def gru(t, h, w, b, u, c):
    layer = torch.nn.GRU(t.shape[-1], h.shape[-1], batch_first=True)
    named = {"weight_ih_l0": w.T, "bias_ih_l0": b, "weight_hh_l0": u.T, "bias_hh_l0": c}
    return torch.func.functional_call(layer, named, (t, h[None]))[0]


case("gru", gru, torch.randn(2, 4, 3), torch.randn(2, 2), torch.randn(3, 6), torch.randn(6), torch.randn(2, 6), torch.randn(6))
