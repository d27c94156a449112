# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = ("forces of ten published systems (NIST's Lennard-Jones 1 and 4 and SPC/E 1 and 4, alanine dipeptide in vacuum and in TIP3P, tri-alanine, 6MRR, JAC, the LJ melt after 300 steps) by every kernel: "
        "cut-off, shift, force shift, force switch, switch, reaction field, PME of orders 4 and 5, Ewald's sum up to 2500 atoms, bonded terms; at every level of instructions of the processor, in f64 and mixed; "
        "against plain sums in long double (all pairs, waves and Fourier sums by their definition), which engine operations check up to 850 atoms")
BAR = "RMS(dF)/RMS(F) at most 1e-12 in f64, 1e-5 mixed; the largest |dF|/RMS(F) at most 100 times that; all levels alike"
SYSTEMS = ("nist_lj1", "nist_lj4", "nist_spce1", "nist_spce4", "ala2_vac", "ala2_tip3p", "water_ala3", "6mrr", "jac", "lj_melt")
BARS = {"f64": 1e-12, "mixed": 1e-5}


def measure(work):
    work.test_data("md")
    out = work.run([work.program("molecular_forces_bench")], env={"TESSERA_TEST_DATA": str(work.data)}).must_succeed("molecular_forces_bench").out
    # Names begin with those of systems, one of which begins with a digit.
    found = {fields[0]: float(fields[1]) for fields in map(str.split, out.splitlines()) if len(fields) == 3 and fields[0] != "#"}
    lines, holds, levels, worst_engine = [], True, set(), 0.0
    for system in SYSTEMS:
        cases, worst = {}, {}
        for name, value in found.items():
            if not name.startswith(system + "."):
                continue
            _, kernel, precision, *level = name.rsplit("_", 1)[0].split(".")
            largest = name.endswith("_largest")
            if precision == "engine":
                worst_engine = max(worst_engine, value)
                continue
            levels.update(level)
            cases.setdefault((kernel, precision, largest), set()).add(value)
            value /= BARS[precision] * (100 if largest else 1)
            worst[precision] = max(worst.get(precision, (0.0, "")), (value, f"{value * BARS[precision]:.1e} ({kernel}" + (", largest over 100)" if largest else ")")))
        if not worst:
            raise rowkit.Failed(f"no forces of {system}")
        alike = all(len(values) == 1 for values in cases.values())
        holds = holds and alike and all(value <= 1 for value, _ in worst.values())
        lines.append(f"{system}: f64 {worst['f64'][1]}, mixed {worst['mixed'][1]}" + ("" if alike else "; levels differ"))
    holds = holds and 0 < worst_engine <= 1e-12
    return holds, "\n".join([f"levels {', '.join(sorted(levels))}; worst of each system:", *lines, f"plain sums against engine operations: {worst_engine:.1e} at most"])
