# SPDX-License-Identifier: Apache-2.0
import fdtd
import parallel
import rank_kills

WHAT = ("216 rigid waters by PME (built, minimized, heated without and with a bath of pressure) on 4 m, one or all of them killed (kill -9) at random moments and "
        "while a checkpoint is written, resumed on 1, 2, 3 and 4")
BAR = "10 of 10 end with the files of one process"
MOMENTS = 10


def measure(work):
    folder = fdtd.folder(work, "ranks")
    folder.mkdir(parents=True, exist_ok=True)
    case = folder / "kills_molecules.toml"
    case.write_text(parallel.WATER_IN_STAGES.format(molecules=216, every=20, output='forces = true\ntrajectory = ["xtc", "trr"]'))
    wrong, text, _ = rank_kills.killed_and_resumed(work, folder / "kills_molecules", case, [], MOMENTS)
    return not wrong, "\n".join([text, *wrong])
