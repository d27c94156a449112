# SPDX-License-Identifier: Apache-2.0
import re

import parallel
import rowkit

WHAT = ("a network with 6 x 6 and 4 x 4 windows, stride 2, dilation 10, max pool, spreading, a transposed convolution, reach 20, on 4 x 4096^2 f32 in parts of "
        "512^2: tiles of 1, 4, 16 parts, 1 to 4 m: output, gradients of weights and image; files, edges, second order by the tests")
BAR = "0 bits differ from one process in tiles of one part; the output's from the whole call"
WAYS = ((1, 2), (1, 4), (2, 1), (2, 4), (3, 2), (4, 1), (4, 4))  # ranks, parts of a tile along an axis


def digests(work, ranks, tile):
    before = [*parallel.mpirun(), "-n", str(ranks)] if ranks > 1 else []
    done = work.run([*before, work.program("tiled_images"), "bits", "4096", str(tile)]).must_succeed(f"tiled_images on {ranks}")
    return dict(re.findall(r"^(\w+) ([0-9a-f]{64})$", done.out, re.M)), rowkit.read_numbers(done.out)


def measure(work):
    want, numbers = digests(work, 1, 1)
    whole = want.pop("whole", None)
    wrong = [] if len(want) == 4 else [f"only {sorted(want)}"]
    if want.get("output") != whole:
        wrong.append("the output is not that of the whole call")
    for ranks, tile in WAYS:
        got, _ = digests(work, ranks, tile)
        got.pop("whole", None)
        wrong += [f"{name} differs on {ranks} m, tiles of {tile * tile}" for name in want if got.get(name) != want[name]]
    held, tests = work.gtest_row("parallel_tests", "Tiles.*", minimum=9)
    held_cut, cuts = work.gtest_row("autodiff_tests", "Cut.*", minimum=11)
    reach = max(numbers.get("before", 0), numbers.get("behind", 0))
    text = [f"{len(WAYS) + 1} ways, {len(want)} arrays each, {len(wrong)} differ; reach {reach:.0f}", f"tiles: {tests}", f"boxes: {cuts}"]
    return not wrong and held and held_cut and reach >= 20, "\n".join(text + wrong)
