# SPDX-License-Identifier: Apache-2.0
"""Cases of inversion.mt1d for the acceptance rows, run through the program as a user would."""
import csv
import pathlib
import re
import shutil

import rowkit

APP = "inversion.mt1d"


def need_app(work):
    listed = work.run([work.tessera(), "list", "apps"]).out
    if APP not in listed:
        raise rowkit.NotMeasured(f"the program has no app {APP} yet")


def gabbs_files(work):
    files = sorted(work.test_data("mt", "gabbs_valley").glob("*.edi"))
    if len(files) != 20:
        raise rowkit.NotMeasured(f"expected 20 Gabbs Valley soundings, found {len(files)}")
    return files


def write_case(folder, files, copies=1):
    """A case file for these soundings: determinant, errors at least 5 % of the modulus on real and imaginary part."""
    folder = pathlib.Path(folder)
    place = folder / "soundings"
    place.mkdir()
    for copy in range(copies):
        for file in files:
            shutil.copy(file, place / (f"{file.stem}_{copy}.edi" if copies > 1 else file.name))
    case = folder / "case.toml"
    case.write_text(f'app = "{APP}"\n[data]\nfiles = "soundings"\nresponse = "determinant"\nerror_floor = 0.05\n')
    return case


def station_table(run):
    """One dictionary per sounding: what the run's summary table says."""
    with open(run / "soundings.csv", newline="") as table:
        return list(csv.DictReader(table))


def timed(name):
    return re.search(r"time|seconds|elapsed|_s$|eta|date", name) is not None


def csv_without_times(path):
    rows = list(csv.reader(path.read_text().splitlines()))
    keep = [i for i, name in enumerate(rows[0]) if not timed(name)] if rows else []
    return [[row[i] for i in keep if i < len(row)] for row in rows]


def differences(work, a, b):
    """Names of result files of two runs that differ in anything but times."""
    wanted = {".h5", ".csv", ".png", ".svg", ".vtp", ".vti", ".vtr", ".vtu", ".edi", ".pvd"}
    files = [{p.relative_to(run) for p in run.rglob("*") if p.suffix in wanted and "ckpt" not in p.parts} for run in (a, b)]
    found = [f"{name} is in one only" for name in sorted(files[0] ^ files[1])]
    for name in sorted(files[0] & files[1]):
        if (a / name).read_bytes() == (b / name).read_bytes():
            continue
        if name.suffix == ".csv" and csv_without_times(a / name) == csv_without_times(b / name):
            continue
        if name.suffix == ".h5" and same_datasets(work, a / name, b / name):
            continue
        found.append(str(name))
    return found


COMPARE = """
import h5py, sys
def datasets(name):
    found = {}
    with h5py.File(name, "r") as f:
        f.visititems(lambda n, o: found.update({n: o[()]}) if isinstance(o, h5py.Dataset) else None)
    return {n: v.tobytes() if hasattr(v, "tobytes") else v for n, v in found.items()}
sys.exit(datasets(sys.argv[1]) != datasets(sys.argv[2]))
"""


def same_datasets(work, a, b):
    return work.run([work.venv("h5py", "h5py"), "-c", COMPARE, a, b]).code == 0
