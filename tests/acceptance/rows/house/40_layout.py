# SPDX-License-Identifier: Apache-2.0
import pathlib
import re
import shutil

import rowkit

MOST_OF_FILE, MOST_OF_FUNCTION = 500, 100
WHAT = (f"clang-format over all sources; folders that use each other (tests/layers); files over {MOST_OF_FILE} lines and functions over "
        f"{MOST_OF_FUNCTION}, each with a line in long_code.txt beside this row why it is one thought")
BAR = "none differs; none; all are listed, and what is listed is long"

FOLDERS = ("apps", "autodiff", "data", "docs", "electromagnetics", "inversion", "molecular", "parallel", "solvers", "tests")
NO_FUNCTION = re.compile(r"^\s*(namespace|inline namespace|struct|class|enum|union|extern|template <[^(]*> (struct|class)|#)\b")
CONTROL = re.compile(r"^(if|for|while|switch|else|do|return|case|default|try|catch|const auto|auto [\w:]+ =|///?)\b|^\[|^//")
# A type and a name before the first parenthesis, or the name of a constructor outside of its class.
DEFINITION = re.compile(r"^(template <.*> )?(\[\[\w+\]\] )?([\w:<>,&*~ ]+[ &*]~?[\w:<>~=!+*/\[\]-]+|\w+(<\w+>)?::~?\w+|TEST\w*)\(")
LAMBDA = re.compile(r"\[[\w&=,\s*]*\]\s*(<[^>]*>)?\s*[({]")


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".h", ".cu", ".cuh", ".inl") and "build" not in path.relative_to(root).parts:
                yield path


def indent(line):
    return len(line) - len(line.lstrip(" "))


def functions(lines):
    """(name, lines) of each function as clang-format lays it out: its last line is the brace below its first word."""
    for k, line in enumerate(lines):
        if not line.endswith("{") or NO_FUNCTION.match(line):
            continue
        first = k
        while first > 0 and lines[first - 1].strip() and not lines[first - 1].rstrip().endswith((";", "{", "}", ":")) \
                and not lines[first - 1].lstrip().startswith(("//", "#")):
            first -= 1
        said = " ".join(part.strip() for part in lines[first:k + 1])
        if CONTROL.match(said) or LAMBDA.search(said) or " = " in said.split("(")[0]:
            continue
        if said.count("(") != said.count(")") or not DEFINITION.match(said) or (indent(lines[first]) > 0 and "::" in said.split("(")[0].split()[-1]):
            continue
        end, closing = k + 1, " " * indent(lines[first]) + "}"
        while end < len(lines) and not lines[end].startswith(closing):
            end += 1
        name = said.split("(")[0].split()[-1] if not said.startswith("TEST") else ".".join(re.findall(r"\w+", said.split("(")[1])[:2])
        yield name, end - first + 1


def long_code(root):
    """"file" and "file function" of all that is long, with its lines."""
    found = {}
    for path in sources(root):
        lines = path.read_text().splitlines()
        name = path.relative_to(root).as_posix()
        if len(lines) > MOST_OF_FILE:
            found[name] = len(lines)
        for function, n in functions(lines):
            if n > MOST_OF_FUNCTION:
                found[f"{name} {function}"] = n
    return found


def listed():
    """The entries of long_code.txt with their reasons."""
    out = {}
    for line in (pathlib.Path(__file__).parent / "long_code.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            what, _, why = line.partition(": ")
            if not why:
                raise rowkit.Failed(f"long_code.txt: no reason: {line}")
            out[what] = why
    return out


def measure(work):
    formatter = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not formatter:
        raise rowkit.NotMeasured("there is no clang-format (Debian package clang-format)")
    formatted = work.run(["cmake", f"-DCLANG_FORMAT={formatter}", f"-DROOT={work.root}", "-P", work.root / "tests/format/format.cmake"])
    said = (formatted.out + formatted.err).strip()
    if "not compared" in said:
        raise rowkit.NotMeasured(said)
    layers = work.gtest("layers_tests", "*")
    found, why = long_code(work.root), listed()
    unlisted = [f"{what} ({n} lines) is long and not listed" for what, n in sorted(found.items()) if what not in why]
    unused = [f"listed, but not long: {what}" for what in why if what not in found]
    files = sum(" " not in what for what in found)
    text = [said.splitlines()[-1] if formatted.code == 0 else said, f"tests/layers: {layers['passed']} passed, {len(layers['failed'])} failed",
            *layers["failed"], f"{files} files and {len(found) - files} functions are long", *unlisted, *unused,
            *(f"{what}, {found[what]} lines: {reason}" for what, reason in why.items() if what in found)]
    return formatted.code == 0 and not layers["failed"] and not unlisted and not unused, "\n".join(text)
