# SPDX-License-Identifier: Apache-2.0
"""Meep's side of fdtd_meep_bench: the cases of fdtd_cases.h. Started as 'mpirun -n RANKS python meep_peer.py CASE CELLS STEPS FOLDER';
sets up, takes a block of STEPS steps, says 'ready VERSION', and answers every line with the seconds of a block. Each rank
reads the lines from its own FOLDER/RANK: none waits busily in MPI while others are measured."""
import sys
import time

try:
    import meep as mp
except ImportError:
    sys.exit(3)


def simulation(case, cells):
    side = cells / 10
    medium = {
        "vacuum": None,
        "dielectric": mp.Medium(epsilon=4),
        "drude": mp.Medium(epsilon=1, E_susceptibilities=[mp.DrudeSusceptibility(frequency=1, gamma=0.05, sigma=1)]),
    }[case]
    source = mp.Source(mp.ContinuousSource(frequency=0.3), component=mp.Ez, center=mp.Vector3(-side / 4))
    return mp.Simulation(
        cell_size=mp.Vector3(side, side, side), resolution=10, Courant=0.5, boundary_layers=[mp.PML(1)], sources=[source],
        geometry=[mp.Sphere(side / 4, material=medium)] if medium else [])


def block(fields, steps):
    """Seconds of so many steps, from when all ranks are there until all are done."""
    mp.all_wait()
    begin = time.perf_counter()
    for _ in range(steps):
        fields.step()
    mp.all_wait()
    return time.perf_counter() - begin


def answer(text):
    if mp.am_master():
        print(f"meep_peer {text}", file=sys.__stdout__, flush=True)


mp.verbosity(0)
case, cells, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
sim = simulation(case, cells)
sim.init_sim()
block(sim.fields, steps)
answer(f"ready {mp.__version__} on {mp.count_processors()}")
with open(f"{sys.argv[4]}/{mp.my_rank()}") as lines:
    for _ in lines:
        answer(block(sim.fields, steps))
