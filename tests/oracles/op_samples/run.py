# SPDX-License-Identifier: Apache-2.0
"""Torch's samples against the engine.

    python run.py PROGRAM [--case ID] [--folder FOLDER] [--operations NAME...]

PROGRAM is op_samples of a build; the Python is one that has torch and expecttest (the peers' environment of './bootstrap.sh bench').
Cases are made and judged by as many processes as there are cores, each in a share of the operations. A case that ends the program is
a crash; the next process goes on after it. Prints what was done and what failed, and exits with 1 where anything failed that
deviations.toml does not give a reason for, or where a reason there is for nothing.
"""
import argparse
import collections
import fnmatch
import importlib.util
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
SILENCE = 60  # seconds after which a case counts as one that does not end
SHARES = 16


def make(folder, names, only):
    """Cases of these operations, by a Python of its own: torch may end it."""
    import_line = f"import sys; sys.path.insert(0, {str(HERE)!r}); import json, pathlib, samples; "
    call = f"print(json.dumps(samples.write(pathlib.Path({str(folder)!r}), {set(names)!r}, {only!r})))"
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([sys.executable, "-c", import_line + call], capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode:
        return {"cases": 0, "broken": f"{sorted(names)} (code {done.returncode}): {done.stderr.strip()[-300:]}"}
    *notes, counts = done.stdout.strip().splitlines()
    return {**json.loads(counts), "notes": notes}


def judged(program, folder, count):
    """Verdicts of all cases of a folder; (number, text) of those that ended the program."""
    lines = (folder / "cases.jsonl").read_text().splitlines()
    at, verdicts, crashes = 0, [], []
    while at < count:
        process = subprocess.Popen([program, str(folder), str(at), str(count)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "OMP_NUM_THREADS": "1"})
        running = None
        while True:
            if not select.select([process.stdout], [], [], SILENCE)[0]:
                process.kill()
                break
            line = process.stdout.readline()
            if not line:
                break
            said = json.loads(line)
            if "begin" in said:
                running = said["begin"]
            else:
                verdicts.append(said)
                running = None
        code = process.wait()
        if running is None:
            if code:
                raise SystemExit(f"op_samples ended with {code}: {process.stderr.read()[-500:]}")
            break
        what = "does not end" if code == -9 else f"ends the program ({code}) {process.stderr.read().strip()[-200:]}"
        verdicts.append({"id": json.loads(lines[running])["id"], "done": {"value": 0}, "failed": [["crash", what, 0]]})
        at = running + 1
    return verdicts


def described(folder, identity):
    """The arguments of a case, as Python."""
    import numpy as np
    for line in open(folder / "cases.jsonl"):
        case = json.loads(line)
        if case["id"] != identity:
            continue
        data = (folder / "data.bin").read_bytes()
        types = {"bool": "?", "u8": "u1", "i32": "i4", "i64": "i8", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16"}

        def show(v):
            if isinstance(v, dict) and "tensor" in v:
                a = case["tensors"][v["tensor"]]
                n = int(np.prod(a["shape"], dtype=int))
                array = np.frombuffer(data, types[a["type"]], n, a["at"]).reshape(a["shape"])
                return f"torch.tensor({np.array2string(array, separator=', ', threshold=40, floatmode='unique')})  # {a['type']}{a['shape']}\n   "
            if isinstance(v, dict) and "named" in v:
                return ", ".join(f"{k}={show(x)}" for k, x in v["named"].items())
            if isinstance(v, dict) and "tuple" in v:
                return "(" + "".join(show(x) + ", " for x in v["tuple"]) + ")"
            return "[" + ", ".join(map(show, v)) + "]" if isinstance(v, list) else repr(v)
        first, rest, named = case["arguments"]
        return f"torch.{case['op']}({', '.join([show(first), *map(show, rest)])}, {show(named)})"
    return ""


class Deviations:
    """Reasons of deviations.toml. One holds for a failed check of a case where all that it says is so: `cases` and `checks` are
    patterns, `says` is in the message, the difference is at most `up_to` times what is allowed, and with `finite = false` an
    argument is infinite or NaN. A reason that nothing needs is an error, but for one with `by_chance = true`: what torch gives there is
    no function of its arguments, and may be right now and then."""

    def __init__(self):
        self.reasons = tomllib.loads((HERE / "deviations.toml").read_text()).get("deviation", [])
        self.used = collections.Counter()

    def reason(self, verdict, check, what, times):
        identity = verdict["id"]
        for k, d in enumerate(self.reasons):
            if any(fnmatch.fnmatchcase(identity, p) for p in d["cases"]) and any(fnmatch.fnmatchcase(check, p) for p in d.get("checks", ["*"])) and \
                    d.get("says", "") in what and d.get("finite", True) in (True, verdict.get("finite", True)) and times <= d.get("up_to", 1e300):
                self.used[k] += 1
                return d["reason"]
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--case")
    parser.add_argument("--folder")
    parser.add_argument("--operations", nargs="*")
    parser.add_argument("--all", action="store_true", help="print every failure, not the first twenty")
    options = parser.parse_args()
    if not all(map(importlib.util.find_spec, ("torch", "expecttest", "scipy"))):
        print(f"{sys.executable} lacks torch, expecttest or scipy: './bootstrap.sh bench' installs them")
        sys.exit(3)
    names = subprocess.run([options.program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    if options.case:
        names = [options.case.split("/")[0]]
    if options.operations:
        names = [n for n in names if any(fnmatch.fnmatchcase(n, p) for p in options.operations)]
    scratch = tempfile.TemporaryDirectory(prefix="op_samples_")
    folder = pathlib.Path(options.folder or scratch.name)
    shares = [names[k::SHARES] for k in range(min(SHARES, len(names)))]
    begin = time.monotonic()

    def share(k):
        place = folder / str(k)
        made = make(place, shares[k], options.case)
        return made, judged(options.program, place, made["cases"]) if made["cases"] else []

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(share, range(len(shares))))
    verdicts = [v for _, share_of in results for v in share_of if not options.case or v["id"] == options.case]
    broken = [made["broken"] for made, _ in results if "broken" in made]
    deviations = Deviations()
    checks, failures, given = collections.Counter(), [], collections.Counter()
    for v in verdicts:
        checks.update(v["done"].keys())
        seen = set()
        for check, what, times in v["failed"]:
            reason = deviations.reason(v, check, what, times)
            if reason is None:
                failures.append((v["id"], check, what + (f", {times:.3g} times what is allowed" if times else "")))
            elif reason not in seen:
                given[reason] += 1
                seen.add(reason)
    if options.folder:
        (folder / "verdicts.json").write_text(json.dumps(verdicts))
    unused = [d["reason"] for k, d in enumerate(deviations.reasons) if not deviations.used[k] and not d.get("by_chance")] if not (options.case or options.operations) else []
    crashes = sum(check == "crash" for _, check, _ in failures)
    operations = {v["id"].split("/")[0] for v in verdicts}
    if options.case:
        print(described(folder / "0", options.case))
    print(f"{len(verdicts)} cases of {len(operations)} operations; {sum(checks.values())} checks in {time.monotonic() - begin:.0f} s: "
          + ", ".join(f"{n} {c}" for c, n in sorted(checks.items())))
    types = collections.Counter(v["id"].split("/")[1] for v in verdicts)
    print("by type: " + ", ".join(f"{n} {t}" for t, n in types.items()) + f"; {sum('/empty' in v['id'] for v in verdicts)} empty")
    for reason, n in given.most_common():
        print(f"deviates in {n} cases: {reason}")
    failing = {i for i, _, _ in failures}
    print(f"{len(failing)} cases fail, {crashes} crash; {len(deviations.reasons)} reasons")
    for name, value in (("cases", len(verdicts)), ("operations", len(operations)), ("failing", len(failing)), ("crashing", crashes),
                        ("reasons", len(deviations.reasons))):
        print(f"op_samples_{name} {value} 1")
    for identity, check, what in failures[:None if options.all or options.case else 20]:
        print(f"  {identity}  {check}: {what}")
    for text in broken + [f"a reason for nothing: {r}" for r in unused]:
        print(text)
    if options.all or options.case:
        for made, _ in results:
            print("\n".join(made.get("notes", [])))
    sys.exit(bool(failures or broken or unused))


main()
