# SPDX-License-Identifier: Apache-2.0
import rowkit

WHAT = "D8: permittivity of two discs from scattered fields at 8 receivers, 4 sources, by the gradient through the run"
BAR = "forward 1e-4; 100 epochs of Adam: PSNR 27.8 dB, SSIM 0.963; L-BFGS the same in fewer"
FEWER = 25


def measure(work):
    work.test_data("em", "inverse_two_discs_ez_labels.npy")
    names = ("inverse_discs_forward", "inverse_discs_psnr", "inverse_discs_ssim")
    forward, *adam = rowkit.need(work.numbers("inverse_discs_bench"), *names)
    _, *lbfgs = rowkit.need(work.numbers("inverse_discs_bench", "--method", "lbfgs", "--epochs", FEWER), *names)
    good = all(psnr >= 27.8 and ssim >= 0.963 for psnr, ssim in (adam, lbfgs))
    return good and forward <= 1e-4, (
        f"forward {forward:.2e}; Adam, 100 epochs: {adam[0]:.2f} dB, {adam[1]:.4f}; L-BFGS, {FEWER} iterations: {lbfgs[0]:.2f} dB, {lbfgs[1]:.4f}")
