# SPDX-License-Identifier: Apache-2.0
import fdtd

WHAT = "wrong expressions (11, of which 8 are asked for): `tessera check` of a slab in a waveguide whose thickness is a parameter, with one thing wrong"
BAR = "refused with exit 5 at file, line and column, with what is wrong"

P = 'thickness = "12 mm"'
HIGH = 'high = ["thickness", "inf", "inf"]'
WRONG = (  # what stands there, what is put there, number and words of the error, the text that its column points to
    (P, 'thickness = "12 mm +"', "E0220", "thickness", '"\n'),
    (HIGH, 'high = ["2*thicknes", "inf", "inf"]', "E0221", "thickness", "thicknes\""),
    (P, 'thickness = "12 mm + 1 GHz"', "E0222", "frequency", "+ 1 GHz"),
    (HIGH, 'high = ["thickness*thickness", "inf", "inf"]', "E0212", "expected length", '"thickness*'),
    (P, 'thickness = "12 mm/0"', "E0223", "no finite value", '"12 mm/0'),
    (P, 'thickness = "2*half"\nhalf = "thickness/2"', "E0224", "thickness -> half", None),
    (P, P + '\nh = "1 mm"\nv = "2 mm*h"', "E0220", "h", None),
    (P, 'thickness = "12 mm*sin(1 mm)"', "E0222", "sin", None),
    (P, P + '\npi = 3', "E0220", "pi", "pi = 3"),
    ("pml.cells = 25", 'pml.cells = "25/2"', "E0210", "12.5", '"25/2"'),
    (P, 'thickness = "2 thicknes"', "E0211", "thicknes", "thicknes\""),
)


def measure(work):
    slab = fdtd.example(work, "waveguide_slab.toml").read_text()
    missed = []
    for number, (what, by, error, words, mark) in enumerate(WRONG):
        assert what in slab
        case = fdtd.folder(work, f"wrong_expression_{number}.toml")
        case.write_text(slab.replace(what, by, 1))
        done = work.run([work.tessera(), "check", case])
        first = next((part for part in done.err.split("\n") if part.startswith(str(case)) and "error" in part), ":0:0:")
        line, column = (int(part) for part in first.removeprefix(str(case)).split(":")[1:3])
        there = "\n".join(case.read_text().split("\n")[line - 1:])[column - 1:] if line else ""
        if done.code != 5 or error not in first or words not in first + done.err or not line or (mark and not there.startswith(mark)):
            missed.append(f"{number}: exit {done.code}, '{there[:20]}': {done.err[:200]}")
    return not missed, f"{len(WRONG) - len(missed)} of {len(WRONG)} refused at their places" + "".join("; " + m for m in missed)
