# SPDX-License-Identifier: Apache-2.0
import pathlib

WHAT = "reduce-on-plateau and early stopping on 1,000 random curves of a metric (tests/solvers/references/make_decisions.py)"
BAR = "PyTorch's and Keras's decisions, epoch by epoch"


def measure(work):
    python = work.venv("keras", "torch==2.*", "keras==3.*", "numpy")
    made = work.run([python, work.root / "tests/solvers/references/make_decisions.py", "1000"], env={"KERAS_BACKEND": "torch"})
    made.must_succeed("make_decisions.py")
    with work.temp() as folder:
        table = pathlib.Path(folder) / "decisions.csv"
        table.write_text(made.out)
        holds, text = work.gtest_row("solvers_tests", "Stopping.*", minimum=2, environment={"TESSERA_DECISIONS": str(table)})
    return holds and len(made.out.splitlines()) == 1000, text
