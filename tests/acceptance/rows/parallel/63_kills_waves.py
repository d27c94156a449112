# SPDX-License-Identifier: Apache-2.0
import random
import shutil

import fdtd
import parallel
import rank_kills

WHAT = ("a metal sphere in a plane wave (everything.toml, shortened) on 4 m, one or all of them killed (kill -9) at random moments and while a checkpoint "
        "is written, resumed on 1, 2, 3 and 4; checkpoints of 4 with a file flipped, cut, lost or exchanged")
BAR = "10 of 10 end with the files of one process; 1,000 of 1,000 noticed and an older whole set loads"
MOMENTS, DAMAGED = 10, 12
SETTINGS = {"run.stop.time": "5 fs", "run.stop.check_every": "0.6 fs"}  # looks at the clock at each check


def measure(work):
    case = work.root / "tests" / "acceptance" / "rows" / "fdtd" / "everything.toml"
    folder, settings = fdtd.folder(work, "ranks", "kills_waves"), fdtd.set_options(SETTINGS)
    wrong, text, seconds = rank_kills.killed_and_resumed(work, folder, case, settings, MOMENTS)
    damaged, told = damages(work, folder, ["run", case, "--force", *settings, "--output"], seconds, random.Random(30))
    found = work.gtest("data_tests", "CheckpointShards.*:FaultInjection.KilledAtAnyCallAGoodSetOfShardsIsLeft")
    wrong += damaged + found["failed"]
    return not wrong, "\n".join([text, told, f"1,000 files changed, and every call of a writer the last one: {found['passed']} tests passed", *wrong])


def damages(work, folder, verb, seconds, chance):
    """Sets of the program itself: what it says of one with a damaged file, and where it then ends."""
    whole, log, run, copy = folder / "whole", folder / "log", folder / "damaged", folder / "damaged_copy"
    stop = 0.7 * seconds
    while True:
        shutil.rmtree(run, ignore_errors=True)
        rank_kills.start(work, [*verb, run, "--max-time", f"{stop:.2f} s"], 4, log).wait()
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
        code = rank_kills.start(work, ["resume", copy], ranks, log).wait()
        said = log.read_text()
        different = parallel.differences(whole, copy) if code == 0 else []
        if code != 0 or different or f"going on from {older}.ckpt" not in said or "warning" not in said:
            wrong.append(f"{file.name} {how}, resumed on {ranks}: exit {code} {different[:5]} {said[-300:]}")
    return wrong, f"{DAMAGED - len(wrong)} of {DAMAGED} damaged checkpoints of 4 ranks noticed, gone on from the one before"
