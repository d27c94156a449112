# SPDX-License-Identifier: Apache-2.0
"""Runs on ranks for the acceptance rows: threads of one process ("8 t"), processes under mpirun ("3 m")."""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import rowkit

# What a run writes about itself, not about its problem.
OWN = {"log.txt", "manifest.json", "heartbeat.json"}

# Rigid water by PME: minimized, heated without and with a bath of pressure.
WATER_IN_STAGES = """app = "molecular.dynamics"
dt = "2 fs"
rcoulomb = "0.85 nm"
rvdw = "0.85 nm"
constraints = "h-bonds"
tcoupl = "v-rescale"
ref_t = "300 K"
nstenergy = 20
nstxout = {every}
nstlog = 0
[output]
{output}
[build]
kind = "water"
model = "tip3p"
molecules = {molecules}
[[stage]]
type = "minimize"
nsteps = 30
[[stage]]
name = "heat"
heat_from = "50 K"
nsteps = 300
[[stage]]
name = "press"
pcoupl = "c-rescale"
nsteps = 300
"""


def mpirun():
    found = shutil.which("mpirun")
    if not found:
        raise rowkit.NotMeasured("there is no mpirun (Debian package openmpi-bin)")
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [found, *root, "--oversubscribe"]


def command(work, ranks, kind, *mpi_options):
    """What stands before the verb, and the options behind the case."""
    if kind == "t":
        return [work.tessera()], ["--ranks", f"threads:{ranks}"]
    return [*mpirun(), *mpi_options, "-n", str(ranks), work.tessera()], []


def files(folder):
    """The files of a run folder that belong to its problem."""
    return {p.relative_to(folder) for p in folder.rglob("*")
            if p.is_file() and p.name not in OWN and "ckpt" not in p.relative_to(folder).parts}


def differences(one, other):
    a, b = files(one), files(other)
    return [str(p) for p in sorted(a | b) if p not in a & b or (one / p).read_bytes() != (other / p).read_bytes()]


def random_weights(ranks, seed):
    chance = random.Random(seed)
    return ",".join(f"{0.2 + chance.random() * 3:.3f}" for _ in range(ranks))


def same_files(work, folder, name, case, settings, ways):
    """(wrong, text): a case on one process, and in other ways: (ranks, kind, options, options of mpirun)."""
    options = ["--force", "--progress", "none", *settings]
    whole = folder / f"{name}_whole"
    work.run([work.tessera(), "run", case, "--output", whole, "--threads", "1", *options]).must_succeed(f"tessera run {name}")
    wrong, told = [], []
    for ranks, kind, more, mpi in ways:
        what = f"{ranks} {kind}{' ' + ' '.join(more) if more else ''}"
        before, after = command(work, ranks, kind, *mpi)
        place = folder / f"{name}_other"
        done = work.run([*before, "run", case, "--output", place, *options, *(more or ["--threads", "1"]), *after])
        if done.code != 0:
            wrong.append(f"{name} on {what}: exit {done.code} {(done.out + done.err)[-300:]}")
            continue
        if "runs it alone" in done.err:
            told.append(f"{what} not cut")
        different = differences(whole, place)
        if different:
            wrong.append(f"{name} on {what}: {len(different)} files differ, {different[:4]}")
        shutil.rmtree(place)
    text = f"{name}: {len(ways) - len(wrong)} of {len(ways)} the same {len(files(whole))} files"
    return wrong, text + (f" ({', '.join(told)})" if told else "")


def every_way(seed=0):
    """2, 3, 5, 7, 8 thread ranks; 2, 3, 4 processes; 2 of two threads; 3 over TCP; five random cuts."""
    ways = [(n, "t", [], []) for n in (2, 3, 5, 7, 8)] + [(n, "m", [], []) for n in (2, 3, 4)]
    ways += [(2, "m", ["--threads", "2"], []), (3, "m", [], ["--mca", "btl", "tcp,self"])]
    chance = random.Random(seed)
    for k in range(5):
        n = chance.randint(2, 6)
        ways.append((n, "t", ["--threads", "1", "--weights", random_weights(n, seed + k)], []))
    return ways


class Run:
    """A command that goes on by itself, its output in files; `ranks` says which process is which rank."""

    def __init__(self, folder, command, cwd=None, env=None):
        self.out, self.err = folder / "stdout", folder / "stderr"
        with open(self.out, "w") as out, open(self.err, "w") as err:
            self.process = subprocess.Popen([str(c) for c in command], cwd=cwd, stdout=out, stderr=err, stdin=subprocess.DEVNULL, start_new_session=True,
                                            env={**os.environ, **(env or {})})

    def said(self):
        return self.out.read_text(errors="replace") + self.err.read_text(errors="replace")

    def ranks(self):
        """{rank: process id} of what mpirun has started below this process."""
        found = {}
        for pid in descendants(self.process.pid):
            try:
                variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            for v in variables:
                if v.startswith(b"OMPI_COMM_WORLD_RANK="):
                    found[int(v.split(b"=")[1])] = pid
        return found

    def until(self, condition, seconds=60):
        """Seconds until it held; Failed where it did not."""
        begin = time.monotonic()
        while not condition():
            if time.monotonic() - begin > seconds:
                self.kill()
                raise rowkit.Failed(f"not so after {seconds} s; said: {self.said()[-600:]}")
            time.sleep(0.01)
        return time.monotonic() - begin

    def end(self, seconds=60):
        """(exit code, seconds until it had ended, the processes that are left 5 s later)."""
        mine = set(descendants(self.process.pid))
        begin = time.monotonic()
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise rowkit.Failed(f"not ended after {seconds} s; said: {self.said()[-600:]}") from None
        took = time.monotonic() - begin
        while any(is_alive(p) for p in mine) and time.monotonic() - begin < took + 5:
            time.sleep(0.02)
        return code, took, [p for p in mine if is_alive(p)]

    def kill(self):
        for pid in [*descendants(self.process.pid), self.process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def descendants(pid):
    parents = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]
