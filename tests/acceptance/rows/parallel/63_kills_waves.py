# SPDX-License-Identifier: Apache-2.0
import os
import random
import shutil
import signal
import subprocess
import time

import fdtd
import kills
import parallel
import rowkit

WHAT = ("a metal sphere in a plane wave (everything.toml, shortened) on 4 m, one or all of them killed (kill -9) at random moments and while a checkpoint "
        "is written, resumed on 1, 2, 3 and 4; checkpoints of 4 with a file flipped, cut, lost or exchanged")
BAR = "10 of 10 end with the files of one process; 1,000 of 1,000 noticed and an older whole set loads"
MOMENTS, DAMAGED = 10, 12
SETTINGS = {"run.stop.time": "5 fs", "run.stop.check_every": "0.6 fs"}  # looks at the clock at each check
OPTIONS = ("--threads", "1", "--checkpoint-every", "0.1 s", "--progress", "none")


def command(work, verb, ranks):
    return ([*parallel.mpirun(), "-n", str(ranks)] if ranks > 1 else []) + [work.tessera(), *map(str, verb), *OPTIONS]


def start(work, verb, ranks, log):
    with open(log, "w") as err:
        return subprocess.Popen(command(work, verb, ranks), stdout=subprocess.DEVNULL, stderr=err, start_new_session=True)


def ranks_of(mpirun):
    """The processes that mpirun has started."""
    found = []
    for place in os.listdir("/proc"):
        if place.isdigit():
            try:
                with open(f"/proc/{place}/stat") as text:
                    fields = text.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == mpirun.pid:
                found.append(int(place))
    return found


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
    victims = ranks_of(process) if process.poll() is None else []
    if one and victims:
        os.kill(chance.choice(victims), signal.SIGKILL)
    elif process.poll() is None:
        for victim in [*victims, process.pid]:
            os.kill(victim, signal.SIGKILL)
    return process.wait() != 0, hit


def measure(work):
    case = work.root / "tests" / "acceptance" / "rows" / "fdtd" / "everything.toml"
    place = fdtd.folder(work, "ranks", "killed")
    shutil.rmtree(place, ignore_errors=True)
    whole, four, run, log = place.parent / "killed_whole", place.parent / "killed_four", place, place.parent / "killed.log"
    settings = fdtd.set_options(SETTINGS)
    verb = ["run", case, "--force", *settings, "--output"]
    work.run([work.tessera(), *verb, whole, *OPTIONS]).must_succeed("the undisturbed run")
    begin = time.monotonic()
    if start(work, [*verb, four], 4, log).wait() != 0:
        raise rowkit.Failed(f"the undisturbed run on 4 did not end: {log.read_text()[-500:]}")
    seconds = time.monotonic() - begin
    chance, wrong, hits, resumed = random.Random(29), [], 0, 0
    for k in range(MOMENTS):
        moment, killed = seconds * (k + chance.random()) / MOMENTS, False
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
        different = kills.differences(whole, run) if code == 0 else []
        if code != 0 or different:
            wrong.append(f"killed at {moment / 0.9:.1f} s, resumed on {ranks}: exit {code} {different[:5]} {log.read_text()[-300:]}")
    text = f"{MOMENTS - len(wrong)} of {MOMENTS} equal, {resumed} of them from a checkpoint, {hits} killed while one was written; a run of {seconds:.1f} s on 4"
    damaged, told = damages(work, place.parent, verb, whole, log, seconds, chance)
    found = work.gtest("data_tests", "CheckpointShards.*:FaultInjection.KilledAtAnyCallAGoodSetOfShardsIsLeft")
    wrong += damaged + found["failed"]
    return not wrong and hits >= 2 and resumed >= MOMENTS // 2, "\n".join(
        [text, told, f"1,000 files changed, and every call of a writer the last one: {found['passed']} tests passed", *wrong])


def damages(work, folder, verb, whole, log, seconds, chance):
    """Sets of the program itself: what it says of one with a damaged file, and where it then ends."""
    run, copy = folder / "damaged", folder / "damaged_copy"
    shutil.rmtree(run, ignore_errors=True)
    stop = 0.7 * seconds
    while True:
        shutil.rmtree(run, ignore_errors=True)
        start(work, [*verb, run, "--max-time", f"{stop:.2f} s"], 4, log).wait()
        heads = sorted((run / "ckpt").glob("*.ckpt"), key=lambda p: int(p.stem.split("-")[1]))
        if len(heads) >= 2 and "go on with" in log.read_text():
            break
        stop *= 0.9
    newest, older = heads[-1].stem, heads[-2].stem
    shards = sorted((run / "ckpt").glob(f"{newest}.*.shard"))
    others = sorted((run / "ckpt").glob(f"{older}.*.shard"))
    wrong = [] if len(shards) == 4 else [f"{len(shards)} shards of 4 ranks"]
    for k in range(DAMAGED):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(run, copy)
        file = copy / "ckpt" / (heads[-1].name if k % 5 == 4 else chance.choice(shards).name)
        content = bytearray(file.read_bytes())
        how = ("flipped", "cut", "lost", "exchanged")[k % 4]
        if how == "flipped" or (file.suffix == ".ckpt" and how == "lost"):  # without its last file the set never was one
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
            file.write_bytes(content)
        elif how == "cut":
            file.write_bytes(content[:chance.randrange(len(content))])
        elif how == "lost":
            file.unlink()
        else:
            file.write_bytes(chance.choice(others).read_bytes())
        ranks = 1 + k % 4
        code = start(work, ["resume", copy], ranks, log).wait()
        said = log.read_text()
        different = kills.differences(whole, copy) if code == 0 else []
        if code != 0 or different or f"going on from {older}.ckpt" not in said or "warning" not in said:
            wrong.append(f"{file.name} {how}, resumed on {ranks}: exit {code} {different[:5]} {said[-300:]}")
    return wrong, f"{DAMAGED - len(wrong)} of {DAMAGED} damaged checkpoints of 4 ranks noticed, gone on from the one before"
