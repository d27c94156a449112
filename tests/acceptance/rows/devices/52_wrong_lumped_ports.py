# SPDX-License-Identifier: Apache-2.0
import fdtd

WHAT = "four wrong lumped ports of the microstrip filter: one that ends in the air, one of no length, one along a wall of metal, one in an absorbing layer"
BAR = "`tessera check` refuses each at its key, with the reason"

WRONG = {
    "in the air": ({"port[0].size": ["2.4384 mm", "0 mm", "1.06 mm"]}, "port[0].position", "on no conductor"),
    "of no length": ({"port[0].size": ["2.4384 mm", "0 mm", "0 mm"]}, "port[0].size", "has no length along z"),
    "in metal": ({"port[1].direction": [1, 0, 0], "port[1].position": ["10.16 mm", "9.7359 mm", "0.795 mm"], "port[1].size": ["2 mm", "0 mm", "0 mm"],
                  "port[1].plane": ["10.16 mm", "12 mm", "0.795 mm"]}, "port[1].position", "no open edge"),
    "in a layer": ({"port[1].position": ["13.4112 mm", "22 mm", "0.3975 mm"], "port[1].plane": ["13.4112 mm", "15.2388 mm", "0.3975 mm"]}, "port[1].position", "absorbing layer"),
}


def measure(work):
    texts, held = [], 0
    for name, (settings, key, words) in WRONG.items():
        done = work.run([work.tessera(), "check", fdtd.example(work, "microstrip_filter.toml"), *fdtd.set_options(settings)])
        said = done.out + done.err
        good = done.code == 5 and (key in said or f"{key.split('.')[-1]} =" in said) and words in said
        held += good
        texts.append(f"{name}: {'refused' if good else f'exit {done.code}: ' + said[-300:]}")
    return held == len(WRONG), "; ".join(texts)
