# SPDX-License-Identifier: Apache-2.0
WHAT = "MLP gradient; Hessian of Rosenbrock in 100 dimensions; GEMM; a*b+c on 10^7 doubles"
BAR = "at least 1.0x libtorch; 5x; 0.95 of OpenBLAS called directly; 90 % of STREAM counting 6 arrays"

FIGURES = (("engine_torch_bench", "mlp_gradient_ratio", 1.0), ("engine_torch_bench", "rosenbrock_hessian_ratio", 5.0),
           *(("gemm_bench", f"ratio_gemm_to_openblas_{type}_{n}", 0.95) for type in ("f64", "f32") for n in (1000, 2000)),
           ("muladd_bench", "muladd_ratio", 0.90))


def measure(work):
    return work.figures(FIGURES)
