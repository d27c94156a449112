# SPDX-License-Identifier: Apache-2.0
import pathlib
import re
import time

import fdtd

WHAT = "cases that run but hardly say what is meant, and some that cannot run: gallery cases, one change each; the gallery itself"
BAR = "text and place of each message as promised; nothing is said about the gallery; 121 equal sources are checked in 0.3 s"

WARNING, ERROR = 0, 5
FLUX = '\n[[monitor]]\nkind = "flux"\nname = "base"\nposition = ["1 um", "0 um", "0 um"]\nsize = ["0 um", "1.7 um", "0 um"]\nfrequencies = ["300 THz"]\n'
SECOND = '''[[source]]
kind = "point"
component = "Ez"
position = ["0 um", "0 um", "0 um"]
amplitude = 0
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "60 THz"}

'''
CASES = (  # case, what is replaced, by what, exit code, the line that is named, what is said
    ("line_over_mirror.toml", 'size = ["1 um", "1.4 um", "0 um"]', 'size = ["1.8 um", "1.4 um", "0 um"]', WARNING, '[[monitor]]', r"warning E0652: its surface runs into the absorbing layer across x"),
    ("line_over_mirror.toml", 'position = ["0 um", "1.125 um", "0 um"]', 'position = ["0.7 um", "1.125 um", "0 um"]', WARNING, '[[monitor]]', r"warning E0662: no source and no plane wave lies in its box"),
    ("sphere.toml", 'size = ["2.8 um", "2.8 um", "2.8 um"]', 'size = ["1.8 um", "2.8 um", "2.8 um"]', WARNING, '[[monitor]]', r"warning E0661: the face across x of its surface cuts 'glass'"),
    ("sphere.toml", 'size = ["2.8 um", "2.8 um", "2.8 um"]', 'size = ["2.8 um", "2.4 um", "2.8 um"]', WARNING, '[[monitor]]', r"warning E0663: its face across y lies within the box of the plane wave"),
    ("sphere.toml", 'size = ["2.4 um", "2.4 um", "2.4 um"]', 'size = ["2.4 um", "2.4 um", "1.8 um"]', WARNING, '[[source]]', r"warning E0661: the box of the plane wave cuts 'glass' with its face across z"),
    ("grating.toml", 'high = ["0 um", "0.425 um", "inf"]', 'high = ["2.5 um", "0.425 um", "inf"]', WARNING, '[[structure]]#2', r"warning E0664: the body ends inside the absorbing layer across x"),
    ("sphere.toml", 'frequency_max = "238.56725796 THz"', 'frequency_max = "600 THz"', WARNING, 'frequency_max = "600 THz"', r"warning E0665: at 6e\+14 Hz all sources together are \d+ dB below their peak"),
    ("planar_cavity.toml", 'frequencies = [', 'frequencies = ["30 THz", ', WARNING, 'frequencies = [', r"warning E0665: at 3e\+13 Hz all sources together are"),
    ("cylinder.toml", 'polarization = [0, 0, 1]', 'polarization = [0, 1, 1]', ERROR, 'polarization = [0, 1, 1]', r"error E0628: the wave has a component Ey, which is not computed"),
    ("beam.toml", 'polarization = [0.0, 0.0, 1.0]', 'polarization = [0.0, 1.0, 0.0]', ERROR, 'polarization = [0.0, 1.0, 0.0]', r"error E0628: the wave has a component E[xy], which is not computed"),
    ("sphere.toml", 'frequency_points = 38', 'frequency_points = 100000', 3, '[[monitor]]', r"error E0655: the case needs .* GB for this monitor"),
    ("ring.toml", 'height = "inf"', 'height = "inf"\nrepeat = {count = [1000, 1001, 1], step = ["1 nm", "1 nm", "0 nm"]}', ERROR, 'repeat = ', r"error E0626: repeats make 1001000 bodies together"),
    ("gpr.toml", 'kind = "probe"\nname = "', 'kind = "probe"\nname = "' + 100 * "x", ERROR, 'name = "xxx', r"error E0629: a name has at most 100 letters"),
    ("grating.toml", 'relative_to = "before"', 'relative_to = "base"', ERROR, 'relative_to = "base"', r"error E0629: 'base' has other frequencies"),
    ("fresnel.toml", 'relative_to = "before"', 'relative_to = "before"\nsubtract = "nowhere"', ERROR, 'subtract = "nowhere"', r"error E0660: the run in .*nowhere cannot be subtracted: it has no results.h5"),
    ("grating.toml", '[[expect]]\n', '[[expect]]\nfrequency = "320 THz"\n', ERROR, 'frequency = "320 THz"', r"error E0629: is outside of the band of "),
)


def line_of(text, wanted):
    """Number of the line that begins with `wanted`, or of its n-th one ("...#n")."""
    start, _, which = wanted.partition("#")
    lines = [i for i, line in enumerate(text.splitlines(), 1) if line.startswith(start)]
    return lines[int(which or 1) - 1]


def measure(work):
    wrong = []
    with work.temp() as folder:
        case = pathlib.Path(folder) / "case.toml"
        for name, old, new, code, place, said in CASES:
            text = fdtd.example(work, name).read_text()
            if old not in text:
                wrong.append(f"{name} has no {old!r}")
                continue
            text = text.replace(old, new, 1) + (FLUX if '"base"' in new else "")
            case.write_text(text)
            done = work.run([work.tessera(), "check", case], cwd=folder, timeout=60)
            if done.code != code or not re.search(rf"case\.toml:{line_of(text, place)}:\d+: {said}", done.err):
                wrong.append(f"{name}, {new[:60]!r}: exit {done.code}, {done.err.strip()[:300]!r}")
        for path in sorted(fdtd.example(work, "ring.toml").parent.glob("*.toml")):
            done = work.run([work.tessera(), "check", path], cwd=folder, timeout=60)
            if done.code != 0 or "warning" in done.err:
                wrong.append(f"{path.name}: exit {done.code}, {done.err.strip()[:300]!r}")
        text = fdtd.example(work, "grating.toml").read_text()
        case.write_text(text + 120 * SECOND)
        seconds = []
        for _ in range(3):
            begin = time.monotonic()
            work.run([work.tessera(), "check", case], cwd=folder, timeout=60)
            seconds.append(time.monotonic() - begin)
    if min(seconds) > 0.3:
        wrong.append(f"121 sources take {min(seconds):.2f} s to check")
    if "2.2 Q periods" not in (work.root / "docs" / "how-to" / "fdtd.md").read_text():
        wrong.append("the page fdtd.md does not say that 60 dB take ln(10^6) Q/(2 pi) = 2.2 Q periods")
    total = len(CASES) + 3
    return not wrong, "\n".join([f"{total - len(wrong)} of {total} as promised; 121 sources in {min(seconds):.2f} s", *wrong])
