# SPDX-License-Identifier: Apache-2.0
import pathlib
import re

import md

WHAT = "cases and files that cannot run: keys, units, boxes, stages, files of AMBER, XYZ, GROMACS and PDB that are cut or wrong, overlapping atoms; a box of exactly two cut-offs runs; a blow-up explains itself"
BAR = "an error with file:line:column (or the file, where it is one as a whole) and number, exit code 4 or 5, nothing left behind; exit code 7 with atoms, terms, neighbours and the last good frame for the blow-up"

ARGON = '''app = "molecular.dynamics"
dt = "4 fs"
coulombtype = "none"
rvdw = "0.87 nm"
vdw_modifier = "potential-shift"
nsteps = 20
[lennard_jones]
[build]
cells = 3
edge = "0.58 nm"
'''
CHANGED = (  # what is replaced, by what, exit code, what the message says
    ('rvdw = "0.87 nm"', 'rvwd = "0.87 nm"', 5, r"case\.toml:4:1: error E0213: .*rvwd"),
    ('dt = "4 fs"', 'dt = "4 nm"', 5, r"case\.toml:2:\d+: error E0212: .*time"),
    ('dt = "4 fs"', "dt = 0.004", 5, r"case\.toml:2:\d+: error E\d{4}: "),
    ('rvdw = "0.87 nm"', 'rvdw = "0.8701 nm"', 5, r"case\.toml:4:\d+: error E0752: .*0\.8701.*1\.74"),
    ("nsteps = 20", "nsteps = -1", 5, r"case\.toml:6:\d+: error E0214: "),
    ("nsteps = 20\n", "", 5, r"error E0751: .*no end"),
    ("nsteps = 20", 'nsteps = 20\nduration = "1 ps"', 5, r"error E0751: .*both given"),
    ("nsteps = 20", 'nsteps = 20\nheat_from = "1 K"', 5, r"case\.toml:7:\d+: error E0751: .*no thermostat"),
    ('vdw_modifier = "potential-shift"', 'vdw_modifier = "force-switch"\nrvdw_switch = "0.9 nm"', 5, r"error E0752: .*switch"),
    ("[lennard_jones]\n", "", 5, r"error E0750: "),
    ('vdw_modifier = "potential-shift"', 'vdw_modifier = "force-switch"', 5, r"case\.toml:5:\d+: error E0751: .*needs rvdw_switch, where it begins.*give rvdw_switch"),
    ("nsteps = 20", 'nsteps = 20\npcoupl = "c-rescale"', 5, r"case\.toml:7:\d+: error E0751: .*needs a temperature, and none is given.*give ref_t"),
    ("nsteps = 20", 'nsteps = 20\nref_t = "90 K"\npcoupl = "parrinello-rahman"\nref_p = ["1 bar", "1 bar", "2 bar"]\npcoupltype = "semiisotropic"', 5, r"case\.toml:9:\d+: error E0751: .*one pressure for all directions.*c-rescale"),
    ('coulombtype = "none"', 'coulombtype = "pme"\nbox = "none"', 5, r"case\.toml:3:\d+: error E0752: .*sum over a periodic box.*cut-off"),
    ("nsteps = 20", 'nsteps = 20\ncoulomb_modifier = "force-switch"', 5, r"case\.toml:7:\d+: error E0215: .*potential-shift.*force-shift"),
    ("nsteps = 20", 'nsteps = 20\ntcoupl = "v-rescale"\nannealing_time = ["0 ps", "1 ps"]\nannealing_temp = ["1 K", "2 K"]\ntc_grps = ["index 0 to 9", "not index 0 to 9"]\ntc_ref_t = ["1 K", "2 K"]', 5, r"case\.toml:11:\d+: error E0751: .*one temperature for all of tc_grps"),
)
FILES = (  # topology, structure, settings, what the message says
    ("cut.prmtop", "ok.rst7", r"cut\.prmtop.*error E07\d\d: "),
    ("ok.prmtop", "cut.rst7", r"cut\.rst7:\d+:\d+: error E0701: "),
    ("ok.prmtop", "words.rst7", r"words\.rst7:\d+:\d+: error E0303: "),
    ("ok.prmtop", "fewer.rst7", r"fewer\.rst7:2:\d+: error E0704: "),
    ("ok.prmtop", "none.rst7", r":\d+:\d+: error E0401: there is no file or folder 'files/none\.rst7'"),
)


