# SPDX-License-Identifier: Apache-2.0
"""Cases from torch's database of operations: sample inputs, and what torch computes from them.

A case is one sample of one operation in one element type, with a direction t for every floating argument x and a weight w for
every floating result y. Its reference holds, by torch,

    value   y = f(x)
    vjp     g = J^H w                   (adjoint for complex numbers: torch's convention is ours)
    jvp     J t                         (forward mode, and the derivative of <J^H w, t> in w: where both are there and differ,
                                         torch disagrees with itself and neither counts)
    second  d/ds g(x + s t) at s = 0    (reverse over reverse; where torch has none, extrapolated differences of g)

Derivatives are for finite arguments and values: at infinity, NaN and poles only values are compared. Cases of f32 are given to
torch in f64, so that its rounding is not taken for ours. How much each array may differ
follows from how much it moves: `moved` is the largest change when every argument is changed by a relative 2^-26 at random, times
2^26. It is the condition of the case, and op_samples allows rounding times (size + moved).

Written: FOLDER/cases.jsonl, one case a line, and FOLDER/data.bin, the arrays, row-major.
"""
import json
import math
import random
import warnings
import zlib

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_unflatten

import invariants

DTYPES = {"f64": torch.float64, "c128": torch.complex128, "f32": torch.float32, "i64": torch.int64, "bool": torch.bool}
MOST = {"f64": 14, "c128": 9, "f32": 6, "i64": 6, "bool": 4}     # samples of an operation
MOST_EMPTY = {"f64": 4, "c128": 1, "f32": 1, "i64": 1, "bool": 1}  # of those made empty
LARGEST = 1200  # elements of an argument
MOST_AXES = 8   # of an array of ours; a batch needs one
STEP = 2.0**-26
NAMES = {torch.bool: "bool", torch.uint8: "u8", torch.int32: "i32", torch.int64: "i64", torch.float32: "f32",
         torch.float64: "f64", torch.complex64: "c64", torch.complex128: "c128"}
WIDE = {torch.float32: torch.float64, torch.complex64: torch.complex128}


class NoCase(Exception):
    """The sample is none that can be told to the other side."""


def operations(names):
    """{name: entry} of those of the database that are asked for."""
    return {op.full_name: op for op in op_db if op.full_name in names}


def is_inexact(t):
    return t.is_floating_point() or t.is_complex()


def dot(a, b):
    """Re <a, b>."""
    return (a.conj() * b).real.sum() if a.is_complex() or b.is_complex() else (a * b).sum()


OF_ITS_TYPE = {"nan_to_num"}  # depends on the type's largest number: f32 stays f32 in torch

# Samples that ask for what is no function of the arguments: tables changed in place, gradients scaled, numbers drawn.
NO_FUNCTION = {"nn.functional.embedding": {"max_norm", "scale_grad_by_freq", "sparse"}}

# Calls on which torch ends its own process: the derivative of distances between no points divides by their number.
ENDS = {"nn.functional.pdist": lambda first: len(first) == 0}

# Types that torch rounds to in between.
ROUNDED = {"nn.functional.local_response_norm": {"i64"}, "masked.logsumexp": {"i64"}, "masked.var": {"i64"}, "masked.std": {"i64"}}


def is_function(name, named):
    return not (NO_FUNCTION.get(name, set()) & set(named)) and not named.get("dropout_p")


def wide(value):
    """f32 tensors and types as f64."""
    if isinstance(value, torch.Tensor):
        return value.to(WIDE.get(value.dtype, value.dtype))
    return WIDE.get(value, value) if isinstance(value, torch.dtype) else value


