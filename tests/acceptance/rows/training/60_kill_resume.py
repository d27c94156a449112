# SPDX-License-Identifier: Apache-2.0
import kills
import training

WHAT = "a training of at least 60 processor seconds (the digits, 4 parts a batch) killed (kill -9) at 20 moments, in mid-epoch and in checkpoints, then resumed on 2 threads"
BAR = "20 of 20 equal in all bytes: weights, tables, results, pictures; the run on 2 threads as well"
SETTINGS = ("--set", "training.parts=4", "--set", "training.epochs=1000")


def measure(work):
    wrong, seconds, text = kills.killed_and_resumed(work, training.folder(work), "killed_digits", training.digits(work), SETTINGS, 20)
    return not wrong and seconds >= 60, "\n".join([text, *wrong])
