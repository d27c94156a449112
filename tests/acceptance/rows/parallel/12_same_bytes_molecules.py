# SPDX-License-Identifier: Apache-2.0
import fdtd
import parallel

WHAT = ("molecules on ranks against one process: SPC/E of 23,262 atoms without a bath, alanine.toml, water of four sites in a box that "
        "relaxes, shortened; 2, 3, 5, 7, 8 t; 2, 3, 4 m; 2 m with 2 threads; 3 m over TCP; 5 random cuts")
BAR = "0 files differ"

WATER = """app = "molecular.dynamics"
dt = "2 fs"
rcoulomb = "0.9 nm"
rvdw = "0.9 nm"
constraints = "h-bonds"
ref_t = "300 K"
gen_temp = "300 K"
nstenergy = 10
[build]
kind = "water"
model = "spce"
molecules = 7754
[[stage]]
type = "minimize"
nsteps = 15
[[stage]]
nsteps = 30
"""
SITES = """app = "molecular.dynamics"
dt = "2 fs"
rcoulomb = "0.8 nm"
rvdw = "0.8 nm"
DispCorr = "EnerPres"
constraints = "h-bonds"
tcoupl = "v-rescale"
tau_t = "0.2 ps"
ref_t = "300 K"
nstenergy = 10
nstxout = 20
[output]
forces = true
velocities = true
trajectory = ["trr"]
[build]
kind = "water"
model = "tip4pew"
molecules = 500
[[stage]]
type = "minimize"
emtol = "500 kJ/mol/nm"
nsteps = 50
[[stage]]
name = "heat"
nsteps = 120
heat_from = "100 K"
[[stage]]
name = "press"
nsteps = 120
pcoupl = "c-rescale"
tau_p = "1 ps"
"""


def measure(work):
    folder = fdtd.folder(work, "ranks", "molecules")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("water", WATER), ("sites", SITES)):
        (folder / f"{name}.toml").write_text(text)
    alanine = {"expect": [], "stage[1].duration": "0.4 ps", "stage[2].duration": "0.4 ps", "stage[3].duration": "0.4 ps"}
    cases = (("water", folder / "water.toml", {}),
             ("alanine", work.root / "apps/examples/molecular/alanine.toml", alanine),
             ("sites", folder / "sites.toml", {}))
    wrong, texts = [], [fdtd.where(work)]
    for number, (name, case, settings) in enumerate(cases):
        found, text = parallel.same_files(work, folder, name, case, fdtd.set_options(settings), parallel.every_way(10 + number))
        wrong += found
        texts.append(text)
    return not wrong, "\n".join([*texts, *wrong])
