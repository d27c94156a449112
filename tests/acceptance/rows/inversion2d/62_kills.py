# SPDX-License-Identifier: Apache-2.0
import pathlib

import kills
import learnt_priors

WHAT = ("an inversion (the hilly line of 'new', static shifts, then a section of a learnt prior) and a sampler (two chains over that prior) killed (kill -9) at "
        "10 seeded moments each, spread over the run, resumed on two threads")
BAR = "20 of 20 with every result file the same in all bytes as of the run that was not; those of 2 threads as well"
MOMENTS = 10
PRIOR = '[prior]\nfile = "{}"\nleft = "{}"\nright = "{}"\ndepth = "{}"\n'
SHIFTS = "[static_shift]\nenabled = true\nprior_std = 0.1\n"
INVERSION = 'app = "inversion.mt2d"\n[data]\nfiles = "line/soundings"\nestimate_strike = true\n[inversion]\nmax_iterations = 60\n' + SHIFTS
# A block below four stations: what a step of a chain takes is a few hundredths of a second.
BLOCK = """app = "inversion.mt2d"
task = "forward"
section.resistivity = "100 ohm*m"
stations = {first = "-3 km", last = "3 km", count = 4}
frequencies.at = ["10 Hz", "1 Hz"]
noise.impedance = 0.03
output.pictures = false
[[section.body]]
points = [["-1 km", "300 m"], ["1 km", "300 m"], ["1 km", "1 km"], ["-1 km", "1 km"]]
resistivity = "5 ohm*m"
"""
SAMPLER = """app = "inversion.mt2d"
task = "sample"
data.files = "block/data.csv"
mesh = {growth = 1.5, cell_width = "1 km"}
posterior = {burn_in = 15, samples = 20, chains = 2}
""" + SHIFTS


def measure(work):
    prior = learnt_priors.prior(work, learnt_priors.TINY, 400)[0]
    wrong, texts = [], []
    with work.temp() as folder:
        folder = pathlib.Path(folder)
        work.run([work.tessera(), "new", "inversion.mt2d", "line"], cwd=folder).must_succeed("new")
        (folder / "block.toml").write_text(BLOCK)
        work.run([work.tessera(), "run", "block.toml", "--output", "block", "--progress", "none"], cwd=folder).must_succeed("the soundings of a block")
        for name, text in {"inversion": INVERSION + PRIOR.format(prior, "-4 km", "4 km", "800 m"), "sampler": SAMPLER + PRIOR.format(prior, "-3 km", "3 km", "600 m")}.items():
            case = folder / f"{name}.toml"
            case.write_text(text)
            found, _, said = kills.killed_and_resumed(work, folder / name, name, case, (), MOMENTS)
            wrong += found
            texts.append(said)
    return not wrong, "\n".join([*texts, *wrong])