class Sample:
    """One call: the operation, the flattened arguments and which of them are tensors."""

    def __init__(self, op, call, narrow):
        if not is_function(op.full_name, call[2]):
            raise NoCase
        self.op = op
        self.wide = wide if narrow else lambda v: v
        self.flat, self.tree = tree_flatten((call[0], tuple(call[1]), dict(call[2])))
        self.places = [k for k, v in enumerate(self.flat) if isinstance(v, torch.Tensor)]
        for v in self.tensors:
            if v.layout != torch.strided or v.dtype not in NAMES or v.ndim >= MOST_AXES:
                raise NoCase
        self.flat = [v.detach().clone() if isinstance(v, torch.Tensor) else v for v in self.flat]

    @property
    def tensors(self):
        return [self.flat[k] for k in self.places]

    def arguments(self, tensors=None, change=lambda v: v):
        flat = [change(v) for v in self.flat]
        for place, tensor in zip(self.places, self.tensors if tensors is None else tensors):
            flat[place] = tensor
        return tree_unflatten(flat, self.tree)

    def __call__(self, tensors):
        """The tensors that the operation gives, in order."""
        _, _, named = self.arguments()
        tensors = invariants.before(self.op.full_name)([t.clone() for t in tensors], named)
        first, rest, named = self.arguments(tensors, self.wide)
        result = invariants.of(self.op.full_name)(self.op(first, *rest, **named), first, rest, named)
        out = []
        for v in tree_flatten(result)[0]:
            if isinstance(v, (bool, int, float, complex)):
                v = torch.tensor(v)
            if not isinstance(v, torch.Tensor):
                raise NoCase
            out.append(torch.zeros_like(v) if v._is_zerotensor() else v.resolve_conj().resolve_neg())
        return out


def derivatives(f, x, t, weights):
    """vjp, jvp and second derivative at x (the floating arguments), or as many of them as exist."""
    x = [a.detach().requires_grad_() for a in x]
    y = [v for v in f(x) if is_inexact(v)]
    live = [k for k, v in enumerate(y) if v.requires_grad]
    if not live:
        return {}
    w = [weights[k].clone().requires_grad_() for k in live]
    y = [y[k] for k in live]

    def gradient(outputs, inputs, cotangents, keep):
        got = torch.autograd.grad(outputs, inputs, cotangents, allow_unused=True, create_graph=keep, retain_graph=True)
        return [torch.zeros_like(a) if g is None else g for a, g in zip(inputs, got)]

    g = gradient(y, x, [v.detach() for v in w], False)
    result = {"vjp": [v.detach() for v in g], "live": live}
    pairing = None
    try:
        linear = gradient(y, x, w, True)
        pairing = sum(dot(a, b) for a, b in zip(linear, t))
    except (RuntimeError, NotImplementedError):
        pass
    ways = [forward(f, x, t, live)]
    if pairing is not None and pairing.requires_grad:
        try:
            ways.append([v.detach() for v in gradient([pairing], w, None, False)])
        except (RuntimeError, NotImplementedError):
            pass
    ways = [way for way in ways if way is not None]
    if len(ways) == 2 and not all(torch.allclose(a, b, 1e-6, 1e-9, True) for a, b in zip(*ways)):
        result["disputed"] = True
    elif ways:
        result["jvp"] = ways[0]
    if pairing is not None:
        try:
            result["second"] = ([v.detach() for v in gradient([pairing], x, None, False)] if pairing.requires_grad
                                else [torch.zeros_like(a) for a in x])
        except (RuntimeError, NotImplementedError):
            pass
    return result


def forward(f, x, t, live):
    import torch.autograd.forward_ad as forward_ad
    try:
        with forward_ad.dual_level():
            y = [v for v in f([forward_ad.make_dual(a.detach(), b) for a, b in zip(x, t)]) if is_inexact(v)]
            pairs = [forward_ad.unpack_dual(y[k]) for k in live]
            return [torch.zeros_like(p.primal) if p.tangent is None or p.tangent._is_zerotensor() else p.tangent.detach().clone()
                    for p in pairs]
    except (RuntimeError, NotImplementedError):
        return None


def by_differences(f, x, t, w):
    """d/ds g(x + s t) from gradients at four points: error of fourth order."""
    def g(s):
        return derivatives(f, [a + s * b for a, b in zip(x, t)], t, w)["vjp"]
    h = 1e-3
    near, far = [[(p - m) / (2 * s) for p, m in zip(g(s), g(-s))] for s in (h, 2 * h)]
    return [(4 * a - b) / 3 for a, b in zip(near, far)]


