# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = ("bare Debian 12 (a debootstrap folder): `./bootstrap.sh demo`; `.ci/run` in a fresh clone without a compiler cache; an operation touched; a source "
        "of each application touched; seconds of compiling per 1,000 lines (the rows bare_debian and build_times of foundation)")
BAR = "10 min with packages; 20 min; 20 s; 15 s; none 10 % over the stored table"
SLOW = True


def measure(work):
    rows = [rowkit.load_row(work, "foundation", name).measure(work) for name in ("bare_debian", "build_times")]
    return all(holds for holds, _ in rows), "\n".join(text for _, text in rows)
