# SPDX-License-Identifier: Apache-2.0
import shutil

import md
import rowkit

WHAT = "ns/day of `tessera run` beside GROMACS, OpenMM and LAMMPS (-sf opt) on the same input, in turn, 1 and 2 cores: 7,754 SPC/E (23,262 atoms) and JAC with PME and 0.9 nm, a Lennard-Jones melt of 32,000"
BAR = "at least 1.5x gmx, 3x OpenMM, 3x lmp (medians of 5 rounds); the RMS error of forces against a converged Ewald sum not larger than theirs"
LEAST = {"gmx": 1.5, "openmm": 3, "lmp": 3}
PEERS = {"water": ("gmx", "openmm"), "jac": ("gmx", "openmm"), "melt": ("lmp",)}


def measure(work):
    python, holds, text = work.peer_python(), True, []
    for program in ("gmx", "lmp"):
        if not shutil.which(program):
            raise rowkit.NotMeasured(f"there is no {program} here: Debian's gromacs and lammps ('./bootstrap.sh bench')")
    for case, peers in PEERS.items():
        done = work.run([python, work.root / "tests/benchmarks/peers/molecular_speed.py", "--build", work.build, "--data", work.data, "--case", case, "--forces", "--folder", md.folder(work, "speed", "x").parent],
                        env={"PYTHONDONTWRITEBYTECODE": "1"}).must_succeed("molecular_speed.py")
        numbers = rowkit.read_numbers(done.out)
        text += [line[2:] for line in done.out.splitlines() if line.startswith("# ") and ", 1 thread" in line]
        for threads in (1, 2):
            (rate,) = rowkit.need(numbers, f"{case}_{threads}_ours")
            parts = []
            for peer in peers:
                name = f"{case}_{threads}_{peer}"
                if name not in numbers:
                    raise rowkit.NotMeasured(f"{peer} does not run here ('./bootstrap.sh bench' installs OpenMM)")
                theirs, ratio, low, high = rowkit.need(numbers, name, f"{name}_ratio", f"{name}_ratio_low", f"{name}_ratio_high")
                holds = holds and ratio >= LEAST[peer]
                parts.append(f"{peer} {theirs:.4g}, {ratio:.2f}x ({low:.2f}-{high:.2f})")
            text.append(f"{case}, {threads}: {rate:.4g} ns/day; " + "; ".join(parts))
        errors = {name: numbers[key] for name in ("ours", *peers) if (key := f"{case}_{name}_force_error") in numbers}
        if errors:
            holds = holds and errors["ours"] <= min(errors.values())
            text.append(f"{case}: RMS force error " + ", ".join(f"{name} {error:.2e}" for name, error in errors.items()))
    return holds, "\n".join(text)
