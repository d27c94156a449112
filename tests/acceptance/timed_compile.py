#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A compiler launcher that adds "seconds<tab>object<tab>source" to $TESSERA_COMPILE_TIMES for each call: its processor time."""
import os
import subprocess
import sys

command = sys.argv[1:]
process = subprocess.Popen(command)
_, status, usage = os.wait4(process.pid, 0)
code = os.waitstatus_to_exitcode(status)
if "-c" in command and "-o" in command and code == 0:
    obj, source = (os.path.abspath(command[command.index(option) + 1]) for option in ("-o", "-c"))
    line = f"{usage.ru_utime + usage.ru_stime:.3f}\t{obj}\t{source}\n"
    with open(os.environ["TESSERA_COMPILE_TIMES"], "a") as out:  # one write of a short line is whole
        out.write(line)
sys.exit(code if code >= 0 else 128 - code)
