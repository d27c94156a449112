# SPDX-License-Identifier: Apache-2.0
WHAT = ("reverse and forward through a data-dependent Newton while; jet through a linear solve; third derivative of a PETSc (MUMPS) "
        "solve against 6th-order differences of the exact second")
BAR = "1e-8"
PARTS = (("autodiff_tests", "Implicit.NewtonInALoopOfUnknownLengthHasTheTheoremsDerivatives",
          ("newton_while_forward", "newton_while_reverse", "newton_while_second")),
         ("autodiff_tests", "LinearSolve.JetsOfEveryKindOfOperatorToOrderSix", ("jet_of_linear_solve_order_6",)),
         ("solvers_tests", "Petsc.ThirdDerivativeOfAMumpsSolveAgainstDifferencesOfTheSecond", ("third_derivative_of_mumps_solve",)))


def measure(work):
    holds, words = True, []
    for program, tests, names in PARTS:
        result = work.gtest(program, tests)
        holds = holds and not result["failed"] and not result["skipped"]
        words += result["failed"]
        for name in names:
            error = float(result["numbers"].get(name, "nan"))
            holds = holds and error <= 1e-8
            words.append(f"{name} {error:.1e}")
    return holds, "\n".join(words)
