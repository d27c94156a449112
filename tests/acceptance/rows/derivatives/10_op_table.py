# SPDX-License-Identifier: Apache-2.0
WHAT = ("every primitive x {value, jvp, vjp, jvp of vjp, vjp of vjp, third order, jet to order 6, collapsed jet, vmap} x "
        "{f64, c128} where defined")
BAR = "complete; a missing rule does not compile; none only in the zero class and a list in the docs"


def measure(work):
    table = work.gtest_row("autodiff_tests", "OpTable.*")
    compiled = work.ctest_row("compile_fail")
    listed = work.gtest_row("autodiff_tests", "Operations.*")
    parts = (("op table", table), ("wrong programs", compiled), ("list in the docs", listed))
    return all(holds for _, (holds, _) in parts), "\n".join(f"{name}: {text}" for name, (_, text) in parts)
