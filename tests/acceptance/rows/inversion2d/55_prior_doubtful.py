# SPDX-License-Identifier: Apache-2.0
import learnt_priors
import rowkit

WHAT = "10 sections of a kind left out of training (layers with random fields); 10 of its kinds (layers, faults, blocks) of unseen seeds"
BAR = "`prior doubtful` in at least 8; at most 1"
SLOW = True  # a prior that learns for longer, and twenty inversions with it


def measure(work):
    prior, _ = learnt_priors.prior(work, learnt_priors.THOROUGH)
    doubted, costs = {}, {}
    for name, events in (("left_out", learnt_priors.LEFT_OUT), ("own", learnt_priors.KINDS)):
        n = work.numbers("learnt_sections_bench", str(prior), str(learnt_priors.sections(work, events, 60, 13)), "20", "30", "0")
        doubted[name], costs[name] = rowkit.need(n, "doubted", "cost")
    return doubted["left_out"] >= 8 and doubted["own"] <= 1, (
        f"doubted {doubted['left_out']:.0f} of 10 left out (cost {costs['left_out']:.2f} a datum, median), {doubted['own']:.0f} of 10 of its kinds ({costs['own']:.2f})")
