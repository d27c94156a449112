# SPDX-License-Identifier: Apache-2.0
import io
import json
import os
import pathlib
import random
import re
import struct
import zipfile

WHAT = "bad inputs of a training: all text, TOML, npy, npz, safetensors, HDF5, ONNX; labels beyond the classes, NaN in data, empty sets, batches above the data, layers that do not fit; predictions"
BAR = "one test each: an error with place, expected and found, the right exit code, no crash, nothing left behind, at most 600 MiB"

# What the tests prove from inside; below, the same promise is put to the program from outside.
SUITES = (("autodiff_tests", "NpyFormat.*"), ("data_tests", "Npz*:Npy.*:ReadArray.*:Safetensors.*:Onnx*:Hdf5*:GuardedChild.*:Csv*:TextFile*:Config.*:SplitSamples.*:DataTransforms.*"),
          ("solvers_tests", "Fit.Refuses*:Fit.ALoss*"), ("apps_tests", "Training.*"))

TABLE = """app = "solvers.training"
data = {tables = ["t.csv"], input_columns = ["a", "b"], target_columns = ["y"]}
split = {validation = 0.2, test = 0.2}
network = {widths = [8]}
training = {epochs = 2, batch = 4, rate = 1e-2}
"""
ARRAYS = TABLE.replace('tables = ["t.csv"], input_columns = ["a", "b"], target_columns = ["y"]', 'inputs = ["x.END"], targets = ["y.npy"], input_array = "x"')
LABELS = ("epochs = 2", 'epochs = 2, loss = "cross_entropy"')


def rows(count=40, line=lambda k, a, b: f"{a},{b},{a * a - b}"):
    draw = random.Random(1)
    return "a,b,y\n" + "".join(line(k, draw.uniform(-1, 1), draw.uniform(-1, 1)) + "\n" for k in range(count))


def one_line(text, at=20):
    return rows(line=lambda k, a, b: text if k == at else f"{a},{b},{a * a - b}")


def npy(shape, descr="<f8", data=None, order="False"):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    count = 1
    for n in shape:
        count *= n
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + (struct.pack("<d", 1.0) * min(count, 1000) if data is None else data)


def numbers(values):
    return struct.pack(f"<{len(values)}d", *values)


