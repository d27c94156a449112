# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "B8: gradient of a scan of 614 steps over 60 separate scalars, x_i += dt (tanh x_{i+1} - x_i exp(-x_{i-1}^2))"
BAR = "6 ms; JAX beside it"


def measure(work):
    ours, = rowkit.need(work.numbers("scan_bench"), "scan_gradient_ms")
    python = work.peer_python()
    peer = {}
    for threads in (1, 2):
        command = ["taskset", "-c", "0" if threads == 1 else "0,1", python, work.root / "tests" / "benchmarks" / "peers" / "scan_jax.py"]
        peer[threads] = rowkit.read_numbers(work.run(command).must_succeed("JAX").out)
    best = min(peer.values(), key=lambda p: p["scan_gradient_jax_ms"])
    text = (f"{ours:.2f} ms, recording and compiling included; JAX jit {best['scan_gradient_jax_ms']:.2f} ms after a first call of "
            f"{best['scan_gradient_jax_first_call_ms'] / 1e3:.1f} s; {rowkit.processor()}")
    return ours <= 6, text
