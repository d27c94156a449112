# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import re
import shutil

import mt1d
import rowkit

WHAT = "bad inputs: all text, TOML/JSON, EDI/XML/J/Z and HDF5 (info, resume, plot)"
BAR = "one test file each: error with file:line:column (or byte), the right exit code, no crash, no partial output"

# What the tests prove from inside; below, the same promise is put to the program from outside.
SUITES = (("inversion_tests", "BadSounding.*"), ("data_tests", "TextFile*:Config.*:Checkpoint.*:*Hdf5*:Options.*"),
          ("apps_tests", "Command.*:*BadConfiguration*"))

HEAD = b'app = "inversion.mt1d"\n'
ANY_TEXT = {  # rows 'all text': for every text format
    "empty": b"", "binary": bytes(range(256)) * 40, "nul": HEAD + b"a\0b\n", "utf16": HEAD.decode().encode("utf-16"),
    "one_long_line": b"x" * (64 << 20), "not_utf8": HEAD + b'x = "\xff\xfe"\n',
}
TOML = {
    "cut_off": HEAD + b"[data\n", "trailing": HEAD + b"x = 1 rubbish\n", "duplicate_key": HEAD + b"x = 1\nx = 2\n",
    "duplicate_table": HEAD + b"[a]\n[a]\n", "nan": HEAD + b"x = nan\n", "inf": HEAD + b"x = inf\n",
    "too_large": HEAD + b"x = 1e400\n", "hex_float": HEAD + b"x = 0x1p3\n", "fortran": HEAD + b"x = 1d5\n",
    "double_sign": HEAD + b"x = --5\n", "comma": HEAD + b"x = 1,5\n", "integer_too_large": HEAD + b"x = 9223372036854775808\n",
    "deep": HEAD + b"x = " + b"[" * 100000 + b"]" * 100000 + b"\n", "date": HEAD + b"x = 2020-01-01\n",
    "include_circle": HEAD + b'include = ["case.toml"]\n', "include_outside": HEAD + b'include = ["../../etc/passwd"]\n',
    "unknown_key": HEAD + b"no_such_key = 1\n", "no_app": b"x = 1\n", "unknown_app": b'app = "inversion.mt9d"\n',
}
JSON = {
    "cut_off": b'{"app": "inversion.mt1d"', "trailing": b'{"app": "inversion.mt1d"} x',
    "duplicate_key": b'{"app": "inversion.mt1d", "x": 1, "x": 2}', "nan": b'{"app": "inversion.mt1d", "x": NaN}',
    "too_large": b'{"app": "inversion.mt1d", "x": 1e400}', "deep": b'{"x":' * 100000, "comment": b'{"app": "inversion.mt1d"} // x',
    "unknown_key": b'{"app": "inversion.mt1d", "no_such_key": 1}', "no_object": b"[1, 2]",
}
SIGNATURE = b"\x89HDF\r\n\x1a\n"
HDF5 = {"only_signature": SIGNATURE, "junk_behind_signature": SIGNATURE + bytes(range(256)) * 16,
        "signature_cut": SIGNATURE[:5], "zeros": bytes(4096)}
EDI = {"no_blocks": b">HEAD\n>END\n", "cut_off": b">HEAD\nDATAID=a\n>=MTSECT\nNFREQ=3\n>FREQ //3\n 1 2",
       "count_disagrees": b">HEAD\nDATAID=a\n>=MTSECT\nNFREQ=3\n>FREQ //2\n 1 2\n>END\n",
       "count_huge": b">HEAD\nDATAID=a\n>=MTSECT\nNFREQ=99999999999\n>FREQ //99999999999\n 1 2\n>END\n",
       "not_rising": b">HEAD\nDATAID=a\n>=MTSECT\nNFREQ=1\n>FREQ //1\n -1\n>ZXXR //1\n 1\n>END\n"}
XML = {"cut_off": b"<?xml version='1.0'?><EM_TF><Site>", "entity": b"<!DOCTYPE a [<!ENTITY b 'c'>]><EM_TF>&b;</EM_TF>",
       "deep": b"<EM_TF>" + b"<a>" * 100000, "other": b"<?xml version='1.0'?><html/>"}


def odd_places(folder, suffix):
    """A folder, a FIFO, an endless device, a link that points at itself, a file that is not there."""
    folder.mkdir()
    places = {"folder": folder / f"folder{suffix}", "fifo": folder / f"fifo{suffix}", "endless": folder / f"endless{suffix}",
              "link_loop": folder / f"loop{suffix}", "absent": folder / f"absent{suffix}"}
    places["folder"].mkdir()
    os.mkfifo(places["fifo"])
    places["endless"].symlink_to("/dev/zero")
    places["link_loop"].symlink_to(places["link_loop"])
    return places