def reference(sample, case_seed):
    """{value, vjp, jvp, second, moved...} and the random numbers that went in."""
    generator = torch.Generator().manual_seed(case_seed)

    def noise(like):
        # Multiples of 1/64, so that f32 and f64 have the same.
        def draw():
            return torch.randint(-64, 65, like.shape, generator=generator).to(torch.float64) / 64
        return (torch.complex(draw(), draw()) if like.is_complex() else draw()).to(like.dtype)

    tensors = [sample.wide(v) for v in sample.tensors]
    moving = [k for k, v in enumerate(tensors) if is_inexact(v)]

    def f(x):
        full = list(tensors)
        for k, v in zip(moving, x):
            full[k] = v
        return sample(full)

    x = [tensors[k] for k in moving]
    value = f(x)
    if not value or any(v.dtype not in NAMES or v.ndim >= MOST_AXES for v in value) or any(v.numel() > 20 * LARGEST for v in value):
        raise NoCase
    if any(not same(a, b) for a, b in zip(value, f(x))):
        raise NoCase  # it draws numbers
    weights = [noise(v) for v in value if is_inexact(v)]
    t = [noise(v) for v in x]
    result = {"value": [v.detach() for v in value], "tangents": t, "weights": weights}
    differentiable = bool(x) and sample.op.supports_autograd and finite(tensors) and finite(value)
    if differentiable:
        result |= derivatives(f, x, t, weights)
        if result.get("second") is None and "vjp" in result:
            result["second"], result["rough"] = by_differences(f, x, t, weights), True
    nearby = [v * (1 + STEP * (2 * torch.randint(0, 2, v.shape, generator=generator) - 1)) for v in x]
    try:
        moved = {"value": [v.detach() for v in f(nearby)]}
        if differentiable:
            moved |= derivatives(f, nearby, t, weights)
    except (RuntimeError, torch.linalg.LinAlgError):
        moved = {}
    for what in ("value", "vjp", "jvp", "second"):
        if result.get(what) is not None:
            after = moved.get(what) or result[what]
            result[what + "_moved"] = [change(a, b) for a, b in zip(result[what], after)]
    return result


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))


def change(a, b):
    """The largest difference per unit of relative change of the arguments."""
    if not is_inexact(a) or a.shape != b.shape:
        return 0.0
    d = (a - b).abs()
    d = d[torch.isfinite(d)]
    return min(float(d.max()) / STEP, 1e300) if d.numel() else 0.0


def calls(op, dtype):
    """(input, args, kwargs) of the database, evenly chosen where there are many."""
    seed = zlib.crc32(f"{op.full_name}/{dtype}".encode())
    random.seed(seed)
    torch.manual_seed(seed)
    found = []
    for make in (op.sample_inputs, op.reference_inputs):
        try:
            for s in make("cpu", dtype, requires_grad=False):
                if all(v.numel() <= LARGEST for v in tree_flatten((s.input, s.args, s.kwargs))[0] if isinstance(v, torch.Tensor)):
                    found.append((s.input, s.args, s.kwargs))
        except Exception:  # noqa: BLE001 -- what the database cannot make is no sample
            pass
        if len(found) >= 4000:
            break
    return found


def chosen(found, most):
    if len(found) <= most:
        return found
    return [found[round(k * (len(found) - 1) / (most - 1))] for k in range(most)]


def emptied(call):
    """The call with every axis of one length made empty, for each length; numbers of that length too, or not."""
    flat, tree = tree_flatten(call)
    lengths = sorted({n for v in flat if isinstance(v, torch.Tensor) for n in v.shape if n > 0})
    for n in lengths:
        for numbers in (False, True):
            if numbers and not any(type(v) is int and v == n for v in flat):
                continue
            changed = [v.new_zeros([0 if d == n else d for d in v.shape]) if isinstance(v, torch.Tensor) and n in v.shape
                       else 0 if numbers and type(v) is int and v == n else v for v in flat]
            yield tree_unflatten(changed, tree)


