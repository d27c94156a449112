# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "DemoSynthMT.emdata (25 receivers on a sea floor, 16 frequencies, TE and TM), cells of our own: forward and Jacobian; from 1 ohm m to RMS 1.00"
BAR = "10 s; at most 8 steps, 150 s"


def measure(work):
    work.test_data("mt", "mare2dem_demo", "DemoSynthMT.emdata")
    result = work.gtest("inversion_tests", "SectionData.DISABLED_InversionOfMare2demsDemo", environment={"GTEST_ALSO_RUN_DISABLED_TESTS": "1"})
    jacobian, seconds, steps, cells, rms = map(float, rowkit.need(result["numbers"], "forward_and_jacobian", "seconds_to_target", "steps_to_target", "cells", "rms"))
    holds = not result["failed"] and jacobian <= 10 and seconds <= 150
    return holds, f"{cells:.0f} cells: forward and Jacobian {jacobian:.1f} s; {steps:.0f} steps, {seconds:.0f} s, then {rms:.3f}; {rowkit.processor()}"
