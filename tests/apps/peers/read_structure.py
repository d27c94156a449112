# SPDX-License-Identifier: Apache-2.0
"""read_structure.py READER FILE TOPOLOGY: the first edge of the box and the places that another program reads from a structure, in nm.
Exits with 77 where the reader is not installed."""
import sys
import warnings

warnings.simplefilter("ignore")
reader, file, topology = sys.argv[1:]
try:
    if reader == "mdtraj":
        import mdtraj

        t = mdtraj.load(file, top=topology) if file.endswith(("rst7", "ncrst")) else mdtraj.load(file)
        edge, x = t.unitcell_lengths[0][0], t.xyz[0]
    else:
        import MDAnalysis

        u = MDAnalysis.Universe(file)
        edge, x = u.dimensions[0] / 10, u.atoms.positions / 10
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(77)
print(repr(float(edge)))
for p in x:
    print(*[repr(float(v)) for v in p])
