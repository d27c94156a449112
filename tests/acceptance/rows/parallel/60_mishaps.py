# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import mt1d
import parallel
import rowkit

WHAT = ("waves and soundings on 4 m: bad input, a full disk, no memory on one rank, SIGTERM to one, a folder that one does not see, another launcher's "
        "variables; `check`")
BAR = "one message of ours, its exit code through mpirun, all gone in 5 s; nothing written; printed once"
SETTINGS = {"waves": ["--set", "run.stop.steps=90000000"], "soundings": ["--set", "posterior.samples=2000000"]}
WAVES = """app = "electromagnetics.fdtd"
[grid]
size = ["1.2 um", "1 um", "0.9 um"]
cell = "50 nm"
[boundary]
x = "pec"
y = "pec"
z = "pec"
[[source]]
kind = "point"
component = "Ex"
position = ["0.1 um", "0 um", "0.1 um"]
waveform = {kind = "gaussian", frequency = "400 THz", bandwidth = "200 THz"}
[[monitor]]
kind = "probe"
name = "point"
position = ["0.1 um", "0.1 um", "0 um"]
[run]
stop.steps = 600
"""
SOUNDINGS = """app = "inversion.mt1d"
[data]
files = "site/soundings"
[posterior]
method = "mcmc"
samples = 2000
burn_in = 200
keep_every = 10
"""


class Place:
    def __init__(self, work, folder):
        self.work, self.folder, self.wrong, self.text = work, folder, [], []
        self.mpirun = [*parallel.mpirun(), "-n", "4"]
        work.run([work.tessera(), "new", "inversion.mt1d", folder / "site"]).must_succeed("tessera new")
        (folder / "waves.toml").write_text(WAVES)
        (folder / "soundings.toml").write_text(SOUNDINGS)

    def start(self, *arguments, one=None, around=()):
        """`tessera` on four ranks; one of them, (rank, line of sh), does something first; the whole may be run by another program."""
        program = [self.work.tessera()]
        if one:
            program = ["/bin/sh", "-c", f'if [ "$OMPI_COMM_WORLD_RANK" = {one[0]} ]; then {one[1]}; fi; exec "$0" "$@"', *program]
        return parallel.Run(self.folder, [*around, *self.mpirun, *program, *arguments], cwd=self.folder)

    def expect(self, what, run, codes, *, written=None, words=""):
        """One message, the exit code, and nobody left 5 s after the command has ended; `written`: whether the run folder may be there."""
        code, took, left = run.end(120)
        said = run.said()
        messages = re.findall(r"(?:^|\s)error(?: E\d{4})?: .*", said)
        found = [] if code in codes else [f"exit code {code}"]
        found += [] if len(messages) == 1 else [f"{len(messages)} messages"]
        found += [f"{len(left)} processes left"] if left else []
        found += [] if words in said else [f"does not say '{words}'"]
        if written is not None and (self.folder / "R").exists() != written:
            found.append("wrote" if not written else "wrote nothing")
        self.wrong += [f"{what}: {', '.join(found)}: {said[-700:]}"] if found else []
        self.text.append(f"{what} exit {code}" + (f" in {took:.1f} s" if took > 0.05 else ""))
        if (self.folder / "R").exists():
            shutil.rmtree(self.folder / "R")

    def begun(self, run):
        run.until(lambda: (self.folder / "R" / "heartbeat.json").exists())
        time.sleep(0.5)
        return run


def hides(folder):
    """What a process does so that it sees the folder empty."""
    return (f"exec unshare -m sh -c 'mount -t tmpfs none \"{folder}\" && exec \"$0\" \"$@\"' \"$0\" \"$@\"")


