# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import sys

import parallel
import rowkit

WHAT = ("largest share of a rank: peak resident bytes above a run's of 30^3 cells, waves in 300^3 cells, f64, 4 m over one process; the picture of the scene, set-up, steps "
        "and a checkpoint of all; a rod of glass along the axis that is cut; a sphere in the middle, whose surface two of four equal slabs hold, by --weights 5,4,4,5")
BAR = "0.28 for both; told: the sphere in equal slabs"
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
{shape}
radius = "{radius} nm"
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
"""
# Of each rank: runs the command and says what it took at most.
WRAPPED = ("import os, sys; pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ); _, status, used = os.wait4(pid, 0); "
           "open(sys.argv[1] + '.' + os.environ.get('OMPI_COMM_WORLD_RANK', '0'), 'w').write(str(used.ru_maxrss)); "
           "sys.exit(os.waitstatus_to_exitcode(status))")


SHAPES = {"rod": 'shape = "cylinder"\nheight = "inf"', "sphere": 'shape = "sphere"'}


def peaks(work, folder, shape, cells, ranks, *options):
    """MiB of each rank."""
    case, told = folder / f"{cells}.toml", folder / f"{cells}_{ranks}_peak"
    case.write_text(CASE.format(size=10 * cells, radius=3 * cells, shape=SHAPES[shape]))
    before = [*parallel.mpirun(), "-n", str(ranks)] if ranks > 1 else []
    done = work.run([*before, sys.executable, "-c", WRAPPED, told, work.tessera(), "run", case, "--output", folder / "run", "--force", "--threads", "1",
                     "--progress", "none", "--checkpoint-every", "3 s", "--keep", "1", *options])
    done.must_succeed(f"tessera run of {cells}^3 on {ranks}")
    if cells > 100 and not list((folder / "run" / "ckpt").glob("*.shard")):
        raise rowkit.Failed(f"{cells}^3 on {ranks} wrote no checkpoint")
    return [int(pathlib.Path(f"{told}.{r}").read_text()) / 1024 for r in range(ranks)]


def measure(work):
    with work.temp() as folder:
        folder = pathlib.Path(folder)

        def above(shape, ranks, *options):
            small, large = (peaks(work, folder, shape, cells, ranks, *options) for cells in (30, 300))
            return [b - a for a, b in zip(small, large)]

        texts, holds = [], True
        for shape, cuts in (("rod", [[]]), ("sphere", [["--weights", "5,4,4,5"], []])):
            one = above(shape, 1)[0]
            for options in cuts:
                each = above(shape, 4, *options)
                share = max(each) / one
                is_told = shape == "sphere" and not options
                holds = holds and (is_told or share <= 0.28)
                texts.append(f"{shape} {' '.join(options) or 'in equal slabs'}: {share:.4f} ({', '.join(f'{m:.0f}' for m in each)} MiB of {one:.0f})")
    return holds, "\n".join(texts)
