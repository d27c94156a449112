# SPDX-License-Identifier: Apache-2.0
"""Data of the rows of training."""
import csv
import json
import os
import subprocess


def folder(work):
    place = work.build / "acceptance" / "training"
    place.mkdir(parents=True, exist_ok=True)
    return place


BOWTIE_GROUPS = """
import sys, numpy as np
x = np.load(sys.argv[1]).astype(float)
feed = np.minimum(x[:, 2], 20 - x[:, 2])  # p and 20 - p are one design
same = np.unique(np.stack([x[:, 0], x[:, 1], feed], 1), axis=0, return_inverse=True)[1]
np.save(sys.argv[2], same.reshape(-1).astype(np.int64))
"""


def bowtie(work):
    """The case of apps/examples/training with the data beside it: (case, folder)."""
    place = folder(work)
    for name in ("bowtie_input.npy", "bowtie_s11_dB.npy"):
        link = place / name
        link.unlink(missing_ok=True)
        os.symlink(work.test_data("em", name), link)
    subprocess.run([work.venv("numpy", "numpy"), "-c", BOWTIE_GROUPS, place / "bowtie_input.npy", place / "bowtie_designs.npy"], check=True)
    case = place / "bowtie.toml"
    case.write_text((work.root / "apps" / "examples" / "training" / "bowtie.toml").read_text())
    return case


DIGITS = """
import sys, numpy as np
from sklearn.datasets import load_digits
d = load_digits()
np.savez(sys.argv[1], images=d.images[..., None].astype(np.float32), labels=d.target.astype(np.int64))
"""


def digits(work):
    place = folder(work)
    subprocess.run([work.venv("sklearn", "scikit-learn"), "-c", DIGITS, place / "digits.npz"], check=True)
    case = place / "digits.toml"
    case.write_text((work.root / "apps" / "examples" / "training" / "digits.toml").read_text())
    return case


def weights(file):
    """The network's tensors of a safetensors file: {name: bytes}."""
    content = file.read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    return {name: content[begin + t["data_offsets"][0]:begin + t["data_offsets"][1]]
            for name, t in json.loads(content[8:begin]).items() if name.startswith("layers.")}


def errors(run):
    """errors.csv as {part: {column: value}}."""
    with open(run / "errors.csv") as table:
        return {row["part"]: row for row in csv.DictReader(table)}


def five_splits(work, name, case, figure):
    """Of split.seed 1 to 5: the figure of the test sets in %, seconds of the runs, samples of a test set, all in words."""
    found, seconds = [], []
    for seed in range(1, 6):
        run = folder(work) / f"{name}{seed}"
        done = work.run([work.tessera(), "run", case, "--force", "--output", run, "--progress", "none", "--set", f"split.seed={seed}"])
        done.must_succeed(f"tessera run {name}")
        test = errors(run)["test"]
        found.append(100 * float(test[figure]))
        seconds.append(done.seconds)
    text = f"mean {sum(found) / 5:.3f} %, splits {', '.join(f'{f:.2f}' for f in found)} %; {min(seconds):.0f} to {max(seconds):.0f} s each"
    return found, seconds, int(test["samples"]), text
