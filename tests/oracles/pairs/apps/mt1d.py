# SPDX-License-Identifier: Apache-2.0
"""inversion.mt1d: two soundings of twelve periods, whose impedance is known to this file alone."""
import cmath
import math
import random

from case import Run, expect, expect_near, expect_same_files  # noqa: F401

MU0 = 4e-7 * math.pi
FIELD = 1e3 * MU0  # one mV/km/nT in ohm
PERIODS = [1e-3 * 10 ** (k / 2) for k in range(12)]
# Layers (ohm m, m) that xy and yx of each station see: each mode is an earth of its own, the tensor a 2-D one.
STATIONS = {"one": ((100, 10, 1000), (300, 3000), (30, 5, 300), (200, 2000)), "two": ((50, 500, 5), (800, 9000), (80, 900, 20), (700, 8000))}
ERROR = 0.02  # relative, of noise and as stated
TENSORS = {}  # station: {period: [2][2] ohm}, in the axes of the file (x to the north)


def wait(frequency, rho, thickness):
    """Impedance E/H in ohm of layers, e^{+i omega t} (Wait 1954)."""
    omega_mu = 2 * math.pi * frequency * MU0
    z = cmath.sqrt(1j * omega_mu * rho[-1])
    for r, h in zip(reversed(rho[:-1]), reversed(thickness)):
        own = cmath.sqrt(1j * omega_mu * r)
        t = cmath.tanh(own / r * h) if (own / r * h).real < 300 else 1
        z = own * (z + own * t) / (own + z * t)
    return z


def prepare(place, tessera, data):
    rng = random.Random(5)
    (place / "soundings").mkdir()
    for number, (name, (rho, h, rho2, h2)) in enumerate(STATIONS.items()):
        tensor = []
        for period in PERIODS:
            xy, yx = wait(1 / period, rho, h), -wait(1 / period, rho2, h2)

            def noise(z):
                return abs(z) * ERROR * complex(rng.gauss(0, 1), rng.gauss(0, 1))

            tensor.append([[noise(xy), xy + noise(xy)], [yx + noise(yx), noise(yx)]])
        TENSORS[name] = dict(zip(PERIODS, tensor))
        (place / "soundings" / f"{name}.edi").write_text(edi(name, tensor, number))
    tensor = list(TENSORS["one"].values())
    (place / "empty").mkdir()
    for n in (1, 2, 3):
        write_edge(place, f"periods{n}", tensor[:n], periods=PERIODS[:n])
    write_edge(place, "no_errors", tensor, errors=False)
    write_edge(place, "nowhere", tensor, place_known=False)
    (place / "twins").mkdir()
    for name in ("twin1", "twin2"):
        write_edge(place / "twins", name, tensor)


def write_edge(place, name, tensor, periods=PERIODS, **options):
    TENSORS[name] = dict(zip(periods, tensor))
    (place / f"{name}.edi").write_text(edi(name, tensor, 0, periods, **options))


def edi(name, tensor, number=0, periods=PERIODS, errors=True, place_known=True):
    n = len(periods)
    where = [" LAT=40.0", f" LONG={-117 + 0.1 * number}"] if place_known else []
    text = [">HEAD", f' DATAID="{name}"', *where, " EMPTY=1.0E32", ">=MTSECT", f" NFREQ={n}"]

    def block(head, values):
        text.extend([f">{head} //{n}", " ".join(f"{v:.12E}" for v in values)])

    block("FREQ", [1 / p for p in periods])
    block("ZROT", [0] * n)
    for i, row in enumerate("XY"):
        for j, column in enumerate("XY"):
            block(f"Z{row}{column}R", [z[i][j].real / FIELD for z in tensor])
            block(f"Z{row}{column}I", [z[i][j].imag / FIELD for z in tensor])
            if errors:
                block(f"Z{row}{column}.VAR", [(ERROR * abs(z[i][1 - i]) / FIELD) ** 2 for z in tensor])
    return "\n".join(text + [">END", ""])


