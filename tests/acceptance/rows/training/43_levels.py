# SPDX-License-Identifier: Apache-2.0
WHAT = "a step (loss, gradients, Adam) of the five networks in f32 and f64 without jit, at O0 and at O1, arguments given away or not; 10,000 random functions of what networks are made of, with their gradients"
BAR = "the same bits"


def measure(work):
    steps, text = work.gtest_row("solvers_tests", "FiveNetworks.Steps*", environment={"TESSERA_FULL_NETWORKS": "1"})
    functions, more = work.gtest_row("autodiff_tests", "LevelsFuzz.*", environment={"TESSERA_FUZZ_LEVELS": "10000"})
    return steps and functions, f"{text}\n{more}"
