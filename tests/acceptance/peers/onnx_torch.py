# SPDX-License-Identifier: Apache-2.0
"""Four networks as torch.onnx.export writes them unasked, by either exporter, and what PyTorch makes of their inputs:
NAME_dynamo.onnx with .onnx.data, NAME_script.onnx, NAME.npz. Prints what was written."""
import sys
import warnings

import numpy as np
import torch
from torch import nn

warnings.filterwarnings("ignore")
torch.manual_seed(0)


class Up(nn.Module):
    """Convolution, transposed convolution, resizing, a path around."""

    def __init__(self):
        super().__init__()
        self.down, self.up, self.last = nn.Conv2d(2, 8, 3, padding=1), nn.ConvTranspose2d(8, 4, 2, stride=2), nn.Conv2d(12, 1, 3, padding=1)

    def forward(self, x):
        y = nn.functional.gelu(self.down(x))
        z = nn.functional.interpolate(self.up(nn.functional.max_pool2d(y, 2)), scale_factor=2, mode="bilinear", align_corners=False)
        return self.last(torch.cat([y, nn.functional.avg_pool2d(z, 2)], 1))


class Words(nn.Module):
    """A causal transformer block."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50, 32), nn.Parameter(torch.randn(16, 32) * 0.1)
        self.block = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True, activation="gelu")
        self.logits = nn.Linear(32, 50)

    def forward(self, i):
        mask = nn.Transformer.generate_square_subsequent_mask(i.shape[1])
        return self.logits(self.block(self.words(i) + self.places[: i.shape[1]], src_mask=mask))


NETWORKS = {
    "mlp": (nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 2)), torch.randn(7, 3)),
    "cnn": (nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, stride=2, padding=1),
                          nn.GroupNorm(4, 16), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.3), nn.Linear(16, 10)),
            torch.randn(4, 1, 16, 16)),
    "up": (Up(), torch.randn(2, 2, 16, 16)),
    "words": (Words(), torch.randint(0, 50, (3, 16)))}

folder = sys.argv[1]
for name, (network, x) in NETWORKS.items():
    for part in network.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean.normal_(0, 0.1), part.running_var.uniform_(0.5, 1.5)
    network.eval()
    with torch.no_grad():
        np.savez(f"{folder}/{name}.npz", x0=x.numpy(), y0=network(x).numpy())
    torch.onnx.export(network, (x,), f"{folder}/{name}_dynamo.onnx")
    torch.onnx.export(network, (x,), f"{folder}/{name}_script.onnx", dynamo=False)
    print(f"written {name}_dynamo {name}_script")
