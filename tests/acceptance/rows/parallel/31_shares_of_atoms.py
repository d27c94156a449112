# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "largest share of a rank of eight (t) of 186,096 atoms, copies included, after 60 steps"
BAR = "0.35"


def measure(work):
    done = work.run([work.program("molecular_ranks_bench"), "--atoms", "8"]).must_succeed("molecular_ranks_bench")
    atoms, share = rowkit.need(rowkit.read_numbers(done.out), "atoms", "largest_share")
    return atoms == 186096 and share <= 0.35, f"{share:.3f} of {atoms:.0f}"
