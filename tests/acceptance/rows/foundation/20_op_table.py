# SPDX-License-Identifier: Apache-2.0
WHAT = ("op table: every primitive x dtype x {value, jvp, vjp, 2nd and 3rd order, vmap, planned, threads}; random graphs; "
        "nested perturbations")
BAR = "complete; adjoint identity 1e-12; 10,000 fuzz graphs at depth 4 without a mismatch; D_x(x D_y(x+y)) = 1"


def measure(work):
    table = work.gtest_row("autodiff_tests", "OpTable.*")
    graphs = work.gtest_row("autodiff_tests", "GraphFuzz.*", environment={"TESSERA_FUZZ_GRAPHS": "10000"})
    nested = work.gtest_row("autodiff_tests", "Grad.KeepsNestedPerturbationsApart")
    parts = (("op table", table), ("random graphs", graphs), ("nested", nested))
    return all(holds for _, (holds, _) in parts), "\n".join(f"{name}: {text}" for name, (_, text) in parts)
