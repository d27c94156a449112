# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import random
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import mt1d
import rowkit

WHAT = "a job of at least 60 s killed (kill -9) at 20 moments uniform in its run time and during checkpoint writes, then resume"
BAR = "20 of 20 equal in every dataset and CSV byte except times"
MOMENTS, DURING_WRITES = 20, 5
OPTIONS = ("--threads", "1", "--checkpoint-every", "1 s", "--quiet")


def kill_during_write(process, checkpoints):
    """Kills when a checkpoint is being written: its temporary file is there."""
    while process.poll() is None:
        if checkpoints.is_dir() and any(".tmp" in name for name in os.listdir(checkpoints)):
            process.send_signal(signal.SIGKILL)
            return True
        time.sleep(0.0005)
    return False


def kill_once(work, folder, case, whole, k, moment):
    """('' or what is wrong, whether the kill came while a checkpoint was written)"""
    run, log, killed, hit = folder / f"killed{k}", folder / f"killed{k}.log", False, False
    while not killed:
        process = work.start(["run", case, "--output", run], log, *OPTIONS, cwd=folder)
        if k % (MOMENTS // DURING_WRITES) == 0:
            spent = rowkit.wait_for(process, min(moment, 0.8 * whole))
            hit = kill_during_write(process, run / "ckpt")
        else:
            spent = rowkit.wait_for(process, moment)
            process.send_signal(signal.SIGKILL)
        killed = process.wait() == -signal.SIGKILL
        if not killed:  # it was done before, in less time than the undisturbed run took: the same share of that
            shutil.rmtree(run)
            moment = min(0.98 * spent, 0.98 * moment * spent / whole)
    verb = ["resume", run] if (run / "manifest.json").exists() else ["run", case, "--output", run, "--force"]
    code = work.start(verb, log, *OPTIONS, cwd=folder).wait()
    different = mt1d.differences(work, folder / "whole", run)
    shutil.rmtree(run)
    if code == 0 and not different:
        return "", hit
    said = log.read_text(errors="replace")
    return f"killed at {moment:.1f} s: exit {code} {different[:5]} {said[-200:]}", hit


def measure(work):
    mt1d.need_app(work)
    with work.temp() as folder:
        folder = pathlib.Path(folder)
        copies, whole = 1, 0.0
        while True:  # grow the job until it takes its minute
            place = folder / f"case{copies}"
            place.mkdir()
            case = mt1d.write_case(place, mt1d.gabbs_files(work), copies)
            log = folder / "whole.log"
            process = work.start(["run", case, "--output", folder / "whole"], log, *OPTIONS, cwd=folder)
            while process.poll() is None:
                whole = rowkit.cpu_seconds(process)
                time.sleep(0.05)
            if process.returncode != 0:
                raise rowkit.Failed(f"the undisturbed run ended with {process.returncode}:\n{log.read_text()[-2000:]}")
            if whole >= 60:
                break
            shutil.rmtree(folder / "whole")
            copies = max(copies + 1, int(copies * 66 / max(whole, 1)))
        chance = random.Random(20)
        moments = [whole * (k + chance.random()) / MOMENTS for k in range(MOMENTS)]
        with ThreadPoolExecutor(2) as two:  # a job runs on one thread: two at a time
            results = list(two.map(lambda k: kill_once(work, folder, case, whole, k, moments[k]), range(MOMENTS)))
    wrong = [words for words, _ in results if words]
    hit = sum(during for _, during in results)
    equal = MOMENTS - len(wrong)
    text = f"{equal} of {MOMENTS} equal; a job of {whole:.0f} processor seconds, {20 * copies} soundings; {hit} kills while a checkpoint was written"
    return equal == MOMENTS and hit > 0, "\n".join([text, *wrong])
