# SPDX-License-Identifier: Apache-2.0
import random
import shutil

import fdtd
import rowkit

WHAT = ("runs killed (kill -9) at moments uniform in their work and resumed, on 1 and on 2 threads: the ring (2-D, f32, 20 cells per unit), and a metal "
        "sphere in a plane wave (3-D, f64, everything.toml)")
BAR = "10 of 10 of each with every result file the same in all bytes; those of 2 threads as well"
MOMENTS = 10
OPTIONS = ("--checkpoint-every", "0.1 s", "--progress", "none")
RESULTS = {".csv", ".h5", ".png", ".svg", ".vtr", ".pvd"}


def differences(a, b):
    files = [{p.relative_to(run) for p in run.rglob("*") if p.suffix in RESULTS} for run in (a, b)]
    return [str(name) for name in sorted(files[0] | files[1])
            if name not in files[0] & files[1] or (a / name).read_bytes() != (b / name).read_bytes()]


def measure_case(work, name, case, settings):
    """(wrong, text) of one case."""
    whole, place, log = fdtd.folder(work, f"{name}_whole"), fdtd.folder(work, f"{name}_killed"), fdtd.folder(work, f"{name}.log")
    command = ["run", case, "--force", *fdtd.set_options(settings), "--threads", "1", "--output"]
    killed, seconds = work.run_to([*command, whole], log, 1e9, *OPTIONS)
    if killed or not (whole / "results.h5").exists():
        raise rowkit.Failed(f"the undisturbed run of {name} did not end: {log.read_text()[-500:]}")
    chance, wrong, resumed = random.Random(20), [], 0
    for k in range(MOMENTS):
        moment, killed = seconds * (k + chance.random()) / MOMENTS, False
        while not killed:  # one that was done before is killed earlier
            shutil.rmtree(place, ignore_errors=True)
            killed, _ = work.run_to([*command, place], log, moment, *OPTIONS)
            moment *= 0.9
        again = ["resume", place, "--threads", "2"] if (place / "manifest.json").exists() else [*command, place]
        code = work.start(again, log, *OPTIONS).wait()
        resumed += "going on from" in log.read_text()
        different = differences(whole, place) if code == 0 else []
        if code != 0 or different:
            wrong.append(f"{name} killed at {moment / 0.9:.1f} s: exit {code} {different[:5]} {log.read_text()[-200:]}")
    different = differences(whole, fdtd.run(work, case, f"{name}_two_threads", settings, threads=2).path)
    text = (f"{name}: {MOMENTS - len(wrong)} of {MOMENTS} equal, {resumed} of them from a checkpoint, resumed on 2 threads; a run of {seconds:.1f} processor "
            f"seconds, {len(list(whole.rglob('*.csv')))} tables; on 2 threads against 1 {len(different)} files differ")
    if resumed < MOMENTS // 2:
        wrong.append(f"{name}: only {resumed} runs were resumed from a checkpoint")
    return [*wrong, *different[:5]], text


def measure(work):
    ring = ("ring", fdtd.example(work, "ring.toml"), {"grid.cell": "50 nm", "boundary.pml.cells": 40, "run.stop.after_sources": "2.4 ps"})
    sphere = ("sphere", work.root / "tests" / "acceptance" / "rows" / "fdtd" / "everything.toml", {})
    wrong, texts = [], [fdtd.where(work)]
    for case in (ring, sphere):
        found, text = measure_case(work, *case)
        wrong += found
        texts.append(text)
    return not wrong, "\n".join([*texts, *wrong])
