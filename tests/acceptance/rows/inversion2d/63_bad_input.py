# SPDX-License-Identifier: Apache-2.0
import pathlib
import re
import shutil

import learnt_priors

WHAT = "sections that cannot be computed or inverted, a case each"
BAR = "the exit code of its kind, the error's number, a text that names what is wrong, its place: file, line and column of the key or of the file's own line, where there is one"

APP = 'app = "inversion.mt2d"\n'
FORWARD = APP + 'task = "forward"\nfrequencies.at = ["1 Hz"]\nstations.at = ["0 m"]\n'
INVERT_DATA = '[data]\nfiles = "F/data.csv"\n'
INVERT = APP + INVERT_DATA
BODY = '[[section.body]]\nresistivity = "5 ohm*m"\npoints = [{}]\n'
CORNERS = '["0 m", "0 m"], ["1 km", "1 km"], ["1 km", "0 m"], ["0 m", "1 km"]'
# A square of 10 km with the ground across its middle; points and segments are added to it.
SQUARE = [(-5000, -5000), (5000, -5000), (5000, 0), (5000, 5000), (-5000, 5000), (-5000, 0)]
SIDES = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 1), (6, 3)]
SEEDS = [(0, -2500, 1), (0, 2500, 2)]
OUTLINE = 'section = {file = "outline.poly", resistivities = ["inf", "100 ohm*m"]}\n'
GROUND = 'ground = {shape = "file", file = "ground.csv"}\n'
MODEM = """# A list of ModEM
# Period(s) Code Lat Lon X Y Z Component Real Imag Error
> TE_Impedance
> exp(+i_omega_t)
> [mV/km]/[nT]
> 0.00
> 0.0 0.0
> 1 {stations}
"""
ROW = "1.0 {} 0.0 0.0 0.0 {} 0.0 TE 1.0 1.0 0.1\n"


def poly(points=(), segments=(), seeds=SEEDS):
    points, segments = [*SQUARE, *points], [*SIDES, *segments]
    return "".join([f"{len(points)} 2 0 0\n", *(f"{k} {y} {z}\n" for k, (y, z) in enumerate(points, 1)),
                    f"{len(segments)} 0\n", *(f"{k} {a} {b}\n" for k, (a, b) in enumerate(segments, 1)), "0\n",
                    f"{len(seeds)}\n", *(f"{k} {y} {z} {r}\n" for k, (y, z, r) in enumerate(seeds, 1))])


