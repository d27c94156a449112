# SPDX-License-Identifier: Apache-2.0
import rowkit

NETWORKS = {"A": "MLP 784-512-512-10", "B": "VAE of columns", "C": "U-Net 16-32-64 on 128^2", "D": "transformer, 2 blocks of 512",
            "E": "message passing with forces"}
WHAT = "100 steps of Adam in f64 from PyTorch's weights (.safetensors) on its batches (.npz), five networks: largest difference of a loss, relative"
BAR = "1e-8"


def measure(work):
    found = work.numbers("training_steps_bench", "--steps", "100", "--only", "ABCDE", timeout=7200)
    differences = rowkit.need(found, *(f"{name}_loss_difference" for name in NETWORKS))
    return max(differences) <= 1e-8, ", ".join(f"{what}: {d:.1e}" for what, d in zip(NETWORKS.values(), differences))
