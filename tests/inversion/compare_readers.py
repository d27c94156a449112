#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the C++ readers with independent ones, file by file.

  compare_readers.py DUMP_SOUNDING DATA_MT_FOLDER [--limit 1e-6]

DUMP_SOUNDING is the test program of that name. The independent readers are the small ones in plain_mt_readers.py
and, where it is installed, mt_metadata. Prints the largest relative difference of an impedance element, relative to
the largest element of its tensor, for each file and for the EDI file that we write of it. Exit code 1 beyond the
limit or if a file was not read, 77 without data.
"""
import argparse
import glob
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

import plain_mt_readers

OHM = 4e-4 * math.pi  # 1 mV/km/nT in ohm


def with_mt_metadata():
    try:
        import warnings

        from loguru import logger
        logger.remove()
        warnings.filterwarnings("ignore")
        from mt_metadata.transfer_functions.io.edi import EDI
        from mt_metadata.transfer_functions.io.emtfxml import EMTFXML
        from mt_metadata.transfer_functions.io.jfiles import JFile
        from mt_metadata.transfer_functions.io.zfiles import ZMM
        logger.remove()
    except ImportError:
        return None

    def read(path):
        end = path.rsplit(".", 1)[1].lower()
        if end == "edi":
            t = EDI(fn=path)
            return dict(zip(map(float, t.frequency), t.z.tolist()))
        if end == "j":
            t = JFile(fn=path)
            # The file says S.I.; the package keeps its numbers, so bring them to field units as it does elsewhere.
            return {f: [[z / OHM for z in row] for row in m] for f, m in zip(map(float, t.frequency), t.z.tolist())}
        if end == "zmm":
            t = ZMM(fn=path)
            t.read()
            return dict(zip(map(float, 1 / t.dataset.period.data), t.dataset.transfer_function.sel(
                output=["ex", "ey"], input=["hx", "hy"]).data.tolist()))
        t = EMTFXML(fn=path)
        return dict(zip(map(float, 1 / t.data.period), t.data.z.tolist()))

    return read


def difference(ours, theirs):
    """Largest |ours - theirs| / max|tensor|; a value missing on our side must be 0 or missing on the other."""
    worst, compared = 0.0, 0
    for f, m in zip(ours["frequency"], ours["impedance"]):
        g = min(theirs, key=lambda x: abs(math.log(x / f)) if x > 0 else 1e9)
        if abs(g / f - 1) > 1e-6:
            return math.inf, 0
        other = [[complex(z) * OHM for z in row] for row in theirs[g]]
        size = max((abs(complex(*z)) for row in m for z in row if z[0] is not None), default=0.0)
        for r in range(2):
            for c in range(2):
                if m[r][c][0] is None or m[r][c][1] is None:
                    continue
                worst = max(worst, abs(complex(*m[r][c]) - other[r][c]) / size)
                compared += 1
    return worst, compared


def main():
    p = argparse.ArgumentParser()
    p.add_argument("dump")
    p.add_argument("data")
    p.add_argument("--limit", type=float, default=1e-6)
    a = p.parse_args()
    files = [f for pattern in ("formats/*.edi", "formats/*.j", "formats/*.zmm", "formats/*.xml", "gabbs_valley/*.edi",
                               "samtex_kap03/*.edi", "winglink3d/*/*.edi")
             for f in sorted(glob.glob(os.path.join(a.data, pattern)))]
    if not files:
        print("no data files under", a.data, "- skipped")
        return 77
    written = tempfile.mkdtemp()
    run = subprocess.run([a.dump, "--write-edi", written] + files, capture_output=True, text=True)
    ours = {d["file"]: d for d in map(json.loads, run.stdout.splitlines())}
    edi_of = {f: os.path.join(written, f"{k}.edi") for k, f in enumerate(ours)}
    readers = {"plain reader": plain_mt_readers.read}
    package = with_mt_metadata()
    if package:
        readers["mt_metadata"] = package
    worst = {}
    failed = 0
    for f in files:
        if f not in ours:
            print("not read by us:", f)
            failed += 1
            continue
        for name, read in readers.items():
            for path, what in ((f, name), (edi_of[f], name + " of our EDI")):
                d, n = difference(ours[f], read(path))
                worst[what] = max(worst.get(what, 0.0), d)
                if d > a.limit or n == 0:
                    print(f"{os.path.relpath(f, a.data)}: {what} differs by {d:.2e} ({n} elements compared)")
                    failed += 1
    shutil.rmtree(written)
    if run.returncode != 0:
        sys.stdout.write(run.stderr)
        failed += 1
    for name, d in worst.items():
        print(f"{len(files)} files, largest relative difference to {name}: {d:.2e}")
    if not package:
        print("mt_metadata is not installed here; compared with the plain readers only")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
