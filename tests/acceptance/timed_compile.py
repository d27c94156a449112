#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A compiler launcher that adds "time<tab>seconds<tab>object<tab>source" to $TESSERA_COMPILE_TIMES, if it is set, for each call: its
processor time.

Beside them, every half minute, that of the yardstick (yardstick.cpp beside this file), a text that does not change: machines differ,
and one and the same by a fifth from minute to minute.
"""
import os
import pathlib
import subprocess
import sys
import time

LOG = pathlib.Path(os.environ.get("TESSERA_COMPILE_TIMES", os.devnull))
YARDSTICK = pathlib.Path(__file__).with_name("yardstick.cpp")
EVERY_S = 30


def run(command):
    """(exit code, processor seconds)"""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code, usage.ru_utime + usage.ru_stime


def note(seconds, obj, source):
    with open(LOG, "a") as out:  # one write of a short line is whole
        out.write(f"{time.time():.1f}\t{seconds:.3f}\t{obj}\t{source}\n")


def yardstick_is_due():
    """True for one caller in every half minute."""
    mark = LOG.with_name(f"{LOG.name}.{int(time.time() / EVERY_S)}")
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


command = sys.argv[1:]
code, seconds = run(command)
if LOG.name != "null" and "-c" in command and "-o" in command and code == 0:
    obj, source = (os.path.abspath(command[command.index(option) + 1]) for option in ("-o", "-c"))
    note(seconds, obj, source)
    if yardstick_is_due():
        failed, seconds = run(["g++", "-std=c++20", "-O2", "-c", str(YARDSTICK), "-o", os.devnull])
        if not failed:
            note(seconds, "yardstick", YARDSTICK)
sys.exit(code)
