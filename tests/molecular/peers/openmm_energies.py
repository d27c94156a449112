# SPDX-License-Identifier: Apache-2.0
"""Energies by term [kJ/mol] and forces [kJ/mol/nm] by OpenMM's Reference platform.

usage: openmm_energies.py FORCES.txt STRUCTURE.pdb FORCEFIELD.xml ...     (names that are no files: OpenMM's own data)

Periodic cut-off of 0.9 nm, reaction field of dielectric 78.3, no constraints. Prints one `class energy` a line.
"""
import os
import sys

import openmm
from openmm import app, unit

out, structure, *force_fields = sys.argv[1:]
own = os.path.join(os.path.dirname(app.__file__), 'data')
pdb = app.PDBFile(structure if os.path.exists(structure) else os.path.join(own, structure))
field = app.ForceField(*force_fields)
system = field.createSystem(pdb.topology, nonbondedMethod=app.CutoffPeriodic, nonbondedCutoff=0.9 * unit.nanometer,
                            constraints=None, rigidWater=False, removeCMMotion=False)
for group, force in enumerate(system.getForces()):
    force.setForceGroup(group)
context = openmm.Context(system, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatformByName('Reference'))
context.setPositions(pdb.positions)
kj = unit.kilojoule_per_mole
for group, force in enumerate(system.getForces()):
    energy = context.getState(getEnergy=True, groups={group}).getPotentialEnergy().value_in_unit(kj)
    print(type(force).__name__, repr(energy))
with open(out, 'w') as file:
    for f in context.getState(getForces=True).getForces(asNumpy=True).value_in_unit(kj / unit.nanometer):
        file.write('%.12e %.12e %.12e\n' % tuple(f))
