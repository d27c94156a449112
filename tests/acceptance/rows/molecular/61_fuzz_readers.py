# SPDX-License-Identifier: Apache-2.0
WHAT = "readers of molecules (GRO, TOP, PRMTOP and restart, PDB, mmCIF, OpenMM's XML, XTC, TRR, DCD, NetCDF) under libFuzzer"
BAR = "10 CPU-minutes each, no finding"
SLOW = True
READERS = ("gro_fuzz", "top_fuzz", "amber_fuzz", "pdb_fuzz", "mmcif_fuzz", "openmm_xml_fuzz", "xtc_fuzz", "trr_fuzz", "dcd_fuzz", "netcdf_fuzz")


def measure(work):
    return work.fuzz_row(READERS, 600)
