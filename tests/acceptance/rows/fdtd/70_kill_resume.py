# SPDX-License-Identifier: Apache-2.0
import random
import shutil
import signal
import subprocess
import time

import fdtd
import rowkit

WHAT = "the ring (20 cells per unit) killed (kill -9) at moments uniform in its work and resumed; on 1 and on 2 threads"
BAR = "10 of 10 with every result file the same in all bytes; those of 2 threads as well"
MOMENTS = 10
RESULTS = {".csv", ".h5", ".png", ".svg", ".vtr", ".pvd"}


def differences(a, b):
    files = [{p.relative_to(run) for p in run.rglob("*") if p.suffix in RESULTS} for run in (a, b)]
    return [str(name) for name in sorted(files[0] | files[1])
            if name not in files[0] & files[1] or (a / name).read_bytes() != (b / name).read_bytes()]


def start(work, arguments, log):
    command = [work.tessera(), *map(str, arguments), "--checkpoint-every", "0.1 s", "--progress", "none"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=open(log, "w"))


def cpu_seconds(process):
    """User and system time of a process so far, from /proc."""
    with open(f"/proc/{process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def run_to(work, arguments, log, seconds):
    """Runs until so much processor time is spent, then kills: (killed, time spent)."""
    process, spent = start(work, arguments, log), 0.0
    while process.poll() is None and spent < seconds:
        spent = cpu_seconds(process)
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL, spent


def measure(work):
    case = fdtd.example(work, "ring.toml")
    settings = fdtd.set_options({"grid.cell": "50 nm", "boundary.pml.cells": 40, "run.stop.after_sources": "2.4 ps"})
    whole, place, log = fdtd.folder(work, "kill_whole"), fdtd.folder(work, "killed"), fdtd.folder(work, "killed.log")
    command = ["run", case, "--force", *settings, "--threads", "1", "--output"]
    killed, seconds = run_to(work, [*command, whole], log, 1e9)
    if killed or not (whole / "results.h5").exists():
        raise rowkit.Failed(f"the undisturbed run did not end: {log.read_text()[-500:]}")
    chance, wrong, resumed = random.Random(20), [], 0
    for k in range(MOMENTS):
        moment = seconds * (k + chance.random()) / MOMENTS
        shutil.rmtree(place, ignore_errors=True)
        killed, _ = run_to(work, [*command, place], log, moment)
        while not killed:  # it was done before
            moment *= 0.9
            shutil.rmtree(place, ignore_errors=True)
            killed, _ = run_to(work, [*command, place], log, moment)
        again = ["resume", place, "--threads", "2"] if (place / "manifest.json").exists() else [*command, place]
        code = start(work, again, log).wait()
        resumed += "going on from" in log.read_text()
        different = differences(whole, place) if code == 0 else []
        if code != 0 or different:
            wrong.append(f"killed at {moment:.1f} s: exit {code} {different[:5]} {log.read_text()[-200:]}")
    two = fdtd.run(work, case, "kill_two_threads", {"grid.cell": "50 nm", "boundary.pml.cells": 40, "run.stop.after_sources": "2.4 ps"}, threads=2)
    different = differences(whole, two.path)
    text = (f"{MOMENTS - len(wrong)} of {MOMENTS} equal, {resumed} of them from a checkpoint, resumed on 2 threads; a run of {seconds:.1f} processor seconds; "
            f"2 threads against 1: {len(different)} files differ; {fdtd.where(work)}")
    return not wrong and not different and resumed >= MOMENTS // 2, "\n".join([text, *wrong, *different[:5]])
