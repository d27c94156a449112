# SPDX-License-Identifier: Apache-2.0
import rowkit

# topic, row: those whose figures a change of the house could move.
ROWS = [("foundation", "engine_speed"), ("foundation", "op_speed"), ("fdtd", "meep_speed"), ("fdtd", "roofline"), ("molecular", "speed"),
        ("molecular", "derivative_cost"), ("foundation", "gabbs_time"), ("foundation", "million")]
WHAT = "the rows of speed of the other topics: " + ", ".join(f"{topic}/{row}" for topic, row in ROWS)
BAR = "each holds"
SLOW = True


def measure(work):
    held, text = 0, []
    for topic, name in ROWS:
        try:
            holds, said = rowkit.load_row(work, topic, name).measure(work)
        except (rowkit.NotMeasured, rowkit.Failed) as reason:
            holds, said = False, f"not measured: {reason}"
        held += holds
        text.append(f"{topic}/{name} {'holds' if holds else 'DOES NOT HOLD'}: " + "; ".join(said.strip().splitlines()))
    return held == len(ROWS), "\n".join(text)