BASE = {"data.files": "soundings", "posterior.samples": 100}
FIXED = {"expect.rms_max": "a promise; its own tests", "expect.soundings": "a promise; its own tests"}
LEVELS = {
    "data.error_floor": [0.05, 0.5],
    "data.strike": [None, "30 deg", "-90 deg"],
    "data.rotation": [None, "90 deg", "-20 deg"],
    "data.shortest_period": [None, "0.01 s"],
    "data.longest_period": [None, "60 s"],
    "data.mask_periods": [None, [f"{PERIODS[4]} s"]],
    "model.layers": [16, 3, 40],
    "model.first_depth": [None, "20 m"],
    "model.last_depth": [None, "400 km"],  # impedances taken for ohm ask for a first depth of 65 km
    "model.reference_resistivity": [None, "30 ohm*m"],
    "model.least_resistivity": [None, "0.1 ohm*m", "1e-9 ohm*m"],
    "model.greatest_resistivity": [None, "1e4 ohm*m", "1e12 ohm*m"],
    "model.fixed_top": [None, ["0 m"], ["100 m", "3 km"]],
    "model.fixed_bottom": [None, ["50 m"], ["200 m", "1e9 m"]],
    "model.fixed_resistivity": [None, ["70 ohm*m"], ["70 ohm*m", "20 ohm*m"]],
    "inversion.huber_corner": [1.345, 0.3],
    "inversion.target_rms": [None, 1.0, 0.01],
    "inversion.order": [1, 2],
    "inversion.roughness_weight": [1.0, 100.0],
    "inversion.max_iterations": [40, 1],
    "inversion.few_layers": [0, 1, 3],
    "inversion.starts": [2, 1],
    "static_shift.prior_std": [None, 0.2],
    "static_shift.reference_resistivity": [None, "100 ohm*m"],
    "static_shift.reference_period": [None, "1 s"],
    "posterior.prior_std": [1.0, 0.2],
    "posterior.burn_in": [50, 0],
    "posterior.keep_every": [10, 1],
    "profile.azimuth": [None, "90 deg"],
    "seed": [1, 7],
}
GIVEN = "given"
REFUSED = [
    {"when": {"data.response": ("te", "tm"), "data.strike": None}},
    {"when": {"model.least_resistivity": GIVEN, "model.greatest_resistivity": None}},
    {"when": {"model.least_resistivity": None, "model.greatest_resistivity": GIVEN}},
    *({"when": {f"model.fixed_{a}": LEVELS[f"model.fixed_{a}"][i], f"model.fixed_{b}": LEVELS[f"model.fixed_{b}"][j]}}
      for a, b in (("top", "bottom"), ("top", "resistivity"), ("bottom", "resistivity")) for i in range(3) for j in range(3) if i != j),
    {"when": {"static_shift.enabled": True, "static_shift.prior_std": None, "static_shift.reference_resistivity": None}},
    {"when": {"inversion.method": "few_layer", "static_shift.enabled": True, "static_shift.prior_std": GIVEN}, "names": ["inversion.method", "static_shift.prior_std"]},
    {"when": {"inversion.method": "few_layer", "model.least_resistivity": GIVEN}},
    {"when": {"inversion.method": "few_layer", "model.greatest_resistivity": GIVEN}, "with": {"model.least_resistivity": "0.1 ohm*m"}, "names": ["inversion.method", "model.least_resistivity"]},
    {"when": {"inversion.method": "few_layer", "model.fixed_top": GIVEN}},
    {"when": {"inversion.method": "few_layer", "model.fixed_bottom": GIVEN}, "names": ["model.fixed_top", "model.fixed_bottom"]},
    {"when": {"inversion.method": "few_layer", "model.fixed_resistivity": GIVEN}, "names": ["model.fixed_top", "model.fixed_resistivity"]},
    {"when": {"inversion.method": "few_layer", "posterior.method": "mcmc"}},
]
VERBS = ("gradcheck",)


def si(text):
    """The number of a quantity of a level, in SI units; angles in degrees."""
    value, unit = text.split()
    return float(value) * {"km": 1e3}.get(unit, 1)


