# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import re
import signal
import time

import parallel
import rowkit

WHAT = "`launch` on 4 m: a Yee grid of 275^3 in f64, 1 GB of fields, one rank killed by kill -9 after a checkpoint: from there to the end of the next step"
BAR = "5 s; the files of one process"
CASE = """app = "electromagnetics.fdtd"
[grid]
size = ["2.75 um", "2.75 um", "2.75 um"]
cell = "10 nm"
[boundary]
x = "pec"
y = "pec"
z = "pec"
[[source]]
kind = "point"
component = "Ex"
position = ["0.1 um", "0 um", "0.1 um"]
waveform = {kind = "gaussian", frequency = "400 THz", bandwidth = "200 THz"}
[[monitor]]
kind = "probe"
name = "point"
position = ["0.1 um", "0.1 um", "0 um"]
[run]
precision = "f64"
stop.steps = 400
stop.check_every = "0.1 fs"
[output]
pictures = false
scene = false
"""


def rows_of(metrics):
    return metrics.read_text().count("\n") if metrics.exists() else 0


def measure(work):
    with work.temp() as folder:
        folder = pathlib.Path(folder)
        case, metrics = folder / "case.toml", folder / "R" / "metrics.csv"
        case.write_text(CASE)
        mpirun, *options = parallel.mpirun()
        run = parallel.Run(folder, [work.tessera(), "launch", "-n", "4", "--max-restarts", "3", "--mpirun", mpirun, case, "--output", folder / "R",
                                    "--threads", "1", "--checkpoint-every", "8s", "--progress", "none", "--", *options])
        run.until(lambda: (folder / "R" / "ckpt" / "LATEST").exists(), 300)
        size = sum(p.stat().st_size for p in (folder / "R" / "ckpt").rglob("*") if p.is_file())
        before = rows_of(metrics)
        run.until(lambda: rows_of(metrics) > before, 120)  # the rank is killed among steps
        os.kill(run.ranks()[2], signal.SIGKILL)
        begin = time.monotonic()
        run.until(lambda: "going on from" in run.said(), 120)
        loaded, there = time.monotonic() - begin, rows_of(metrics)  # cut back to the checkpoint
        run.until(lambda: rows_of(metrics) > there, 120)
        looked = time.monotonic() - begin  # after 16 steps or so
        run.until(lambda: rows_of(metrics) > there + 1, 120)
        between = time.monotonic() - begin - looked
        code, _, left = run.end(600)
        steps = [int(line.split(",")[0]) for line in metrics.read_text().splitlines()[1:3]]
        of_look = steps[1] - steps[0]
        took = looked - between * (of_look - 1) / of_look
        restarts = re.findall(r"launch: .*restart \d of 3", (folder / "R" / "log.txt").read_text())
        one = work.run([work.tessera(), "run", case, "--output", folder / "one", "--threads", "2", "--progress", "none"])
        one.must_succeed("tessera run")
        different = parallel.differences(folder / "one", folder / "R")
    holds = took <= 5 and code == 0 and not different and len(restarts) == 1 and not left and size > 0.9e9
    return holds, (f"checkpoint of {size / 1e9:.2f} GB; loaded after {loaded:.1f} s, the first step done after {took:.1f} s ({of_look} steps and a look at the "
                   f"fields after {looked:.1f} s; {between / of_look:.3f} s a step); exit {code}, {len(restarts)} restart in the log, {len(different)} files "
                   f"differ\n{rowkit.processor()}, load {os.getloadavg()[0]:.1f}")
