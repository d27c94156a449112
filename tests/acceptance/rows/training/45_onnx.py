# SPDX-License-Identifier: Apache-2.0
import pathlib

import rowkit

OURS = {"A": "MLP", "B": "VAE of columns", "C": "U-Net", "D": "transformer"}
NODES = pathlib.Path("/usr/share/libonnx-testdata/data/node")
WHAT = ("ONNX: four networks of ours by onnxruntime, at two sizes of the batch; ONNX's tests of single operators; four networks as PyTorch's two "
        "exporters write them, read and trained on")
BAR = "1e-5 at any batch; 300 of 932 pass, the rest refused by operator or type; 1e-5, and the loss falls"


def measure(work):
    peers = work.root / "tests" / "acceptance" / "peers"
    bench = work.program("onnx_networks_bench")
    with work.temp() as folder:
        written = work.run([bench, "out", folder]).must_succeed("onnx_networks_bench out").out
        runtime = work.venv("onnx", "onnxruntime", "onnx", "onnxscript", "numpy")
        torch = work.run([work.peer_python(), "-c", "import torch, pathlib; print(pathlib.Path(torch.__file__).parents[1])"]).must_succeed("torch").out
        done = work.run([runtime, peers / "onnx_runtime.py", folder, *OURS]).must_succeed("onnxruntime")
        out = rowkit.need(rowkit.read_numbers(done.out), *(f"{name}_difference" for name in OURS))
        any_batch = all(f"{name}_any_batch 1" in written for name in OURS)

        if not NODES.is_dir():
            raise rowkit.NotMeasured(f"there is no {NODES} (Debian package libonnx-testdata)")
        lines = work.run([bench, "nodes", NODES]).must_succeed("onnx_networks_bench nodes").out.splitlines()
        counts = {what: sum(f" {what}" in line for line in lines if line.startswith("test_")) for what in ("passed", "refused", "failed")}

        exported = work.run([runtime, peers / "onnx_torch.py", folder], env={"PYTHONPATH": torch.strip()}).must_succeed("torch.onnx.export").out
        names = [word for line in exported.splitlines() if line.startswith("written ") for word in line.split()[1:]]
        read = {}
        for name in names:
            archive = pathlib.Path(folder) / f"{name.rsplit('_', 1)[0]}.npz"
            found = rowkit.read_numbers(work.run([bench, "in", f"{folder}/{name}.onnx", archive]).must_succeed(name).out)
            read[name] = rowkit.need(found, "difference", "first_loss", "last_loss")
    worst = max(difference for difference, _, _ in read.values())
    learnt = sum(last < 0.8 * first for _, first, last in read.values())
    holds = (any_batch and max(out) <= 1e-5 and counts["passed"] >= 300 and counts["failed"] == 0 and len(read) >= 6
             and worst <= 1e-5 and learnt == len(read))
    return holds, (", ".join(f"{what}: {d:.1e}" for what, d in zip(OURS.values(), out)) + f"{'' if any_batch else ', of one batch alone'}\n"
                   f"{counts['passed']} pass, {counts['refused']} refused, {counts['failed']} fail\n"
                   f"{len(read)} files of PyTorch: {worst:.1e}, the loss falls in {learnt}")
