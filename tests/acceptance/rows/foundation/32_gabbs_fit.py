# SPDX-License-Identifier: Apache-2.0
import pathlib

import mt1d
import rowkit

WHAT = "20 Gabbs Valley soundings, determinant, sigma = max(propagated error, 5 % of the modulus) on real and imaginary part"
BAR = "RMS at most max(1.00, 1.15 x the D+ bound)"


def measure(work):
    mt1d.need_app(work)
    with work.temp() as folder:
        case = mt1d.write_case(folder, mt1d.gabbs_files(work))
        run = pathlib.Path(folder) / "RUN"
        work.run([work.tessera(), "run", case, "--output", run], cwd=folder).must_succeed("tessera run")
        table = mt1d.station_table(run)
    if len(table) != 20:
        raise rowkit.Failed(f"the run's table holds {len(table)} soundings")
    over, ratios, below = [], [], 0
    for row in table:
        rms, bound = float(row["rms"]), float(row["dplus_rms"])
        below += bound < 1
        ratios.append(rms / max(1.0, 1.15 * bound))
        if rms > max(1.0, 1.15 * bound) * (1 + 1e-9):
            over.append(f"{row['sounding']}: {rms:.3f} against D+ {bound:.3f}")
    text = f"{20 - len(over)} of 20 within; worst at {max(ratios):.3f} of the bar; {below} soundings have a bound below 1"
    return not over, "\n".join([text, *over])
