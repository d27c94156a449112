# SPDX-License-Identifier: Apache-2.0
"""Boxes of rigid three-point water, as a GROMACS structure and topology that ours and gmx both read, and how both are run.

Two runs a model. `density`: 1 bar by C-rescale. `fluid`: weak v-rescale in a box of a given edge, for diffusion and pair distributions.
The edge is a constant, close to 1 bar: a difference in density is judged as such, once, and does not come back as one of D or of g(r)."""
import math
import random

N = 884
T_K, P_BAR = 298.15, 1.0
O_AMU, H_AMU = 15.9994, 1.008
MASS_AMU = N * (O_AMU + 2 * H_AMU)
KG_M3_PER_AMU_NM3 = 1.66053906660

# d(OH), d(HH) [nm], charge of H [e], sigma [nm] and epsilon [kJ/mol] of O of U = A/r^12 - C/r^6
# SPC/E: Berendsen, Grigera & Straatsma, J. Phys. Chem. 91 (1987) 6269: A = 0.3428^12, C = 0.37122^6
# TIP3P: Jorgensen et al., J. Chem. Phys. 79 (1983) 926: A = 582e3 kcal/mol A^12, C = 595 kcal/mol A^6
def _sigma_epsilon(a, c):
    return (a / c) ** (1 / 6), c * c / (4 * a)


MODELS = {
    "spce": (0.1, 0.1 * math.sqrt(8 / 3), 0.4238, *_sigma_epsilon(0.3428**12, 0.37122**6)),
    "tip3p": (0.09572, 2 * 0.09572 * math.sin(math.radians(104.52 / 2)), 0.417, *_sigma_epsilon(582e3 * 4.184e-12, 595 * 4.184e-6)),
}


def edge_of(density_kg_m3):
    return (MASS_AMU * KG_M3_PER_AMU_NM3 / density_kg_m3) ** (1 / 3)


# The boxes that `density` begins with and `fluid` stays in.
EDGE_NM = {"spce": round(edge_of(998), 4), "tip3p": round(edge_of(984), 4)}


def density_of(volume_nm3):
    return MASS_AMU * KG_M3_PER_AMU_NM3 / volume_nm3


def topology(model):
    oh, hh, charge, sigma, epsilon = MODELS[model]
    return f"""[ defaults ]
1 2 no 1.0 1.0
[ atomtypes ]
OW 8 {O_AMU} 0.0 A {sigma:.9f} {epsilon:.9f}
HW 1 {H_AMU} 0.0 A 0.0 0.0
[ moleculetype ]
SOL 2
[ atoms ]
1 OW 1 SOL OW 1 {-2 * charge:.4f} {O_AMU}
2 HW 1 SOL HW1 1 {charge:.4f} {H_AMU}
3 HW 1 SOL HW2 1 {charge:.4f} {H_AMU}
[ settles ]
1 1 {oh:.6f} {hh:.6f}
[ exclusions ]
1 2 3
2 1 3
3 1 2
[ system ]
{model}
[ molecules ]
SOL {N}
"""


def structure(model, edge_nm, seed=1):
    """N molecules, turned at random, at 884 of the 1000 points of a simple lattice."""
    oh, hh, *_ = MODELS[model]
    half = math.asin(hh / (2 * oh))
    shape = ((0, 0, 0), (oh * math.cos(half), oh * math.sin(half), 0), (oh * math.cos(half), -oh * math.sin(half), 0))
    chance = random.Random(seed)
    points = sorted(chance.sample(range(1000), N))
    lines = [f"{model}, {N} molecules", f"{3 * N:5d}"]
    for k, point in enumerate(points):
        q = [chance.gauss(0, 1) for _ in range(4)]
        norm = math.sqrt(sum(v * v for v in q))
        w, x, y, z = (v / norm for v in q)
        turn = ((1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
                (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
                (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)))
        cell = (point // 100, point // 10 % 10, point % 10)
        for i, (name, site) in enumerate(zip(("OW", "HW1", "HW2"), shape)):
            place = ((cell[a] + 0.5) * edge_nm / 10 + sum(turn[a][b] * site[b] for b in range(3)) for a in range(3))
            lines.append(f"{k + 1:5d}SOL  {name:>5}{3 * k + i + 1:5d}" + "".join(f"{v:11.6f}" for v in place))
    lines.append("".join(f"{edge_nm:11.6f}" for _ in range(3)))
    return "\n".join(lines) + "\n"


# What both are told, under the names of mdp; lengths in nm, times in ps, pressure in bar.
INTERACTIONS = {"rcoulomb": (0.9, "nm"), "rvdw": (0.9, "nm"), "DispCorr": "EnerPres", "pme_order": 4, "ewald_rtol": 1e-5, "nstcomm": 100}
GRID = 28  # of pme along each edge
DT_PS = 0.002
BATH = {"tcoupl": "v-rescale", "ref_t": (T_K, "K")}
PRESS = {"pcoupl": "c-rescale", "tau_p": (2.0, "ps"), "ref_p": (P_BAR, "bar"), "compressibility": (4.5e-5, "1/bar")}
STAGES = {
    "density": {"begin": {**BATH, **PRESS, "tau_t": (0.2, "ps"), "nstenergy": 0, "nstxout": 0}, "sample": {**BATH, **PRESS, "tau_t": (0.5, "ps"), "nstenergy": 100, "nstxout": 0}},
    "fluid": {"begin": {**BATH, "tau_t": (0.2, "ps"), "nstenergy": 0, "nstxout": 0}, "sample": {**BATH, "tau_t": (2.0, "ps"), "nstenergy": 500, "nstxout": 250}},
}
PICOSECONDS = {"density": {"begin": 25, "sample": 1000}, "fluid": {"begin": 25, "sample": 2000}}
FIT_PS = (5, 50)   # of the mean squared displacement
BIN_NM, R_MAX_NM = 0.005, 1.2
PAIRS = {"OO": ("OW", "OW"), "OH": ("OW", "HW"), "HH": ("HW", "HW")}
FRAMES_PS = 1      # between frames that pair distributions are taken of
