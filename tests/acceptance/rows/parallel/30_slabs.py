# SPDX-License-Identifier: Apache-2.0
WHAT = ("Yee grids with everything cut into slabs of any size along y and z, 2 to 8 thread ranks, with delays by chance: fields, records, energies, peak; gone "
        "on with on other cuts; transposed steps; derivatives in time, of spectra, of observed runs, in shapes, of first and second order, under vmap and jit")
BAR = "0 bits differ"


def measure(work):
    return work.gtest_row("electromagnetics_tests", "Slabs.*:TransposedSlabs.*:SlabDerivatives.*", minimum=29)
