# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "held by plans after a gradient was planned for 100 batch sizes; calls of malloc inside the planned steps of the five networks from the third run on"
BAR = "at most twice the largest plan, plans themselves included; 0 on one thread, and a mean below 0.5 on two, where a thread may meet a task for the first time later"


def measure(work):
    found = work.numbers("plan_memory_bench")
    held, heap = rowkit.need(found, "plans_held_ratio", "plans_heap_ratio")
    calls = rowkit.need(found, *(f"{name}_step_mallocs" for name in "ABCDE"))
    shared = rowkit.need(found, *(f"{name}_shared_step_mallocs" for name in "ABCDE"))
    around = rowkit.need(found, *(f"{name}_call_mallocs" for name in "ABCDE"))
    text = f"{held:.2f} times the largest plan, {heap:.2f} with plans; {max(calls):.0f} calls inside steps on one thread, {max(shared):.2f} a run on two, {max(around):.0f} at most with a call's trees and handles"
    return heap <= 2 and max(calls) == 0 and max(shared) < 0.5, text
