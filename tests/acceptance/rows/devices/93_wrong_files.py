# SPDX-License-Identifier: Apache-2.0
import re
import struct
import zlib

import fdtd
import step_files

WHAT = "hostile STL, OBJ, GDSII, STEP, Touchstone and PNG files: drawings and pixels in a case by `tessera check`, networks by `tessera info`"
BAR = "an error with the file and its line or byte, exit 4, no crash, under 300 MiB and 20 s each"

CASE = """app = "electromagnetics.fdtd"
[grid]
size = ["1 mm", "1 mm", "1 mm"]
cell = "0.1 mm"
[run]
stop.time = "10 ps"
[[source]]
kind = "point"
component = "Ez"
position = ["0 mm", "0 mm", "0.4 mm"]
waveform = {kind = "gaussian", frequency = "100 GHz", bandwidth = "100 GHz"}
[[structure]]
material = "pec"
"""
MESH = 'shape = "mesh"\nunit = "1 mm"\nfile = "FILE"\n'
GDS = 'shape = "gds"\nlayer = 1\nheight = "0.2 mm"\nfile = "FILE"\n'
STEP = 'shape = "step"\nfile = "FILE"\n'
PIXELS = 'shape = "pixels"\naxes = ["x", "y"]\nsize = ["0.5 mm", "0.5 mm", "0.2 mm"]\nfile = "FILE"\n'
TRIANGLE = (0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0)


def stl(said, triangles, tail=b""):
    return b"x".ljust(80) + struct.pack("<I", said) + b"".join(struct.pack("<12fH", *t, 0) for t in triangles) + tail


def record(kind, form, data=b""):
    return struct.pack(">HBB", len(data) + 4, kind, form) + data


def xy(*points):
    return record(0x10, 3, struct.pack(f">{2 * len(points)}i", *(c for p in points for c in p)))


def i2(*values):
    return struct.pack(f">{len(values)}h", *values)


UNITS = record(3, 5, bytes.fromhex("3e4189374bc6a7f0" "3944b82fa09b5a54"))
HEAD = record(0, 2, i2(600)) + record(1, 2, bytes(24)) + record(2, 6, b"LIB\0") + UNITS
SQUARE = record(8, 0) + record(0xd, 2, i2(1)) + record(0xe, 2, i2(0)) + xy((0, 0), (9, 0), (9, 9), (0, 9), (0, 0)) + record(0x11, 0)
END = record(4, 0)


def cell(name, *content):
    return record(5, 2, bytes(24)) + record(6, 6, name + b"\0" * (len(name) % 2)) + b"".join(content) + record(7, 0)


def place(name):
    return record(0xa, 0) + record(0x12, 6, name + b"\0" * (len(name) % 2)) + xy((0, 0)) + record(0x11, 0)


def doubled(levels):
    """2^levels squares."""
    return b"".join(cell(b"C%d" % k, place(b"C%d" % (k - 1)), place(b"C%d" % (k - 1))) for k in range(1, levels + 1))


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, data, depth=8, kind=0):
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


FACET = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
THREE = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
S2P = "# GHz S RI R 50\n"
BALL, RING, MM = step_files.sphere(0.3, "mm"), step_files.torus(0.3, 0.1, "mm"), step_files.UNITS["mm"]
INCH = ("(CONVERSION_BASED_UNIT('INCH',#90)LENGTH_UNIT()NAMED_UNIT(#91));\n#90=LENGTH_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E9999),#92);\n"
        "#91=DIMENSIONAL_EXPONENTS(1.,0.,0.,0.,0.,0.,0.);\n#92=" + MM)
