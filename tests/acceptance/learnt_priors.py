# SPDX-License-Identifier: Apache-2.0
"""Recipes of sections and priors that rows of inversion2d share. What is drawn and learnt is kept in the build folder, by its recipe."""
import hashlib
import json
import shutil
import time

# Rows and columns of 10 km by 1 km.
FINE = (32, 64)
# As much as seven stations see.
COARSE = (16, 32)
LAYERS = """
[[event]]
kind = "layers"
count = [1, 3]
resistivity = ["20 ohm*m", "2000 ohm*m"]
"""
# What the prior learns: layers, faults through them, blocks.
KINDS = LAYERS + """
[[event]]
kind = "fault"
probability = 0.4
dip = ["50 deg", "90 deg"]
throw = [-0.1, 0.2]

[[event]]
kind = "block"
count = [1, 3]
resistivity = ["3 ohm*m", "3000 ohm*m"]
x = [0.05, 0.95]
z = [0.1, 0.6]
width = [0.1, 0.4]
height = [0.15, 0.5]
"""
# What it has not seen: layers that random fields run through.
LEFT_OUT = LAYERS + """
[[event]]
kind = "random_field"
amplitude = [0.4, 0.7]
width = [0.05, 0.1]
height = [0.1, 0.25]
"""
# 64 codes in 4 epochs; few smooth ones of few cells for chains, whose paths are long where codes curve.
WHOLE = {"cells": FINE, "sections": 60000, "widths": [24, 48, 96], "codes": 64, "noise": 0.1, "couplings": 0, "epochs": 4}
# What is rare among its own kind stands out where the decoder knows that kind well.
THOROUGH = {**WHOLE, "epochs": 7}
SMALL = {"cells": COARSE, "sections": 20000, "widths": [16, 32], "codes": 16, "noise": 0.25, "couplings": 0, "epochs": 8}
# One that is there in seconds, for runs that ask nothing of its quality.
TINY = {"cells": FINE, "sections": 2000, "widths": [8, 16], "codes": 8, "noise": 0.3, "couplings": 0, "epochs": 2}


def sections(work, events, count, seed, cells=FINE):
    """The file of so many drawn sections."""
    return made(work, "sections", f'app = "inversion.sections"\nseed = {seed}\n[region]\nrows = {cells[0]}\ncolumns = {cells[1]}\naspect = 10\n'
                f'resistivity = ["1 ohm*m", "10000 ohm*m"]\n[sections]\ncount = {count}\n{events}')[0] / "sections.h5"


def prior(work, network, count=None):
    """(the file of the prior learnt from so many drawn sections of KINDS, or the network's number; seconds that learning took)."""
    learnt_from = sections(work, KINDS, count or network["sections"], 11, network["cells"])
    text = (f'app = "inversion.prior"\ndata.sections = "{learnt_from}"\n[network]\nwidths = {network["widths"]}\n'
            f'codes = {network["codes"]}\nnoise = {network["noise"]}\ncouplings = {network["couplings"]}\n'
            f'[training]\nepochs = {network["epochs"]}\n')
    place, seconds = made(work, "prior", text)
    return place / "prior.safetensors", seconds


def made(work, kind, text):
    """The run folder of a case, and the seconds it took when it was made: once for each recipe and build folder."""
    program = work.tessera()
    stamp = hashlib.sha256(text.encode()).hexdigest()[:16]
    place = work.build / "learnt_priors" / f"{kind}_{stamp}"
    done = place / "done.json"
    if not done.exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        (place / "case.toml").write_text(text)
        begin = time.monotonic()
        work.run([program, "run", "case.toml", "--output", "run", "--progress", "none"], cwd=place).must_succeed(f"inversion.{kind}")
        done.write_text(json.dumps({"seconds": time.monotonic() - begin}))
    return place / "run", json.loads(done.read_text())["seconds"]
