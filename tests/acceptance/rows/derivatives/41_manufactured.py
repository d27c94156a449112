# SPDX-License-Identifier: Apache-2.0
WHAT = "manufactured problems by PETSc, MUMPS and SLEPc: SPD, indefinite, complex symmetric, nonsymmetric; distributed on 2 ranks"
BAR = "values, first and second derivatives to the tolerances in the tests"


def measure(work):
    return work.ctest_row("Petsc|Eigenpairs|distributed", minimum=10)
