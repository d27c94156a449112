# SPDX-License-Identifier: Apache-2.0
import re
import shutil

import rowkit

WHAT = "a mesh of 10^6 tetrahedra in 2, 8, 60 pieces: edges cut by METIS over gpmetis, along Hilbert's curve over METIS; the largest piece over the mean"
BAR = "1.0; 1.6; 1.03"


def measure(work):
    gpmetis = shutil.which("gpmetis")
    if not gpmetis:
        raise rowkit.NotMeasured("there is no gpmetis (Debian package metis: './bootstrap.sh bench')")
    holds, text = True, []
    with work.temp() as folder:
        graph = f"{folder}/mesh.graph"
        numbers = rowkit.read_numbers(work.run([work.program("pieces_bench"), "--graph", graph]).must_succeed("pieces_bench").out)
        for pieces in (2, 8, 60):
            said = work.run([gpmetis, graph, str(pieces)], cwd=folder).must_succeed("gpmetis").out
            theirs = int(re.search(r"Edgecut: (\d+)", said)[1])
            ours, curve, *shares = rowkit.need(numbers, *(f"{by}_{pieces}_{what}" for what in ("edges", "imbalance") for by in ("metis", "curve")))
            holds = holds and ours <= theirs and curve <= 1.6 * ours and max(shares) <= 1.03
            text.append(f"{pieces}: METIS {ours:.0f} of gpmetis's {theirs} edges ({ours / theirs:.3f}), the curve {curve / ours:.2f} of METIS; "
                        f"imbalance {shares[0]:.4f}, {shares[1]:.4f}")
    (elements,) = rowkit.need(numbers, "elements")
    return holds and elements >= 1e6, "\n".join([f"{elements:.0f} tetrahedra", *text])
