# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = ("100 x 64 cells with padding and air, 20 frequencies, TE and TM, 36 stations: misfit with gradient beside SimPEG with MUMPS, on one "
        "thread each and on two; peak memory; responses")
BAR = "5x (8x on two), half its memory; 3 %"


def measure(work):
    python = work.venv("simpeg", "simpeg", "pymatsolver", "python-mumps")
    environment = {"TESSERA_PEERS": python.removesuffix("/bin/python")}
    words, holds = [], True
    for threads, bar in ((1, 5), (2, 8)):
        numbers = work.numbers("sections_simpeg_bench", "--threads", str(threads), env=environment)
        ratio, share, away, ours = rowkit.need(numbers, "misfit_gradient_ratio", "misfit_gradient_memory_share", "responses_difference",
                                               "misfit_gradient_seconds")
        words.append(f"{threads} thread{'s' if threads > 1 else ''}: {ratio:.0f}x ({ours:.2f} s; SimPEG with SuperLU "
                     f"{numbers['simpeg_superlu_seconds']:.0f} s), {share:.2f} of its memory, responses {100 * away:.2f} %")
        holds = holds and ratio >= bar and share <= 0.5 and away <= 0.03 and numbers["misfit_difference"] <= 0.03
    return holds, "\n".join(words) + f"; {rowkit.processor()}"
