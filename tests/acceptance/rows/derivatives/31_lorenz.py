# SPDX-License-Identifier: Apache-2.0
WHAT = "Lorenz, 10,000 steps, revolve with 16 snapshots counting the initial state"
BAR = "44,015 recomputed steps beside the 10,000 taped; memory of the live snapshots; gradient bitwise equal to policy all"


def measure(work):
    return work.gtest_row("autodiff_tests", "Checkpoint.LorenzOverTenThousandSteps:Checkpoint.HoldsTheSnapshotsAlone:"
                          "Checkpoint.RevolveRunsTheFewestSteps", minimum=3)
