# SPDX-License-Identifier: Apache-2.0
import random
import shutil

import md

WHAT = ("runs killed (kill -9) at moments uniform in their work and resumed on 2 threads: 216 rigid waters by PME (built, minimized, heated, NPT), and alanine dipeptide in TIP3P with rigid bonds, "
        "Langevin steps and position restraints (AMBER)")
BAR = "10 of 10 of each with every table, trajectory and final structure the same in all bytes; an undisturbed run of 2 threads as well"
MOMENTS = 10
OPTIONS = ("--checkpoint-every", "0.1 s", "--progress", "none")
RESULTS = {".csv", ".h5", ".png", ".svg", ".xtc", ".dcd", ".rst7"}


def differences(a, b):
    files = [{p.relative_to(run) for p in run.rglob("*") if p.suffix in RESULTS} for run in (a, b)]
    return [str(name) for name in sorted(files[0] | files[1]) if name not in files[0] & files[1] or (a / name).read_bytes() != (b / name).read_bytes()]


def measure_case(work, name, case):
    whole, place, log = md.folder(work, f"kill_{name}_whole"), md.folder(work, f"kill_{name}"), md.folder(work, f"kill_{name}.log")
    command = ["run", case, "--force", "--threads", "1", "--output"]
    shutil.rmtree(whole, ignore_errors=True)
    killed, seconds = work.run_to([*command, whole], log, 1e9, *OPTIONS)
    if killed or not (whole / "results.h5").exists():
        return [f"the undisturbed run of {name} did not end: {log.read_text()[-500:]}"], ""
    chance, wrong, resumed = random.Random(20), [], 0
    for k in range(MOMENTS):
        moment, killed = seconds * (k + chance.random()) / MOMENTS, False
        while not killed:  # one that was done before is killed earlier
            shutil.rmtree(place, ignore_errors=True)
            killed, _ = work.run_to([*command, place], log, moment, *OPTIONS)
            moment *= 0.9
        again = ["resume", place, "--threads", "2"] if (place / "manifest.json").exists() else [*command, place]
        code = work.start(again, log, *OPTIONS).wait()
        resumed += "going on from" in log.read_text()
        different = differences(whole, place) if code == 0 else []
        if code != 0 or different:
            wrong.append(f"{name} killed at {moment / 0.9:.1f} s: exit {code} {different[:5]} {log.read_text()[-200:]}")
    two = md.folder(work, f"kill_{name}_two")
    shutil.rmtree(two, ignore_errors=True)
    different = differences(whole, two) if work.start(["run", case, "--threads", "2", "--output", two], log, *OPTIONS).wait() == 0 else ["it did not end"]
    text = f"{name}: {MOMENTS - len(wrong)} of {MOMENTS} equal, {resumed} from a checkpoint; a run of {seconds:.1f} processor seconds; on 2 threads against 1 {len(different)} files differ"
    if resumed < MOMENTS // 2:
        wrong.append(f"{name}: only {resumed} runs were resumed from a checkpoint")
    return [*wrong, *different[:5]], text


def measure(work):
    output = '[output]\ntrajectory = ["xtc", "dcd"]\n'
    water = md.case(work, "kill_water", {"dt": "2 fs", "rcoulomb": "0.85 nm", "rvdw": "0.85 nm", "constraints": "h-bonds", "tcoupl": "v-rescale", "nstenergy": 20, "nstxout": 20, "nstlog": 0},
                    output + '[build]\nkind = "water"\nmodel = "tip3p"\nmolecules = 216\n[[stage]]\ntype = "minimize"\nnsteps = 30\n'
                    '[[stage]]\nname = "heat"\nheat_from = "50 K"\nnsteps = 200\n[[stage]]\nname = "press"\npcoupl = "c-rescale"\nnsteps = 200\n')
    files = {"topology": str(work.test_data("md", "amber", "ala2_tip3p.prmtop")), "structure": str(work.test_data("md", "amber", "ala2_tip3p.rst7"))}
    peptide = md.case(work, "kill_peptide", {**files, "dt": "2 fs", "rcoulomb": "0.9 nm", "rvdw": "0.9 nm", "constraints": "h-bonds", "integrator": "sd", "nstenergy": 20, "nstxout": 20, "nstlog": 0},
                      output + '[[stage]]\ntype = "minimize"\nnsteps = 20\n[[stage]]\nname = "held"\nposres = "solute-heavy"\nnsteps = 60\n[[stage]]\nname = "free"\nnsteps = 60\n')
    wrong, texts = [], [md.where(work)]
    for name, case in (("water", water), ("peptide", peptide)):
        found, text = measure_case(work, name, case)
        wrong += found
        texts.append(text)
    return not wrong, "\n".join([*texts, *wrong])
