# SPDX-License-Identifier: Apache-2.0
"""Rows of speed of the other topics, with vectors of 512 and of 256 bits."""
import importlib.util
import os
import pathlib

import rowkit

ROWS = ("foundation/21_op_speed", "foundation/22_engine_speed", "foundation/41_million", "derivatives/20_laplacian", "derivatives/21_laplacian_peers",
        "derivatives/22_biharmonic", "derivatives/23_ninth_derivative", "derivatives/24_cavity", "derivatives/30_scan", "derivatives/50_gradbench")
WHAT = "the engine's rows of speed (" + ", ".join(r.split("_", 1)[1] for r in ROWS) + ") with vectors of 512 and of 256 bits, peers held to the same"
BAR = "each row's own bar at both widths"


def at_both_widths(work, rows):
    """(holds, text): each row's verdict at each width that the processor has."""
    widths = ("512", "256") if "avx512vl" in pathlib.Path("/proc/cpuinfo").read_text() else ("256",)
    before = os.environ.get("TESSERA_VECTOR_BITS")
    holds, text = len(widths) == 2, []
    try:
        for width in widths:
            os.environ["TESSERA_VECTOR_BITS"] = width
            for name in rows:
                topic, stem = name.split("/")
                spec = importlib.util.spec_from_file_location(stem, pathlib.Path(__file__).parents[1] / topic / (stem + ".py"))
                row = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(row)
                try:
                    good, said = row.measure(work)
                except (rowkit.NotMeasured, rowkit.Failed) as reason:
                    good, said = False, f"not measured: {reason}"
                holds = holds and good
                text.append(f"{width} {stem[3:]} {'holds' if good else 'DOES NOT HOLD'}: " + "; ".join(said.splitlines()))
    finally:
        os.environ.pop("TESSERA_VECTOR_BITS")
        if before is not None:
            os.environ["TESSERA_VECTOR_BITS"] = before
    if len(widths) == 1:
        text.append("vectors of 512 bits: not measured, this processor has none")
    return holds, "\n".join(text)


def measure(work):
    return at_both_widths(work, ROWS)