FILES = (  # ending, the structure's keys, bytes, words of the error
    ("stl", MESH, b"", "E0"),
    ("stl", MESH, b"solid empty\nendsolid empty\n", "no triangles"),
    ("stl", MESH, ("solid cut\n" + FACET).encode(), "within a solid"),
    ("stl", MESH, ("solid\n" + FACET.replace("1 0 0\nvertex 0 1", "nan 0 0\nvertex 0 1") + "endsolid\n").encode(), ":5:8"),
    ("stl", MESH, ("solid\n" + FACET.replace("vertex 0 1 0\n", "") + "endsolid\n").encode(), "three vertices"),
    ("stl", MESH, ("solid\n" + FACET + "facet abnormal\nendsolid\n").encode(), ":9:1"),
    ("stl", MESH, stl(0, []), "no triangles"),
    ("stl", MESH, stl(4294967295, [TRIANGLE]), "E0372"),
    ("stl", MESH, stl(2, [TRIANGLE]), "E0372"),
    ("stl", MESH, stl(1, [TRIANGLE], b"more"), "E0372"),
    ("stl", MESH, stl(1, [TRIANGLE[:4] + (float("nan"),) + TRIANGLE[5:]]), "E0373"),
    ("stl", MESH, stl(1, [TRIANGLE[:4] + (float("inf"),) + TRIANGLE[5:]]), "E0373"),
    ("stl", MESH, stl(1, [TRIANGLE[:4] + (3e38,) + TRIANGLE[5:]]), "E0373"),
    ("stl", MESH, stl(1, [TRIANGLE]), "enclose nothing"),
    ("stl", MESH, stl(1, [(0,) * 12]), "area"),
    ("obj", MESH, THREE.encode(), "no faces"),
    ("obj", MESH, (THREE + "f 1 2 4\n").encode(), ":4:7"),
    ("obj", MESH, (THREE + "f 0 1 2\n").encode(), "E0375"),
    ("obj", MESH, (THREE + "f -1 -2 -99999999999999999999\n").encode(), "E0375"),
    ("obj", MESH, (THREE + "f 1 2\n").encode(), "three vertices"),
    ("obj", MESH, b"v 0 0 1e999\n", ":1:7"),
    ("obj", MESH, b"v 1 2 3\x00\n", "E0105"),
    ("obj", MESH, ("v 0 0 0\n" + "f" + " 1" * 300000 + "\n").encode(), "more than"),
    ("obj", MESH, (THREE + "curv 0 1 1 2\n").encode(), "free-form"),
    ("gds", GDS, HEAD, "without ENDLIB"),
    ("gds", GDS, HEAD[:-3], "of which"),
    ("gds", GDS, HEAD + b"\0\3\5\2", "even"),
    ("gds", GDS, HEAD + cell(b"A", SQUARE[:-4]) + END, "without ENDEL"),
    ("gds", GDS, HEAD + cell(b"A", place(b"B")) + END, "E0378"),
    ("gds", GDS, HEAD + cell(b"A", place(b"A")) + END, "refers to itself"),
    ("gds", GDS, HEAD + cell(b"C0", SQUARE) + doubled(40) + END, "E0380"),
    ("gds", GDS, HEAD + cell(b"A", SQUARE) + cell(b"B", SQUARE) + END, "2 top cells"),
    ("gds", GDS, HEAD + cell(b"A", SQUARE.replace(record(0xd, 2, i2(1)), record(0xd, 2, i2(7)))) + END, "no layer 1"),
    ("gds", GDS, record(0, 2, i2(600)) + record(1, 2, bytes(24)) + record(3, 5, bytes(16)) + END, "database unit"),
    ("step", STEP, b"", "expecting STEP"),
    ("step", STEP, bytes(range(256)) * 20, ":1: error E0383"),
    ("step", STEP, BALL[:1000].encode(), ":23: error E0383"),
    ("step", STEP, BALL.replace("END-ISO-10303-21;", "").encode(), "unexpected end of file"),
    ("step", STEP, re.sub("DATA;.*ENDSEC;", "DATA;\nENDSEC;", BALL, flags=re.S).encode(), "no unit of length"),
    ("step", STEP, BALL.replace("(#11,#12,#13)", "(#12,#13)").encode(), "no unit of length"),
    ("step", STEP, BALL.replace(".METRE.", ".GRAM.").encode(), "no unit of length"),
    ("step", STEP, BALL.replace(".MILLI.", ".MINI.").encode(), "the unit #11"),
    ("step", STEP, step_files.sphere(1, INCH).encode(), "m across"),
    ("step", STEP, BALL.replace("(#20)", "(#99)").encode(), "no faces"),
    ("step", STEP, BALL.replace("(#20)", "(#19)").encode(), "no faces"),                         # of itself
    ("step", STEP, BALL.replace("'',#16,#17,#18)", "'',#14,#17,#18)").encode(), "E0429"),        # a place at itself: recursion without end
    ("step", STEP, BALL.replace("(#20)", "(" * 200000 + "#20" + ")" * 200000).encode(), "E0429"),  # stack
    ("step", STEP, BALL.replace("(#20)", "(" + ",".join(["#20"] * 200000) + ")").encode(), "CPU time"),  # more than is read in its time
    ("step", STEP, BALL.replace("#21=FACE", "#4000000000=FACE").encode(), "E0429"),
    ("step", STEP, re.sub(r"#14,0\.\d+\);", "#14,1.E300);", BALL, count=1).encode(), "inf m across"),
    ("step", STEP, re.sub(r"#14,0\.\d+\);", "#14,-1.);", BALL, count=1).encode(), "no faces"),
    ("step", STEP, RING.replace("(#24,#25,#26,#27)", "()").encode(), "E0"),                      # a face without edges
    ("s2p", None, S2P.encode(), "E03"),
    ("s2p", None, (S2P + "1 0 0 0\n").encode(), ":2:1"),
    ("s2p", None, (S2P + "2 0 0 0 0 0 0 0 0\n1 0 0 0 0 0 0 0 0\n").encode(), "E0368"),
    ("s2p", None, b"# GHz S RI R -50\n1 0 0 0 0 0 0 0 0\n", "E03"),
    ("s2p", None, b"[Version] 2.0\n# GHz S RI\n[Number of Ports] 99999999999\n", ":3:"),
    ("png", PIXELS, b"\x89PNG\r\n\x1a\n", "E0434"),
    ("png", PIXELS, png(4, 4, bytes(20))[:-20], "E0434"),
    ("png", PIXELS, png(100000, 100000, bytes(100)), "E0403"),
    ("png", PIXELS, png(2, 2, b"\0" + bytes((1, 2, 3, 4, 5, 6)) + b"\0" + bytes(6), kind=2), "colours"),
    ("png", PIXELS, png(4, 4, bytes(20)).replace(b"IHDR\0\0\0\4", b"IHDR\0\0\0\5"), "E0434"),
)


def measure(work):
    missed, most = [], (0.0, 0.0)
    for number, (ending, keys, content, words) in enumerate(FILES):
        path = fdtd.folder(work, "wrong_files", f"{number}.{ending}")
        path.write_bytes(content)
        if keys is None:
            done = work.run([work.tessera(), "info", path], timeout=60)
        else:
            case = path.with_suffix(".toml")
            case.write_text(CASE + keys.replace("FILE", path.name))
            done = work.run([work.tessera(), "check", case], timeout=60)
        most = (max(most[0], done.peak_mib), max(most[1], done.seconds))
        if done.code != 4 or words not in done.err or path.name not in done.err or done.peak_mib > 300 or done.seconds > 20:
            missed.append(f"{number}.{ending}: exit {done.code}, {done.peak_mib:.0f} MiB, {done.seconds:.1f} s: {done.err[:200]}")
    return not missed, f"{len(FILES) - len(missed)} of {len(FILES)} refused with their places, at most {most[0]:.0f} MiB and {most[1]:.1f} s" + "".join("; " + m for m in missed)
