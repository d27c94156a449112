# SPDX-License-Identifier: Apache-2.0
"""Small independent readers of EDI, EMTF XML, Jones J and EMTF Z, written from the formats' descriptions for the tests.

read(path) -> {frequency in Hz: [[Zxx, Zxy], [Zyx, Zyy]] in mV/km/nT}, e^{+i omega t}, as the file has it (S.I. in J
files is turned to field units). Missing values are nan. No checks: the product's readers have them.
"""
import cmath
import math
import re
import xml.etree.ElementTree as ElementTree

OHM = 4e-4 * math.pi
NAN = complex(math.nan, math.nan)


def inverse(m):
    (a, b), (c, d) = m
    det = a * d - b * c
    return [[d / det, -b / det], [-c / det, a / det]]


def product(p, q):
    return [[sum(p[i][k] * q[k][j] for k in range(2)) for j in range(2)] for i in range(2)]


def edi_blocks(text):
    """[(name, rest of the header line, body)]"""
    body = re.sub(r"(?m)^\s*>!.*$", "", text)
    return [(m[1].upper(), m[2], m[3]) for m in re.finditer(r"(?m)^[ \t]*>([=\w.]+)([^\n]*)\n?([^>]*)", body)]


def numbers(body):
    return [math.nan if abs(float(w)) >= 1e30 else float(w) for w in body.split()]


def read_spectra(blocks):
    types = {}
    for name, head, body in blocks:
        if name in ("HMEAS", "EMEAS"):
            both = head + " " + body
            types.setdefault(re.search(r"\bID\s*=\s*(\S+)", both)[1], re.search(r"CHTYPE\s*=\s*(\w+)", both)[1].upper())
    section = next(body for name, _, body in blocks if name == "=SPECTRASECT")
    ids = section[section.index("//") + 2:].split()[1:]
    order, seen = [], {}
    for i in ids:
        t = types[i]
        order.append("R" + t if t in seen else t)
        seen[t] = True
    n = len(order)
    out = {}
    for name, head, body in blocks:
        if name != "SPECTRA":
            continue
        v = numbers(body)

        def power(a, b):  # <a b*>
            i, j = order.index(a), order.index(b)
            if i == j:
                return complex(v[i * n + i])
            lower, upper = max(i, j), min(i, j)
            z = complex(v[lower * n + upper], -v[upper * n + lower])
            return z if i < j else z.conjugate()

        ref = ["RHX", "RHY"] if "RHX" in order else ["HX", "HY"]
        er = [[power(e, r) for r in ref] for e in ("EX", "EY")]
        hr = [[power(h, r) for r in ref] for h in ("HX", "HY")]
        out[float(re.search(r"FREQ\s*=\s*(\S+)", head)[1])] = product(er, inverse(hr))
    return out


def read_edi(text):
    blocks = edi_blocks(text)
    if any(name == "SPECTRA" for name, _, _ in blocks):
        return read_spectra(blocks)
    data = {name: body for name, _, body in blocks}
    f = numbers(data["FREQ"])
    z = {}
    for xy in ("XX", "XY", "YX", "YY"):
        if "Z" + xy + "R" in data:
            z[xy] = [complex(a, b) for a, b in zip(numbers(data["Z" + xy + "R"]), numbers(data["Z" + xy + "I"]))]
        else:
            rho, phase = numbers(data["RHO" + xy]), numbers(data["PHS" + xy])
            z[xy] = [cmath.rect(math.sqrt(5 * fi * r), math.radians(p)) for fi, r, p in zip(f, rho, phase)]
    return {fi: [[z["XX"][i], z["XY"][i]], [z["YX"][i], z["YY"][i]]] for i, fi in enumerate(f)
            if f[i] != 999}


def read_j(text):
    out, lines = {}, text.splitlines()
    for k, line in enumerate(lines):
        m = re.match(r"\s*Z([XY])([XY])\s*(S\.I\.)?", line)
        if not m:
            continue
        for row in lines[k + 2:k + 2 + int(lines[k + 1])]:
            period, re_, im = map(float, row.split()[:3])
            if period == -999:
                continue
            f = 1 / period if period > 0 else -period
            out.setdefault(f, [[NAN, NAN], [NAN, NAN]])["XY".index(m[1])]["XY".index(m[2])] = \
                complex(re_, im) / (OHM if m[3] else 1)
    return out


def read_z(text):
    channels = [line.split()[-1].upper() for line in re.search(
        r"orientations and tilts of each channel\s*\n((?:\s*\d+\s.*\n)+)", text)[1].splitlines()]
    ex, ey = channels.index("EX") - 2, channels.index("EY") - 2
    out = {}
    for block in re.split(r"(?m)^\s*period\s*:", text)[1:]:
        rows = block[block.index("Transfer Functions"):].splitlines()[1:1 + len(channels) - 2]
        t = [[complex(w[0], w[1]), complex(w[2], w[3])] for w in ([float(x) for x in r.split()] for r in rows)]
        out[1 / float(block.split()[0])] = [t[ex], t[ey]]
    return out


def read_xml(text):
    out = {}
    for p in ElementTree.fromstring(text).iter("Period"):
        m = [[NAN, NAN], [NAN, NAN]]
        for v in p.find("Z"):
            m["xy".index(v.get("output")[1])]["xy".index(v.get("input")[1])] = complex(*map(float, v.text.split()))
        out[1 / float(p.get("value"))] = m
    return out


def read(path):
    with open(path, encoding="latin-1") as f:
        text = f.read()
    end = path.rsplit(".", 1)[1].lower()
    return {"edi": read_edi, "j": read_j, "zmm": read_z, "xml": read_xml}[end](text)
