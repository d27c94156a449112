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

    opened = {"xtc": mdtraj.formats.XTCTrajectoryFile, "trr": mdtraj.formats.TRRTrajectoryFile, "dcd": mdtraj.formats.DCDTrajectoryFile, "nc": mdtraj.formats.NetCDFTrajectoryFile}
    kind = file.rsplit(".", 1)[1]
    with opened[kind](file) as f:
        if kind == "nc":
            x, time, lengths, angles = f.read()
            for k in range(len(x)):
                vectors = mdtraj.utils.lengths_and_angles_to_box_vectors(*(lengths[k] / 10), *angles[k])
                show(time[k], np.array(vectors), x[k] / 10)
        elif kind == "dcd":
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


def with_netcdf4(file, n):
    import netCDF4

    def vectors(lengths, angles):  # Trickey's formulas for a along x and b in the xy plane
        ca, cb, cg = np.cos(np.radians(angles))
        sg = np.sqrt(1 - cg**2)
        cy = (ca - cb * cg) / sg
        return np.diag(lengths) @ np.array([[1, 0, 0], [cg, sg, 0], [cb, cy, np.sqrt(1 - cb**2 - cy**2)]])

    with netCDF4.Dataset(file) as f:
        assert f.Conventions == "AMBER" and f.ConventionVersion == "1.0" and f.program == "Tessera"
        assert f.data_model == "NETCDF3_64BIT_OFFSET" and f.dimensions["frame"].isunlimited() and len(f.dimensions["atom"]) == n
        assert f["spatial"][:].tobytes() == b"xyz" and f["cell_angular"][:].tobytes() == b"alphabeta gamma"
        assert f["velocities"].scale_factor == 20.455 and f["velocities"].shape == f["forces"].shape == f["coordinates"].shape
        assert f["forces"].units == "kilocalorie/mole/angstrom"
        for k in range(len(f.dimensions["frame"])):
            show(f["time"][k], vectors(f["cell_lengths"][k] / 10, f["cell_angles"][k]), f["coordinates"][k] / 10)


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
readers = {"mdtraj": with_mdtraj, "MDAnalysis": with_mdanalysis, "netCDF4": with_netcdf4, "h5py": with_h5py}
try:
    readers[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(77)
