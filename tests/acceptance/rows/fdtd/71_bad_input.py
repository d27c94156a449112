# SPDX-License-Identifier: Apache-2.0
import pathlib
import re

import fdtd

WHAT = "cases that cannot run, and cases to be doubted: made from ring.toml, one change each"
BAR = "exit code 5 with file:line:column and error number before any field is allocated (peak below 200 MiB), nothing left behind; doubts are warnings that name what they mean"

GAIN = 'index = 3.4\npoles = [{kind = "residue", pole = ["1e13 rad/s", "4e14 rad/s"], residue = ["0 rad/s", "-1e14 rad/s"]}]'
SECOND = '''
[[structure]]
shape = "box"
name = "bar"
size = ["3 um", "1 um", "1 um"]
centre = ["2 um", "1 um", "0 um"]
material = "SiO2"

[[source]]'''
REFUSED = (  # name, what is replaced, by what, what the message says
    ("geometry outside", 'name = "ring"', 'name = "ring"\ncentre = ["300 um", "0 um", "0 um"]', r"error E0644: .*outside"),
    ("pole that grows", "index = 3.4", GAIN, r"error E0624: .*grows"),
    ("negative square of the index", "index = 3.4", "eps = -11.6", r"error E\d{4}: "),
    ("dt above the limit", 'precision = "f32"', 'precision = "f32"\ndt = "10 fs"', r"error E0647: .*stability limit"),
    ("10^12 cells", 'cell = "100 nm"', 'cell = "0.01 nm"', r"error E0641: .*cells"),
    ("10^12 cells in 3-D", 'size = ["16 um", "8 um", "0 um"]\ncell = "100 nm"\npolarization = "Ez"', 'size = ["16 um", "8 um", "8 um"]\ncell = "1 nm"', r"error E0641: .*cells"),
    ("layers thicker than the domain", "pml.cells = 20", "pml.cells = 400", r"error E0643: "),
    ("a medium that is not there", 'material = "silicon"', 'material = "silicone"', r"error E0625: .*silicone.*"),
    ("a monitor outside", 'position = ["1.3 um", "0.3 um", "0 um"]', 'position = ["13 um", "0.3 um", "0 um"]', r"error E0629: .*leaves the domain"),
    ("no end", 'stop.after_sources = "1.2 ps"', "", r"error E0622: .*no end"),
    ("an unknown key", 'cell = "100 nm"', 'cells = "100 nm"', r"error E\d{4}: .*cells"),
    ("a wrong unit", 'cell = "100 nm"', 'cell = "100 THz"', r"error E\d{4}: "),
)
DOUBTED = (
    ("coarse cells", 'cell = "100 nm"', 'cell = "200 nm"', (r"warning E0648: .*coarser", )),
    ("overlap at equal priority", "\n[[source]]", SECOND, (r"warning E0645: .*ring.*bar.*the later one, is seen", )),
)


def change(text, old, new):
    if text.count(old) < 1:
        raise ValueError(f"ring.toml has no {old!r}")
    return text.replace(old, new, 1)


def measure(work):
    original = fdtd.example(work, "ring.toml").read_text()
    wrong, peak = [], 0.0
    with work.temp() as folder:
        folder = pathlib.Path(folder)
        case = folder / "case.toml"
        for name, old, new, wanted in REFUSED:
            case.write_text(change(original, old, new))
            done = work.run([work.tessera(), "run", case, "--progress", "none"], cwd=folder, timeout=60)
            peak = max(peak, done.peak_mib)
            if done.code != 5 or not re.search(r"case\.toml:\d+:\d+: " + wanted, done.err) or [p.name for p in folder.iterdir()] != ["case.toml"]:
                wrong.append(f"{name}: exit {done.code}, {done.err.strip()[:300]!r}, left {sorted(p.name for p in folder.iterdir())}")
        for name, old, new, wanted in DOUBTED:
            case.write_text(change(original, old, new))
            done = work.run([work.tessera(), "check", case], cwd=folder, timeout=60)
            missing = [w for w in wanted if not re.search(r"case\.toml:\d+:\d+: " + w, done.err)]
            if done.code != 0 or missing:
                wrong.append(f"{name}: exit {done.code}, {done.err.strip()[:300]!r}")
        later = later_wins(work, original, folder)
    if later:
        wrong.append(later)
    total = len(REFUSED) + len(DOUBTED) + 1
    return not wrong and peak < 200, "\n".join([f"{total - len(wrong)} of {total} as promised; refused runs took {peak:.0f} MiB at most", *wrong])


def later_wins(work, original, folder):
    """Of two bodies at equal priority the later is what the run sees: the modes with a glass disc over the ring are those of the disc
    alone, whatever lay below. '' or what is wrong."""
    disc = '\n[[structure]]\nshape = "cylinder"\nname = "disc"\nradius = "2 um"\nheight = "inf"\nmaterial = "silicon"\n\n[[source]]'
    original = change(original, 'derivatives = ["ring.radius"]', "").split("\n[[expect]]")[0]  # those are of the ring
    ring = change(original, 'index = 3.4', 'index = 3.4\n\n[[material]]\nname = "glass"\nindex = 1.5')
    ring = change(ring, 'material = "silicon"', 'material = "glass"')
    runs = []
    for name, text in (("both", change(ring, "\n[[source]]", disc)), ("disc", change(change(original, 'inner_radius = "1 um"\n', ""), 'name = "ring"', 'name = "disc"'))):
        case = folder / f"{name}.toml"
        case.write_text(text)
        runs.append(fdtd.run(work, case, f"later_{name}", {"output.vtk": False}))
    if runs[0].table("modes") != runs[1].table("modes"):
        return f"the later body is not what is seen: {runs[0].table('modes')['frequency']} against {runs[1].table('modes')['frequency']}"
    return ""