def npz(members, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def safetensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(shape=(40, 2), begin=0, end=640, dtype="F64"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


SIGNATURE = b"\x89HDF\r\n\x1a\n"
TEXT = {  # of a table: content, what the error says
    "empty": (b"", r"t\.csv: error E0107: is empty"),
    "names alone": (b"a,b,y\n", r"t\.csv:1:1: error E0672: has no rows"),
    "cut in a line": (rows().encode()[:-30], r"t\.csv:41:\d+: error E0672: expected .*got"),
    "binary": (bytes(range(256)) * 40, r"t\.csv.*error E010\d"),
    "utf-16": (rows().encode("utf-16"), r"t\.csv: error E0104: .*UTF-16.*expected UTF-8"),
    "one long line": (b"x" * (64 << 20), r"t\.csv.*error E\d{4}"),
    "nul": (one_line("1,\0,2").encode(), r"t\.csv:22:3: error E0105: NUL"),
    "not utf-8": (one_line("1,2,3\xff").encode("latin-1"), r"t\.csv:22:5: error E0672: expected a number, got"),
    "comma decimals": (one_line("1,5,2,5,3").encode(), r"t\.csv:22:1: error E0672: expected one field for each of 3 columns, got 5"),
    "semicolons": (rows().replace(",", ";").encode(), r"t\.csv:1:1: error E0672: .*no column 'a'.*semicolons"),
    "no numbers for 1e400": (one_line("1e400,2,3").encode(), r"t\.csv:22:1: error E0672: expected a number, got '1e400'"),
    "hexadecimal": (one_line("0x10,2,3").encode(), r"t\.csv:22:1: error E0672: expected a number, got '0x10'"),
    "Fortran's exponent": (one_line("1d5,2,3").encode(), r"t\.csv:22:1: error E0672: expected a number, got '1d5'"),
    "plus": (one_line("1,+5,3").encode(), r"t\.csv:22:3: error E0672: expected a number, got '\+5'"),
    "two signs": (one_line("1,--5,3").encode(), r"t\.csv:22:3: error E0672: expected a number, got '--5'"),
    "NaN": (one_line("1,nan,3").encode(), r"t\.csv:22:3: error E0672: expected a number that is finite, got 'nan'"),
    "infinity": (one_line("1,2,-inf").encode(), r"t\.csv:22:5: error E0672: expected a number that is finite, got '-inf'"),
    "no value": (one_line("1,,3").encode(), r"t\.csv:22:3: error E0672: expected a number, the field is empty"),
    "words as targets": (rows(line=lambda k, a, b: f"{a},{b},{'hot' if a > 0 else 'cold'}").encode(), r"t\.csv:2:\d+: error E0672: expected a number, got '(hot|cold)'.*labels.*cross_entropy"),
    "a field more": (one_line("1,2,3,4").encode(), r"t\.csv:22:1: error E0672: expected one field for each of 3 columns, got 4"),
    "trailing rubbish": ((rows() + "that is all\n").encode(), r"t\.csv:42:1: error E0672: expected one field for each of 3 columns, got 1"),
    "no such column": (rows().replace("a,b,y", "a,c,y").encode(), r"t\.csv:1:1: error E0672: there is no column 'b'; the first line names 'a', 'c', 'y'"),
    "a name twice": (rows(line=lambda k, a, b: f"{a},{b},{a},{b}").replace("a,b,y", "a,b,y,b").encode(), r"t\.csv:1:1: error E0672: two columns are called 'b'"),
    "quotes without end": (one_line('"1,2,3').encode(), r"t\.csv:22:1: error E0672: a quoted field .* has no end"),
    "beyond f64": (rows(line=lambda k, a, b: f"{a}e300,{b},{a}").encode(), r"error E0671: .*feature 0 has numbers from .* beyond f64"),
}
CASES = (  # what is replaced in the table's case, by what, exit code, what the error says
    (('rate = 1e-2', 'rat = 1e-2'), 5, r"case\.toml:5:\d+: error E0213: unknown key 'rat'.*did you mean 'rate'"),
    (('rate = 1e-2', 'rate = 1e-2, rate = 1e-3'), 5, r"case\.toml:5:\d+: error E011\d"),
    (('rate = 1e-2', 'rate = nan'), 5, r"case\.toml:5:\d+: error E0114"),
    (('rate = 1e-2', 'rate = 1e400'), 5, r"case\.toml:5:\d+: error E011\d"),
    (('rate = 1e-2', 'rate = "fast"'), 5, r"case\.toml:5:\d+: error E021\d: .*rate.*number"),
    (('rate = 1e-2', 'rate = 2020-01-01'), 5, r"case\.toml:5:\d+: error E021\d"),
    (('rate = 1e-2', 'rate = -1.0'), 5, r"case\.toml:5:\d+: error E0214: .*above 0, got '-1'"),
    (('batch = 4', 'batch = 25'), 5, r"case\.toml:5:\d+: error E0672: 25 samples, and there are 24 to train on"),
    (('batch = 4', 'batch = 9223372036854775808'), 5, r"case\.toml:5:\d+: error E011\d"),
    (('batch = 4', 'batch = 0'), 5, r"case\.toml:5:\d+: error E0214: .*at least 1 and .*, got 0"),
    (('batch = 4', 'batch = 4, parts = 5'), 5, r"case\.toml:5:\d+: error E0670: .*above training\.batch"),
    (('test = 0.2', 'test = 0.9'), 5, r"case\.toml:3:\d+: error E0670: nothing is left to train on"),
    (('network = {widths = [8]}', 'network = {kind = "layers", layer = [{kind = "linear", width = 4}]}'), 5, r"case\.toml:4:\d+: error E0671: it gives \[4\], targets are \[1\]"),
    (('network = {widths = [8]}', 'network = {kind = "layers", layer = [{kind = "conv", width = 4, size = [3]}]}'), 5, r"case\.toml:4:\d+: error E0671: layer 0 \(conv\).*\[2\]"),
    (('network = {widths = [8]}', 'network = {kind = "layers", layer = [{kind = "reshape", shape = [3]}]}'), 5, r"case\.toml:4:\d+: error E0671: layer 0 \(reshape\): \[3\] has 3 elements, a sample is \[2\]"),
    (('network = {widths = [8]}', 'network = {kind = "spiral"}'), 5, r"case\.toml:4:\d+: error E021\d: .*spiral"),
    (('["a", "b"]', '["a", "a"]'), 5, r"case\.toml:2:\d+: error E0670: 'a' stands twice"),
    (('["a", "b"]', '["a", "y"]'), 5, r"case\.toml:2:\d+: error E0670: 'y' is an input, too"),
    (('"t.csv"', '"absent.csv"'), 4, r":\d+:\d+: error E0401: there is no file or folder 'absent\.csv'"),
    (('"t.csv"', '"."'), 4, r"error E0102: expected a regular file, got a folder"),
    (('"t.csv"', '"/dev/zero"'), 4, r"/dev/zero: error E0102: expected a regular file, got a device"),
    (('"t.csv"', '"fifo.csv"'), 4, r"fifo\.csv: error E0102: expected a regular file"),
    (('"t.csv"', '"loop.csv"'), 4, r"loop\.csv: error E0101"),
    (('split =', 'include = ["../../etc/passwd"]\nsplit ='), 5, r"case\.toml:3:\d+: error E01\d\d"),
    (LABELS, 0, ""),  # as many classes as samples: it runs, and says so
)
LABEL_TABLES = (  # targets, exit code, what the error says
    (lambda k: "same", 4, r"t\.csv: error E0672: all 40 labels are 'same'"),
    (lambda k: "" if k == 7 else "up" if k % 2 else "down", 4, r"t\.csv:9: error E0672: column 'y' has no value"),
)
ONES = npy((40, 2))
FILES = (  # ending, content of the inputs, what the error says
    ("npy", b"", r"x\.npy: byte 0: error E\d{4}: .*not an npy file"),
    ("npy", ONES[:60], r"x\.npy: byte \d+: error E\d{4}: .*"),
    ("npy", ONES[:-8], r"x\.npy: byte \d+: error E\d{4}: .*ends after 632 bytes of data, expected 640"),
    ("npy", npy((40, 2), "|O"), r"x\.npy: byte \d+: error E\d{4}: .*Python objects"),
    ("npy", npy((1 << 40, 1 << 40)), r"x\.npy: byte \d+: error E\d{4}: .*product of the dimensions"),
    ("npy", npy((10**11,)), r"x\.npy: byte \d+: error E\d{4}: .*expected 800000000000"),
    ("npy", npy((-2,), data=b""), r"x\.npy: byte \d+: error E\d{4}: .*zero or more"),
    ("npy", npy((40, 2), order="__import__('os')"), r"x\.npy: byte \d+: error E\d{4}: .*True or False"),
    ("npy", npy((40, 2), data=numbers([1.0] * 14 + [float("nan")] + [1.0] * 65)), r"x\.npy: error E0672: input 7 has nan at 0: expected finite numbers"),
    ("npy", npy((39, 2)), r"y\.npy: error E0672: has 40 targets, x\.npy 39 inputs"),
    ("npy", npy((0, 2), data=b""), r"error E0672: .*(there are no samples|0 inputs)"),
    ("npy", npy((), data=numbers([1.0])), r"x\.npy: error E0672: holds one number"),
    ("npy", npy((40, 2), "<c16", b"\0" * 1280), r"x\.npy: error E0672: has complex numbers; samples are real"),
    ("npz", b"PK", r"x\.npz: byte \d+: error E0437: .*not an \.npz file"),
    ("npz", npz({"x.npy": ONES})[:-10], r"x\.npz: byte \d+: error E0437"),
    ("npz", npz({"z.npy": ONES}), r"x\.npz.*error E\d{4}: .*'x'.*'z'"),
    ("npz", npz({"x.npy": ONES, "../../x.npy": ONES}), r"x\.npz: byte \d+: error E0437: .*"),
    ("npz", npz({"x.npy": npy((40, 10**7), data=b"\0" * (1 << 22))}), r"x\.npz.*error E\d{4}"),
    ("safetensors", b"\xff" * 8, r"x\.safetensors: byte 0: error E0438: a header of"),
    ("safetensors", safetensors(b'{"x":'), r"x\.safetensors: byte \d+: error E0438: the header is not JSON"),
    ("safetensors", safetensors({"x": tensor(), "y": tensor((1,), 632, 640)}, b"\0" * 640), r"x\.safetensors: byte \d+: error E0438: .*overlap"),
    ("safetensors", safetensors({"x": tensor(begin=8, end=648)}, b"\0" * 648), r"x\.safetensors: byte \d+: error E0438: .*a hole of 8 bytes"),
    ("safetensors", safetensors({"x": tensor()}, b"\0" * 600), r"x\.safetensors: byte \d+: error E0438: .*beyond the buffer of 600"),
    ("safetensors", safetensors({"x": tensor((1 << 40, 1 << 40))}, b"\0" * 640), r"x\.safetensors: byte \d+: error E0438: .*too large"),
    ("safetensors", safetensors({"x": tensor(dtype="F8_E5M2")}, b"\0" * 640), r"x\.safetensors: byte \d+: error E0438: .*unknown dtype 'F8_E5M2', expected one of"),
    ("safetensors", safetensors(b'{"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"x":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}}', b"\0" * 16), r"x\.safetensors: byte \d+: error E0438: the name 'x' stands twice"),
    ("h5", SIGNATURE, r"x\.h5: (byte \d+: )?error E04\d\d"),
    ("h5", SIGNATURE + bytes(range(256)) * 16, r"x\.h5: (byte \d+: )?error E04\d\d"),
    ("h5", b"\0" * 4096, r"x\.h5: (byte \d+: )?error E04\d\d"),
)
QUESTIONS = (  # content of a table to predict, options, exit code, what the error says
    ("a,b\n0.1,0.2\n", (), 0, ""),
    ("c,b,a,y\nword,0.2,0.1,7\n", (), 0, ""),  # columns in any order, and others
    ("a\n0.1\n", (), 4, r"ask\.csv:1:1: error E0672: there is no column 'b'"),
    ("a,b\n", (), 4, r"ask\.csv:1:1: error E0672: has no rows"),
    ("a,b\nx,1\n", (), 4, r"ask\.csv:2:1: error E0672: expected a number, got 'x'"),
    ("a,b\nnan,1\n", (), 4, r"ask\.csv:2:1: error E0672: .*got 'nan'"),
    ("a,b\n1e300,1\n", (), 4, r"ask\.csv:2: error E0672: column 'a' has 1e\+300, inf once it is transformed, in f32"),
    ("a,b,a\n1,2,3\n", (), 4, r"ask\.csv:1:1: error E0672: two columns are called 'a'"),
    ("a,b\n1,2\n", ("-o", "said.txt"), 4, r"said\.txt: error E0672: predictions are tables \(\.csv\) or arrays \(\.npy\)"),
    ("a,b\n1,2\n", ("-o", "case.toml"), 2, r"'case\.toml' exists"),
    ("a,b\n1,2\n", ("-o", "no/where.csv"), 2, r"no/where\.csv.*error E0502"),
)


class Judge:
    def __init__(self, work, place):
        self.work, self.place, self.done, self.wrong, self.peak = work, place, 0, [], 0.0

    def __call__(self, name, command, code, says, may_leave=()):
        before = sorted(p.name for p in self.place.iterdir())
        done = self.work.run([self.work.tessera(), *command], timeout=60, cwd=self.place)
        self.done += 1
        self.peak = max(self.peak, done.peak_mib)
        left = [p for p in sorted(p.name for p in self.place.iterdir()) if p not in before and p not in may_leave]
        faults = [f"exit code {done.code}, expected {code}"] if done.code != code else []
        faults += [] if re.search(says, done.err, re.S) else [f"does not say {says}"]
        faults += [f"left {left}"] if left else []
        faults += [f"took {done.peak_mib:.0f} MiB"] if done.peak_mib > 600 else []
        if faults:
            self.wrong.append(f"{name}: {', '.join(faults)}: {done.err.strip()[:300]!r}")


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def from_outside(work, place):
    judge = Judge(work, place)
    os.mkfifo(place / "fifo.csv")
    (place / "loop.csv").symlink_to("loop.csv")
    run = ("run", "case.toml", "--progress", "none", "--output", "RUN", "--force")
    write(place / "case.toml", TABLE)
    for name, (content, says) in TEXT.items():
        write(place / "t.csv", content)
        judge(f"table {name}", run, 5 if "E0671" in says else 4, says)
    for (old, new), code, says in CASES:
        if TABLE.count(old) != 1:
            raise ValueError(old)
        write(place / "t.csv", rows())
        write(place / "case.toml", TABLE.replace(old, new))
        judge(f"case {new}", run, code, says, ("RUN",))
    for label, code, says in LABEL_TABLES:
        write(place / "t.csv", rows(line=lambda k, a, b: f"{a},{b},{label(k)}"))
        write(place / "case.toml", TABLE.replace(*LABELS))
        judge("labels", run, code, says)
    write(place / "y.npy", npy((40,)))
    for end, content, says in FILES:
        write(place / f"x.{end}", content)
        write(place / "case.toml", ARRAYS.replace("END", end) if end != "npy" else ARRAYS.replace("END", end).replace(', input_array = "x"', ""))
        judge(f"{end} {says}", run, 4, says)
    write(place / "x.npy", ONES)
    for labels, says in (([0.5] * 40, r"y\.npy: error E0672: label 0 is 0\.5: expected integers from 0"), ([-1.0] * 40, r"y\.npy: error E0672: label 0 is -1"),
                         ([0.0] * 39 + [1e9], r"y\.npy: error E0672: label 39 is 1e\+09"), ([0.0] * 40, r"y\.npy: error E0672: all 40 labels are '0'")):
        write(place / "y.npy", npy((40,), data=numbers(labels)))
        write(place / "case.toml", ARRAYS.replace("END", "npy").replace(', input_array = "x"', "").replace(*LABELS))
        judge(f"labels {labels[-1]}", run, 4, says)
    write(place / "t.csv", rows())
    write(place / "case.toml", TABLE)
    judge("a run that is fine", run, 0, "", ("RUN",))
    for content, options, code, says in QUESTIONS:
        write(place / "ask.csv", content)
        judge(f"predict {content!r} {options}", ("predict", "RUN", "ask.csv", *options), code, says, ("ask.predicted.csv",))
        (place / "ask.predicted.csv").unlink(missing_ok=True)
    weights = place / "RUN" / "weights.safetensors"
    whole = weights.read_bytes()
    for name, content, says in (("cut", whole[:100], r"weights\.safetensors: byte 0: error E0438"), ("other", safetensors({}), r"weights\.safetensors: error E0673: has no metadata"),
                                ("flipped", whole[:60] + bytes([whole[60] ^ 255]) + whole[61:], r"weights\.safetensors.*error E0\d{3}")):
        weights.write_bytes(content)
        judge(f"weights {name}", ("predict", "RUN", "ask.csv"), 4, says)
    weights.unlink()
    judge("no weights", ("predict", "RUN", "ask.csv"), 4, r"RUN: error E0673: there are no weights.*tessera resume RUN")
    return judge


def measure(work):
    holds, lines = True, []
    for program, pattern in SUITES:
        passed, text = work.gtest_row(program, pattern, may_skip=True)
        holds = holds and passed
        lines.append(f"{program} {pattern}: {text}")
    with work.temp() as place:
        judge = from_outside(work, pathlib.Path(place))
    lines.append(f"from outside: {judge.done} inputs, {len(judge.wrong)} not as promised; {judge.peak:.0f} MiB at most")
    return holds and not judge.wrong, "\n".join([*lines, *judge.wrong[:30]])
