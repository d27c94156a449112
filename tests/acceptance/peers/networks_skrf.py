# SPDX-License-Identifier: Apache-2.0
"""Touchstone files and networks by scikit-rf, beside what networks_bench makes of them.

    networks_skrf.py inputs FOLDER    peer_* files for networks_bench read, algebra_in.npz for networks_bench algebra
    networks_skrf.py compare FOLDER   reads ours_* files, and everything that networks_bench has left: largest differences
"""
import pathlib
import sys
import warnings

import numpy as np
import skrf

warnings.filterwarnings("ignore")
what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
KINDS = "SYZHG"


def networks():
    """A network of n ports, n = 1 to 5: S well inside of the unit circle."""
    rng = np.random.default_rng(11)
    f = np.linspace(1e9, 2e9, 7)
    for n in range(1, 6):
        s = 0.25 * (rng.uniform(-1, 1, (7, n, n)) + 1j * rng.uniform(-1, 1, (7, n, n)))
        yield n, f, s, rng


def values_of(network, kind):
    return getattr(network, kind.lower())


def inputs():
    expected, count = {}, 0
    for n, f, s, rng in networks():
        network = skrf.Network(f=f, f_unit="Hz", s=s, z0=50)
        for kind in KINDS:
            if kind in "HG" and n != 2:
                continue
            for version in ("1.0", "2.0", "2.1"):
                for k, form in enumerate(("ri", "ma", "db")):
                    network.frequency.unit = ("Hz", "MHz", "GHz")[k]
                    name = f"peer_{kind}_{version}_{form}_{n}"
                    try:
                        text = network.write_touchstone(name, return_string=True, form=form, parameter=kind, version=version, r_ref=50)
                    except Exception as reason:  # what scikit-rf does not write
                        print(f"not written by scikit-rf: {name}: {reason}", file=sys.stderr)
                        continue
                    ending = f".s{n}p" if version == "1.0" else ".ts"
                    (folder / (name + ending)).write_text(text)
                    expected[name + ending] = values_of(network, kind)
                    count += 1
    np.savez(folder / "expected.npz", **expected)
    arrays = {"f": np.linspace(1e9, 2e9, 7)}
    for n, f, s, rng in networks():
        arrays[f"s{n}"] = s
        arrays[f"z{n}"] = rng.uniform(20, 90, n) + 1j * rng.uniform(-30, 30, n)
        arrays[f"other{n}"] = rng.uniform(20, 90, n) + 1j * rng.uniform(-30, 30, n)
        if n == 2:
            arrays["b"] = s[:, ::-1, ::-1] * np.exp(0.3j)
            arrays["zb"] = rng.uniform(20, 90, 2) + 1j * rng.uniform(-30, 30, 2)
            arrays["r2"] = np.full(2, 50.0)
    arrays["r4"] = np.array([50.0, 50.0, 75.0, 75.0])
    np.savez(folder / "algebra_in.npz", **arrays)
    print(f"peer_files {count} files")


def apart(a, b):
    return float(np.max(np.abs(a - b)) / (1e-300 + np.max(np.abs(b))))


def as_written(path, kind, form, truth):
    """scikit-rf (2.2) multiplies Y, H and G of version 1 where it has to divide, its own files as well: there the numbers in the file are
    compared with those that it writes of the same network."""
    to_s = {"Y": skrf.network.y2s, "H": skrf.network.h2s, "G": skrf.network.g2s}[kind]
    network = skrf.Network(f=truth["f"], f_unit="Hz", s=to_s(truth["values"], 50), z0=50)
    text = path.read_text()
    network.frequency.unit = text.split()[1]
    theirs = network.write_touchstone("x", return_string=True, form=form.lower(), parameter=kind, version="1.0", r_ref=50)

    def complex_rows(t):
        numbers = [float(x) for line in t.splitlines() for x in line.split("!")[0].split() if not line.lstrip().startswith("#")]
        rows = np.array(numbers).reshape(len(truth["f"]), -1)
        a, b = rows[:, 1::2], rows[:, 2::2]
        if form == "RI":
            return rows[:, 0], a + 1j * b
        return rows[:, 0], (a if form == "MA" else 10 ** (a / 20)) * np.exp(1j * np.pi / 180 * b)

    (f, ours), (g, other) = complex_rows(text), complex_rows(theirs)
    return max(apart(f, g), apart(ours, other))


