# SPDX-License-Identifier: Apache-2.0
WHAT = "readers of sections and surveys (.poly, .resistivity, .msh, ModEM, .emdata) under libFuzzer"
BAR = "10 CPU-minutes each, no finding"
SLOW = True
READERS = ("poly_fuzz", "mare2dem_model_fuzz", "msh_fuzz", "modem_list_fuzz", "emdata_fuzz")
SEEDS = {"poly_fuzz": "*.poly", "mare2dem_model_fuzz": "*.resistivity", "emdata_fuzz": "*.emdata"}


def measure(work):
    return work.fuzz_row(READERS, 600, lambda name: sorted((work.data / "mt").rglob(SEEDS[name])) if name in SEEDS else ())
