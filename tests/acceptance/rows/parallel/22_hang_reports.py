# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import re
import signal
import time

import mt1d
import parallel

WHAT = ("a missing, reordered, misshaped collective, calls that wait for each other; a rank asleep for 5 s, for ever; 3 t, 3 m, and soundings on 3 m, "
        "a rank of which is stopped")
BAR = "both lines in 2 s; named in 2 s, goes on; ends when told"
WRONG = ("missing", "missing-at-the-end", "reordered", "misshaped", "crossed", "skipped-by-one-who-waits", "channels")


def calls(work, before, name):
    """(holds, text): what a rank does wrong is told with both lines within 2 s, and the program ends."""
    begin = time.monotonic()
    done = work.run([*before, name], timeout=60)
    took = time.monotonic() - begin
    times = [float(t) for t in re.findall(r"told ([\d.]+) s", done.err)]
    lines = max((len(re.findall(r"wrongs\.h:\d+", line)) for line in done.err.splitlines()), default=0)
    holds = done.code == 7 and bool(times) and min(times) <= 2 and lines >= 2 or name == "misshaped" and "rank 1 expects 24 bytes" in done.err
    return holds, f"{name} {min(times, default=-1):.2f} s of {took:.1f}" + ("" if holds else f" DOES NOT HOLD: {done.code} {done.err[-300:]}")


def sleepers(work, before):
    done = work.run([*before, "asleep"], timeout=60)
    named = re.findall(r"rank [02] waits for rank 1 in .*\ntold ([\d.]+) s", done.err)
    goes_on = done.code == 0 and "all holds" in done.out and bool(named) and max(map(float, named)) <= 2
    gone = work.run([*before, "gone"], timeout=60)
    ended = re.findall(r"waited in vain for rank 1 .*\ntold ([\d.]+) s", gone.err)
    ends = gone.code == 7 and bool(ended) and float(ended[0]) <= 2
    text = f"asleep: named after {named}, goes on; for ever, told to end after 1 s: ended after {ended[:1]}"
    return goes_on and ends, text + ("" if goes_on and ends else f" DOES NOT HOLD: {done.code} {done.err[-300:]} {gone.code} {gone.err[-300:]}")


def soundings(work, folder, name, *options):
    """A run on three processes that has begun its chains, and their ids."""
    case = folder / "case.toml"
    if not case.exists():
        work.run([work.tessera(), "new", "inversion.mt1d", folder / "site"]).must_succeed("tessera new")
        case.write_text('app = "inversion.mt1d"\n[data]\nfiles = "site/soundings"\n[posterior]\nmethod = "mcmc"\nsamples = 20000\n'
                        "burn_in = 200\nkeep_every = 10\n")
    run = parallel.Run(folder, [*parallel.mpirun(), "-n", "3", work.tessera(), "run", case, "--output", folder / name, *options])
    run.until(lambda: "3 ranks" in run.said())
    time.sleep(0.5)
    return run


def stopped_rank(work, folder):
    run = soundings(work, folder, "asleep")
    pid = run.ranks()[2]
    os.kill(pid, signal.SIGSTOP)
    begin = time.monotonic()
    named = run.until(lambda: "waits for rank 2" in run.said(), 5)
    time.sleep(max(0.0, 5 - (time.monotonic() - begin)))
    os.kill(pid, signal.SIGCONT)
    code, _, left = run.end(300)
    one = work.run([work.tessera(), "run", folder / "case.toml", "--output", folder / "one", "--threads", "2"])
    same = one.code == 0 and not parallel.differences(folder / "one", folder / "asleep")
    gone = soundings(work, folder, "gone", "--max-wait", "3s")
    os.kill(gone.ranks()[2], signal.SIGSTOP)
    begin = time.monotonic()
    gone_code, _, gone_left = gone.end(30)
    took = time.monotonic() - begin
    messages = [line for line in gone.err.read_text().splitlines() if line.startswith("tessera: error")]
    holds = named <= 2 and code == 0 and same and not left and gone_code == 9 and took <= 3 + 2 and not gone_left and len(messages) == 1
    return holds, (f"soundings, a process stopped: named after {named:.2f} s, goes on after 5 s: exit {code}, {'the same' if same else 'OTHER'} files; for ever, "
                   f"--max-wait 3s: exit {gone_code} after {took:.1f} s, {len(messages)} message, {len(gone_left)} processes left")


def measure(work):
    mt1d.need_app(work)
    holds, text = True, []
    program = work.program("mpi_ranks")
    for kind, before in (("3 t", [program, "threads:3"]), ("3 m", [*parallel.mpirun(), "-n", "3", program])):
        results = [calls(work, before, name) for name in WRONG]
        asleep, said = sleepers(work, before)
        holds = holds and asleep and all(h for h, _ in results)
        text += [f"{kind}: " + ", ".join(t for _, t in results), f"{kind}: {said}"]
    with work.temp() as folder:
        stopped, said = stopped_rank(work, pathlib.Path(folder))
    return holds and stopped, "\n".join([*text, said])
