# SPDX-License-Identifier: Apache-2.0
import math

import rowkit

WHAT = "convolution, value and both gradients, batch 8, beside PyTorch (channels first and last, the better): 1-D, 2-D, stride, dilation, 1x1, depthwise, transposed, 3-D; a process each"
BAR = ("geometric means of at least 1.0x in f32 and 1.5x in f64; windows from 3 and channels from 16: each at 0.7 of our matrix product's rate at "
       "1,000^3")
WIDE = ("line", "image", "stride", "dilation", "transposed", "volume")  # windows from 3, channels from 16


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def measure(work):
    found = {}
    for case in (*WIDE, "pointwise", "depthwise"):
        found |= work.numbers("convolution_bench", case)
    words, holds = [], True
    for kind, bar in (("f32", 1.0), ("f64", 1.5)):
        ratio = geometric([v for name, v in found.items() if name.endswith("_ratio") and f"_{kind}_" in name and not name.startswith("convolution")])
        rates = {name.removesuffix("_of_gemm").replace(f"_{kind}", ""): v for name, v in found.items()
                 if name.endswith("_of_gemm") and f"_{kind}_" in name and name.startswith(WIDE)}
        below = ", ".join(f"{name} {v:.2f}" for name, v in sorted(rates.items(), key=lambda r: r[1]) if v < 0.7)
        holds = holds and ratio >= bar and not below
        words.append(f"{kind} {ratio:.2f}x; of the product's rate {geometric(list(rates.values())):.2f} in the mean, {min(rates.values()):.2f} at least"
                     + (f" (below 0.7: {below})" if below else ""))
    rowkit.need(found, "line_f32_value_ratio", "line_f64_gradients_ratio")
    return holds, "; ".join(words)
