# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "value and gradient of a 3-D objective at 10 frequencies, 2,000 steps, 200^3 cells, 10^5 parameters, beside the same run without derivatives"
BAR = "at most 3x its time and 2.2x its memory; a directional derivative within 1e-4 of central differences"
SLOW = True
SIZE = ("--cells", "200", "--steps", "2000", "--threads", "2", "--repeat", "1", "--check", "0.2")


def measure(work):
    found = work.numbers("adjoint_bench", *SIZE)
    time, cpu, memory, forward, gradient, error = rowkit.need(
        found, "adjoint_cost_ratio", "adjoint_cpu_ratio", "adjoint_memory_ratio", "adjoint_forward_peak_mib", "adjoint_gradient_peak_mib", "adjoint_derivative_error")
    return time <= 3 and memory <= 2.2 and error <= 1e-4, (
        f"{time:.2f}x the time ({cpu:.2f}x of processors), {memory:.2f}x the memory ({gradient:.0f} of {forward:.0f} MiB), derivative within {error:.1e}")
