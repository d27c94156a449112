# SPDX-License-Identifier: Apache-2.0
import rowkit

PROGRAMS = 2000
WHAT = f"{PROGRAMS} random programs of branches, loops, vmap, jit, custom rules and inner derivatives, each under 26 stacks of transforms, beside Taylor arithmetic"
BAR = "1e-10 in first, 1e-8 in second to fourth order (100 times the rounding of the program itself, where that is more); none fails, none is left out but for overflow"


def judged(work, run, programs):
    """(holds, text) of a run of `nesting` that ended."""
    numbers = rowkit.read_numbers(run.out)
    if not numbers:
        raise rowkit.Failed(f"nesting ended with {run.code}:\n" + "\n".join((run.out + run.err).splitlines()[-15:]))
    stacks, tried, cases, overflows, rounding, failures = rowkit.need(numbers, *(f"nesting_{n}" for n in ("stacks", "programs", "cases", "overflows", "ill_conditioned", "failures")))
    errors = ", ".join(f"{name[-1]}: {value:.0e}" for name, value in sorted(numbers.items()) if name.startswith("nesting_error_order_"))
    text = f"{tried:.0f} programs, {cases:.0f} cases, {stacks:.0f} stacks in all; {failures:.0f} failed, {overflows:.0f} overflowed, {rounding:.0f} ill-conditioned\nlargest error by order {errors}"
    text += "".join("\n" + line for line in run.out.splitlines() if line.startswith(("FAILED", "ILL-CONDITIONED")))
    return run.code == 0 and failures == 0 and tried == programs and stacks >= 26, text


def measure(work):
    return judged(work, work.run([work.program("nesting"), "--programs", str(PROGRAMS), "--stacks", "26"]), PROGRAMS)
