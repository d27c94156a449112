# SPDX-License-Identifier: Apache-2.0
import json
import math
import pathlib
import re

import fdtd
import rowkit

WHAT = ("patch antenna of 32 x 40 mm on a lossy board of eps 3.38, 1.524 mm (apps/examples/electromagnetics/patch.toml): `grid.auto` at 15, 20, 30 cells in the wavelength; the lines of openEMS's tutorial "
        "beside Debian's openEMS, both as a staircase, in PML of 8 cells, on two threads")
BAR = "resonance moves at most 1 % from 20 to 30; beside openEMS resonance 0.5 %, directivity 0.2 dB, efficiency 3 points, at least 2 times its cells a second"

PYTHON = pathlib.Path("/usr/bin/python3")  # the system's, for which Debian's modules are


def resonance(f, s):
    """Where |S11| is least, by a parabola through the three points there."""
    k = min(range(1, len(f) - 1), key=lambda k: s[k])
    a, b, c = s[k - 1:k + 2]
    return f[k] + (f[k + 1] - f[k]) * 0.5 * (a - c) / (a - 2 * b + c)


def reflection(run):
    table = run.table("s_parameters")
    return table["frequency_Hz"], [abs(complex(re, im)) for re, im in zip(table["S_feed_feed_re"], table["S_feed_feed_im"], strict=True)]


def automatic(work, cells):
    """Resonance and cells of the grid."""
    case = fdtd.example(work, "patch.toml")
    settings = {"grid.auto.cells_per_wavelength": cells}
    run = fdtd.run(work, case, f"patch_{cells}", settings, threads=2)
    check = work.run([work.tessera(), "check", case, *fdtd.set_options(settings)]).must_succeed("tessera check")
    return resonance(*reflection(run)), float(re.search(r"([\d.]+) million cells", check.out).group(1))


def openems(work):
    """What openEMS finds, and its cells a second."""
    script = work.root / "tests" / "acceptance" / "openems_patch.py"
    with work.temp() as folder:
        done = work.run([PYTHON, script, pathlib.Path(folder) / "run", 2], env={"OMP_NUM_THREADS": "2"})
    if "No module named" in done.err:
        raise rowkit.NotMeasured("openEMS is not installed (Debian package python3-openems; './bootstrap.sh bench' installs it)")
    done.must_succeed("openEMS")
    return json.loads(done.out.splitlines()[-1]), float(re.findall(r"Speed: ([\d.]+) MCells/s", done.out)[-1])


def ours(work, peer):
    """The same on the same lines: resonance, directivity and efficiency at the peer's resonance, cells a second."""
    text = fdtd.example(work, "patch.toml").read_text()
    before, behind = text.split("[grid]")[0], text.split("[run]")[1]
    lines = "".join(f'[grid.{d}]\nlines = [{", ".join(f"{x!r}" for x in peer["lines"][d])}]\n' for d in "xyz")
    lines = re.sub(r"([-\d.e]+)(?=[,\]])", r'"\1 m"', lines)
    case = fdtd.folder(work, "patch_tutorial.toml")
    case.write_text(before + '[grid]\nconductors = "staircase"\n' + lines + "[boundary]\npml.cells = 8\n[run]" + behind.split("[[expect]]")[0])
    run = fdtd.run(work, case, "patch_tutorial", {"monitor[0].frequencies": [f"{peer['at_Hz']!r} Hz"], "output.pictures": False, "output.vtk": False}, threads=2)
    far = run.table("pattern")
    if "radiation_efficiency" not in far:
        raise rowkit.NotMeasured("far fields of this build have no radiation efficiency")
    f, s = reflection(run)
    cells = math.prod(len(peer["lines"][d]) - 1 for d in "xyz")
    log = (run.path / "log.txt").read_text()
    return {"resonance": resonance(f, s), "directivity": far["beam_directivity"][0], "efficiency": far["radiation_efficiency"][0], "cells": cells, "log": log}


def speed(work, case):
    """Million cells a second of a run's steps, as `estimate` finds them."""
    text = work.run([work.tessera(), "estimate", case, "--threads", 2]).must_succeed("tessera estimate").out
    return float(re.search(r"at ([\d.]+) Mcells/s", text).group(1))


def measure(work):
    auto = {n: automatic(work, n) for n in (15, 20, 30)}
    moved = fdtd.relative(auto[20][0], auto[30][0])
    texts = ["grid.auto at " + ", ".join(f"{n}: {f / 1e9:.4f} GHz on {cells:.3g} million cells" for n, (f, cells) in auto.items()) + f": {moved:.2%} from 20 to 30"]
    peer, peer_speed = openems(work)
    found = ours(work, peer)
    own_speed = speed(work, fdtd.folder(work, "patch_tutorial.toml"))
    theirs = resonance(peer["frequency_Hz"], peer["s11"])
    off = fdtd.relative(found["resonance"], theirs)
    apart = abs(10 * math.log10(found["directivity"] / peer["directivity"]))
    points = 100 * abs(found["efficiency"] - peer["efficiency"])
    texts.append(f"beside openEMS on its tutorial's lines: {found['resonance'] / 1e9:.4f}, {theirs / 1e9:.4f} GHz: {off:.2%}; directivity {found['directivity']:.3f}, {peer['directivity']:.3f}: {apart:.3f} dB; "
                 f"efficiency {found['efficiency']:.4f}, {peer['efficiency']:.4f}: {points:.2f} points; {own_speed:.0f} and {peer_speed:.0f} Mcells/s on two threads: {own_speed / peer_speed:.1f} times")
    holds = moved <= 0.01 and off <= 0.005 and apart <= 0.2 and points <= 3 and own_speed >= 2 * peer_speed
    return holds, "; ".join(texts) + f"; {fdtd.where(work)}"
