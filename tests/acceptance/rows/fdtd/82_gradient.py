# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "value and gradient of a 3-D objective at 10 frequencies, 2,000 steps, 200^3 cells, 10^5 parameters, beside the same run without derivatives"
BAR = "at most 3x its time and 2.2x its memory; a directional derivative within 1e-4 of central differences"
SLOW = True
SIZE = ("--cells", "200", "--steps", "2000", "--threads", "2", "--repeat", "1")


def measure(work):
    cost = work.numbers("adjoint_bench", *SIZE)
    ratio, = rowkit.need(cost, "adjoint_cost_ratio")
    forward, = rowkit.need(work.numbers("adjoint_bench", *SIZE, "--only", "forward"), "adjoint_forward_peak_mib")
    gradient, = rowkit.need(work.numbers("adjoint_bench", *SIZE, "--only", "gradient"), "adjoint_gradient_peak_mib")
    error, = rowkit.need(work.numbers("adjoint_bench", *SIZE, "--check", "1e-2"), "adjoint_slope_error")
    return ratio <= 3 and gradient <= 2.2 * forward and error <= 1e-4, (
        f"{ratio:.2f}x the time, {gradient / forward:.2f}x the memory ({gradient:.0f} of {forward:.0f} MiB), slope within {error:.1e}")
