# SPDX-License-Identifier: Apache-2.0
"""read_trajectory.py READER FILE ATOMS OUTPUT: what another program reads from a trajectory, one frame after the other as lines
`time`, `box` (9 numbers), `x` (3 n numbers), in ps and nm, into OUTPUT. Exits with 77 where the reader is not installed."""
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)


def show(time, box, x):
    print("time", repr(float(time)), file=out)
    print("box", *[repr(float(v)) for v in np.ravel(box)], file=out)
    print("x", *[repr(float(v)) for v in np.ravel(x)], file=out)


def with_mdtraj(file, n):
    import mdtraj

    opened = {"xtc": mdtraj.formats.XTCTrajectoryFile, "trr": mdtraj.formats.TRRTrajectoryFile, "dcd": mdtraj.formats.DCDTrajectoryFile}
    kind = file.rsplit(".", 1)[1]
    with opened[kind](file) as f:
        if kind == "dcd":
            x, lengths, angles = f.read()
            for k in range(len(x)):
                vectors = mdtraj.utils.lengths_and_angles_to_box_vectors(*(lengths[k] / 10), *angles[k])
                show(0, np.array(vectors), x[k] / 10)
        else:
            parts = f.read()
            x, time, box = parts[0], parts[1], parts[3]
            for k in range(len(x)):
                show(time[k], box[k], x[k])


def with_mdanalysis(file, n):
    import warnings

    warnings.simplefilter("ignore")
    import MDAnalysis

    u = MDAnalysis.Universe.empty(n, trajectory=False)
    u.load_new(file, convert_units=True)
    for frame in u.trajectory:
        show(frame.time, frame.triclinic_dimensions / 10, frame.positions / 10)


def with_h5py(file, n):
    import h5py

    with h5py.File(file, "r") as f:
        assert list(f["h5md"].attrs["version"]) == [1, 1]
        assert f["h5md/creator"].attrs["name"] == "Tessera"
        p = f["particles/all"]
        assert p["position/value"].attrs["unit"] == "nm"
        assert p["box"].attrs["dimension"] == 3 and [v.decode() for v in p["box"].attrs["boundary"]] == ["periodic"] * 3
        assert f["observables/potential_energy/value"].shape == p["position/step"].shape == p["velocity/step"].shape
        assert p["mass"].shape == p["species"].shape == (n,) and f["connectivity/bonds"].shape[1] == 2
        for t, b, x in zip(p["position/time"], p["box/edges/value"], p["position/value"]):
            show(t, b, x)


out = open(sys.argv[4], "w")
readers = {"mdtraj": with_mdtraj, "MDAnalysis": with_mdanalysis, "h5py": with_h5py}
try:
    readers[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(77)
