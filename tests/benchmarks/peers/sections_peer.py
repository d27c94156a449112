# SPDX-License-Identifier: Apache-2.0
"""A section's TE and TM impedances in SimPEG (R. Cockett et al. 2015, doi:10.1016/j.cageo.2015.09.015): responses, and the misfit with
its gradient in ln conductivity of every cell of the earth. Arrays: lines y and z (m, z down), sigma [rows, columns] from
the top, air NaN; frequency, station, observed [2 of TE and TM, frequencies, stations, 2 of real and imaginary part], error of the same shape.

SimPEG's plane is (x along the line, y up). Its `Simulation2DElectricField` has E in the plane: that is TM; its
`Simulation2DMagneticField` has H in it: TE. TM is computed without air, whose current it is not to carry."""
import ctypes
import ctypes.util
import os
import sys
import warnings

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = sys.argv[3]  # before BLAS reads them

import numpy
from simpeg import maps
from simpeg.data import Data
from simpeg.data_misfit import L2DataMisfit
from simpeg.electromagnetics import natural_source as nsem
from discretize import TensorMesh
import pymatsolver

from peerkit import serve

warnings.filterwarnings("ignore")
mpi = ctypes.util.find_library("mpi")
if mpi:  # python-mumps is linked with Debian's MUMPS, which wants MPI to be there
    ctypes.CDLL(mpi, mode=ctypes.RTLD_GLOBAL).MPI_Init(None, None)
AIR = 1e-8
SIGNS = 1, -1  # of TE and TM, for a positive real part


def simulation(kind, y, z, sigma, frequency, station, solver):
    """And the ln conductivities of its cells of the earth, from the bottom row up, y fastest."""
    mesh = TensorMesh([numpy.diff(y), numpy.diff(z)[::-1]], origin=[y[0], -z[-1]])
    flat = sigma[::-1].reshape(-1)  # SimPEG counts x first, then upwards
    earth = ~numpy.isnan(flat)
    mapping = maps.InjectActiveCells(mesh, earth, AIR) * maps.ExpMap(nP=int(earth.sum())) if not earth.all() else maps.ExpMap(mesh)
    places = numpy.c_[station, numpy.zeros_like(station)]
    orientation, cls = ("yx", nsem.Simulation2DMagneticField) if kind == "te" else ("xy", nsem.Simulation2DElectricField)
    sources = [nsem.sources.Planewave([nsem.receivers.Impedance(places, orientation=orientation, component=part) for part in ("real", "imag")], f)
               for f in frequency]
    sim = cls(mesh, survey=nsem.Survey(sources), sigmaMap=mapping, solver=solver)
    return sim, numpy.log(flat[earth])


def make(library, arrays):
    solver = {"simpeg_mumps": pymatsolver.Mumps, "simpeg_superlu": pymatsolver.SolverLU}[library]
    y, z, sigma, frequency, station = (arrays[k] for k in ("y", "z", "sigma", "frequency", "station"))
    ground = int(numpy.argmax(~numpy.isnan(sigma[:, 0])))
    sides = [simulation("te", y, z, sigma, frequency, station, solver),
             simulation("tm", y, z[ground:], sigma[ground:], frequency, station, solver)]
    misfits = []
    for side, (sim, _) in enumerate(sides):
        flat = lambda a: a[side].transpose(0, 2, 1).reshape(-1)  # by frequency, then part, then station
        data = Data(sim.survey, dobs=SIGNS[side] * flat(arrays["observed"]), standard_deviation=flat(arrays["error"]))
        misfits.append(L2DataMisfit(data, sim))

    def responses():
        n = len(frequency), 2, len(station)
        return [sign * sim.dpred(m).reshape(n) for sign, (sim, m) in zip(SIGNS, sides)]

    def misfit_and_gradient():
        value, gradients = 0.0, []
        for (sim, m), misfit in zip(sides, misfits):
            sim.model = None  # nothing is kept from the call before
            fields = sim.fields(m)
            value += misfit(m, f=fields)
            gradients.append(misfit.deriv(m, f=fields))
        return [numpy.array([value]), *gradients]

    return {"responses": responses, "gradient": misfit_and_gradient}


serve(make)
