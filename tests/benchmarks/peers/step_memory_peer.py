# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of step_memory_bench.cpp, eager, fused Adam, in a process of its own:

    step_memory_peer.py C|D SIZE BLOCKS

prints "step_memory_MiB value MiB": the highest resident memory less what the process had idle, the weights and the moments."""
import sys

import torch

from training_steps_peer import BATCHES, Training, gpt_network, unet_network


def resident_mib(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(field + ":"))


def main():
    which, size, blocks = sys.argv[1], *map(int, sys.argv[2:4])
    torch.set_num_threads(2)
    torch.manual_seed(1)
    # A small step first: what the library loads and keeps is part of the idle process.
    weights, loss, batches = unet_network(True) if which == "C" else gpt_network(True)
    Training(weights, loss, batches, torch.float32).step()
    idle = resident_mib("VmRSS")
    torch.set_default_dtype(torch.float32)
    weights, loss, batches = unet_network(False, size) if which == "C" else gpt_network(False, blocks, size)
    batches = {name: b[:1].clone().expand(BATCHES, *b.shape[1:]) for name, b in batches.items()}
    training = Training(weights, loss, batches, torch.float32)
    del weights
    bytes_of_weights = sum(4 * p.numel() for p in training.p.values()) / 2**20
    for _ in range(3):
        training.count = 0
        training.step()
    print(f"weights_MiB {bytes_of_weights:.3f} MiB")
    print(f"step_memory_MiB {resident_mib('VmHWM') - idle - 3 * bytes_of_weights:.3f} MiB")


main()
