# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "memory of a step of training in f32, highest resident memory less idle process, weights and moments, beside PyTorch eager with fused Adam"
BAR = "U-Net on 4 fields of 512^2, GPT of 8 blocks on 4 texts of 2,048: at most PyTorch's; that GPT with every block checkpointed: half of PyTorch's without"
SLOW = True


def peer(work, network, size, blocks):
    script = work.root / "tests" / "benchmarks" / "peers" / "step_memory_peer.py"
    done = work.run([work.peer_python(), script, network, size, blocks], timeout=3600).must_succeed("PyTorch's step")
    return rowkit.need(rowkit.read_numbers(done.out), "step_memory_MiB")[0]


def measure(work):
    theirs = {"C": peer(work, "C", 512, 0), "D": peer(work, "D", 2048, 8)}
    holds, text = True, []
    for name, bar in (("C", 1.0), ("D", 1.0), ("D_checkpointed", 0.5)):
        [ours] = rowkit.need(work.numbers("step_memory_bench", name), "step_memory_MiB")
        share = ours / theirs[name[0]]
        holds = holds and share <= bar
        text.append(f"{name}: {ours:.0f} MiB, {share:.2f} of PyTorch's {theirs[name[0]]:.0f} (at most {bar:g})")
    return holds, "\n".join(text)
