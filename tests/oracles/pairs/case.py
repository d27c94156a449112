# SPDX-License-Identifier: Apache-2.0
"""A case as a set of keys, its run, and the tables that the run leaves behind."""
import csv
import json
import math
import pathlib
import re
import shutil
import subprocess

RIGHT, NOT_REACHED = 0, 6  # exit codes of a run that has computed what it was asked to
REFUSALS = (4, 5)
TIMEOUT_S = 120


def nested(keys):
    """{"a.b": 1, "c[0].d": 2} as {"a": {"b": 1}, "c": [{"d": 2}]}; keys of None are not given."""
    out = {}
    for name, value in keys.items():
        if value is None:
            continue
        *path, last = name.split(".")
        at = out
        for part in path:
            table, bracket, index = part.partition("[")
            if not bracket:
                at = at.setdefault(table, {})
                continue
            items = at.setdefault(table, [])
            while len(items) <= int(index[:-1]):
                items.append({})
            at = items[int(index[:-1])]
        at[last] = value
    return out


def plain(name):
    """"monitor[0].kind" as the schema names it: "monitor.kind"."""
    return re.sub(r"\[\d+\]", "", name)


class Failure(Exception):
    """A law that does not hold: its name, and how far off."""

    def __init__(self, law, detail):
        super().__init__(f"{law}: {detail}")
        self.law, self.detail = law, detail


class Run:
    """One run of the program; `keys` is the case, and lies in `folder`.json."""

    def __init__(self, tessera, folder, keys, verb="run", options=("--threads", "1"), reverse=False):
        self.folder, self.keys = pathlib.Path(folder), dict(keys)
        case = self.folder.with_suffix(".json")
        tree = nested(keys)
        if reverse:  # the order in which keys and tables stand
            tree = json.loads(json.dumps(tree), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
        case.write_text(json.dumps(tree, indent=1))
        command = [tessera, verb, case.name, *options]
        if verb == "run":
            shutil.rmtree(self.folder, ignore_errors=True)
            command += ["--output", self.folder.name, "--progress", "none"]
        try:
            done = subprocess.run([str(c) for c in command], cwd=self.folder.parent, capture_output=True, text=True,
                                  timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, errors="replace")
            self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            self.code, self.out, self.err = 124, "", f"not done after {TIMEOUT_S} s"

    def __getitem__(self, key):
        return self.keys.get(key)

    def table(self, name):
        """{column: [numbers, or texts]}; NaN where a field is empty."""
        with open(self.folder / name, newline="") as file:
            rows = list(csv.reader(file))
        out = {}
        for k, column in enumerate(rows[0]):
            out[column] = [number_or_text(row[k]) for row in rows[1:]]
        return out

    def files(self, *endings):
        """{name: bytes} of what the run has written with these endings."""
        return {str(p.relative_to(self.folder)): p.read_bytes() for p in sorted(self.folder.rglob("*"))
                if p.is_file() and p.suffix in endings and "ckpt" not in p.parts}

    def clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def number_or_text(field):
    if field == "":
        return math.nan
    try:
        return float(field)
    except ValueError:
        return field


def expect(law, holds, detail=""):
    if not holds:
        raise Failure(law, detail() if callable(detail) else detail)


def expect_near(law, found, wanted, relative=0.0, absolute=0.0):
    bound = absolute + relative * abs(wanted)
    expect(law, abs(found - wanted) <= bound, lambda: f"{found:.10g} in place of {wanted:.10g} (allowed {bound:.2g})")


def expect_same_files(law, a, b):
    expect(law, a.keys() == b.keys(), lambda: f"files {sorted(a.keys() ^ b.keys())}")
    for name in a:
        expect(law, a[name] == b[name], name)
