# SPDX-License-Identifier: Apache-2.0
import math

import rowkit

WHAT = "a training step of the five networks beside PyTorch eager, the better of 1 and 2 threads each; compiled PyTorch and JAX are not among the peers yet"
BAR = "f32: geometric mean at least 1.0x, none below 0.8x; f64: 1.2x, none below 0.9x"
SLOW = True


def measure(work):
    found = work.numbers("training_steps_bench", "--time", "--steps", "2", timeout=7200)
    holds, text = True, []
    for kind, mean_bar, least_bar in (("f32", 1.0, 0.8), ("f64", 1.2, 0.9)):
        ratios = rowkit.need(found, *(f"{name}_{kind}_step_ratio" for name in "ABCDE"))
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        holds = holds and mean >= mean_bar and min(ratios) >= least_bar
        text.append(f"{kind}: mean {mean:.2f}x; " + ", ".join(f"{n} {r:.2f}x" for n, r in zip("ABCDE", ratios)))
    return holds, "\n".join(text)