def measure(work):
    wrong, peak, total = [], 0.0, 0
    topology, restart = (work.test_data("md", "amber", f"ala2_vac.{e}").read_text() for e in ("prmtop", "rst7"))
    with work.temp() as place:
        place = pathlib.Path(place)
        inside = place / "files"
        inside.mkdir()
        for name, text in (("ok.prmtop", topology), ("cut.prmtop", topology[: len(topology) // 2]), ("ok.rst7", restart), ("cut.rst7", restart[: len(restart) // 2]),
                           ("words.rst7", restart.replace(restart.splitlines()[3][:12], "        word", 1)), ("fewer.rst7", re.sub(r"^( *)22", r"\g<1>21", restart, count=1, flags=re.M))):
            (inside / name).write_text(text)
        case = place / "case.toml"

        def attempt(name, text, code, says, may_leave=()):
            nonlocal peak, total
            total += 1
            case.write_text(text)
            done = work.run([work.tessera(), "run", case, "--progress", "none"], cwd=place, timeout=120)
            peak = max(peak, done.peak_mib)
            left = sorted(p.name for p in place.iterdir() if p.name not in ("case.toml", "files", *may_leave))
            if done.code != code or not re.search(says, done.err, re.S) or left:
                wrong.append(f"{name}: exit {done.code}, {done.err.strip()[:300]!r}, left {left}")

        for old, new, code, says in CHANGED:
            if ARGON.count(old) != 1:
                raise ValueError(old)
            attempt(new or "without " + old.strip(), ARGON.replace(old, new), code, says)
        for top, structure, says in FILES:
            attempt(f"{top} with {structure}", f'app = "molecular.dynamics"\ntopology = "files/{top}"\nstructure = "files/{structure}"\ncoulombtype = "cut-off"\nrcoulomb = "inf"\nrvdw = "inf"\nnsteps = 1\n', 4, says)
        (inside / "upon.xyz").write_text('3\nLattice="30 0 0 0 30 0 0 0 30"\nAr 1 1 1\nAr 20 20 20\nAr 1 1.002 31.001\n')
        attempt("overlapping atoms", 'app = "molecular.dynamics"\nstructure = "files/upon.xyz"\ncoulombtype = "none"\nnsteps = 5\n[lennard_jones]\n', 4, r"upon\.xyz.*error E0755: .*atoms 1 .* and 3 .*0\.0002 nm", ("case.run",))
        total += 2
        case.write_text(ARGON)
        done = work.run([work.tessera(), "run", case, "--progress", "none", "--output", inside / "exact"], cwd=place)
        if done.code != 0:
            wrong.append(f"a box of two cut-offs: exit {done.code}, {done.err[-300:]}")
        done = work.run([work.tessera(), "run", case, "--progress", "none", "--output", inside / "blow", "--set", "dt=0.1 ps", "--set", "nsteps=500", "--set", "gen_temp=3000 K"], cwd=place)
        why = inside / "blow" / "1_dynamics" / "why.txt"
        text = why.read_text() if why.exists() else ""
        if done.code != 7 or not all(part in text for part in ("failed at step", "atom ", "neighbour ", "what to try")) or not why.with_name("last_good.rst7").exists():
            wrong.append(f"the blow-up: exit {done.code}, {text[:300]!r}")
    return not wrong and peak < 200, "\n".join([f"{total - len(wrong)} of {total} as promised; refused runs took {peak:.0f} MiB at most", *wrong])
