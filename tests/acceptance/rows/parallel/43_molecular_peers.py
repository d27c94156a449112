# SPDX-License-Identifier: Apache-2.0
import shutil

import md
import parallel
import rowkit

WHAT = "ns/day of `mpirun -n 2 tessera run` beside GROMACS (-ntmpi 2) and LAMMPS (mpirun -n 2, -sf opt) on the same input, in turn, medians of 5: 7,754 SPC/E (23,262 atoms) and JAC with PME and 0.9 nm; a Lennard-Jones melt of 32,000"
BAR = "1.2x gmx, 2.4x lmp"
PEERS = {"water": ("gmx", 1.2), "jac": ("gmx", 1.2), "melt": ("lmp", 2.4)}


def measure(work):
    parallel.mpirun()
    python, holds, text = work.peer_python(), True, []
    for case, (peer, least) in PEERS.items():
        if not shutil.which(peer):
            raise rowkit.NotMeasured(f"there is no {peer} here: Debian's gromacs and lammps ('./bootstrap.sh bench')")
        done = work.run([python, work.root / "tests/benchmarks/peers/molecular_speed.py", "--build", work.build, "--data", work.data, "--case", case, "--ranks", "2", "--folder", md.folder(work, "speed", "x").parent],
                        env={"PYTHONDONTWRITEBYTECODE": "1"}).must_succeed("molecular_speed.py")
        numbers = rowkit.read_numbers(done.out)
        name = f"{case}_2r_{peer}"
        ours, theirs, ratio, low, high = rowkit.need(numbers, f"{case}_2r_ours", name, f"{name}_ratio", f"{name}_ratio_low", f"{name}_ratio_high")
        holds = holds and ratio >= least
        text += [line[2:] for line in done.out.splitlines() if line.startswith("# ")]
        text.append(f"{case}: {ours:.4g} ns/day; {peer} {theirs:.4g}, {ratio:.2f}x ({low:.2f}-{high:.2f})")
    return holds, "\n".join(text)
