# SPDX-License-Identifier: Apache-2.0
import re

import parallel
import rowkit

WHAT = ("rows that stay with their ranks: conjugate gradients on 10^6 unknowns, sums and a gradient through the solve, in parts of 8,192, on 1, 2, 3, 4, 5, 8 t and 2, 3, 4 m; "
        "products, transposes and derivatives against a dense matrix; PETSc on 10^5 unknowns, 1 to 4 m")
BAR = "0 bits differ; residual 1e-10"


def solve(work, before, options):
    done = work.run([*before, work.program("rows_on_ranks"), *options]).must_succeed("rows_on_ranks")
    numbers = rowkit.read_numbers(done.out)
    return re.search(r"bits: ([0-9a-f]{16})", done.out)[1], *rowkit.need(numbers, "residual", "iterations", "peak_mib")


def measure(work):
    holds, tests = work.gtest_row("parallel_tests", "RowMatrix.*", minimum=9)
    ways = [([], [f"threads:{n}"], f"{n} t") for n in (1, 2, 3, 4, 5, 8)]
    ways += [([*parallel.mpirun(), "-n", str(n)], [], f"{n} m") for n in (2, 3, 4)]
    found = {name: solve(work, before, ["--cells", "100", *options]) for before, options, name in ways}
    first, residual, iterations, _ = found["1 t"]
    wrong = [name for name, (bits, *_) in found.items() if bits != first]
    holds = holds and not wrong and residual <= 1e-10
    text = [tests, f"10^6 unknowns, {iterations:.0f} iterations, residual {residual:.1e}: the same bits in {len(found) - len(wrong)} of {len(found)} ways"
            + (f", not in {wrong}" if wrong else "") + "; MiB of the largest rank: " + ", ".join(f"{found[n][3]:.0f} on {n}" for n in ("2 m", "3 m", "4 m"))]
    for n in (1, 2, 3, 4):
        _, residual, iterations, peak = solve(work, [*parallel.mpirun(), "-n", str(n)], ["--cells", "47", "--solver", "petsc"])
        holds = holds and residual <= 1e-10
        text.append(f"PETSc, 103,823 unknowns, {n} m: {iterations:.0f} iterations, residual {residual:.1e}, {peak:.0f} MiB")
    return holds, "\n".join(text)
