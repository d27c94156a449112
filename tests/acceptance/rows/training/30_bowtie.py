# SPDX-License-Identifier: Apache-2.0
import training

WHAT = "bow-tie antennas, 495 x 3 to 1001 dB: 5 random splits by design, 9 : 1 for test, validation out of the nine (apps/examples/training/bowtie.toml)"
BAR = "mean relative L2 of the test sets at most 1.5 %, none above 3 %; 2 min each"


def measure(work):
    case = training.bowtie(work)
    found, seconds = [], []
    for seed in range(1, 6):
        run = training.folder(work) / f"bowtie{seed}"
        done = work.run([work.tessera(), "run", case, "--force", "--output", run, "--progress", "none", "--set", f"split.seed={seed}"])
        done.must_succeed("tessera run bowtie.toml")
        test = training.errors(run)["test"]
        found.append(100 * float(test["relative_l2"]))
        seconds.append(done.seconds)
    mean = sum(found) / len(found)
    return mean <= 1.5 and max(found) <= 3 and max(seconds) <= 120, (
        f"mean {mean:.3f} %, splits {', '.join(f'{f:.3f}' for f in found)} %, of {test['samples']} antennas; "
        f"{min(seconds):.0f} to {max(seconds):.0f} s each")
