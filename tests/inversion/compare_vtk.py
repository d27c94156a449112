# SPDX-License-Identifier: Apache-2.0
"""model.vtu and stations.vtp of a run folder as VTK reads them, beside its results.h5: prints how many numbers there are and the largest difference."""
import sys

import h5py
import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader, vtkXMLUnstructuredGridReader


def read(reader, path):
    reader.SetFileName(path)
    reader.Update()
    if reader.GetErrorCode():
        raise SystemExit(f"VTK does not read {path}: error {reader.GetErrorCode()}")
    return reader.GetOutput()


def arrays(attributes):
    """By name, without the unit behind it."""
    return {attributes.GetArrayName(k).split(" [")[0]: vtk_to_numpy(attributes.GetArray(k)) for k in range(attributes.GetNumberOfArrays())}


class Differences:
    numbers, worst = 0, 0.0

    def add(self, what, of_vtk, of_h5):
        of_vtk, of_h5 = np.asarray(of_vtk, float), np.asarray(of_h5, float)
        if of_vtk.shape != of_h5.shape or not np.array_equal(np.isnan(of_vtk), np.isnan(of_h5)):
            raise SystemExit(f"{what}: VTK has {of_vtk.shape}, results.h5 has {of_h5.shape}, or other numbers are missing")
        self.numbers += of_vtk.size
        known = ~np.isnan(of_h5)
        self.worst = max(self.worst, float(np.max(np.abs(of_vtk[known] - of_h5[known]), initial=0)))


def main(run):
    all_of = Differences()
    with h5py.File(f"{run}/results.h5") as file:
        model, survey = file["tessera/model"], file["tessera/survey/data"]
        grid = read(vtkXMLUnstructuredGridReader(), f"{run}/model.vtu")
        earth = ~np.isnan(model["resistivity"][:])
        cell = model["cell"][:][earth]
        all_of.add("places", vtk_to_numpy(grid.GetPoints().GetData()), np.stack([model["y"][:], 0 * model["y"][:], -model["z"][:]], 1))
        all_of.add("cells", vtk_to_numpy(grid.GetCells().GetConnectivityArray()), cell.ravel())
        all_of.add("offsets", vtk_to_numpy(grid.GetCells().GetOffsetsArray()), cell.shape[1] * np.arange(len(cell) + 1))
        fields = arrays(grid.GetCellData())
        wanted = set(model) - {"y", "z", "cell"}
        if set(fields) != wanted:
            raise SystemExit(f"VTK has the fields {sorted(fields)}, results.h5 {sorted(wanted)}")
        for name, values in fields.items():
            all_of.add(name, values, model[name][:][earth])

        stations = read(vtkXMLPolyDataReader(), f"{run}/stations.vtp")
        y, z = file["tessera/stations/y"][:], file["tessera/stations/z"][:]
        all_of.add("places of stations", vtk_to_numpy(stations.GetPoints().GetData()), np.stack([y, 0 * y, -z], 1))
        fields = arrays(stations.GetPointData())
        all_of.add("numbers of stations", fields["station"], np.arange(len(y)))
        residual = ((survey["value"][:] - survey["predicted"][:]) / survey["sigma"][:]) ** 2
        # Of the table's rows again, whose sum may be rounded otherwise.
        all_of.add("RMS", np.round(fields["rms"], 12), np.round([np.sqrt(np.mean(residual[survey["station"][:] == k])) for k in range(len(y))], 12))
    print(f"{all_of.numbers} numbers, {len(wanted)} fields of {len(cell)} cells, {len(y)} stations, largest difference {all_of.worst:.3g}")


main(sys.argv[1])
