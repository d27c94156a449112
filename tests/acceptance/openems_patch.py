# SPDX-License-Identifier: Apache-2.0
"""The patch antenna of openEMS's tutorial, by openEMS: its lines (--lines), or a run on them with all that is compared, as JSON on the last line.

Run by the system's Python, which has Debian's python3-openems: openems_patch.py FOLDER THREADS [--lines]"""
import json
import pathlib
import sys

import numpy as np

for name, kind in (("float", float), ("int", int), ("complex", complex)):  # this openEMS is older than the numpy beside it
    setattr(np, name, kind)

from CSXCAD import ContinuousStructure
from openEMS import openEMS
from openEMS.physical_constants import C0, EPS0

MM = 1e-3
F0, FC = 2e9, 1e9
WIDTH, LENGTH = 32, 40  # of the patch: along x, along which it resonates, and along y
SIDE, HEIGHT, EPS = 60, 1.524, 3.38
KAPPA = 1e-3 * 2 * np.pi * 2.45e9 * EPS0 * EPS
FEED, BOX = -6, (200, 200, 150)


def antenna():
    """openEMS, the structure, the port and the box of the far field."""
    fdtd = openEMS(NrTS=60000, EndCriteria=1e-5)
    fdtd.SetGaussExcite(F0, FC)
    fdtd.SetBoundaryCond(["PML_8"] * 6)
    csx = ContinuousStructure()
    fdtd.SetCSX(csx)
    mesh = csx.GetGrid()
    mesh.SetDeltaUnit(MM)
    longest = C0 / (F0 + FC) / MM / 20
    mesh.AddLine("x", [-BOX[0] / 2, BOX[0] / 2])
    mesh.AddLine("y", [-BOX[1] / 2, BOX[1] / 2])
    mesh.AddLine("z", [-BOX[2] / 3, BOX[2] * 2 / 3])
    patch = csx.AddMetal("patch")
    patch.AddBox([-WIDTH / 2, -LENGTH / 2, HEIGHT], [WIDTH / 2, LENGTH / 2, HEIGHT], priority=10)
    near = longest / 2  # its cells at the patch's edges: a third of one inside, two outside
    for axis, side in (("x", WIDTH / 2), ("y", LENGTH / 2)):
        for edge in (side - near / 3, side + 2 * near / 3, SIDE / 2):
            mesh.AddLine(axis, [-edge, edge])
    board = csx.AddMaterial("substrate", epsilon=EPS, kappa=KAPPA)
    board.AddBox([-SIDE / 2, -SIDE / 2, 0], [SIDE / 2, SIDE / 2, HEIGHT], priority=0)
    mesh.AddLine("z", np.linspace(0, HEIGHT, 5))
    ground = csx.AddMetal("gnd")
    ground.AddBox([-SIDE / 2, -SIDE / 2, 0], [SIDE / 2, SIDE / 2, 0], priority=10)
    port = fdtd.AddLumpedPort(1, 50, [FEED, 0, 0], [FEED, 0, HEIGHT], "z", 1.0, priority=5, edges2grid="xy")
    mesh.AddLine("x", [FEED])
    mesh.AddLine("y", [0])
    mesh.SmoothMeshLines("all", longest, 1.4)
    return fdtd, mesh, port, fdtd.CreateNF2FFBox()


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    fdtd, mesh, port, surface = antenna()
    lines = {d: [float(x) * MM for x in mesh.GetLines(d)] for d in "xyz"}
    if "--lines" in sys.argv:
        return print(json.dumps({"lines": lines}))
    fdtd.Run(str(folder), verbose=0, cleanup=True, numThreads=int(sys.argv[2]))
    f = np.linspace(1e9, 3e9, 401)
    port.CalcPort(str(folder), f)
    s11 = port.uf_ref / port.uf_inc
    best = int(np.argmin(np.abs(s11)))
    far = surface.CalcNF2FF(str(folder), f[best], np.arange(0, 181, 2.0), np.arange(0, 360, 5.0), center=[0, 0, 1e-3])
    accepted = 0.5 * float(np.real(port.uf_tot[best] * np.conj(port.if_tot[best])))
    print(json.dumps({"lines": lines, "frequency_Hz": list(map(float, f)), "s11": [float(abs(s)) for s in s11],
                      "s11_re": list(map(float, s11.real)), "s11_im": list(map(float, s11.imag)), "directivity": float(far.Dmax[0]), "at_Hz": float(f[best]),
                      "efficiency": float(far.Prad[0]) / accepted}))


main()
