# SPDX-License-Identifier: Apache-2.0
import json

import rowkit
import training

WHAT = "a dry run's memory of a step beside the highest mark of a process less what it has idle, five networks; tessera estimate's time of an epoch beside runs, digits and bowtie; a U-Net on 4 fields of 30000^2 priced"
BAR = "within 5 %, each step beyond 300 MiB; within 25 %; in 1 s, with less than 1 MiB allocated"


def epoch(work, case, name):
    """Seconds of an epoch: as estimated, and what later epochs of runs take."""
    at_end = (4, 12)

    def tessera(verb, epochs, *more):
        command = [work.tessera(), verb, case, "--set", f"training.epochs={epochs}", *more]
        done = work.run(command)
        if done.code not in (0, 6):  # too few epochs to learn all
            done.must_succeed(f"tessera {verb} {name}")
        return done

    def run(epochs):
        return min(tessera("run", epochs, "--force", "--progress", "none", "--output", training.folder(work) / f"{name}_epochs").seconds for _ in range(2))

    estimate = json.loads(tessera("estimate", at_end[1], "--json").out)["seconds"] / at_end[1]
    return estimate, (run(at_end[1]) - run(at_end[0])) / (at_end[1] - at_end[0])


def measure(work):
    found = work.numbers("dryrun_bench")
    shares = rowkit.need(found, *(f"{name}_dryrun_memory_ratio" for name in "ABCDE"))
    marks = rowkit.need(found, *(f"{name}_memory" for name in "ABCDE"))
    seconds, allocated, memory = rowkit.need(found, "large_unet_seconds", "large_unet_allocated", "large_unet_memory")
    holds = max(abs(share - 1) for share in shares) <= 0.05 and min(marks) >= 300 and seconds <= 1 and allocated < 1024
    text = ["memory: " + ", ".join(f"{name} {share:.3f} of {mark:.0f} MiB" for name, share, mark in zip("ABCDE", shares, marks)),
            f"U-Net of {memory:.1f} TiB: {1e3 * seconds:.0f} ms, {allocated:.0f} KiB allocated"]
    for name, case in (("digits", training.digits(work)), ("bowtie", training.bowtie(work))):
        estimate, taken = epoch(work, case, name)
        holds = holds and abs(estimate / taken - 1) <= 0.25
        text.append(f"{name}: an epoch is estimated at {estimate:.3g} s, takes {taken:.3g} s ({estimate / taken:.2f})")
    return holds, "\n".join(text)
