# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "10^6 layered soundings, 20 layers, 20 frequencies: gradient of each misfit to 20 ln rho + 19 ln h"
BAR = "30 s on 2 cores, peak 2 GiB; rate of full Jacobians printed beside it"


def measure(work):
    names = ("gradient_seconds", "peak_mib", "jacobians_per_second")
    seconds, peak, jacobians = rowkit.need(work.numbers("mt1d_gradient_bench"), *names)
    return seconds <= 30 and peak <= 2048, f"{seconds:.1f} s, peak {peak:.0f} MiB, {jacobians:.0f} full Jacobians per second"
