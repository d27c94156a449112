# SPDX-License-Identifier: Apache-2.0
import itertools

import kills
import training

WHAT = "the digits (convolutions, dropout) and the bow-ties, 3 epochs of 4 parts a batch: 1, 2, 4 threads, 0, 1, 3 threads that read ahead"
BAR = "every file the same bytes"


def measure(work):
    wrong, texts = [], []
    for name, case in (("digits", training.digits(work)), ("bowtie", training.bowtie(work))):
        runs = []
        for threads, loaders in itertools.product((1, 2, 4), (0, 1, 3)):
            run = training.folder(work) / f"{name}_{threads}_{loaders}"
            done = work.run([work.tessera(), "run", case, "--force", "--output", run, "--threads", str(threads), "--progress", "none", "--set", "training.epochs=3",
                             "--set", "training.parts=4", "--set", f"training.loaders={loaders}"])
            if done.code not in (0, 6):  # 6: three epochs are too few for what the case expects
                done.must_succeed(f"tessera run {name}")
            runs.append(run)
        wrong += [f"{run.name}: {found[:3]}" for run in runs[1:] if (found := kills.differences(runs[0], run))]
        texts.append(f"{name}: {len(runs)} runs, {sum(1 for p in runs[0].rglob('*') if p.suffix in kills.RESULTS)} files each")
    return not wrong, "\n".join([*texts, *wrong])