def kept(run, period):
    masked = [si(p) for p in run["data.mask_periods"] or []]
    low, high = run["data.shortest_period"], run["data.longest_period"]
    return not (low and period < si(low)) and not (high and period > si(high)) and not any(abs(p / period - 1) <= 0.01 for p in masked)


def response(run, z):
    """What is fitted, by hand from the tensor of the file."""
    if run["data.units"] == "ohm":  # the numbers of the file, taken for ohm
        z = [[v / FIELD for v in row] for row in z]
    if run["data.sign"] == "minus":
        z = [[v.conjugate() for v in row] for row in z]
    # The files call x north; a rotation says that it points so many degrees east of it.
    turn = si(run["data.strike"]) - si(run["data.rotation"] or "0 deg") if run["data.strike"] else 0
    a = math.radians(turn)
    c, s = math.cos(a), math.sin(a)
    r = ((c, s), (-s, c))
    z = [[sum(r[i][k] * z[k][m] * r[j][m] for k in range(2) for m in range(2)) for j in range(2)] for i in range(2)]
    kind = run["data.response"] or "determinant"
    if kind == "determinant":
        return cmath.sqrt(z[0][0] * z[1][1] - z[0][1] * z[1][0])
    if kind == "average":
        return (z[0][1] - z[1][0]) / 2
    return z[0][1] if kind in ("xy", "te") else -z[1][0]


def laws(run):
    summary = run.table("soundings.csv")
    present = [n for n in TENSORS if n in summary["sounding"]]
    expect("every sounding is inverted", len(summary["sounding"]) == len(present) > 0, lambda: summary["sounding"])
    for k, name in enumerate(summary["sounding"]):
        one = {column: values[k] for column, values in summary.items()}
        fit, model = run.table(f"soundings/{name}_fit.csv"), run.table(f"soundings/{name}_model.csv")
        periods = [p for p in TENSORS[name] if kept(run, p)]
        expect("the periods are those asked for", len(fit["period_s"]) == len(periods), lambda: f"{len(fit['period_s'])} in place of {len(periods)}")
        observed = [complex(a, b) for a, b in zip(fit["observed_re_ohm"], fit["observed_im_ohm"])]
        predicted = [complex(a, b) for a, b in zip(fit["predicted_re_ohm"], fit["predicted_im_ohm"])]
        wanted = [response(run, TENSORS[name][p]) for p in periods]
        factor = 1
        if run["static_shift.enabled"] and run["static_shift.reference_resistivity"]:
            at = run["static_shift.reference_period"]
            nearest = min(range(len(periods)), key=lambda i: abs(math.log(periods[i] / (si(at) if at else periods[0]))))
            omega = 2 * math.pi / periods[nearest]
            factor = math.sqrt(si(run["static_shift.reference_resistivity"]) / (abs(wanted[nearest]) ** 2 / (omega * MU0)))
        for z, w in zip(observed, wanted):
            expect("what is fitted follows from the file by hand", abs(z - factor * w) <= 1e-9 * abs(z), lambda: f"{z} in place of {factor * w}")
        rho, tops = model["resistivity_ohm_m"], model["top_m"]
        expect("resistivities are positive and finite", all(0 < r < math.inf for r in rho), lambda: rho)
        shift = math.exp(one["static_shift_ln"]) if one["static_shift_ln"] == one["static_shift_ln"] else 1
        for p, z in zip(periods, predicted):
            own = shift * wait(1 / p, rho, [b - a for a, b in zip(tops, tops[1:])])
            expect("what is predicted is the response of the model", abs(z - own) <= 1e-7 * abs(own), lambda: f"{z} in place of {own} at {p} s")
        left = [abs(z - p) ** 2 / e ** 2 for z, p, e in zip(observed, predicted, fit["error_ohm"])]
        expect_near("the RMS is that of the residuals", one["rms"], math.sqrt(sum(left) / (2 * len(left))), relative=1e-9)
        expect("no layered earth fits better than D+", one["rms"] >= one["dplus_rms"] * (1 - 1e-6), lambda: f"{one['rms']} < {one['dplus_rms']}")
        least, greatest = run["model.least_resistivity"], run["model.greatest_resistivity"]
        bands = [model[f"q{q}_ohm_m"] for q in ("05", "25", "50", "75", "95")]
        if least:
            for values in (rho, *bands):
                for j, r in enumerate(values):
                    fixed = inside(run, tops, j)
                    expect("resistivities keep their bounds", fixed or r != r or si(least) * (1 - 1e-9) <= r <= si(greatest) * (1 + 1e-9), lambda: f"{r} in layer {j}")
        if run["model.fixed_top"]:
            for j, r in enumerate(rho):
                known = inside(run, tops, j)
                expect("fixed ranges hold what is known", known is None or abs(r / known - 1) < 1e-5, lambda: f"{r} in layer {j}, {known} is known")
        if run["posterior.method"] == "none":
            expect("no bands where none are asked for", all(v != v for band in bands for v in band))
        elif one["reason"] != "not finite":
            for lower, upper in zip(bands, bands[1:]):
                expect("bands lie within each other", all(a <= b * (1 + 1e-9) for a, b in zip(lower, upper)), lambda: f"{lower} above {upper}")
        if run["inversion.method"] != "few_layer":
            expect("layers are those asked for", len(rho) == run["model.layers"], lambda: len(rho))
        elif run["inversion.few_layers"]:
            expect("layers are those asked for", len(rho) == run["inversion.few_layers"], lambda: len(rho))


