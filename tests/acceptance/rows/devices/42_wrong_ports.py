# SPDX-License-Identifier: Apache-2.0
import fdtd

WHAT = "wrong mode ports (8 of 12; those of lumped ports have their own row): `tessera check` of a step between two guides with one thing wrong"
BAR = "refused with exit 5 (4 for a file), at the line of the key, with what is wrong"

WIDE = 'position = ["-20 mm", "0 mm", "0 mm"]'
BAND = 'frequency_min = "11.3 GHz"\nfrequency_max = "13.1 GHz"'
WRONG = (  # what stands there, what is put there, the words of the error, the key whose line it names
    (WIDE, 'position = ["-1 mm", "0 mm", "0 mm"]', "the guide changes within two cells of the port", "position"),
    (WIDE, 'position = ["-36 mm", "0 mm", "0 mm"]', "lies within the absorbing layer", "position"),
    ("pml.cells = 16", 'pml.cells = 16\nx_low = "pec"', "the guide runs into no layer behind the port", "direction"),
    (WIDE, WIDE + "\nmodes = 60", "modes", "modes"),
    (BAND, 'frequency_min = "4 GHz"\nfrequency_max = "7 GHz"', "mode 1 travels nowhere in the band", "[[port]]"),
    ("direction = [1, 0, 0]", "direction = [1, 1, 0]", "a mode travels along an axis", "direction"),
    ('name = "narrow"', 'name = "wide"', "is given twice", "name"),
    ("stop.decay_db = 160", 'stop.decay_db = 160\nexcite = ["weid"]', "there is no port 'weid'", "excite"),
)


def measure(work):
    step = (work.root / "tests" / "acceptance" / "rows" / "devices" / "40_ports.py").read_text()
    step = step[step.index('STEP = """') + 10:step.index('"""\n\n\ndef matrix')]
    missed = []
    for number, (what, by, words, key) in enumerate(WRONG):
        assert what in step
        case = fdtd.folder(work, f"wrong_port_{number}.toml")
        case.write_text(step.replace(what, by, 1))
        done = work.run([work.tessera(), "check", case])
        line = next((part.split(":")[1] for part in done.err.split("\n") if part.startswith(str(case)) and "error" in part), "0")
        text = case.read_text().split("\n")[int(line) - 1] if line.isdigit() and int(line) > 0 else ""
        if done.code != 5 or words not in done.err or key not in text:
            missed.append(f"{number}: exit {done.code}, '{text}': {done.err[:200]}")
    return not missed, f"{len(WRONG) - len(missed)} of {len(WRONG)} refused at their keys" + "".join("; " + m for m in missed)