def compare():
    worst = {"written": 0.0, "read": 0.0, "algebra": 0.0}
    counts = {"written": 0, "read": 0, "algebra": 0}
    for path in sorted(folder.glob("ours_*")):
        if path.suffix == ".npz":
            continue
        truth = np.load(str(path) + ".npz")
        kind, version, form = path.stem.split("_")[1:4]
        if version == "v1" and kind in "YHG":
            found = [as_written(path, kind, form, truth)]
        else:
            network = skrf.Network(str(path))
            found = [apart(values_of(network, kind), truth["values"]), apart(network.f, truth["f"])]
            if kind == "S":
                found.append(apart(np.real(network.z0[0]), truth["reference"]))
            if "noise" in truth:  # the first is at the first frequency of the network; others are interpolated
                noise = truth["noise"][0]
                found += [apart(network.noise_freq.f, truth["noise"][:, 0]), apart(network.nfmin_db[0], noise[1]),
                          apart(network.g_opt[0], noise[2] + 1j * noise[3]), apart(network.rn[0], noise[4])]
        worst["written"] = max(worst["written"], *found)
        counts["written"] += 1
        if max(found) > 1e-9:
            print(f"apart: {path.name} {found}")
    expected = np.load(folder / "expected.npz")
    for name in expected.files:
        ours = np.load(folder / (name + ".npz"))
        found = [apart(ours["values"], expected[name]), apart(ours["f"], np.linspace(1e9, 2e9, 7)), apart(ours["reference"], np.full(ours["reference"].shape, 50.0))]
        worst["read"] = max(worst["read"], *found)
        counts["read"] += 1
        if max(found) > 1e-9:
            print(f"apart: {name} {found}")
    given, ours = np.load(folder / "algebra_in.npz"), np.load(folder / "algebra.npz")
    f = given["f"]

    def check(name, theirs):
        d = apart(ours[name], theirs)
        worst["algebra"] = max(worst["algebra"], d)
        counts["algebra"] += 1
        if d > 1e-9:
            print(f"apart: {name} {d}")

    for n in range(1, 6):
        s, z0, other = given[f"s{n}"], given[f"z{n}"], given[f"other{n}"]
        for kind in ("power", "pseudo", "traveling"):
            check(f"z{n}_{kind}", skrf.network.s2z(s, z0, s_def=kind))
            check(f"y{n}_{kind}", skrf.network.s2y(s, z0, s_def=kind))
            check(f"renormalized{n}_{kind}", skrf.network.renormalize_s(s, z0, other, kind, kind))
            network = skrf.Network(f=f, f_unit="Hz", s=s, z0=z0, s_def=kind)
            if n == 5:
                check(f"looped{n}_{kind}", skrf.network.innerconnect(network, 1, 3).s)
            if n == 2:
                b = skrf.Network(f=f, f_unit="Hz", s=given["b"], z0=given["zb"], s_def=kind)
                check(f"chain{n}_{kind}", skrf.network.connect(network, 1, b, 0).s)
                if kind == "power":
                    check(f"abcd{n}_{kind}", skrf.network.s2a(s, np.broadcast_to(z0, (len(f), 2))))
        check(f"gain{n}", np.linalg.svd(s, compute_uv=False)[:, 0])
        if n == 1:
            check("delay1", skrf.Network(f=f, f_unit="Hz", s=s, z0=50).group_delay.real)
    four = skrf.Network(f=f, f_unit="Hz", s=given["s4"], z0=given["r4"])
    four.se2gmm(2)
    check("mixed", four.s)
    two = skrf.Network(f=f, f_unit="Hz", s=given["s2"], z0=given["r2"])
    check("h", two.h)
    check("g", two.g)
    for key in worst:
        print(f"{key}_difference {worst[key]:.3e} relative")
        print(f"{key}_compared {counts[key]} arrays")
    print(f"scikit_rf_version {skrf.__version__}")


inputs() if what == "inputs" else compare()