def inside(run, tops, j):
    """The resistivity that is known at layer j, by its middle in log depth; None where none is. The ends are left to the program."""
    if not run["model.fixed_top"]:
        return None
    if j + 1 < len(tops) and j > 0:
        low, high = tops[j], tops[j + 1]
    else:
        return None  # where the middle of the first layer and of the half-space lie is the program's choice
    for top, bottom, rho in zip(run["model.fixed_top"], run["model.fixed_bottom"], run["model.fixed_resistivity"]):
        if si(top) <= low and high <= si(bottom):
            return si(rho)
    return None


def with_keys(run, **other):
    return {**run.keys, **{k.replace("__", "."): v for k, v in other.items()}}


RESULTS = (".csv", ".h5")
TABLES = (".csv",)


def same(*endings, part=""):
    def compare(law, a, b):
        chosen = [{n: v for n, v in x.files(*endings).items() if n.startswith(part)} for x in (a, b)]
        expect_same_files(law, *chosen)
    return compare


def alone(law, whole, one):
    """The files of sounding "two"."""
    chosen = [{n: v for n, v in x.files(".csv").items() if n.startswith("soundings/two")} for x in (whole, one)]
    expect_same_files(law, *chosen)


CHANGES = [
    # name of the law (its first word names the folder), the other case, what must be equal
    ("threads do not matter", lambda run: (run.keys, {"options": ("--threads", "2")}), same(*RESULTS)),
    ("order of keys and tables does not matter", lambda run: (run.keys, {"reverse": True}), same(*RESULTS)),
    ("pictures do not matter", lambda run: (with_keys(run, output__pictures_of_soundings=not run["output.pictures_of_soundings"]), {}), same(".h5", ".csv", part="soundings")),
    ("company of other soundings does not matter", lambda run: None if run["posterior.method"] == "mcmc" else (with_keys(run, data__files="soundings/two.edi"), {"any_code": True}), alone),
]