class Judge:
    def __init__(self, work, folder):
        self.work, self.folder, self.done, self.wrong = work, folder, 0, []

    def __call__(self, name, verb, path, codes):
        before = sorted(p.name for p in self.folder.iterdir())
        result = self.work.run([self.work.tessera(), verb, path], timeout=60, cwd=self.folder)
        self.done += 1
        said = result.err
        faults = []
        if result.code not in codes:
            faults.append(f"exit code {result.code}, expected {' or '.join(map(str, codes))}")
        if not re.search(r"error E\d{4}", said) and codes != (2,):
            faults.append("no error number")
        if pathlib.Path(path).name not in said:
            faults.append("does not name the file")
        if result.out.strip():
            faults.append("printed a result")
        if sorted(p.name for p in self.folder.iterdir()) != before:
            faults.append("left something behind")
        if result.peak_mib > 600:
            faults.append(f"took {result.peak_mib:.0f} MiB")
        if faults:
            first = said.strip().splitlines()[:1]
            self.wrong.append(f"{verb} {name}: {', '.join(faults)} {first}")

    def files(self, group, suffix, verb, contents, codes):
        for name, content in contents.items():
            path = self.folder / f"{group}_{name}" / f"case{suffix}"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
            self(f"{group} {name}", verb, path, codes)


def damaged(path, how):
    content = path.read_bytes()
    if how == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif how == "junk":
        path.write_bytes(bytes(range(256)) * 16)
    elif how == "flipped":
        middle = len(content) // 2
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1:])


def damaged_runs(work, judge):
    """A run that was stopped half way and one that ended, with one of their files damaged."""
    place = judge.folder / "runs"
    place.mkdir()
    case = work.run([work.tessera(), "new", mt1d.APP, place / "case", "--quiet"]).must_succeed("tessera new").out.strip()
    work.run([work.tessera(), "run", case, "--output", place / "ended"]).must_succeed("tessera run")
    stopped = work.run([work.tessera(), "run", case, "--output", place / "stopped", "--max-time", "0.4 s", "--threads", "1",
                        "--checkpoint-every", "0.1 s"])
    if stopped.code != 75:
        judge.wrong.append(f"run --max-time 0.4s ended with {stopped.code}, expected 75")
        return
    for verb, base, file, hows, code in (
            ("plot", "ended", "results.h5", ("cut", "junk"), 4), ("plot", "ended", "resolved.toml", ("junk",), 5),
            ("resume", "stopped", "manifest.json", ("cut", "junk"), 4), ("resume", "stopped", "resolved.toml", ("junk",), 5),
            ("resume", "stopped", "ckpt/*.ckpt", ("cut", "junk", "flipped"), 8)):
        for how in hows:
            run = place / "damaged"
            shutil.rmtree(run, ignore_errors=True)
            shutil.copytree(place / base, run)
            for path in run.glob(file):
                damaged(path, how)
            judge(f"{file} {how}", verb, run, (code,))


def from_outside(work, folder):
    judge = Judge(work, folder)
    for group, suffix, contents in (("toml", ".toml", TOML), ("json", ".json", JSON)):
        judge.files(group, suffix, "check", {**ANY_TEXT, **contents}, (5,))
    for name, path in odd_places(folder / "configs", ".toml").items():
        judge(f"config {name}", "check", path, (5,))
    verbs = work.run([work.tessera(), "list", "verbs"]).out.split()
    if "info" not in verbs:
        return judge, "the verb info is not there yet"
    for group, suffix, contents in (("edi", ".edi", EDI), ("emtfxml", ".xml", XML), ("jones", ".j", {}), ("zmm", ".zmm", {})):
        judge.files(group, suffix, "info", {**ANY_TEXT, **contents}, (4,))
    judge.files("hdf5", ".h5", "info", HDF5, (4,))
    for name, path in odd_places(folder / "files", ".edi").items():
        judge(f"file {name}", "info", path, (4,))
    damaged_runs(work, judge)
    for verb in ("resume", "plot"):
        for name, path in odd_places(folder / verb, "").items():
            judge(f"run {name}", verb, path, (2,))
    return judge, ""


def measure(work):
    holds, lines = True, []
    for program, pattern in SUITES:
        passed, text = work.gtest_row(program, pattern, may_skip=True)
        holds = holds and passed
        lines.append(f"{program} {pattern}: {text}")
    with work.temp() as folder:
        judge, missing = from_outside(work, pathlib.Path(folder))
    lines.append(f"from outside: {judge.done} files, {len(judge.wrong)} not as promised" + (f"; {missing}" if missing else ""))
    lines += judge.wrong[:20]
    return holds and not judge.wrong and not missing, "\n".join(lines)
