# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "convolution, value and both gradients, batch 8, beside PyTorch (channels first and last, the better): 1-D, 2-D, stride, dilation, 1x1, depthwise, transposed, 3-D"
BAR = ("geometric means of at least 1.0x in f32 and 1.5x in f64; windows from 3 and channels from 16: each at 0.7 of our matrix product's rate at "
       "1,000^3")


def measure(work):
    found = work.numbers("convolution_bench")
    f32, f64 = rowkit.need(found, "convolution_f32_ratio", "convolution_f64_ratio")
    rates = rowkit.need(found, "convolution_f32_of_gemm", "convolution_f64_of_gemm")
    least = rowkit.need(found, "convolution_f32_of_gemm_least", "convolution_f64_of_gemm_least")
    return f32 >= 1 and f64 >= 1.5 and min(least) >= 0.7, (
        f"f32 {f32:.2f}x, f64 {f64:.2f}x; of the product's rate in f32 and f64: least case {least[0]:.2f}, {least[1]:.2f}, geometric means {rates[0]:.2f}, {rates[1]:.2f}")
