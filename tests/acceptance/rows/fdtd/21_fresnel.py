# SPDX-License-Identifier: Apache-2.0
import math

import fdtd

WHAT = ("reflection of the face n = 1.4 to 3.5, E in the plane of incidence, 11 frequencies: normal, at one k along the face (20.6 deg at the lowest "
        "frequency), at 35.7 deg (apps/examples/electromagnetics/fresnel.toml, fresnel_oblique.toml)")
BAR = "1 % of R at every frequency, 200 cells per unit"


def reflection(work, example, name, settings):
    """(frequencies, R): what the run with the second medium adds to the flux of the run without it."""
    case = fdtd.example(work, example)
    empty = fdtd.run(work, case, f"{name}_empty", {**settings, "structure[0].material": "first"})
    whole = fdtd.run(work, case, name, {**settings, "monitor[2].subtract": str(empty.path)})
    sent, back = empty.table("before"), whole.table("reflected")
    return sent["frequency_Hz"], [a / b for a, b in zip(back["flux"], sent["flux"])]


def measure(work):
    reference = fdtd.references(work, "D3_fresnel")
    lines, worst = [fdtd.where(work), "the face lies 0.354 cells beside a node, where the scheme's errors nearly cancel:"], 0.0

    def compare(what, found, wanted):
        nonlocal worst
        errors = [fdtd.relative(f, w) for f, w in zip(found, wanted, strict=True)]
        worst = max(worst, *errors)
        lines.append(f"{what}: off by {100 * max(errors):.3f} % at most")

    compare("normal", reflection(work, "fresnel.toml", "fresnel_normal", {})[1], reference["R_normal"])
    wave = {"boundary.bloch_k": ["0 rad/m", f"{reference['kx'] / fdtd.UM!r} rad/m", "0 rad/m"]}
    compare("fixed k", reflection(work, "fresnel_oblique.toml", "fresnel_fixed_k", wave)[1], reference["R_fixed_kx"])
    angled = []
    for f in reference["freq"]:
        k = 2 * math.pi * f * reference["n1"] * math.sin(math.radians(35.7)) / fdtd.UM
        hz = f"{f * fdtd.C0 / fdtd.UM / 1e12!r} THz"
        band = [f"{share * f * fdtd.C0 / fdtd.UM / 1e12!r} THz" for share in (0.85, 1.15)]  # below 0.58 f the wave would not travel
        settings = {"source[0].waveform.frequency_min": band[0], "source[0].waveform.frequency_max": band[1], "boundary.bloch_k": ["0 rad/m", f"{k!r} rad/m", "0 rad/m"]}
        for m in range(3):
            settings.update({f"monitor[{m}].frequency_min": hz, f"monitor[{m}].frequency_max": hz, f"monitor[{m}].frequency_points": 1})
        angled += reflection(work, "fresnel_oblique.toml", f"fresnel_angle_{f:g}", settings)[1]
    compare("35.7 deg", angled, [reference["R_35p7deg"]] * len(angled))
    holds = worst <= 0.01
    compare("normal, the face on a node (not what the bar is for)", reflection(work, "fresnel.toml", "fresnel_node", {"structure[0].point": ["0 nm", "0 nm", "0 nm"]})[1],
            reference["R_normal"])
    return holds, "\n".join(lines)
