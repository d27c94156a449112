# SPDX-License-Identifier: Apache-2.0
import json
import pathlib

import mt1d
import parallel

WHAT = ("bytes that a rank really sends over those of `estimate --ranks`, at most: waves in slabs along z and y, closed, joined and with layers, f32 and f64, "
        "monitors; soundings with chains; water in three stages with its frames; 2 and 4 m, 8 t")
BAR = "0.91 to 1.1"
WAVES = """app = "electromagnetics.fdtd"
[grid]
size = {size}
cell = "25 nm"
[boundary]
{faces}
[[source]]
kind = "point"
component = "Ex"
position = ["0.1 um", "0 um", "0.1 um"]
waveform = {{kind = "gaussian", frequency = "400 THz", bandwidth = "200 THz"}}
[[monitor]]
kind = "flux"
name = "below"
position = ["0 um", "0 um", "-0.2 um"]
size = ["0.5 um", "0.5 um", "0 um"]
frequencies = ["350 THz", "400 THz"]
[run]
precision = "{kind}"
stop.steps = 640
"""
CASES = (("closed", '["1.2 um", "1 um", "1.5 um"]', 'x = "pec"\ny = "pec"\nz = "pec"', "f64"),
         ("layers", '["1.2 um", "1.5 um", "1 um"]', 'pml.cells = 6', "f32"),
         ("joined", '["1.2 um", "1 um", "1.5 um"]', 'x = "periodic"\ny = "periodic"\nz = "periodic"', "f64"))


def estimated(work, case, ranks):
    done = work.run([work.tessera(), "estimate", case, "--ranks", ranks, "--threads", "1", "--json"]).must_succeed("tessera estimate")
    return json.loads(done.out)["of_rank"]


def measured(work, folder, case, ranks, kind):
    before, after = parallel.command(work, ranks, kind)
    work.run([*before, "run", case, "--output", folder / "run", "--force", "--threads", "1", "--progress", "none", *after]).must_succeed("tessera run")
    metrics = json.loads((folder / "run" / "manifest.json").read_text())["metrics"]
    return metrics["sent_bytes_of_a_rank"], metrics["messages_of_a_rank"]


def measure(work):
    mt1d.need_app(work)
    holds, text = True, []
    with work.temp() as folder:
        folder = pathlib.Path(folder)
        for name, size, faces, kind in CASES:
            (folder / f"{name}.toml").write_text(WAVES.format(size=size, faces=faces, kind=kind))
        work.run([work.tessera(), "new", "inversion.mt1d", folder / "site"]).must_succeed("tessera new")
        (folder / "soundings.toml").write_text('app = "inversion.mt1d"\n[data]\nfiles = "site/soundings"\n[posterior]\nmethod = "mcmc"\nsamples = 4000\n'
                                               "burn_in = 200\nkeep_every = 10\n")
        (folder / "water.toml").write_text(parallel.WATER_IN_STAGES.format(molecules=1500, every=50, output='trajectory = ["xtc"]'))
        for name in [*(c[0] for c in CASES), "soundings", "water"]:
            case, said = folder / f"{name}.toml", []
            for ranks, kind in ((2, "m"), (4, "m"), (8, "t")):
                told = estimated(work, case, ranks)
                sent, messages = measured(work, folder, case, ranks, kind)
                ratio = sent / told["sent_bytes"]
                holds = holds and 1 / 1.1 <= ratio <= 1.1
                said.append(f"{ranks} {kind} {ratio:.3f} of {told['sent_bytes'] / 1e6:.3g} MB (messages {messages / told['messages']:.2f})")
            text.append(f"{name}: " + ", ".join(said))
    return holds, "\n".join(text)
