# SPDX-License-Identifier: Apache-2.0
import importlib.util
import pathlib

spec = importlib.util.spec_from_file_location("widths", pathlib.Path(__file__).with_name("40_widths.py"))
widths = importlib.util.module_from_spec(spec)
spec.loader.exec_module(widths)

ROWS = ("fdtd/10_meep_speed", "fdtd/11_roofline", "molecular/40_speed")
WHAT = "the rows of speed of fields in time and of molecules with vectors of 512 and of 256 bits; Meep, gmx and lmp have the width that they were built with"
BAR = "each row's own bar at both widths"
SLOW = True  # some 20 minutes a width


def measure(work):
    return widths.at_both_widths(work, ROWS)
