# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import sys

import parallel
import rowkit

WHAT = ("largest share of a rank: peak resident bytes above a run's of 30^3 cells, waves in 300^3 cells, f64, a rod of glass along the axis that is cut, "
        "4 m over one process; set-up, steps and a checkpoint of all")
BAR = "0.28"
CASE = """app = "electromagnetics.fdtd"
[grid]
size = ["{size} nm", "{size} nm", "{size} nm"]
cell = "10 nm"
[boundary]
pml.cells = 5
[[material]]
name = "glass"
index = 1.5
[[structure]]
shape = "cylinder"
radius = "{radius} nm"
height = "inf"
material = "glass"
[[source]]
kind = "point"
name = "dipole"
component = "Ex"
position = ["20 nm", "0 nm", "30 nm"]
waveform = {{kind = "gaussian", frequency = "600 THz", bandwidth = "300 THz"}}
[[monitor]]
kind = "probe"
name = "near"
position = ["0 nm", "20 nm", "0 nm"]
[run]
precision = "f64"
stop.steps = 128
[output]
scene = false
"""
# Of each rank: runs the command and says what it took at most.
WRAPPED = ("import os, sys; pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ); _, status, used = os.wait4(pid, 0); "
           "open(sys.argv[1] + '.' + os.environ.get('OMPI_COMM_WORLD_RANK', '0'), 'w').write(str(used.ru_maxrss)); "
           "sys.exit(os.waitstatus_to_exitcode(status))")


def peaks(work, folder, cells, ranks):
    """MiB of each rank."""
    case, told = folder / f"{cells}.toml", folder / f"{cells}_{ranks}_peak"
    case.write_text(CASE.format(size=10 * cells, radius=3 * cells))
    before = [*parallel.mpirun(), "-n", str(ranks)] if ranks > 1 else []
    done = work.run([*before, sys.executable, "-c", WRAPPED, told, work.tessera(), "run", case, "--output", folder / "run", "--force", "--threads", "1",
                     "--progress", "none", "--checkpoint-every", "3 s", "--keep", "1"])
    done.must_succeed(f"tessera run of {cells}^3 on {ranks}")
    if cells > 100 and not list((folder / "run" / "ckpt").glob("*.shard")):
        raise rowkit.Failed(f"{cells}^3 on {ranks} wrote no checkpoint")
    return [int(pathlib.Path(f"{told}.{r}").read_text()) / 1024 for r in range(ranks)]


def measure(work):
    with work.temp() as folder:
        folder = pathlib.Path(folder)
        small, large = ({ranks: peaks(work, folder, cells, ranks) for ranks in (1, 4)} for cells in (30, 300))
    above = {ranks: [b - a for a, b in zip(small[ranks], large[ranks])] for ranks in (1, 4)}
    share = max(above[4]) / above[1][0]
    each = ", ".join(f"{m:.0f}" for m in above[4])
    return share <= 0.28, f"{share:.4f}: {each} MiB on 4 m, {above[1][0]:.0f} MiB on one process; without a picture of the scene, which shows the whole grid"
