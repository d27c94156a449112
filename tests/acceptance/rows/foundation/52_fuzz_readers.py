# SPDX-License-Identifier: Apache-2.0
WHAT = "readers (TOML, EDI, XML, J, Z, ModEM, MARE2DEM, checkpoint) under libFuzzer"
BAR = "10 CPU-minutes each, no finding"
SLOW = True
READERS = ("toml_fuzz", "edi_fuzz", "emtfxml_fuzz", "jformat_fuzz", "zmm_fuzz", "modem_list_fuzz", "emdata_fuzz", "checkpoint_fuzz")
SEEDS = {"edi_fuzz": ("*.edi",), "emtfxml_fuzz": ("*.xml",), "jformat_fuzz": ("*.j",), "zmm_fuzz": ("*.zmm", "*.zrr", "*.zss"), "emdata_fuzz": ("*.emdata",)}


def measure(work):
    return work.fuzz_row(READERS, 600, lambda name: [p for pattern in SEEDS.get(name, ()) for p in sorted((work.data / "mt").rglob(pattern))[:40]])
