# SPDX-License-Identifier: Apache-2.0
"""Runs on four ranks that are killed, one rank or all, and resumed on one to four: every file of the problem against that of one process."""
import os
import random
import shutil
import signal
import subprocess
import time

import parallel
import rowkit

OPTIONS = ("--threads", "1", "--checkpoint-every", "0.1 s", "--progress", "none")


def command(work, verb, ranks):
    return ([*parallel.mpirun(), "-n", str(ranks)] if ranks > 1 else []) + [work.tessera(), *map(str, verb), *OPTIONS]


def start(work, verb, ranks, log):
    with open(log, "w") as err:
        return subprocess.Popen(command(work, verb, ranks), stdout=subprocess.DEVNULL, stderr=err, start_new_session=True)


def being_written(checkpoints):
    return checkpoints.is_dir() and any(".tmp-" in name for name in os.listdir(checkpoints))


def kill(process, checkpoints, seconds, in_a_write, one, chance):
    """(killed before its end, while a checkpoint was written)"""
    end, hit = time.monotonic() + seconds, False
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)
    while in_a_write and process.poll() is None and not hit:
        hit = being_written(checkpoints)
        time.sleep(0.0005)
    victims = parallel.descendants(process.pid) if process.poll() is None else []
    if one and victims:
        os.kill(chance.choice(victims), signal.SIGKILL)
    elif process.poll() is None:
        for victim in [*victims, process.pid]:
            os.kill(victim, signal.SIGKILL)
    return process.wait() != 0, hit


def killed_and_resumed(work, folder, case, settings, moments):
    """(wrong, text, seconds of a run on 4) of `moments` kills, half of them while a checkpoint is written; folder/whole is the run of one process."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    whole, run, log = folder / "whole", folder / "killed", folder / "log"
    verb = ["run", case, "--force", *settings, "--output"]
    work.run([work.tessera(), *verb, whole, *OPTIONS]).must_succeed("the undisturbed run")
    begin = time.monotonic()
    if start(work, [*verb, folder / "four"], 4, log).wait() != 0:
        raise rowkit.Failed(f"the undisturbed run on 4 did not end: {log.read_text()[-500:]}")
    seconds = time.monotonic() - begin
    chance, wrong, hits, resumed = random.Random(29), [], 0, 0
    for k in range(moments):
        moment, killed = seconds * (k + chance.random()) / moments, False
        while not killed:
            shutil.rmtree(run, ignore_errors=True)
            process = start(work, [*verb, run], 4, log)
            killed, hit = kill(process, run / "ckpt", moment, k % 2 == 0, k % 4 < 2, chance)
            moment *= 0.9
        hits += hit
        again = ["resume", run] if (run / "manifest.json").exists() else [*verb, run]
        ranks = 1 + k % 4
        code = start(work, again, ranks, log).wait()
        resumed += "going on from" in log.read_text()
        different = parallel.differences(whole, run) if code == 0 else []
        if code != 0 or different:
            wrong.append(f"killed at {moment / 0.9:.1f} s, resumed on {ranks}: exit {code} {different[:5]} {log.read_text()[-300:]}")
    text = f"{moments - len(wrong)} of {moments} equal in {len(parallel.files(whole))} files, {resumed} of them from a checkpoint, {hits} killed while one was written; a run of {seconds:.1f} s on 4"
    if hits < 2 or resumed < moments // 2:
        wrong.append(f"only {resumed} were resumed from a checkpoint, only {hits} killed while one was written")
    return wrong, text, seconds
