# SPDX-License-Identifier: Apache-2.0
import pathlib

import kills
import learnt_priors

WHAT = ("an inversion (the hilly line of 'new', static shifts, then a section of a learnt prior) and a sampler (two chains over that prior) killed (kill -9) at "
        "10 seeded moments each, spread over the run, resumed on two threads")
BAR = "20 of 20 with every result file the same in all bytes as of the run that was not; those of 2 threads as well"
MOMENTS = 10
PRIOR = '[prior]\nfile = "{}"\nleft = "-4 km"\nright = "4 km"\ndepth = "1 km"\n'
SHIFTS = "[static_shift]\nenabled = true\nprior_std = 0.1\n"
DATA = '[data]\nfiles = "line/soundings"\nestimate_strike = true\n'


def measure(work):
    prior = PRIOR.format(learnt_priors.prior(work, learnt_priors.TINY, 400)[0])
    wrong, texts = [], []
    with work.temp() as folder:
        folder = pathlib.Path(folder)
        work.run([work.tessera(), "new", "inversion.mt2d", "line"], cwd=folder).must_succeed("new")
        cases = {"inversion": f'app = "inversion.mt2d"\n{DATA}{SHIFTS}{prior}[inversion]\nmax_iterations = 60\n',
                 "sampler": (f'app = "inversion.mt2d"\ntask = "sample"\n{DATA}[mesh]\ngrowth = 1.4\ncell_width = "700 m"\n{prior}'
                             "[posterior]\nburn_in = 40\nsamples = 60\nchains = 2\n")}
        for name, text in cases.items():
            case = folder / f"{name}.toml"
            case.write_text(text)
            found, _, said = kills.killed_and_resumed(work, folder / name, name, case, (), MOMENTS)
            wrong += found
            texts.append(said)
    return not wrong, "\n".join([*texts, *wrong])
