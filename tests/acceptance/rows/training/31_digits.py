# SPDX-License-Identifier: Apache-2.0
import training

WHAT = "scikit-learn's digits (npz), a small convolutional network: 5 random splits of 1,437 : 360 (apps/examples/training/digits.toml)"
BAR = "mean accuracy of the test sets at least 98.5 %; 60 s each"


def measure(work):
    case = training.digits(work)
    found, seconds = [], []
    for seed in range(1, 6):
        run = training.folder(work) / f"digits{seed}"
        done = work.run([work.tessera(), "run", case, "--force", "--output", run, "--progress", "none", "--set", f"split.seed={seed}"])
        done.must_succeed("tessera run digits.toml")
        test = training.errors(run)["test"]
        found.append(100 * float(test["accuracy"]))
        seconds.append(done.seconds)
    mean = sum(found) / len(found)
    holds = mean >= 98.5 and max(seconds) <= 60 and test["samples"] == "360"
    return holds, f"mean {mean:.2f} %, splits {', '.join(f'{f:.2f}' for f in found)} %; {min(seconds):.0f} to {max(seconds):.0f} s each"
