# SPDX-License-Identifier: Apache-2.0
import learnt_priors
import rowkit

WHAT = "synthetic_10km_1km, noisy, and 10 sections of unseen seeds (data from finer meshes), with a learned prior beside smooth (Occam); the VAE's training"
BAR = "smooth RMS 1.00 +- 0.05, learned RMS at most 1.05 in no more steps; error of log10 rho over the region half of smooth's (median of 11); trained in 12 minutes"


def measure(work):
    prior, seconds = learnt_priors.prior(work, learnt_priors.WHOLE)
    model_a = work.test_data("mt", "synthetic_10km_1km")
    unseen = learnt_priors.sections(work, learnt_priors.KINDS, 60, 13)
    n = work.numbers("learnt_sections_bench", str(prior), str(unseen), "0", "10", "0", str(model_a))
    ratio, smooth, learned, count, smooth_reached, reached, as_fast, each = rowkit.need(
        n, "error_ratio", "smooth_error", "learnt_error", "sections", "smooth_reached", "learnt_reached", "in_no_more_steps", "learnt_seconds")
    holds = ratio <= 0.5 and smooth_reached == count and reached == count and as_fast == count and seconds <= 720
    return holds, (f"error {learned:.3f} of smooth's {smooth:.3f} decades, ratio {ratio:.2f} (medians of {count:.0f}); smooth within 0.05 of RMS 1 in {smooth_reached:.0f}, "
                   f"learned at most 1.05 in {reached:.0f}, in no more steps in {as_fast:.0f}; {each:.1f} s each; trained in {seconds:.0f} s")
