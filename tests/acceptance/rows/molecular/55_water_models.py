# SPDX-License-Identifier: Apache-2.0
import json
import math
import pathlib

import ensembles
import md
import rowkit
import waters

WHAT = ("884 SPC/E and 884 TIP3P waters from one GROMACS structure and topology, PME and cut-offs of 0.9 nm, SETTLE, 2 fs, 298.15 K: density of 1 ns at 1 bar (C-rescale), diffusion of oxygens (MSD from 5 to 50 ps) and "
        "pair distributions (bins of 0.005 nm) of 2 ns of weak v-rescale in one box, beside gmx")
BAR = "density within 0.3 %, D within 5 %, every g(r) within 0.05 in every bin; the standard error of each difference, of both programs together, at most half of its bar"
SLOW = True

DENSITY_BAR, D_BAR, G_BAR = 0.003, 0.05, 0.05
REFERENCE = pathlib.Path(__file__).resolve().parents[2] / "references" / "water_models_gmx.json"
SEED = {("spce", "density"): 5101, ("spce", "fluid"): 5102, ("tip3p", "density"): 5103, ("tip3p", "fluid"): 5104}


def quantity(value):
    return f"{value[0]} {value[1]}" if isinstance(value, tuple) else value


def input_file(work, model, part, picoseconds):
    """The case of one run, and the files that it reads, as gmx has them too."""
    name = f"water_{model}_{part}"
    topology, structure = md.folder(work, f"{name}.top"), md.folder(work, f"{name}.gro")
    topology.write_text(waters.topology(model))
    structure.write_text(waters.structure(model, waters.EDGE_NM[model]))
    common = {"topology": str(topology), "structure": str(structure), "seed": SEED[model, part], "constraints": "h-bonds", "dt": f"{waters.DT_PS} ps", "fourier_grid": [waters.GRID] * 3,
              **{key: quantity(value) for key, value in waters.INTERACTIONS.items()}}
    tables = '[output]\nxtc_precision = "10000 1/nm"\n[[stage]]\ntype = "minimize"\nemtol = "200 kJ/mol/nm"\nnsteps = 500\n'
    for stage, settings in waters.STAGES[part].items():
        told = {"name": stage, "duration": f"{picoseconds[stage]} ps", **{key: quantity(value) for key, value in settings.items()}}
        tables += "[[stage]]\n" + "".join(f"{key} = {md.toml(value)}\n" for key, value in told.items())
    return md.case(work, name, common, tables)


def run(work, model, part, picoseconds):
    """The folder of the stage that counts."""
    path = input_file(work, model, part, picoseconds)
    done = md.run_or_resume(work, path, path.stem)
    return next(p for p in done.path.iterdir() if p.name.endswith("_sample"))


def analysis(work, model, stage):
    """D [1e-5 cm^2/s] with its error, {pair: (g, error)} by molecular.analysis."""
    name = f"water_{model}_analysis"
    path = md.folder(work, f"{name}.toml")
    path.write_text(analysis_text(md.folder(work, f"water_{model}_fluid.top"), stage / "trajectory.xtc"))
    tables = md.run(work, path, name, timeout=7200).path / "tables"
    averages = dict((line.split(",")[0], line.split(",")) for line in (tables / "averages.csv").read_text().splitlines())
    d = averages["diffusion.diffusion"]
    curves = {pair: list(md.table(tables / f"{pair}_g.csv").values()) for pair in waters.PAIRS}
    return (float(d[2]) * 1e5, float(d[3]) * 1e5), {pair: (g, error) for pair, (_, g, error) in curves.items()}


