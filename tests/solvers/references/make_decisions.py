# SPDX-License-Identifier: Apache-2.0
"""Writes decisions.csv: what PyTorch's ReduceLROnPlateau and Keras's EarlyStopping decide on random curves of a metric.

    KERAS_BACKEND=torch python3 make_decisions.py 60 > decisions.csv        (PyTorch 2.x, Keras 3)

Columns of a plateau: plateau, lower or higher, factor, patience, threshold, rel or abs, cooldown, least, then for each
epoch the metric and the learning rate after it (of 1 before). Of an early stop: early, lower or higher, patience, least
progress, first epoch, epoch of the best value (-1: none), last epoch, then the metrics up to where it would go.

The first value that counts for an early stop is a number: Keras takes any for the best so far, and nothing is better
than one that is not a number, so that it stops however the metric falls. Tessera does not.
"""
import random
import sys

import torch
from keras.callbacks import EarlyStopping

draw = random.Random(7)


def curve():
    """Falls or rises, stays, jumps, repeats values, and now and then has one that is not a number. Multiples of 2^-12:
    Keras compares in single precision."""
    value, out = draw.choice([0.0, 1.0, -3.0, 100.0]), []
    for _ in range(draw.randint(1, 60)):
        kind = draw.random()
        value += 0 if kind < 0.3 else draw.gauss(0, 1e-4) if kind < 0.5 else draw.gauss(-0.05, 0.3)
        out.append(float("nan") if draw.random() < 0.02 else round(value * 4096) / 4096)
    return out


def plateau(metrics):
    better, mode = draw.choice(["lower", "higher"]), draw.choice(["rel", "abs"])
    factor, patience, cooldown = draw.choice([0.1, 0.5, 0.9]), draw.randint(0, 6), draw.randint(0, 4)
    threshold, least = draw.choice([0.0, 1e-4, 0.1]), draw.choice([0.0, 0.05])
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, mode="min" if better == "lower" else "max", factor=factor, patience=patience, threshold=threshold,
        threshold_mode=mode, cooldown=cooldown, min_lr=least, eps=0.0)
    cells = ["plateau", better, factor, patience, threshold, mode, cooldown, least]
    for metric in metrics:
        scheduler.step(metric)
        cells += [metric, optimizer.param_groups[0]["lr"]]
    return cells


def early(metrics):
    better = draw.choice(["lower", "higher"])
    patience, progress, first = draw.randint(0, 8), draw.choice([0.0, 2.0**-10, 0.125]), draw.choice([0, 0, 3])

    class Model:
        stop_training = False
        optimizer = None

        def get_weights(self):
            return []

    metrics = metrics[:first] + [0.5 if k == 0 and m != m else m for k, m in enumerate(metrics[first:])]
    stop = EarlyStopping(monitor="m", mode="min" if better == "lower" else "max", patience=patience, min_delta=progress, start_from_epoch=first)
    stop.set_model(Model())
    stop.on_train_begin()
    last = len(metrics) - 1
    for epoch, metric in enumerate(metrics):
        stop.on_epoch_end(epoch, {"m": metric})
        if stop.model.stop_training:
            last = epoch
            break
    best = stop.best_epoch if stop.best is not None and abs(stop.best) != float("inf") else -1
    return ["early", better, patience, progress, first, best, last, *metrics]


for _ in range(int(sys.argv[1]) // 2):
    for kind in (plateau, early):
        print(",".join(c if isinstance(c, str) else f"{c:.17g}" for c in kind(curve())))
