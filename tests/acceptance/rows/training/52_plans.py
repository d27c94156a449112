# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "held by plans after a gradient was planned for 100 batch sizes; calls of malloc inside the planned steps of the five networks from the third run on"
BAR = "at most twice the largest plan, plans themselves included; 0"


def measure(work):
    found = work.numbers("plan_memory_bench")
    held, heap = rowkit.need(found, "plans_held_ratio", "plans_heap_ratio")
    calls = rowkit.need(found, *(f"{name}_step_mallocs" for name in "ABCDE"))
    around = rowkit.need(found, *(f"{name}_call_mallocs" for name in "ABCDE"))
    text = f"{held:.2f} times the largest plan, {heap:.2f} with plans; {max(calls):.0f} calls inside steps, {max(around):.0f} at most with a call's trees and handles"
    return heap <= 2 and max(calls) == 0, text
