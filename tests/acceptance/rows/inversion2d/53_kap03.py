# SPDX-License-Identifier: Apache-2.0
WHAT = "samtex_kap03 as it is (the SAMTEX Consortium; A. Jones et al. 2009, Lithos 112S, 83-92): TE and TM, free static shifts, floor 10 % of abs(Z), beside the stitched 1-D section in 2-D; bands"
BAR = "half its RMS; bands in 5 minutes"


def measure(work):
    work.test_data("mt", "samtex_kap03", "kap103.edi")
    return work.gtest_row("inversion_tests", "SectionData.DISABLED_KaapvaalLine", minimum=1, environment={"GTEST_ALSO_RUN_DISABLED_TESTS": "1"})
