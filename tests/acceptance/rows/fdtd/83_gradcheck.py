# SPDX-License-Identifier: Apache-2.0
import json

import fdtd
import rowkit

WHAT = "`tessera gradcheck` on seven cases of the gallery and a grating between Bloch faces: fluxes, records, orders, patterns, cross-sections"
BAR = "every derivative verifies, along permittivities and sources: within 1e-6 of differences, adjoint identity to 1e-12, slopes 2 and 3"

# Steps after which waves have met the structures.
STEPS = {"cylinder": 400, "gpr": 400, "line_over_mirror": 400, "fresnel": 2500, "fresnel_oblique": 2500, "lorentz_slab": 1200, "drude_film": 1200}
GRATING = """app = "electromagnetics.fdtd"
grid = {size = ["1 um", "4 um", "0 um"], cell = "50 nm"}
run = {stop.steps = 400}
boundary = {x = "bloch", bloch_phase = ["40 deg", "0 deg", "0 deg"]}
material = [{name = "glass", eps = 2.25}]
structure = [{shape = "box", low = ["-0.25 um", "0.2 um", "-inf"], high = ["0.25 um", "0.7 um", "inf"], material = "glass"}]
[[source]]
kind = "plane"
component = "Ez"
position = ["0 um", "-1 um", "0 um"]
size = ["1 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "250 THz", bandwidth = "150 THz"}
[[monitor]]
kind = "orders"
name = "up"
position = ["0 um", "1.2 um", "0 um"]
size = ["1 um", "0 um", "0 um"]
frequencies = ["250 THz", "320 THz"]
"""


def measure(work):
    grating = fdtd.folder(work, "grating.toml")
    grating.write_text(GRATING)
    cases = [(fdtd.example(work, f"{name}.toml"), ["--set", f"run.stop.steps={n}"]) for name, n in STEPS.items()] + [(grating, [])]
    checks, wrong = [], []
    for case, options in cases:
        done = work.run([work.tessera(), "gradcheck", case, "--json", "-q", *options])
        if done.code not in (0, 6):
            raise rowkit.NotMeasured(f"{case.name}: exit {done.code}\n{done.err[:500]}")
        found = json.loads(done.out)
        wrong += [f"{case.name}: {name} is not tested" for name in found["not_tested"]]
        wrong += [f"{case.name}: {c['result']} along {c['parameters']}: {c['verdict']}" for c in found["checks"] if not c["passed"]]
        checks += [c for c in found["checks"] if c["verdict"] == "ok"]
    disagreement, adjoint = (max(c[key] for c in checks) for key in ("disagreement", "adjoint_identity"))
    first, second = (min(c[key] for c in checks if c[key] is not None) for key in ("slope_1", "slope_2"))
    return not wrong and disagreement <= 1e-6 and adjoint <= 1e-12, "\n".join([
        f"{len(checks)} derivatives: within {disagreement:.1e} of differences, adjoint identity to {adjoint:.1e}, slopes from {first:.2f} and {second:.2f}", *wrong])
