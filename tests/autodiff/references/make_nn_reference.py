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
