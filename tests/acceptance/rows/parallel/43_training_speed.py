# SPDX-License-Identifier: Apache-2.0
import statistics

import parallel
import rowkit

WHAT = ("time of a step of Adam, MLP 784-1024-1024-10 in f32, batch 1,024, medians in turn: one process of one thread with 8 parts over one part; 2 m over two threads of one process, "
        "8 parts; 2 m over PyTorch's DistributedDataParallel with gloo, 2 processes")
BAR = "1.15; 1.10; 1.0"
ROUNDS = 5


def measure(work):
    program = work.program("training_ranks_bench")
    mpirun = [*parallel.mpirun(), "-n", "2"]
    ways = {"1 part": [program, "--parts", "1"], "8 parts": [program], "2 threads": [program, "--threads", "2"], "2 m": [*mpirun, program]}
    missing = None
    try:
        ways["DDP"] = [work.peer_python(), work.root / "tests/benchmarks/peers/ddp_peer.py"]
    except rowkit.NotMeasured as why:
        missing = str(why)
    times = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, command in ways.items():
            out = work.run(command).must_succeed(name).out
            times[name].append(rowkit.need(rowkit.read_numbers(out), "step_ms")[0])
    holds, text = missing is None, [", ".join(f"{name} {statistics.median(t):.1f} ms" for name, t in times.items())]
    for ours, other, bar in (("8 parts", "1 part", 1.15), ("2 m", "2 threads", 1.10), ("2 m", "DDP", 1.0)):
        if other not in times:
            text.append(f"{other}: {missing}")
            continue
        ratios = sorted(a / b for a, b in zip(times[ours], times[other]))
        holds = holds and statistics.median(ratios) <= bar
        text.append(f"{ours} over {other}: {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")
    return holds, "\n".join(text)
