# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "F1: cells per second beside Meep (f64), blocks of 20 steps in turn: vacuum and a dielectric sphere 200^3, a Drude sphere 160^3; 1 and 2 threads or ranks"
BAR = "on both numbers of threads: f64 at least 3x Meep, f32 at least 6x; the Drude sphere in f64 at least 3x"
LEAST = {"vacuum": {"f64": 3, "f32": 6}, "dielectric": {"f64": 3, "f32": 6}, "drude": {"f64": 3}}


def measure(work):
    holds, text = True, []
    for case, bars in LEAST.items():
        for threads in (1, 2):
            numbers = work.numbers("fdtd_meep_bench", "--case", case, "--threads", threads)
            if "meep_rate" not in numbers:
                raise rowkit.NotMeasured("Meep does not run here: Debian's python3-meep-openmpi and python3-matplotlib ('./bootstrap.sh bench'), or set TESSERA_MEEP_PYTHON")
            parts = []
            for kind in ("f64", "f32"):
                ratio, spread, rate = rowkit.need(numbers, f"{kind}_ratio", f"{kind}_ratio_spread", f"{kind}_rate")
                holds = holds and ratio >= bars.get(kind, 0)
                parts.append(f"{kind} {rate:.0f} Mcells/s, {ratio:.2f}x (spread {100 * spread:.0f} %)")
            text.append(f"{case}, {threads}: {'; '.join(parts)}; Meep {numbers['meep_rate']:.0f} Mcells/s")
    return holds, "\n".join(text)
