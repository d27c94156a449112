# SPDX-License-Identifier: Apache-2.0
import itertools

import kills
import training

WHAT = ("the five networks by fit, and the digits (convolutions, dropout) and the bow-ties by the app, 3 epochs: 1, 2, 4 threads; 0, 1, 3 threads that read ahead; 4 parts "
        "a batch on 1, 2, 4 workers")
BAR = "the same bits; of the app's runs every file the same bytes"


def measure(work):
    holds, text = work.gtest_row("solvers_tests", "FiveNetworks.Trainings*", environment={"TESSERA_FULL_NETWORKS": "1"})
    wrong, texts = [], [text]
    for name, case in (("digits", training.digits(work)), ("bowtie", training.bowtie(work))):
        runs = []
        for (threads, loaders), workers in zip(itertools.product((1, 2, 4), (0, 1, 3)), itertools.cycle((1, 2, 4))):
            run = training.folder(work) / f"{name}_{threads}_{loaders}_{workers}"
            done = work.run([work.tessera(), "run", case, "--force", "--output", run, "--threads", str(threads), "--progress", "none", "--set", "training.epochs=3",
                             "--set", "training.parts=4", "--set", f"training.loaders={loaders}", "--set", f"training.workers={workers}"])
            if done.code not in (0, 6):  # 6: three epochs are too few for what the case expects
                done.must_succeed(f"tessera run {name}")
            runs.append(run)
        wrong += [f"{run.name}: {found[:3]}" for run in runs[1:] if (found := kills.differences(runs[0], run))]
        texts.append(f"{name}: {len(runs)} runs, {sum(1 for p in runs[0].rglob('*') if p.suffix in kills.RESULTS)} files each")
    return holds and not wrong, "\n".join([*texts, *wrong])
