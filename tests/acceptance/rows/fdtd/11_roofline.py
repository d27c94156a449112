# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "F2: share of the unfused roofline, 168 B a cell at the rate of the triad with streaming stores, one core, f64, 3 coefficient words a cell that no rows share"
BAR = "at least 95 % a step at a time, at least 150 % with steps taken together"


def measure(work):
    numbers = work.numbers("fdtd_roofline_bench")
    triad, single, blocked, low, high = rowkit.need(numbers, "triad", "roofline_share", "blocked_roofline_share", "roofline_share_spread", "blocked_roofline_share_spread")
    text = f"triad {triad:.1f} GB/s; a step at a time {100 * single:.0f} % (spread {100 * low:.0f}), together {100 * blocked:.0f} % (spread {100 * high:.0f})"
    return single >= 0.95 and blocked >= 1.5, text
