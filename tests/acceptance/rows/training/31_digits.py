# SPDX-License-Identifier: Apache-2.0
import training

WHAT = "scikit-learn's digits (npz), a small convolutional network: 5 random splits of 1,437 : 360 (apps/examples/training/digits.toml), and the same by calls of the library"
BAR = "mean accuracy of the test sets at least 98.5 %; 60 s each; the same bits"


def measure(work):
    found, seconds, samples, text = training.five_splits(work, "digits", training.digits(work), "accuracy")
    run = training.folder(work) / "digits1"
    by_calls = work.run([work.program("example_training_digits"), training.folder(work) / "digits.npz", run / "by_calls.safetensors"])
    by_calls.must_succeed("example_training_digits")
    same = training.weights(run / "by_calls.safetensors") == training.weights(run / "weights.safetensors")
    return sum(found) / 5 >= 98.5 and max(seconds) <= 60 and samples == 360 and same, (
        f"{text}; weights of apps/examples/training/digits.cpp {'the same bits' if same else 'DIFFER'}")
