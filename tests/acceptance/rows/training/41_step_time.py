# SPDX-License-Identifier: Apache-2.0
import math

import rowkit

WHAT = ("a training step of the five networks, and of an MLP 3-32-32-1 at batch 32, beside the fastest of PyTorch eager, with channels last and compiled, and "
        "JAX jit; the better of 1 and 2 threads each")
BAR = "f32: geometric mean at least 1.0x, none below 0.8x; f64: 1.2x, none below 0.9x; the small MLP 2x"
SLOW = True


def words(found, cannot, name):
    """A network in one precision: our time, and that of each peer."""
    peers = {key[len(name) + 1:-len("_step_ms")]: value for key, value in found.items() if key.startswith(name + "_") and key.endswith("_step_ms") and key != name + "_step_ms"}
    told = ", ".join(f"{peer} {ms:.3g}" for peer, ms in sorted(peers.items(), key=lambda p: p[1]))
    return f"{name}: {found[name + '_step_ratio']:.2f}x: {found[name + '_step_ms']:.3g} ms; {told}" + "".join(f"; {c}" for c in cannot if c.startswith(name + ":"))


def measure(work):
    done = work.run([work.program("training_steps_bench"), "--time", "--steps", "2"], timeout=7200).must_succeed("training_steps_bench")
    found = rowkit.read_numbers(done.out)
    cannot = [line[2:] for line in done.out.splitlines() if line.startswith("# ") and " cannot: " in line and "NotImplementedError" not in line]
    holds, text = True, []
    for kind, mean_bar, least_bar in (("f32", 1.0, 0.8), ("f64", 1.2, 0.9)):
        ratios = rowkit.need(found, *(f"{name}_{kind}_step_ratio" for name in "ABCDE"))
        [small] = rowkit.need(found, f"S_{kind}_step_ratio")
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        holds = holds and mean >= mean_bar and min(ratios) >= least_bar and small >= 2
        text.append(f"{kind}: mean {mean:.2f}x, least {min(ratios):.2f}x; small MLP {small:.2f}x")
        text += [f"  {words(found, cannot, f'{name}_{kind}')}" for name in "ABCDES"]
    return holds, "\n".join(text)
