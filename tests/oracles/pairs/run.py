#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every two levels of every two keys of an app in short runs, and laws that hold whatever the options are.

    tests/oracles/pairs/run.py inversion.mt1d --tessera build/release/bin/tessera [--only N] [--edges] [--list]

Exit code 0 where all hold; a failure is shown as the fewest keys that bring it about."""
import argparse
import collections
import concurrent.futures
import importlib
import itertools
import pathlib
import re
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
from case import NOT_REACHED, REFUSALS, RIGHT, Failure, Run, plain  # noqa: E402
from covering import covering_array  # noqa: E402
from schema import keys_of  # noqa: E402


class App:
    """What apps/NAME.py says of an app: BASE keys, LEVELS of more keys, FIXED keys with their reasons, REFUSED sets of keys, laws."""

    def __init__(self, name, tessera, place, data):
        self.name, self.tessera, self.place = name, tessera, pathlib.Path(place)
        self.told = importlib.import_module("apps." + name.split(".")[1])
        self.told.prepare(self.place, tessera, data)
        self.schema, kinds = keys_of(tessera, name)
        self.levels = {}
        for key, k in self.schema.items():
            if k.choices and not k.in_list and not within(key, [*self.told.FIXED, *self.told.BASE]):
                self.levels[key] = k.choices
        self.levels.update(self.told.LEVELS)
        # The level that a key has where nothing is asked for stands first: what a failure is shrunk towards.
        for key, values in self.levels.items():
            default = self.schema[plain(key)].default if plain(key) in self.schema else None
            at = next((i for i, v in enumerate(values) if v is None or v == default), 0)
            self.levels[key] = [values[at], *values[:at], *values[at + 1:]]
        self.refused = list(self.told.REFUSED)
        named = {plain(key): key for key in self.levels}
        for (kind_key, kind), (not_taken, needed) in kinds.items():
            if kind not in self.levels.get(named.get(kind_key), ()):
                continue
            at = named[kind_key]
            self.refused += [{"when": {at: kind, named[key]: "given"}} for key in not_taken if key in named]
            self.refused += [{"when": {at: kind, named[key]: None}} for key in needed if key in named]

    def unaccounted(self):
        """Keys of the schema that are neither varied nor fixed for a reason, and choices in lists of tables that no level names."""
        known = set(map(plain, [*self.levels, *self.told.BASE, *self.told.FIXED]))
        text = repr(list(self.levels.values())) + repr(self.told.BASE)

        out = [f"{key} is no key of {self.name}" for key in known if not any(within(s, [key]) for s in self.schema)]
        for key, k in self.schema.items():
            if not within(key, known):
                out.append(f"{key} has neither levels nor a reason to be fixed")
            if k.in_list and k.choices and not within(key, self.told.FIXED):
                out += [f"{key} = {c!r} is in no level" for c in k.choices if not isinstance(c, bool) and repr(c) not in text]
        return out

    def conflicts(self):
        return [{key: {i for i, v in enumerate(self.levels[key]) if holds(v, wanted)} for key, wanted in refusal["when"].items()} for refusal in self.refused]

    def keys(self, case):
        return {"app": self.name, **self.told.BASE, **{key: self.levels[key][i] for key, i in case.items()}}


def within(key, names):
    """Whether a key is one of these, or stands in a table of that name."""
    return any(key == name or key.startswith(name + ".") for name in names)


def holds(value, wanted):
    if wanted == "given":  # any level but that of a key that is not there
        return value is not None
    return value in wanted if isinstance(wanted, tuple) else value == wanted


def examine(app, keys, folder, metamorphic=True):
    """Raises Failure for the first law that does not hold."""
    checked = Run(app.tessera, folder, keys, "check", ())
    if checked.code != 0:
        raise Failure("a case that nothing forbids passes check", f"exit {checked.code}: {first_error(checked)}")
    run = Run(app.tessera, folder, keys)
    try:
        if run.code not in (RIGHT, NOT_REACHED):
            raise Failure("a case that passes check runs", f"exit {run.code}: {first_error(run)}")
        app.told.laws(run)
        if metamorphic:
            for name, change, compare in app.told.CHANGES:
                changed = change(run)
                if changed is None:
                    continue
                keys2, options = changed
                other = Run(app.tessera, f"{folder}_{name.split()[0]}", keys2, options=options.get("options", ("--threads", "1")), reverse=options.get("reverse", False))
                try:
                    if other.code != run.code and (other.code not in (RIGHT, NOT_REACHED) or not options.get("any_code")):
                        raise Failure(name, f"exit {other.code} in place of {run.code}: {first_error(other)}")
                    compare(name, run, other)
                finally:
                    other.clear()
        for verb in app.told.VERBS:
            done = Run(app.tessera, folder, keys, verb, ("--threads", "1"))
            if done.code != 0:
                raise Failure(f"{verb} holds", f"exit {done.code}: {first_error(done)}")
    finally:
        run.clear()


def first_error(run):
    lines = [line for line in (run.err + run.out).splitlines() if "error" in line or "FAIL" in line or "ERROR" in line]
    return " / ".join(lines[:2]) or (run.err + run.out)[-300:]


def shrink(app, case, failure, folder):
    """The fewest keys off their first level with which the same law fails."""
    case, conflicts = dict(case), app.conflicts()

    def forbidden(c):
        return any(all(c[key] in at for key, at in ban.items()) for ban in conflicts)

    changed = True
    while changed:
        changed = False
        for key in [k for k, i in case.items() if i != 0]:
            trial = {**case, key: 0}
            if forbidden(trial):
                continue
            try:
                examine(app, app.keys(trial), folder)
            except Failure as f:
                if f.law == failure.law:
                    case, failure, changed = trial, f, True
    return {key: app.levels[key][i] for key, i in case.items() if i != 0}, failure


class Learner:
    """What check refuses, found out: cases are made, and what forbids one is reduced to the fewest keys that do. A pair that cannot
    go together is one that check refuses with both keys named; anything else is a failure."""

    def __init__(self, app, folder, jobs):
        self.app, self.folder, self.jobs = app, folder, jobs
        self.conflicts, self.told, self.failures = list(app.conflicts()), [], []
        self.checks, self.numbers = {}, itertools.count()

    def refusal(self, case):
        """The first error of check for a case; None where it passes."""
        key = tuple(sorted(case.items()))
        if key not in self.checks:
            folder = self.folder.parent / f"check{next(self.numbers)}"
            done = Run(self.app.tessera, folder, self.app.keys(case), "check", ())
            text = folder.with_suffix(".json").read_text().splitlines()
            folder.with_suffix(".json").unlink()
            self.checks[key] = None if done.code == 0 else (done.code, with_tables(done.err + done.out, text))
        return self.checks[key]

    def all_of(self, cases):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(self.refusal, cases))

    def reduced(self, case, kind):
        """The keys off their first level without which check does not say this, by a way that meets no conflict that is known."""
        def known(c):
            return any(all(c[key] in at for key, at in ban.items()) for ban in self.conflicts)

        changed = True
        while changed:
            changed = False
            for key in [k for k, i in case.items() if i != 0]:
                trial = {**case, key: 0}
                if not known(trial) and kind in errors_of(self.refusal(trial)):
                    case, changed = trial, True
        return case

    def learn(self, case, kind):
        levels = self.app.levels
        case = self.reduced(case, kind)
        refusal = self.refusal(case)
        said = errors_of(refusal)
        off = {key: i for key, i in case.items() if i != 0}
        # Other keys that make it go belong to the conflict, with the levels that do not; an error that hides this one is no cure.
        # Those that the error names are tried first: it names both keys.
        others = [key for key in levels if key not in off]
        for keys in ([key for key in others if is_named(key, said[kind])], others if len(off) < 2 else []):
            trials = [(key, i) for key in keys for i in range(1, len(levels[key]))]
            now = [errors_of(r) for r in self.all_of([{**case, key: i} for key, i in trials])]
            passes = [trial for trial, kinds in zip(trials, now) if kind not in kinds and kinds.keys() <= said.keys()]
            if passes:
                break
        cures = {key: {i for i in range(len(levels[key]))} - {i for k, i in passes if k == key} for key in sorted({key for key, _ in passes})}
        conflict = {**{key: {i} for key, i in off.items()}, **cures}
        if conflict in self.conflicts:
            raise SystemExit(f"{self.app.name}: {said[kind]} is met again")
        self.conflicts.append(conflict)
        named = [key for key in conflict if is_named(key, said[kind]) or is_named(str(levels[key][case[key]]).replace("-", "_"), said[kind].replace("-", "_").lower())]
        words = show({key: levels[key][i] for key, i in off.items()}) + (f" without another {' or '.join(cures)}" if cures else "")
        self.told.append(words)
        if refusal[0] not in REFUSALS:
            self.failures.append(f"check ends with exit {refusal[0]}: {words}; {said[kind][-300:]}")
        elif len(conflict) < 2:
            self.failures.append(f"a level that is refused by itself: {words}; {said[kind]}")
        elif len(named) < 2:
            self.failures.append(f"both keys are not named: {words}; {said[kind]}")

    def cases(self):
        """The covering array, every case of which passes check."""
        if bad := self.refusal({key: 0 for key in self.app.levels}):
            raise SystemExit(f"{self.app.name}: the case of first levels does not pass check: {first_line(bad[1])}")
        kept = []
        while True:
            cases, impossible = covering_array(self.app.levels, self.conflicts, kept=kept)
            new = cases[len(kept):]
            refused = [(case, r) for case, r in zip(new, self.all_of(new)) if r]
            if not refused:
                return cases, impossible
            kept += [case for case in new if not self.refusal(case)]
            known = set()
            for case, r in refused:  # the first error of each kind; others may be gone when these are known
                kind = next(iter(errors_of(r)))
                if kind not in known:
                    known.add(kind)
                    self.learn(case, kind)
            if len(self.failures) > 40:
                return cases, impossible


def with_tables(said, case):
    """The errors, each line with the table of the case that its place lies in: a place in [[source]] names the source."""
    out = []
    for line in said.splitlines():
        place = re.search(r"\.json:(\d+):\d+: error", line)
        if place:
            above = [re.match(r' "(\w+)": [\[{]', text) for text in case[:int(place[1])]]
            line += next((f" (in {m[1]})" for m in reversed(above) if m), "")
        out.append(line)
    return "\n".join(out)


def errors_of(refusal):
    """{what makes two errors the same, the number and the words without values and names: the error with its hint}"""
    if not refusal:
        return {}
    out, at = {}, None
    for line in refusal[1].splitlines():
        message = re.search(r"error (E\d+): (.*)", line)
        if message or re.search(r": (warning|note) E\d+:", line):
            at = re.sub(r" \(in \w+\)|'[^']*'|[-+0-9.]+(e[-+]?[0-9]+)?", "#", message[0]) if message else None
        if at:
            out[at] = out.get(at, "") + line.strip() + " "
    return out or {refusal[1][:80]: refusal[1]}


def is_named(key, text):
    return bool(re.search(r"(?<![A-Za-z0-9_])" + re.escape(key.split(".")[-1]) + r"(?![A-Za-z0-9_])", text))


def first_line(text):
    return next((line for line in text.splitlines() if "error" in line), text[-200:])


def refusals(app, folder):
    """Each set of keys that cannot go together is refused by check, every key of it named."""
    failures = []
    for refusal in app.refused:
        case = {key: 0 for key in app.levels}
        extra = dict(refusal.get("with", {}))
        for key, wanted in refusal["when"].items():
            case[key] = next((i for i, v in enumerate(app.levels[key]) if holds(v, wanted)), None)
        if None in case.values():
            failures.append(f"{refusal['when']}: no level fits")
            continue
        keys = {**app.keys(case), **extra}
        checked = Run(app.tessera, folder, keys, "check", ())
        text = checked.err
        wanted = refusal.get("names", list(refusal["when"]))
        unnamed = [key for key in wanted if not is_named(key, text)]
        if checked.code not in REFUSALS or unnamed:
            failures.append(f"{show(refusal['when'])}: exit {checked.code}, not named: {unnamed}; {first_error(checked)}")
    return failures


def show(keys):
    return ", ".join(f"{key} = {'given' if value == 'given' else value!r}" for key, value in keys.items())


def edges(app, folder):
    """Sizes of nothing and one, and coincident things: right by the laws, or refused with the words that are promised."""
    failures = []
    for name, keys, words in app.told.EDGES:
        keys = {"app": app.name, **app.told.BASE, **{k: v[0] for k, v in app.levels.items()}, **keys}
        run = Run(app.tessera, folder, keys)
        try:
            if words is None:
                if run.code not in (RIGHT, NOT_REACHED):
                    raise Failure("it runs", f"exit {run.code}: {first_error(run)}")
                app.told.laws(run)
            elif run.code not in REFUSALS:
                raise Failure("it is refused", f"exit {run.code}: {first_error(run)}")
            elif not all(word in run.err for word in ([words] if isinstance(words, str) else words)):
                raise Failure("it is refused by name", f"expected {words}: {first_error(run)}")
            if "Sanitizer" in run.err or "runtime error" in run.err:
                raise Failure("no sanitizer has a finding", run.err[-500:])
        except Failure as f:
            failures.append(f"{name}: {f}")
        finally:
            run.clear()
    return len(app.told.EDGES), failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("app")
    parser.add_argument("--tessera", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--data", type=pathlib.Path, help="the test data, for apps whose cases need some")
    parser.add_argument("--only", type=int, action="append", help="only this case (may be given several times)")
    parser.add_argument("--edges", action="store_true", help="sizes of nothing and one instead of pairs")
    parser.add_argument("--list", action="store_true", help="only show the cases")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep-going", type=int, default=12, help="failures after which no further case is run")
    o = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="tessera_pairs_") as place:
        app = App(o.app, o.tessera, place, o.data)
        if o.edges:
            n, failures = edges(app, app.place / "edge")
            print("\n".join(failures + [f"{n} edges, {n - len(failures)} right or refused by name"]))
            return 1 if failures else 0
        failures = app.unaccounted()
        learner = Learner(app, app.place / "learn", o.jobs)
        cases, impossible = learner.cases()
        failures += learner.failures
        if o.list:
            for n, case in enumerate(cases):
                print(n, show({key: app.levels[key][i] for key, i in case.items() if i != 0}))
        n_levels = sum(map(len, app.levels.values()))
        n_pairs = (n_levels ** 2 - sum(len(v) ** 2 for v in app.levels.values())) // 2
        print(f"{o.app}: {len(app.levels)} keys with {n_levels} levels, {n_pairs - len(impossible)} pairs in {len(cases)} cases; "
              f"{len(impossible)} pairs cannot go together by {len(app.refused)} sets of keys that are told and {len(learner.told)} that check refuses", flush=True)
        print("\n".join("    refused: " + words for words in learner.told), flush=True)
        if o.list:
            print("\n".join(failures))
            return 0
        failures += refusals(app, app.place / "refused")
        found, lock = collections.OrderedDict(), threading.Lock()

        def one(n):
            with lock:
                if len(found) >= o.keep_going:
                    return
            folder = app.place / f"case{n}"
            try:
                examine(app, app.keys(cases[n]), folder)
            except Failure as failure:
                keys, failure = shrink(app, cases[n], failure, folder)
                with lock:
                    found.setdefault(f"{failure.law} | {show(keys)}", (n, failure))
                    print(f"case {n}: {failure}", flush=True)

        with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            list(pool.map(one, o.only or range(len(cases))))
        failures += [f"case {n}: {failure}\n    with {text.split(' | ', 1)[1]}" for text, (n, failure) in found.items()]
        print("\n".join(failures + [f"{o.app}: {len(failures)} failures"]))
        return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
