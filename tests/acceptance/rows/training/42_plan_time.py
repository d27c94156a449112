# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = ("the gradient of a function of 1,000 operations (products of 64^2, tanh) recorded and planned, least of 9 tries, JAX's tracing and compiling beside it; of "
        "10,000; how often a step is planned whose rate, weights, batch and flag change")
BAR = "30 ms; at most 12 times what 1,000 took; once"


def measure(work):
    found = work.numbers("plan_bench")
    thousand, ten, plans = rowkit.need(found, "plan_1000_ms", "plan_10000_ms", "plans_of_a_step")
    parts = [rowkit.need(found, f"plan_{n}_record_ms", f"plan_{n}_simplify_ms", f"plan_{n}_layout_ms") for n in (1000, 10000)]
    peer = f"JAX {found['jax_1000_ms']:.0f} ms, {found['jax_1000_trace_ms']:.0f} of them tracing" if "jax_1000_ms" in found else "no JAX beside it"
    first = rowkit.need(found, "plan_1000_first_call_ms", "plan_10000_first_call_ms")
    return thousand <= 30 and ten <= 12 * thousand and plans == 1, (
        f"1,000: {thousand:.1f} ms (recorded, simplified, laid out: {', '.join(f'{p:.1f}' for p in parts[0])}); {peer}\n"
        f"10,000: {ten:.1f} ms ({', '.join(f'{p:.1f}' for p in parts[1])}), {ten / thousand:.1f} times; first calls less later ones {first[0]:.1f} and {first[1]:.1f} ms; 12 calls with other numbers: {plans:.0f} plan\n{rowkit.processor()}")
