# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = ("bytes sent over the lower bound, counted element by element: all pairs of cut (by all ranks, by some, along each axis, in tiles), whole, overlapping, and parts of a sum to each, "
        "on 5, 2x3, 2x2x2 t; random pairs on 1 to 8 t with uneven and empty parts: values, one message a pair; sums over parts where ranks hold whole branches")
BAR = "1.00"
MESHES = ("5", "2x3", "2x2x2")


def measure(work):
    result = work.gtest("parallel_tests", "Layouts.*:PartSums.SendTheLeastThatIsPossible:ExchangePlan.SendsTheLeastThatIsPossible")
    numbers = {name: float(value) for name, value in result["numbers"].items()}
    pairs = rowkit.need(numbers, *(f"bytes_over_least_{m}" for m in MESHES))
    sums = rowkit.need(numbers, *(f"bytes_of_sums_over_least_{m}" for m in MESHES))
    holds = not result["failed"] and not result["skipped"] and result["passed"] >= 9 and max(*pairs, *sums) == 1
    return holds, "\n".join([f"{result['passed']} tests passed, {len(result['failed'])} failed", *result["failed"],
                             *(f"{m}: {p:.4g}, of sums {s:.4g}" for m, p, s in zip(MESHES, pairs, sums))])
