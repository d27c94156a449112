# SPDX-License-Identifier: Apache-2.0
import training

WHAT = "scikit-learn's digits (npz), a small convolutional network: 5 random splits of 1,437 : 360 (apps/examples/training/digits.toml), and the same by calls of the library"
BAR = "mean accuracy of the test sets at least 98.5 %; 60 s each; the same bits"


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
    run = training.folder(work) / "digits1"
    by_calls = work.run([work.program("example_training_digits"), training.folder(work) / "digits.npz", run / "by_calls.safetensors"])
    by_calls.must_succeed("example_training_digits")
    same = training.weights(run / "by_calls.safetensors") == training.weights(run / "weights.safetensors")
    mean = sum(found) / len(found)
    holds = mean >= 98.5 and max(seconds) <= 60 and test["samples"] == "360" and same
    return holds, (f"mean {mean:.2f} %, splits {', '.join(f'{f:.2f}' for f in found)} %; {min(seconds):.0f} to {max(seconds):.0f} s each; "
                   f"weights of apps/examples/training/digits.cpp {'the same bits' if same else 'DIFFER'}")
