# SPDX-License-Identifier: Apache-2.0
import fdtd
import rank_kills

WHAT = ("216 rigid waters by PME (built, minimized, heated without and with a bath of pressure) on 4 m, one or all of them killed (kill -9) at random moments and "
        "while a checkpoint is written, resumed on 1, 2, 3 and 4")
BAR = "10 of 10 end with the files of one process"
MOMENTS = 10
CASE = """app = "molecular.dynamics"
dt = "2 fs"
rcoulomb = "0.85 nm"
rvdw = "0.85 nm"
constraints = "h-bonds"
tcoupl = "v-rescale"
ref_t = "300 K"
nstenergy = 20
nstxout = 20
nstlog = 0
[output]
forces = true
trajectory = ["xtc", "trr"]
[build]
kind = "water"
model = "tip3p"
molecules = 216
[[stage]]
type = "minimize"
nsteps = 30
[[stage]]
name = "heat"
heat_from = "50 K"
nsteps = 300
[[stage]]
name = "press"
pcoupl = "c-rescale"
nsteps = 300
"""


def measure(work):
    folder = fdtd.folder(work, "ranks")
    folder.mkdir(parents=True, exist_ok=True)
    case = folder / "kills_molecules.toml"
    case.write_text(CASE)
    wrong, text, _ = rank_kills.killed_and_resumed(work, folder / "kills_molecules", case, [], MOMENTS)
    return not wrong, "\n".join([text, *wrong])