def analysis_text(topology, trajectory):
    text = (f'app = "molecular.analysis"\ntopology = "{topology}"\ntrajectory = ["{trajectory}"]\n[output]\npictures = false\n'
            '[[group]]\nname = "OW"\natoms = ["OW"]\n[[group]]\nname = "HW"\natoms = ["HW1", "HW2"]\n'
            f'[[analysis]]\ntype = "msd"\nname = "diffusion"\ngroup = "OW"\nfit_from = "{waters.FIT_PS[0]} ps"\nfit_to = "{waters.FIT_PS[1]} ps"\n')
    for pair, (a, b) in waters.PAIRS.items():
        text += f'[[analysis]]\ntype = "rdf"\nname = "{pair}"\ngroup = "{a}"\nwith = "{b}"\nbin = "{waters.BIN_NM} nm"\nr_max = "{waters.R_MAX_NM} nm"\n'
    return text


def compare(model, reference, density, diffusion, curves):
    """(holds, text) of one model: density and D with errors, curves as gmx normalises them (by N/V; ours by the pairs that there are)."""
    holds = True

    def judged(difference, error, bar):
        nonlocal holds
        known = error <= bar / 2
        holds = holds and known and abs(difference) <= bar
        return "" if known else ", too uncertain to tell"

    (rho, rho_error), (d, d_error) = density, diffusion
    rho_gmx, d_gmx = reference["density_kg_m3"], reference["diffusion_1e-5_cm2_s"]
    rho_off, d_off = rho / rho_gmx - 1, d / d_gmx - 1
    rho_uncertain, d_uncertain = math.hypot(rho_error, reference["density_error"]) / rho_gmx, math.hypot(d_error, reference["diffusion_error"]) / d_gmx
    text = (f"{model}: density {rho:.2f} +- {rho_error:.2f} kg/m^3, gmx {rho_gmx:.2f} +- {reference['density_error']:.2f} "
            f"({100 * rho_off:+.3f} +- {100 * rho_uncertain:.3f} %{judged(rho_off, rho_uncertain, DENSITY_BAR)}); "
            f"D {d:.3f} +- {d_error:.3f}e-5 cm^2/s, gmx {d_gmx:.3f} +- {reference['diffusion_error']:.3f}e-5 ({100 * d_off:+.1f} +- {100 * d_uncertain:.1f} %{judged(d_off, d_uncertain, D_BAR)})")
    for pair, (g, error) in curves.items():
        other = reference["rdf"][pair]
        if len(g) != len(other["g"]):
            raise rowkit.Failed(f"{pair}: {len(g)} bins, {len(other['g'])} in the reference")
        differences = [a * (waters.N - 1) / waters.N - b for a, b in zip(g, other["g"])]
        errors = [math.hypot(a, b) for a, b in zip(error, other["error"])]
        at = max(range(len(g)), key=lambda k: abs(differences[k]))
        text += f"; g_{pair} differs by at most {differences[at]:+.4f} +- {errors[at]:.4f} at {(at + 0.5) * waters.BIN_NM:.4f} nm (largest error {max(errors):.4f}{judged(differences[at], max(errors), G_BAR)})"
    return holds, text


def measure(work, picoseconds=waters.PICOSECONDS):
    if not REFERENCE.exists():
        raise rowkit.NotMeasured(f"there is no {REFERENCE.name}: tests/acceptance/peers/water_models_gmx.py makes it")
    reference = json.loads(REFERENCE.read_text())
    lines, holds = [md.where(work)], True
    for model in waters.MODELS:
        volumes = md.table(run(work, model, "density", picoseconds["density"]) / "energies.csv")["volume_nm3"]
        volume, error = ensembles.mean(volumes)
        density = waters.density_of(volume)
        found = analysis(work, model, run(work, model, "fluid", picoseconds["fluid"]))
        of_gmx = reference["models"][model]
        good, text = compare(model, of_gmx, (density, density * error / volume), *found)
        holds = holds and good
        lines.append(text)
        lines.append(f"gmx: {of_gmx['density_ps']:g} ps at 1 bar, {of_gmx['fluid_ps']:g} ps in the box; ours: {picoseconds['density']['sample']:g} and {picoseconds['fluid']['sample']:g} ps")
    return holds, "\n".join(lines) + f"\n{reference['program']}, by {reference['script']} on {reference['date']}"
