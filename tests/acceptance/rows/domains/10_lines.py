# SPDX-License-Identifier: Apache-2.0
"""What the domains once got wrong, law by law: the tests that failed then. One file of laws for each domain in lines/."""
import importlib.util
import pathlib

WHAT = "laws of waves, molecules, soundings and of every app that did not hold once, each by the tests that failed then"
BAR = "all hold"


def tables():
    """(name of the domain, its LAWS: number, law, {program: tests}) of every file."""
    for path in sorted((pathlib.Path(__file__).parent / "lines").glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield path.stem, module.LAWS


def measure(work):
    holds, text = True, []
    for domain, laws in tables():
        good, lines = work.laws(laws, domain + " ")
        holds = holds and good
        text += lines
    return holds, "\n".join(text)
