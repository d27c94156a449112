# SPDX-License-Identifier: Apache-2.0
import fdtd
import parallel
import rowkit

WHAT = "rate of a checkpoint of 4 GB of state on 2 m over that of writing and syncing files of the same bytes, in turn, medians of 5"
BAR = "0.8"


def measure(work):
    folder = fdtd.folder(work, "ranks", "checkpoint_rate")
    folder.mkdir(parents=True, exist_ok=True)
    command = [*parallel.mpirun(), "-n", "2", work.program("checkpoint_ranks_bench"), "--folder", folder, "--rounds", "5"]
    out = work.run(command).must_succeed("checkpoint_ranks_bench").out
    rate, ours, bare, spread = (rowkit.need(rowkit.read_numbers(out), name)[0] for name in ("rate", "checkpoint", "bare", "spread"))
    return rate >= 0.8, f"rate {rate:.3f}: {ours:.3g} GB/s, bare {bare:.3g} GB/s, spread {spread:.2f}"
