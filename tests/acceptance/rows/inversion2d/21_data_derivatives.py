# SPDX-License-Identifier: Apache-2.0
WHAT = "each of the 20 kinds of datum that a section has, with static shifts, between bounds, through codes of a decoder and pixels: Taylor slopes; the Jacobian by reciprocity beside products by the engine"
BAR = "2.00 and 3.00 within 0.05; 1e-10"


def measure(work):
    return work.gtest_row("inversion_tests", "SectionForwardDerivatives.*:SectionForward.JacobianOfEachKind:LearntModel.TaylorSlopes*:Through.TaylorSlopes*", minimum=7)
