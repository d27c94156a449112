# SPDX-License-Identifier: Apache-2.0
WHAT = "readers of drawings and networks (STL, OBJ, GDSII, Touchstone) under libFuzzer, with the solids and rims that are made of them"
BAR = "10 CPU-minutes each, no finding"
SLOW = True
READERS = ("stl_fuzz", "obj_fuzz", "gds_fuzz", "touchstone_fuzz")


def measure(work):
    return work.fuzz_row(READERS, 600)