CASES = (  # name, case, files beside it, exit code, what the message says
    ("crossing polylines, of a body", FORWARD + BODY.format(CORNERS), {}, 5, r"bad\.toml:\d+:\d+: error E0688: .*the side from point 1 crosses that from point 3"),
    ("crossing polylines, of an outline", FORWARD + OUTLINE, {"outline.poly": poly([(-1000, 1000), (1000, 2000), (-1000, 2000), (1000, 1000)], [(7, 8), (9, 10)])}, 4,
     r"outline\.poly: error E0690: .*segments of the outline cross"),
    ("an open polyline, of a body", FORWARD + BODY.format('["0 m", "0 m"], ["1 km", "1 km"]'), {}, 5, r"bad\.toml:\d+:\d+: error E\d+: .*points"),
    ("an open polyline, between two regions", FORWARD + OUTLINE.replace('"100 ohm*m"', '"100 ohm*m", "5 ohm*m"'),
     {"outline.poly": poly([(-1000, 1000), (1000, 1000), (1000, 2000)], [(7, 8), (8, 9)], [*SEEDS, (0, 1500, 3)])}, 4, r"outline\.poly: error E0690: .*another seed"),
    ("a segment to no point", FORWARD + OUTLINE, {"outline.poly": poly([], [(1, 9)])}, 4, r"outline\.poly:16:5: error E0365: this segment's end is no point of the file"),
    ("a station in the air", APP + GROUND + INVERT_DATA, {"ground.csv": "distance_m,elevation_m\n-5000,0\n0,-300\n5000,0\n"}, 4, r"error E0684: .*stands in the air"),
    ("a station that is buried", APP + GROUND + INVERT_DATA, {"ground.csv": "distance_m,elevation_m\n-5000,0\n0,300\n5000,0\n"}, 4, r"error E0684: .*is buried"),
    ("a station on another, of a case", FORWARD.replace('["0 m"]', '["0 m", "0 m"]'), {}, 5, r"bad\.toml:\d+:\d+: error E0685: "),
    ("a station on another, of files", APP + 'data = {files = "twice", strike = "0 deg"}\n', {}, 4, r"error E0685: .*stands where"),
    ("a line with no strike", APP + 'data.files = "site/soundings"\n', {}, 4, r"bad\.toml:2:1: error E0683: a section needs the strike"),
    ("a region without resistivity", FORWARD + 'section = {file = "outline.poly", resistivities = ["inf"]}\n', {"outline.poly": poly()}, 4,
     r"outline\.poly: error E0690: .*region 2 has no"),
    ("no resistivity at all", FORWARD + 'section.file = "outline.poly"\n', {"outline.poly": poly()}, 5, r"bad\.toml:\d+:\d+: error E0690: .*have no resistivity"),
    ("ModEM: more stations than the header says", APP + 'data.files = "list.dat"\ninversion.target_rms = 100\noutput.pictures = false\n',
     {"list.dat": MODEM.format(stations=1) + ROW.format("A", 0) + ROW.format("B", 1000)}, 0, r"list\.dat:8:5: warning E0362: the header says 1 stations, the rows of the block have 2"),
    ("ModEM: one name for two stations", APP + 'data.files = "list.dat"\n',
     {"list.dat": MODEM.format(stations=2) + ROW.format("A", 0) + ROW.format("A", 1000)}, 4, r"list\.dat:10:5: error E0362: station 'A' .*two stations have one name"),
    ("ModEM: a name with a blank", APP + 'data.files = "list.dat"\n',
     {"list.dat": MODEM.format(stations=1) + ROW.format("A 1", 0)}, 4, r"list\.dat:9:1: error E0362: a row of this block has 11 columns.*there are 12"),
    ("a prior of another grid", INVERT + '[prior]\nfile = "PRIOR"\nleft = "-1 km"\nright = "1 km"\ndepth = "1 km"\n', {}, 4,
     r"bad\.toml:\d+:\d+: error E0694: the region is 2 times as wide as deep, those that the prior has learnt are 10 times"),
    ("a prior where no cell is", INVERT + '[prior]\nfile = "PRIOR"\nleft = "9000 km"\nright = "9010 km"\ndepth = "1 km"\nfade = 0.1\n', {}, 4,
     r"bad\.toml:\d+:\d+: error E0694: the region, .*, holds no cell of the mesh"),
    ("no prior at all", INVERT + '[prior]\nfile = "F/data.csv"\ndepth = "1 km"\n', {}, 4, r"data\.csv.*: error E0\d+"),
    ("a frequency too high for any mesh", FORWARD.replace('["1 Hz"]', '["1 GHz", "1e-4 Hz"]').replace('stations.at = ["0 m"]', 'stations = {first = "-50 km", last = "50 km", count = 500}'), {},
     3, r"bad\.toml.*: error E0687: no mesh can be made for 0\.0001 to 1e\+09 Hz"),
    ("a sampler without a prior", APP + 'task = "sample"\n[data]\nfiles = "F/data.csv"\n', {}, 5, r"bad\.toml:2:\d+: error E0689: .*codes of a learnt prior"),
)


def measure(work):
    prior = learnt_priors.prior(work, learnt_priors.TINY, 400)[0]
    wrong = []
    with work.temp() as folder:
        folder = pathlib.Path(folder)
        (folder / "f.toml").write_text(APP + 'task = "forward"\nsection.resistivity = "100 ohm*m"\nstations = {first = "-3 km", last = "3 km", count = 4}\n'
                                       'frequencies.at = ["10 Hz", "1 Hz"]\nnoise.impedance = "3 %"\noutput.pictures = false\n')
        work.run([work.tessera(), "run", "f.toml", "--output", "F", "--progress", "none"], cwd=folder).must_succeed("the soundings")
        work.run([work.tessera(), "new", "inversion.mt1d", "site"], cwd=folder).must_succeed("new")
        shutil.copytree(folder / "site" / "soundings", folder / "twice")
        shutil.copy(folder / "twice" / "syn03.edi", folder / "twice" / "again.edi")
        for name, text, files, code, wanted in CASES:
            for file, content in files.items():
                (folder / file).write_text(content)
            (folder / "bad.toml").write_text(text.replace("PRIOR", str(prior)))
            done = work.run([work.tessera(), "run", "bad.toml", "--output", "BAD", "--force", "--progress", "none"], cwd=folder, timeout=120)
            if done.code != code or not re.search(wanted, done.err):
                wrong.append(f"{name}: exit {done.code}, asked {code} and {wanted!r}:\n{done.err.strip()[:600]}")
    return not wrong, "\n".join([f"{len(CASES) - len(wrong)} of {len(CASES)} as promised", *wrong])
