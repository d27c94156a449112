# SPDX-License-Identifier: Apache-2.0
import learnt_priors
import rowkit

WHAT = "synthetic_10km_1km, noisy, learned prior with pixels: 10,000 gradients of its posterior in two chains, from the data to the draws"
BAR = "2 h"
SLOW = True


def measure(work):
    prior, _ = learnt_priors.prior(work, learnt_priors.SMALL)
    model_a = work.test_data("mt", "synthetic_10km_1km")
    n = work.numbers("sampled_line_bench", str(prior), str(model_a), timeout=4 * 3600)
    gradients, seconds, start, draws, r_hat, divergent = rowkit.need(n, "gradients", "seconds", "start_seconds", "draws", "code_r_hat", "divergent")
    return gradients >= 10000 and seconds <= 7200, (
        f"{gradients:.0f} gradients in {seconds:.0f} s, {start:.0f} of them for the optimum and the mass; {draws:.0f} draws, "
        f"R-hat of codes {r_hat:.2f}, {divergent:.0f} divergent; {rowkit.processor()}")
