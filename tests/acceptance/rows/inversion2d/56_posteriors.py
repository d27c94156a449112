# SPDX-License-Identifier: Apache-2.0
import learnt_priors
import rowkit

WHAT = "40 posteriors by NUTS, 7 stations, 8 frequencies: how often 50 and 90 % intervals of codes hold the truth (a decoder's draw), and of log10 rho (new sections); bands over the prior's"
BAR = "within 5 points, 10 points; at most 0.7"
SLOW = True


def measure(work):
    prior, _ = learnt_priors.prior(work, learnt_priors.SMALL)
    unseen = learnt_priors.sections(work, learnt_priors.KINDS, 60, 13, learnt_priors.COARSE)
    n = work.numbers("learnt_posteriors_bench", str(prior), str(unseen), "0", "40", timeout=4 * 3600)
    c50, c90, r50, r90, width, gradients, seconds, r_hat, divergent = rowkit.need(
        n, "codes_in_50", "codes_in_90", "log10_rho_in_50", "log10_rho_in_90", "width_of_prior", "gradients", "seconds", "r_hat", "divergent")
    holds = max(abs(c50 - 50), abs(c90 - 90)) <= 5 and max(abs(r50 - 50), abs(r90 - 90)) <= 10 and width <= 0.7
    return holds, (f"codes: {c50:.1f} and {c90:.1f} %; log10 rho: {r50:.1f} and {r90:.1f} %, bands {width:.2f} of the prior's; "
                   f"{gradients:.0f} gradients and {seconds:.0f} s each (medians), R-hat {r_hat:.3f}, {divergent:.0f} divergent")