EDGES = [
    # name, keys, words of the refusal (None: it is right, by the laws)
    ("a folder without soundings", {"data.files": "empty"}, "E0355"),
    ("one period", {"data.files": "periods1.edi"}, "only 1 usable periods"),
    ("two periods", {"data.files": "periods2.edi"}, "only 2 usable periods"),
    ("three periods", {"data.files": "periods3.edi"}, None),
    ("no period is long enough", {"data.shortest_period": "1e6 s"}, "shortest_period"),
    ("all periods masked", {"data.mask_periods": [f"{p} s" for p in PERIODS]}, "mask_periods"),
    ("one period masked twice", {"data.mask_periods": ["1 s", "1 s"]}, None),
    ("periods between the same ends", {"data.shortest_period": "1 s", "data.longest_period": "1 s"}, ["shortest_period", "longest_period"]),
    ("one station", {"data.files": "soundings/one.edi"}, None),
    ("two stations in one place", {"data.files": "twins"}, None),
    ("a station without a place", {"data.files": "nowhere.edi"}, None),
    ("a file without errors", {"data.files": "no_errors.edi"}, None),
    ("neither errors nor a floor", {"data.files": "no_errors.edi", "data.error_floor": 0}, "data.error_floor"),
    ("a floor of nothing", {"data.error_floor": 0}, None),
    ("no layers", {"model.layers": 0}, "layers"),
    ("two layers", {"model.layers": 2}, "layers"),
    ("three layers", {"model.layers": 3}, None),
    ("more layers than data", {"model.layers": 120, "posterior.method": "none"}, None),
    ("a first depth at the last", {"model.first_depth": "1 km", "model.last_depth": "1 km"}, ["first_depth", "last_depth"]),
    ("a last depth above all that the data ask for", {"model.last_depth": "1 m"}, ["last_depth", "first_depth"]),
    ("a first depth below all that the data ask for", {"model.first_depth": "1e8 m"}, ["first_depth", "last_depth"]),
    ("a first depth just above the last", {"model.first_depth": "1 km", "model.last_depth": "1.0001 km"}, None),
    ("a fixed range of no thickness", {"model.fixed_top": ["1 km"], "model.fixed_bottom": ["1 km"], "model.fixed_resistivity": ["10 ohm*m"]}, ["fixed_top", "fixed_bottom"]),
    ("fixed ranges that touch", {"model.fixed_top": ["0 m", "1 km"], "model.fixed_bottom": ["1 km", "2 km"], "model.fixed_resistivity": ["10 ohm*m", "20 ohm*m"]}, None),
    ("fixed ranges that overlap", {"model.fixed_top": ["0 m", "1 km"], "model.fixed_bottom": ["1.5 km", "2 km"], "model.fixed_resistivity": ["10 ohm*m", "20 ohm*m"]}, ["fixed_top", "fixed_bottom"]),
    ("everything fixed", {"model.fixed_top": ["0 m"], "model.fixed_bottom": ["1e9 m"], "model.fixed_resistivity": ["10 ohm*m"]}, None),
    ("a fixed range where no layer is", {"model.fixed_top": ["1e8 m"], "model.fixed_bottom": ["1e9 m"], "model.fixed_resistivity": ["10 ohm*m"]}, None),
    ("bounds without a width", {"model.least_resistivity": "10 ohm*m", "model.greatest_resistivity": "10 ohm*m"}, ["least_resistivity", "greatest_resistivity"]),
    ("bounds away from what is seen", {"model.least_resistivity": "1e4 ohm*m", "model.greatest_resistivity": "1e5 ohm*m"}, None),
    ("a chain of ten steps", {"posterior.method": "mcmc", "posterior.samples": 10, "posterior.burn_in": 0, "posterior.keep_every": 1}, None),
    ("a chain that keeps one sample", {"posterior.method": "mcmc", "posterior.samples": 10, "posterior.burn_in": 0, "posterior.keep_every": 10}, None),
    ("a chain that keeps none", {"posterior.method": "mcmc", "posterior.samples": 10, "posterior.keep_every": 11}, ["keep_every", "samples"]),
    ("one layer alone", {"inversion.method": "few_layer", "inversion.few_layers": 1}, None),
    ("as many layers as there may be", {"inversion.method": "few_layer", "inversion.few_layers": 30, "model.layers": 30, "inversion.starts": 1, "inversion.max_iterations": 5}, None),
    ("more layers than the smooth model", {"inversion.method": "few_layer", "inversion.few_layers": 17, "inversion.starts": 1}, ["inversion.few_layers", "model.layers"]),
    ("as many layers as it takes, of three", {"inversion.method": "few_layer", "model.layers": 3, "inversion.target_rms": 0.01}, None),
    ("a corner at nothing", {"inversion.misfit": "huber", "inversion.huber_corner": 1e-9}, None),
    ("a reference beyond the periods", {"static_shift.enabled": True, "static_shift.reference_resistivity": "100 ohm*m", "static_shift.reference_period": "1e9 s"}, None),
]
