# SPDX-License-Identifier: Apache-2.0
import pathlib
import re

import rowkit

WHAT = ("files for other programs: our ModEM list of SAMTEX KAP03 read by mtpy-v2; DemoSynthMT.emdata and Demo.poly read and written again; model.vtu and stations.vtp of "
        "the example's run read by VTK (PyPI), beside results.h5 by h5py")
BAR = "equal: 1e-9 of each impedance; every number of the next two 1e-12; every field, place and cell that VTK reads 0"


def numbers(path):
    """The numbers of each line that is no comment."""
    out = []
    for line in path.read_text().splitlines():
        words = line.split("#")[0].split("!")[0].split()
        if words:
            out.append([float(w) if re.fullmatch(r"[-+.\deE]+", w) else w for w in words])
    return out


def differences(a, b):
    """The largest one of lines of numbers; infinite where there is other text or another count."""
    if len(a) != len(b):
        return float("inf")
    worst = 0.0
    for x, y in zip(a, b):
        for u, v in zip(x, y):
            if isinstance(u, str) or isinstance(v, str):
                worst = max(worst, 0.0 if u == v else float("inf"))
            else:
                worst = max(worst, abs(u - v) / max(1.0, abs(u)))
    return worst


def measure(work):
    line = sorted(work.test_data("mt", "samtex_kap03").glob("*.edi"))
    demo = work.test_data("mt", "mare2dem_demo")
    python = work.venv("mtpy", "mtpy-v2")
    with work.temp() as folder:
        work.run([work.program("write_for_others"), folder, *line, demo / "DemoSynthMT.emdata", demo / "Demo.poly"]).must_succeed("writing")
        script = work.root / "tests" / "inversion" / "compare_modem_list.py"
        done = work.run([python, script, f"{folder}/survey.dat", f"{folder}/survey.csv"]).must_succeed("mtpy-v2")
        found = re.search(r"(\d+) numbers, (\d+) stations, largest difference (\S+)", done.out)
        if not found:
            raise rowkit.Failed(done.out + done.err)
        again = pathlib.Path(folder)
        # Markers of points and segments, and whether there are some, are not kept.
        lines = lambda path: [l[:{1: 1, 2: 1, 3: 3, 4: 3, 5: 4}[len(l)]] for l in numbers(path)]
        poly = differences(lines(demo / "Demo.poly"), lines(again / "Demo.poly"))
        rows = lambda path: sorted((l[:4] + l[4:6] for l in numbers(path) if len(l) >= 6 and l[0] in (104, 106, 123, 125)), key=str)
        data = differences([[l[0], l[1], l[3], *l[4:]] for l in rows(demo / "DemoSynthMT.emdata")],
                           [[l[0], l[1], l[3], *l[4:]] for l in rows(again / "DemoSynthMT.emdata")])
    modem, (equal, vtk) = float(found[3]), by_vtk(work)
    holds = modem <= 1e-9 and poly <= 1e-12 and data <= 1e-12 and int(found[2]) == len(line) and equal
    return holds, f"ModEM: {found[1]} numbers of {found[2]} stations, {modem:.1e}; .poly {poly:.1e}; .emdata {data:.1e}; VTK: {vtk}"


def by_vtk(work):
    """(whether VTK reads what results.h5 has, what was compared) of the example of inversion.mt2d."""
    python = work.venv("vtk", "vtk", "h5py")
    with work.temp() as folder:
        work.run([work.tessera(), "new", "inversion.mt2d", "line"], cwd=folder).must_succeed("new")
        run = ["run", "line/mt2d.toml", "--output", "run", "--progress", "none", "--set", "output.pictures=false"]
        work.run([work.tessera(), *run], cwd=folder).must_succeed("the example")
        done = work.run([python, work.root / "tests" / "inversion" / "compare_vtk.py", f"{folder}/run"])
    found = re.search(r"stations, largest difference (\S+)", done.out)
    return done.code == 0 and found is not None and float(found[1]) == 0, (done.out + done.err).strip()
