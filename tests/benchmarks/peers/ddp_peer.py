# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of training_ranks_bench.cpp: two processes with gloo, DistributedDataParallel around a perceptron 784-1024-1024-10 in f32,
half a batch of 1,024 each, cross-entropy, fused Adam, one thread each, bound to a core each where there are two.
Prints step_ms (of rank 0, whose steps wait for the other's), step_least_ms and spread.   ddp_peer.py [ROUNDS]"""
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

RANKS, BATCH = 2, 1024


def run(rank, rounds, port):
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) >= RANKS:
        os.sched_setaffinity(0, {cores[rank]})
    torch.set_num_threads(1)
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    model = nn.parallel.DistributedDataParallel(net)
    rule = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    x, label = torch.rand(BATCH, 784), torch.randint(10, (BATCH,))
    mine = slice(rank * BATCH // RANKS, (rank + 1) * BATCH // RANKS)
    times = []
    for k in range(rounds + 3):
        dist.barrier()
        begin = time.perf_counter()
        rule.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(x[mine]), label[mine])
        loss.backward()
        rule.step()
        if k >= 3:
            times.append(1e3 * (time.perf_counter() - begin))
    if rank == 0:
        median = statistics.median(times)
        print(f"step_ms {median:.6g} ms\nstep_least_ms {min(times):.6g} ms\nspread {(max(times) - min(times)) / median:.4g} 1", flush=True)
    dist.barrier()
    os._exit(0)  # to take the group down ends in an abort now and then


if __name__ == "__main__":
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    mp.spawn(run, args=(int(sys.argv[1]) if len(sys.argv) > 1 else 15, free), nprocs=RANKS)
