# SPDX-License-Identifier: Apache-2.0
import parallel
import rowkit

WHAT = ("ghosts of 2048^2 x 16 and of 256^3 f64, one wide, cut along the first and the second axis, and their transpose on 2 m, over PETSc's DMDA and SF with the same bytes, "
        "in turn, medians of ratios; a sum of one number over MPI_Allreduce")
BAR = "1.1x the time of either; 2 us more"
PEERS = {"push": ("dmda", "sf"), "pull_add": ("dmda_transposed", "sf_transposed")}


def measure(work):
    command = [*parallel.mpirun(), "-n", "2", work.program("exchange_petsc_bench")]
    numbers = rowkit.read_numbers(work.run(command).must_succeed("exchange_petsc_bench").out)
    holds, text = True, []
    for case in ("plane_rows", "plane_columns", "cube_slabs", "cube_middle"):
        for ours, peers in PEERS.items():
            names = [f"{case}_{ours}_ms", *(f"{case}_{p}_{what}" for p in peers for what in ("ratio", "ratio_spread"))]
            ms, *of_peers = rowkit.need(numbers, *names)
            holds = holds and max(of_peers[0::2]) <= 1.1
            text.append(f"{case} {ours}: {ms:.1f} ms, " + ", ".join(f"{r:.2f} of {p.split('_')[0].upper()} (spread {s:.2f})"
                                                                    for p, r, s in zip(peers, of_peers[0::2], of_peers[1::2])))
    ours, mpi, tensor = rowkit.need(numbers, "sum_ours_us", "sum_mpi_us", "sum_tensor_us")
    text.append(f"sum: {ours:.2f} us, MPI's {mpi:.2f}, as an operation on tensors {tensor:.2f}")
    return holds and ours - mpi <= 2, "\n".join(text)
