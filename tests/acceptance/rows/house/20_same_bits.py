# SPDX-License-Identifier: Apache-2.0
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil

import rowkit

BEFORE = "c8865772439e4646633750b98978b46cdda32476"  # the last commit before the house was put in order
# What was mended since in last bits alone, put on top of it: complex products have those of their rounded steps, bends of angles are
# measured from the straight one, sources end at their step.
MENDED = pathlib.Path(__file__).with_name("same_bits.patch")
WHAT = (f"every case of the gallery and every case of `tessera new`, run by the program of {BEFORE[:7]} (with {MENDED.name}) and by this one on the same "
        "threads: tables (CSV), arrays (HDF5 with trajectories and VTKHDF, NumPy), XTC, TRR and structures; pictures, logs and manifests are none")
BAR = "the same bits, names aside; what differs stands in the row with its reason, and differs"
SLOW = True

# Names that changed: fnmatch pattern of the file, end of the name of a column or dataset before, its end now.
RENAMED = [("tables/*_profile.csv", "place [nm]", "position [nm]"), ("results.h5", "/transform/places", "/transform/positions")]
# Intended differences: (case, file, column or dataset, reason); fnmatch patterns. One that no longer occurs is an error.
SPRINGS = "stages with springs keep the motion of the whole, and what follows begins where they end (CHANGELOG)"
INTENDED = [(f"molecular/{peptide}", file, what, SPRINGS) for peptide, stages in (("alanine", ("heat", "nvt", "npt")), ("aspartate", ("heat", "npt")))
            for number, stage in enumerate(stages, 2)
            for file, what in ((f"{number}_{stage}/*", "*"), ("results.h5", f"{stage}/*"), ("summary.csv", f"{stage} *"))]
INTENDED += [("*electromagnetics*", "results.h5", "*/transform/reference_length", "the smallest cell, in units of which sums are, is new")]
# Columns and datasets that hold times of the clock, not results.
CLOCK = re.compile(r"(^|[/_])(wall|seconds|elapsed|ns_per_day|steps_per_second|cells_per_second)([/_]|$)")
ARRAYS = {".h5", ".h5md", ".vtkhdf"}
# Patterns by directions, a file more than before, are those of results.h5.
LEFT_OUT = ("plots/*", "ckpt/*", "log.txt", "*.json", "*.toml", "tables/patterns/*")

READ_ARRAYS = """
import hashlib, json, sys
import h5py, numpy
out = {}
with h5py.File(sys.argv[1], "r") as f:
    def look(name, item):
        if isinstance(item, h5py.Dataset):
            v = item[()]
            raw = v.tobytes() if hasattr(v, "tobytes") and getattr(v, "dtype", None) is not None and v.dtype.kind != "O" else repr(v if not hasattr(v, "tolist") else v.tolist()).encode()
            out[name] = [str(item.dtype), list(item.shape), hashlib.sha256(raw).hexdigest()]
    f.visititems(look)
print(json.dumps(out))
"""


def checkout_before(work):
    """A checkout of BEFORE, with MENDED, and its program, built once for all runs of this row, beside the peers."""
    place = work.peers.parent / "before" / f"{BEFORE[:12]}-{hashlib.sha256(MENDED.read_bytes()).hexdigest()[:12]}"
    if not (place / "build" / "release" / "bin" / "tessera").exists():
        if not (place / ".git").exists():
            shutil.rmtree(place, ignore_errors=True)
            place.parent.mkdir(parents=True, exist_ok=True)
            work.run(["git", "clone", "-q", "--shared", "--no-checkout", work.root, place]).must_succeed("git clone")
        if work.run(["git", "-C", place, "checkout", "-q", "--force", "--detach", BEFORE]).code != 0:
            raise rowkit.NotMeasured(f"this checkout does not have the commit {BEFORE}: fetch the whole history")
        work.run(["git", "-C", place, "apply", MENDED]).must_succeed(f"git apply {MENDED.name}")
        for command in (["cmake", "--preset", "release", "-DTESSERA_BUILD_TESTS=OFF"],
                        ["cmake", "--build", "--preset", "release", "--target", "tessera"]):
            work.run(command, cwd=place, timeout=7200).must_succeed(f"{command[1]} of {BEFORE[:7]}")
    return place


def cases(work, root, program, folder):
    """name -> configuration of every case as this program knows it: those of its gallery, and one `new` of each app."""
    found = {}
    for path in sorted((root / "apps" / "examples").glob("*/*.toml")):
        place = folder / path.parent.name
        if not place.exists():
            shutil.copytree(path.parent, place)
        found[f"{path.parent.name}/{path.stem}"] = place / path.name
    for line in work.run([program, "list", "apps"]).must_succeed("list apps").out.splitlines():
        app = line.split()[0]
        place = folder / "new" / app
        place.parent.mkdir(parents=True, exist_ok=True)
        work.run([program, "new", app, place]).must_succeed(f"new {app}")
        [found[f"new/{app}"]] = place.glob("*.toml")
    return found


