# SPDX-License-Identifier: Apache-2.0
"""NAME.onnx by onnxruntime on x0, x1 of NAME.npz beside its y0.0, ...: the largest difference over the largest element."""
import sys

import numpy as np
import onnx
import onnxruntime

folder = sys.argv[1]
for name in sys.argv[2:]:
    onnx.checker.check_model(f"{folder}/{name}.onnx", full_check=True)
    session = onnxruntime.InferenceSession(f"{folder}/{name}.onnx", providers=["CPUExecutionProvider"])
    arrays = np.load(f"{folder}/{name}.npz")
    worst = 0.0
    for k in range(2):
        results = session.run(None, {"x": arrays[f"x{k}"]})
        for j, y in enumerate(results):
            ours = arrays[f"y{k}.{j}"]
            assert y.shape == ours.shape
            worst = max(worst, float(np.abs(y - ours).max() / np.abs(ours).max()))
    print(f"{name}_difference {worst:.3e} 1")