def mishaps_of(place, name):
    case, more = f"{name}.toml", SETTINGS[name]
    folder = place.folder
    place.expect(f"{name}: unknown key", place.start("run", case, "--output", "R", "--set", "nothing.such=1"), {5}, written=False)
    place.expect(f"{name}: no case", place.start("run", "nowhere.toml", "--output", "R"), {4, 5}, written=False)
    if name == "soundings":
        place.expect("soundings: missing data", place.start("run", case, "--output", "R", "--set", "data.files=nowhere"), {4, 5}, written=False)
    (folder / "full").mkdir(exist_ok=True)
    small = ("unshare", "-m", "sh", "-c", f'mount -t tmpfs -o size=80k none "{folder}/full" && exec "$0" "$@"')
    place.expect(f"{name}: full disk", place.start("run", case, "--output", "full/R", "--checkpoint-every", "0.2s", *more, around=small), {3})
    run = place.begun(place.start("run", case, "--output", "R", *more))
    os.kill(run.ranks()[2], signal.SIGTERM)
    code, took, left = run.end(60)
    stopped = code == 75 and not left and run.said().count("go on with: tessera resume R") == 1 and took <= 5
    place.wrong += [] if stopped else [f"{name}: SIGTERM: exit {code} after {took:.1f} s, {len(left)} left: {run.said()[-400:]}"]
    place.text.append(f"{name}: SIGTERM exit {code} after {took:.1f} s")
    shutil.rmtree(folder / "R")
    (folder / "shared").mkdir(exist_ok=True)
    place.expect(f"{name}: unseen folder", place.start("run", case, "--output", "shared/R", one=(2, hides(folder / "shared"))), {2}, words="all machines share")
    place.expect(f"{name}: unseen case", place.start("run", case, "--output", "R", one=(3, "cd /")), {4, 5}, written=False, words="put them where all see them")
    place.wrong += [f"{name}: wrote into the folder that one does not see"] if list((folder / "shared").iterdir()) else []


def foreign(place):
    """Four processes that another launcher has started, each alone for our MPI."""
    for variables in ({"PMI_SIZE": "4"}, {"SLURM_STEP_NUM_TASKS": "4"}, {"MPI_LOCALNRANKS": "4"}):
        all_four = [place.work.run([place.work.tessera(), "run", "waves.toml", "--output", "R"], cwd=place.folder, env=variables) for _ in range(4)]
        good = all(d.code == 2 and "start them with" in d.err for d in all_four) and not (place.folder / "R").exists()
        place.wrong += [] if good else [f"{variables}: {all_four[0].code} {all_four[0].err[-300:]}"]
    place.text.append("three foreign launchers refused, nothing written")


def checked(place):
    for name in ("waves", "soundings"):
        alone = place.work.run([place.work.tessera(), "check", f"{name}.toml"], cwd=place.folder)
        four = place.work.run([*place.mpirun, place.work.tessera(), "check", f"{name}.toml"], cwd=place.folder)
        place.wrong += [] if four.code == 0 and four.out == alone.out else [f"check {name}: {four.code} {four.out}"]
    place.text.append("check printed once")


def no_memory(place):
    """The address space of one rank suffices for MPI and a small case, not for the fields of a larger one."""
    limit = (2, "ulimit -v 600000")
    code, _, _ = place.start("run", "waves.toml", "--output", "R", one=limit).end(120)
    place.wrong += [] if code == 0 else [f"a small case does not run in 600 MB: exit code {code}"]
    shutil.rmtree(place.folder / "R", ignore_errors=True)
    large = ["--set", "grid.cell=5 nm"]
    place.expect("waves: no memory", place.start("run", "waves.toml", "--output", "R", *large, one=limit), {3}, words="memory")


def measure(work):
    mt1d.need_app(work)
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0:
        raise rowkit.NotMeasured("folders cannot be hidden from a process here (unshare -m needs root)")
    with work.temp() as folder:
        place = Place(work, pathlib.Path(folder))
        for name in SETTINGS:
            mishaps_of(place, name)
        no_memory(place)
        foreign(place)
        checked(place)
    return not place.wrong, "\n".join(["; ".join(place.text), *place.wrong])