def first_of(case):
    """Arguments of `tessera run` for the runs whose results a case reads: its comments say them."""
    return [shlex.split(line) for line in re.findall(r"^# +tessera run (.+ --output .+)$", case.read_text(), re.M)]


def files_of(run):
    names = (p.relative_to(run).as_posix() for p in sorted(run.rglob("*")) if p.is_file())
    return [n for n in names if not any(fnmatch.fnmatch(n, pattern) or fnmatch.fnmatch(pathlib.PurePath(n).name, pattern) for pattern in LEFT_OUT)]


def renamed(file, name):
    for pattern, old, new in RENAMED:
        if fnmatch.fnmatch(file, pattern) and name.endswith(old):
            return name.removesuffix(old) + new
    return name


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def table(path):
    """Column name -> its cells; where rows begin with words, these and the column's name -> the cell. None where it is no table of
    equally long rows."""
    rows = [line.split(",") for line in path.read_text(errors="replace").splitlines()]
    if not rows or any(len(r) != len(rows[0]) for r in rows):
        return None
    names, rows = rows[0], rows[1:]
    words = next((i for i in range(len(names)) if any(is_number(r[i]) for r in rows)), 0)
    if words:
        return {" ".join([*r[:words], name]): r[i] for r in rows for i, name in enumerate(names) if i >= words}
    return {name: [r[i] for r in rows] for i, name in enumerate(names)}


def differences(work, python, file, a, b):
    """Names of what differs between two files of results."""
    ending = pathlib.PurePath(file).suffix
    if ending == ".csv":
        left, right = table(a), table(b)
        if left is not None and right is not None:
            left = {renamed(file, n): v for n, v in left.items()}
            return [n for n in sorted(set(left) | set(right)) if left.get(n) != right.get(n) and not CLOCK.search(n)]
    if ending in ARRAYS:
        read = [json.loads(work.run([python, "-c", READ_ARRAYS, p]).must_succeed(f"reading {p.name}").out) for p in (a, b)]
        left = {renamed(file, n): v for n, v in read[0].items()}
        return [n for n in sorted(set(left) | set(read[1])) if left.get(n) != read[1].get(n) and not CLOCK.search(n)]
    return [] if a.read_bytes() == b.read_bytes() else ["bytes"]


def measure(work):
    python = work.venv("hdf5", "h5py", "numpy")
    before = checkout_before(work)
    programs = {"before": before / "build" / "release" / "bin" / "tessera", "now": pathlib.Path(work.tessera())}
    failures, used, compared, n_bytes = [], set(), 0, 0
    with work.temp() as temporary:
        folder = pathlib.Path(temporary)
        known = {side: cases(work, before if side == "before" else work.root, program, folder / side) for side, program in programs.items()}
        for name in sorted(set(known["before"]) | set(known["now"])):
            runs = []
            for side, program in programs.items():
                if name not in known[side]:
                    failures.append(f"{name}: no case of the program {side}")
                    continue
                run, here = folder / side / "run", folder / "here"  # results name their inputs: by the same path for both
                here.unlink(missing_ok=True)
                here.symlink_to(folder / side)
                case = here / known[side][name].relative_to(folder / side)
                for arguments in first_of(case):
                    work.run([program, "run", *arguments, "--force", "--threads", os.cpu_count(), "--progress", "none"], cwd=case.parent)
                done = work.run([program, "run", case, "--output", run, "--threads", os.cpu_count(), "--progress", "none"])
                if done.code not in (0, 6) or not run.exists():
                    failures.append(f"{name}: {side} it ended with {done.code}: {done.err.strip()[-200:]}")
                else:
                    runs.append((run, done.code))
            if len(runs) == 2:
                (a, code_a), (b, code_b) = runs
                left, right = files_of(a), files_of(b)
                if code_a != code_b:
                    failures.append(f"{name}: exit code {code_a} before, {code_b} now")
                failures += [f"{name}: {file} is there {'before' if file in left else 'now'} alone" for file in sorted(set(left) ^ set(right))]
                for file in sorted(set(left) & set(right)):
                    compared += 1
                    n_bytes += (b / file).stat().st_size
                    for what in differences(work, python, file, a / file, b / file):
                        at = [i for i, (c, f, w, _) in enumerate(INTENDED)
                              if fnmatch.fnmatch(name, c) and fnmatch.fnmatch(file, f) and fnmatch.fnmatch(what, w)]
                        used.update(at)
                        if not at:
                            failures.append(f"{name}: {file}: {what} differs")
            for run, _ in runs:
                shutil.rmtree(run)
    failures += [f"said to differ, but the same: {c} {f} {w} ({r})" for i, (c, f, w, r) in enumerate(INTENDED) if i not in used]
    text = [f"{len(known['now'])} cases, {compared} files with {n_bytes / 2**20:.0f} MiB: {len(failures)} differences that are not intended, "
            f"{len(used)} kinds that are", *(f"intended: {c} {f} {w}: {r}" for c, f, w, r in INTENDED), *failures[:40]]
    return not failures, "\n".join(text)
