# SPDX-License-Identifier: Apache-2.0
import hashlib
import os
import pathlib
import re
import time

import parallel
import rowkit

WHAT = ("4 x 30000 x 30000 f32 in contiguous HDF5 (14.4 GB), 3 x 3 layers 4-16-16-4: into another file, and loss and gradient, one process and 2 m; memory is peak "
        "resident, ranks added")
BAR = ("same bits; 4 GiB; bytes read 1.02 of tiles with ghosts; 0.8 of the rate of 4096^2 in memory (that 0.4 of our product of 2,000^2) or of reading and writing "
       "the disk alone, where that is less")
SLOW = True
SIDE, TILE = 30000, 8
MEMORY, READ, RATE, PRODUCT = 4 * 2**30, 1.02, 0.8, 0.4


def digest_of_file(path):
    h = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 22):
            h.update(block)
    return h.hexdigest()


def disk_seconds(path, folder):
    """What reading the file, and writing as much, take without anything else: 2 GB of each, out of no cache."""
    size, part, block = os.path.getsize(path), 2 << 30, 1 << 22
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    begin = time.monotonic()
    for _ in range(part // block):
        os.read(fd, block)
    reading = time.monotonic() - begin
    os.close(fd)
    fd = os.open(folder / "disk", os.O_WRONLY | os.O_CREAT, 0o600)
    begin = time.monotonic()
    for _ in range(part // block):
        os.write(fd, bytes(block))
    os.fsync(fd)
    writing = time.monotonic() - begin
    os.close(fd)
    os.unlink(folder / "disk")
    return (reading + writing) * size / part


def run(work, ranks, *words):
    before = [*parallel.mpirun(), "-n", str(ranks)] if ranks > 1 else []
    done = work.run([*before, work.program("tiled_images"), *words], timeout=4 * 3600).must_succeed(f"tiled_images {words[0]} on {ranks}")
    return rowkit.read_numbers(done.out), dict(re.findall(r"^(\w+) ([0-9a-f]{64})$", done.out, re.M))


def measure(work):
    wrong, text = [], [rowkit.processor()]
    with work.temp() as name:
        folder = pathlib.Path(name)
        image = folder / "image.h5"
        run(work, 1, "make", image, SIDE)
        least = disk_seconds(image, folder)
        bits, memory = [], []
        for ranks in (1, 2):
            memory.append(run(work, 1, "memory", 4096)[0])
            out = folder / "out.h5"
            found, _ = run(work, ranks, "infer", image, out, TILE)
            bits.append([digest_of_file(out)])
            out.unlink()
            steps, digests = run(work, ranks, "step", image, 4 if ranks == 1 else 2)
            bits[-1] += [digests.get("loss"), digests.get("gradient")]
            rate = max(m["memory_rate"] for m in memory)
            took = found["seconds"]
            allowed = max(found["flops"] / (RATE * rate), least / RATE)
            peak, read = max(found["peak"], steps["peak"]), found["read"] / found["asked"]
            text.append(f"{ranks} m: file in {took:.0f} s ({found['flops'] / took / 1e9:.0f} GF/s, {found['flops'] / took / rate:.2f} of memory's; the disk alone "
                        f"{least:.0f} s), gradient in {steps['seconds']:.0f} s ({steps['flops'] / steps['seconds'] / 1e9:.0f} GF/s); peak {peak / 2**30:.2f} GiB; "
                        f"read {read:.4f} of tiles with ghosts, these {found['asked'] / found['image']:.4f} of the image")
            if ranks == 1 and took > allowed:
                wrong.append(f"one process: {took:.0f} s, {allowed:.0f} allowed")
            if peak > MEMORY or read > READ:
                wrong.append(f"{ranks} m: peak {peak:.3e} B, read {read:.4f}")
        if bits[0] != bits[1] or None in bits[0]:
            wrong.append("other bits on 2 m")
        product = max(m["memory_rate"] / m["product_rate"] for m in memory)
        text.append(f"in memory 4096^2: {rate / 1e9:.0f} GF/s, {product:.2f} of our product")
        if product < PRODUCT:
            wrong.append(f"in memory {product:.2f} of our product")
    return not wrong, "\n".join(text + wrong)
