# SPDX-License-Identifier: Apache-2.0
import pathlib
import statistics

import mt1d

WHAT = "the same 20 from process start, with reading, D+, posterior, HDF5, VTK and pictures"
BAR = "3 s on 2 cores"


def measure(work):
    mt1d.need_app(work)
    seconds = []
    with work.temp() as folder:
        case = mt1d.write_case(folder, mt1d.gabbs_files(work))
        for repeat in range(5):
            run = pathlib.Path(folder) / f"RUN{repeat}"
            done = work.run([work.tessera(), "run", case, "--output", run, "--threads", "2"], cwd=folder)
            done.must_succeed("tessera run")
            seconds.append(done.seconds)
        kinds = {suffix: len(list(run.rglob(f"*{suffix}"))) for suffix in (".h5", ".vt*", ".png", ".csv")}
    middle = statistics.median(seconds)
    text = f"{middle:.2f} s (median of 5, {min(seconds):.2f} to {max(seconds):.2f}); files {kinds}; peak {done.peak_mib:.0f} MiB"
    return middle <= 3 and all(kinds.values()), text
