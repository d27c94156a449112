# SPDX-License-Identifier: Apache-2.0
import training

WHAT = "bow-tie antennas, 495 x 3 to 1001 dB: 5 random splits by design, 9 : 1 for test, validation out of the nine (apps/examples/training/bowtie.toml)"
BAR = "mean relative L2 of the test sets at most 1.5 %, none above 3 %; 2 min each"


def measure(work):
    found, seconds, samples, text = training.five_splits(work, "bowtie", training.bowtie(work), "relative_l2")
    return sum(found) / 5 <= 1.5 and max(found) <= 3 and max(seconds) <= 120, f"{text}, of {samples} antennas"
