# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import re
import shlex

import rowkit

WHAT = ("pages: links, listed applications, folders, headers, formats, options, errors, presets, acceptance rows (tests/docs, tests/apps, tests of formats); "
        "whole cases of how-tos checked; every snippet built and run; every `tessera` command and every piece of Python that a page quotes, run in the page's order")
BAR = "all true, all run"

TESTS = (("docs_tests", "*"), ("apps_tests", "ReferencePages.*:ErrorNumbers.*"), ("molecular_tests", "Trajectory.FormatsStandOnTheirPage"),
         ("inversion_tests", "SoundingFormats.StandOnTheirPagesWithTheirEndings"))
STOPPED = 75  # a run that was asked to stop, docs/reference/exit-codes.md
# What pages take for given: shell lines before the first command that has these words, in the page's folder.
GIVEN = {
    "lorentz_slab.toml": "cp apps/examples/electromagnetics/lorentz_slab.toml .",
    "> docs/reference": "mkdir -p docs/reference",
    "tessera import md.mdp": "make_gromacs_run",
    "tessera gradcheck film.toml": "make_film",
    "x.xtc": "cp $(ls -d RUN/*/trajectory.xtc | head -1) x.xtc",
}
# Commands that compute for long: these words are added.
SHORTENED = {"nsteps=2000000": "--max-time 5s", "decay_db=60": "--max-time 60s"}
FILM = {"film.toml": """app = "electromagnetics.fdtd"
grid = {size = ["2 um", "1.5 um", "0 um"], cell = "50 nm", polarization = "Ez"}
run = {stop.steps = 300}
boundary = {pml.cells = 6}
output = {vtk = false}
material = [{name = "glass", index = 1.5}]
structure = [{shape = "box", centre = ["0.2 um", "0 um", "0 um"], size = ["0.2 um", "inf", "inf"], material = "glass"}]
source = [{kind = "point", component = "Ez", position = ["-0.5 um", "0 um", "0 um"], waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "80 THz"}}]
monitor = [{kind = "flux", name = "through", position = ["0.5 um", "0 um", "0 um"], size = ["0 um", "0.8 um", "0 um"], frequencies = ["200 THz"]}, {kind = "probe", name = "behind", components = ["Ez"], position = ["0.5 um", "0.1 um", "0 um"]}]
"""}
GROMACS = {
    "md.mdp": "integrator = md\nnsteps = 20\ndt = 0.001\ncutoff-scheme = Verlet\nrcoulomb = 0.9\nrvdw = 0.9\ncoulombtype = PME\n"
              "gen-vel = yes\ngen-temp = 100\nconstraints = none\n",
    "conf.gro": "Water\n    3\n    1SOL     OW    1   0.500   0.500   0.500\n    1SOL    HW1    2   0.600   0.500   0.500\n"
                "    1SOL    HW2    3   0.467   0.594   0.500\n   2.00000   2.00000   2.00000\n",
    "topol.top": "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nO 8 15.9994 0.0 A 0.3166 0.65\nH 1 1.008 0.0 A 0 0\n[ moleculetype ]\nSOL 2\n[ atoms ]\n"
                 "1 O 1 SOL OW 1 -0.8476\n2 H 1 SOL HW1 1 0.4238\n3 H 1 SOL HW2 1 0.4238\n[ settles ]\n1 1 0.1 0.16330\n[ system ]\nWater\n[ molecules ]\nSOL 1\n",
}

MADE = {"make_gromacs_run": GROMACS, "make_film": FILM}
# Pages whose Python reads the run, in RUN, of the first whole case that they quote; that of others reads what their commands left.
OF_ITS_CASE = {"fdtd.md"}


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.M | re.S)


def commands(page):
    """The `tessera` commands of the blocks without a language, or of sh, line by line."""
    found = []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.M | re.S):
        if language in ("", "sh", "bash", "console"):
            for line in block.splitlines():
                line = line.removeprefix("$ ")
                if re.match(r"tessera\s+[a-z]", line):
                    found.append(line)
    return found


def pages(root):
    everywhere = [p for p in sorted(root.rglob("*.md")) if not any(part.startswith(("build", ".")) for part in p.relative_to(root).parts)]
    return [p for p in everywhere if p.name != "CHANGELOG.md" and p.parent.name not in ("changes", "decisions")]


def run_page(work, page, folder):
    """(commands run, what failed) of a page in a folder of its own."""
    name = page.relative_to(work.root).as_posix()
    (folder / "apps").symlink_to(work.root / "apps")
    environment = {"PATH": f"{pathlib.Path(work.tessera()).parent}:{os.environ['PATH']}"}
    n, failed, given = 0, [], dict(GIVEN)
    for line in commands(page):
        for words in [w for w in given if w in line]:
            what = given.pop(words)
            if what in MADE:
                for file, text in MADE[what].items():
                    (folder / file).write_text(text)
            else:
                work.run(["bash", "-c", what], cwd=folder, env=environment).must_succeed(f"{name}: {what}")
        added = next((more for words, more in SHORTENED.items() if words in line), None)
        command = line if added is None else line.split("#")[0].rstrip() + " " + added
        done = work.run(["bash", "-c", command], cwd=folder, env=environment, timeout=1200)
        n += 1
        promised = re.search(r"#.*exit code (\d+)", line)
        if done.code != (int(promised[1]) if promised else 0) and not (added and done.code == STOPPED):
            failed.append(f"{name}: {shlex.quote(command)} ended with {done.code}: {done.err.strip()[-300:]}")
    for block in blocks(page, "python"):
        if page.name in OF_ITS_CASE:
            (folder / "case.toml").write_text(next(case for case in blocks(page, "toml") if case.startswith("app = ")))
            work.run([work.tessera(), "run", "case.toml", "--output", "RUN", "--force", "--progress", "none"], cwd=folder).must_succeed(f"{name}: its case")
        done = work.run([work.venv("hdf5", "h5py", "numpy"), "-c", block], cwd=folder)
        n += 1
        if done.code != 0 or not done.out.strip():
            failed.append(f"{name}: its Python ended with {done.code}: {done.err.strip()[-300:]}")
    return n, failed


def measure(work):
    failures, text = [], []
    for program, pattern in TESTS:
        result = work.gtest(program, pattern)
        failures += result["failed"] + [f"{program} {pattern}: {result['skipped']} skipped"] * (result["skipped"] > 0)
        text.append(f"{program} {pattern}: {result['passed']} passed")
    holds, said = work.ctest_row(r"^docs\.snippet_", minimum=10)
    text.append(f"snippets: {said}")
    if not holds:
        failures.append("a snippet does not run")
    run = 0
    for page in pages(work.root):
        if commands(page):
            with work.temp() as folder:
                n, failed = run_page(work, page, pathlib.Path(folder))
                run, failures = run + n, failures + failed
    text.append(f"{run} commands and pieces of Python quoted by pages were run")
    if run < 40:
        failures.append("fewer commands than the pages had")
    return not failures, "\n".join([*text, *failures])
