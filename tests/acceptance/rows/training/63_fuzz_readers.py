# SPDX-License-Identifier: Apache-2.0
WHAT = "readers of training data and weights (safetensors, npy and npz, CSV, ONNX) under libFuzzer"
BAR = "10 CPU-minutes each, no finding"
SLOW = True
READERS = ("safetensors_fuzz", "npz_fuzz", "csv_numbers_fuzz", "onnx_fuzz")


def measure(work):
    return work.fuzz_row(READERS, 600)
