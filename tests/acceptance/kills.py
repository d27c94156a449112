# SPDX-License-Identifier: Apache-2.0
"""Runs that are killed at moments uniform in their work, resumed on two threads, and compared byte by byte with one that was not."""
import concurrent.futures
import os
import random
import shutil

import rowkit

OPTIONS = ("--checkpoint-every", "0.1 s", "--progress", "none")
LANES = os.cpu_count() or 1  # kills at once, each of one thread until it is resumed
RESULTS = {".csv", ".h5", ".s2p", ".s4p", ".png", ".svg", ".vtr", ".vtu", ".vtp", ".pvd", ".edi", ".dat", ".emdata", ".safetensors"}


def differences(a, b):
    files = [{p.relative_to(run) for p in run.rglob("*") if p.suffix in RESULTS} for run in (a, b)]
    return [str(name) for name in sorted(files[0] | files[1])
            if name not in files[0] & files[1] or (a / name).read_bytes() != (b / name).read_bytes()]


def killed_and_resumed(work, folder, name, case, settings, moments, verb="run"):
    """(wrong, processor seconds of the whole run, text) of `moments` kills; `settings` are options of the command line."""
    folder.mkdir(parents=True, exist_ok=True)
    whole, twice, log = (folder / f"{name}{end}" for end in ("_whole", "_two_threads", ".log"))
    command = [verb, case, "--force", *settings, "--output"]
    killed, seconds = work.run_to([*command, whole, "--threads", "1"], log, 1e9, *OPTIONS)
    if killed or not (whole / "results.h5").exists():
        raise rowkit.Failed(f"the undisturbed run of {name} did not end: {log.read_text()[-500:]}")

    def at(moment, place, log):
        """What is wrong with a run that is killed then, and whether it was resumed from a checkpoint."""
        killed = False
        while not killed:  # one that was done before is killed earlier
            shutil.rmtree(place, ignore_errors=True)
            killed, _ = work.run_to([*command, place, "--threads", "1"], log, moment, *OPTIONS)
            moment *= 0.9
        again = ["resume", place, "--threads", "2"] if (place / "manifest.json").exists() else [*command, place]
        code = work.start(again, log, *OPTIONS).wait()
        different = differences(whole, place) if code == 0 else []
        text = f"{name} killed at {moment / 0.9:.1f} s: exit {code} {different[:5]} {log.read_text()[-200:]}"
        return [text] if code != 0 or different else [], "going on from" in log.read_text()

    def lane(numbers):
        return [at(seconds * (k + chances[k]) / moments, folder / f"{name}_killed_{k % LANES}", folder / f"{name}_{k % LANES}.log") for k in numbers]

    chance = random.Random(20)
    chances = [chance.random() for _ in range(moments)]
    with concurrent.futures.ThreadPoolExecutor() as lanes:
        found = [one for part in lanes.map(lane, [range(k, moments, LANES) for k in range(LANES)]) for one in part]
    wrong = [text for texts, _ in found for text in texts]
    resumed = sum(from_checkpoint for _, from_checkpoint in found)
    work.start([*command, twice, "--threads", "2"], log, *OPTIONS).wait()
    different = differences(whole, twice)
    text = (f"{name}: {moments - len(wrong)} of {moments} equal, {resumed} of them from a checkpoint, resumed on 2 threads; a run of {seconds:.1f} processor "
            f"seconds, {len(list(whole.rglob('*.csv')))} tables; on 2 threads against 1 {len(different)} files differ")
    if resumed < moments // 2:
        wrong.append(f"{name}: only {resumed} runs were resumed from a checkpoint")
    return [*wrong, *different[:5]], seconds, text
