# SPDX-License-Identifier: Apache-2.0
import fdtd
import parallel

WHAT = ("waves in time on ranks against one process: a sphere with all that a checkpoint holds, every medium, a grating, a Bloch cell in three dimensions, a "
        "ring with slopes, shortened; 2, 3, 5, 7, 8 t; 2, 3, 4 m; 2 m with 2 threads; 3 m over TCP; 5 random cuts")
BAR = "0 files differ"
ROWS = "tests/acceptance/rows"


def measure(work):
    cases = (("sphere", work.root / ROWS / "fdtd" / "everything.toml", {"run.stop.time": "4 fs"}),
             ("every_medium", fdtd.example(work, "every_medium.toml"), {"run.stop.steps": 120}),
             ("grating", fdtd.example(work, "grating.toml"), {"run.stop.time": "0.08 ps"}),
             ("bloch_cell", work.root / ROWS / "parallel" / "bloch_cell.toml", {}),
             ("ring", fdtd.example(work, "ring.toml"), {"run.stop.after_sources": "0.1 ps"}))
    wrong, texts = [], [fdtd.where(work)]
    for number, (name, case, settings) in enumerate(cases):
        if "[[expect]]" in case.read_text():  # what a whole run promises
            settings = {"expect": [], **settings}
        found, text = parallel.same_files(work, fdtd.folder(work, "ranks", name).parent, name, case, fdtd.set_options(settings),
                                          parallel.every_way(number))
        wrong += found
        texts.append(text)
    return not wrong, "\n".join([*texts, *wrong])