class Writer:
    def __init__(self, folder):
        self.cases = open(folder / "cases.jsonl", "w")
        self.data = open(folder / "data.bin", "wb")
        self.at = 0

    def close(self):
        self.cases.close()
        self.data.close()

    def array(self, t):
        raw = t.detach().resolve_conj().resolve_neg().contiguous().cpu().numpy().tobytes()
        place = {"type": NAMES[t.dtype], "shape": list(t.shape), "at": self.at}
        self.data.write(raw)
        self.at += len(raw)
        return place

    def arrays(self, tensors):
        return [self.array(t) for t in tensors]

    def write(self, name, number, sample, r, narrow):
        count = iter(range(len(sample.places)))
        plain = sample.arguments()
        line = {"id": name, "op": sample.op.full_name, "number": number, "arguments": [encode(part, count) for part in (plain[0], list(plain[1]), plain[2])],
                "tensors": self.arrays(sample.tensors), "value": self.arrays(r["value"]), "narrow": narrow,
                "tangents": self.arrays(r["tangents"]), "weights": self.arrays(r["weights"])}
        for what in ("vjp", "jvp", "second"):
            if r.get(what) is not None:
                line[what] = self.arrays(r[what])
        for what in ("value", "vjp", "jvp", "second"):
            if what + "_moved" in r:
                line[what + "_moved"] = r[what + "_moved"]
        for what in ("live", "rough", "disputed"):
            if what in r:
                line[what] = r[what]
        self.cases.write(json.dumps(line) + "\n")


def encode(value, count):
    if isinstance(value, torch.Tensor):
        return {"tensor": next(count)}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"real": str(value)}
    if isinstance(value, complex):
        return {"complex": [str(value.real), str(value.imag)]}
    if isinstance(value, dict):
        return {"named": {k: encode(v, count) for k, v in value.items()}}
    if isinstance(value, tuple):
        return {"tuple": [encode(v, count) for v in value]}
    if isinstance(value, list):
        return [encode(v, count) for v in value]
    if isinstance(value, torch.dtype):
        if value not in NAMES:
            raise NoCase
        return {"dtype": NAMES[value]}
    if isinstance(value, slice):
        return {"slice": [encode(v, count) for v in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, (torch.memory_format, torch.device, torch.layout)):
        return None
    raise NoCase


def finite(tensors):
    return all(bool(torch.isfinite(v).all()) for v in tensors if is_inexact(v))


def write(folder, names, only=None):
    """All cases of these operations (or those of one case's operation and type); how many of each kind."""
    warnings.simplefilter("ignore")
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    writer = Writer(folder)
    counts = {"cases": 0, "left out": 0}
    for name, op in sorted(operations(names).items()):
        for short, dtype in DTYPES.items():
            if only and only.split("/")[:2] != [name, short]:
                continue
            if dtype not in op.supported_dtypes("cpu") or short in ROUNDED.get(name, ()):
                continue
            found = calls(op, dtype)
            usual = [(f"{k}", c) for k, c in enumerate(chosen(found, MOST[short]))]
            empty, kinds = [], set()
            for k, c in enumerate(found[:40]):
                for e in emptied(c):
                    kind = str([tuple(v.shape) if isinstance(v, torch.Tensor) else v for v in tree_flatten(e)[0]])
                    if kind not in kinds:
                        kinds.add(kind)
                        empty.append((f"empty{len(empty)}", e))
            done_empty = 0
            for label, call in usual + empty:
                if label.startswith("empty") and done_empty == MOST_EMPTY[short]:
                    break
                identity = f"{name}/{short}/{label}"
                if name in ENDS and ENDS[name](tree_flatten(call)[0][0]):
                    continue
                try:
                    narrow = short == "f32" and name not in OF_ITS_TYPE
                    sample = Sample(op, call, narrow)
                    with torch.random.fork_rng():
                        r = reference(sample, zlib.crc32(identity.encode()))
                    writer.write(identity, counts["cases"], sample, r, narrow)
                except NoCase:
                    counts["left out"] += 1
                    continue
                except Exception as e:  # noqa: BLE001 -- a call that torch refuses is no case
                    counts["left out"] += 1
                    if only or not label.startswith("empty"):
                        print(f"left out {identity}: {type(e).__name__}: {str(e).splitlines()[0][:150] if str(e) else ''}", flush=True)
                    continue
                counts["cases"] += 1
                done_empty += label.startswith("empty")
    writer.close()
    return counts
