# SPDX-License-Identifier: Apache-2.0
"""OpenMM's side of molecular_speed.py: 'python openmm_speed.py CASE FOLDER THREADS' sets up, says 'ready VERSION PLATFORM', and answers

    run STEPS      -> seconds
    forces FILE    -> writes the forces of the frame that it began with [n, 3] kJ/mol/nm

Exit code 3: OpenMM is not installed."""
import pathlib
import sys
import time

try:
    import openmm
    from openmm import app, unit
except ImportError:
    sys.exit(3)
import numpy as np

import molecular_inputs


def water(n):
    s, q = openmm.System(), molecular_inputs.SPCE
    force = openmm.NonbondedForce()
    force.setNonbondedMethod(openmm.NonbondedForce.PME)
    force.setCutoffDistance(0.9)
    for o in range(0, n, 3):
        for mass in (15.9994, 1.008, 1.008):
            s.addParticle(mass)
        force.addParticle(-2 * q["q"], q["sigma"], q["epsilon"])
        for _ in range(2):
            force.addParticle(q["q"], 1, 0)
        for a, b, d in ((0, 1, q["oh"]), (0, 2, q["oh"]), (1, 2, q["hh"])):
            s.addConstraint(o + a, o + b, d)
            force.addException(o + a, o + b, 0, 1, 0)
    s.addForce(force)
    s.addForce(openmm.CMMotionRemover(100))
    return s


case, folder, threads = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
_, v, edges = molecular_inputs.read_gro(folder / "begin.gro")
x = np.load(folder / "whole.npy")
if case == "water":
    system = water(len(x))
else:
    system = app.AmberPrmtopFile(str(folder / "JAC.prmtop")).createSystem(nonbondedMethod=app.PME, nonbondedCutoff=0.9 * unit.nanometer, constraints=app.HBonds, rigidWater=True)
system.setDefaultPeriodicBoxVectors(*np.diag(edges))
context = openmm.Context(system, openmm.VerletIntegrator(0.002), openmm.Platform.getPlatformByName("CPU"), {"Threads": threads})
context.setPeriodicBoxVectors(*np.diag(edges))
context.setPositions(x)
context.setVelocities(v)
forces = context.getState(getForces=True).getForces(asNumpy=True).value_in_unit(unit.kilojoule_per_mole / unit.nanometer)
context.getIntegrator().step(20)
print("ready", openmm.version.short_version, "CPU", flush=True)
for line in sys.stdin:
    command, argument = line.split()
    if command == "run":
        begin = time.perf_counter()
        context.getIntegrator().step(int(argument))
        print(time.perf_counter() - begin, flush=True)
    else:
        np.save(argument, np.asarray(forces))
        print("done", flush=True)
