// SPDX-License-Identifier: Apache-2.0
// y += a x on the device through a C++20 lambda with a concept, the shape in which our kernels are
// launched. Ends with 77 (skipped) where there is no device: compiling it is the test there.
#include <concepts>
#include <cstdio>
#include <vector>

template <std::invocable<long> Body>
__global__ void each(long n, Body body) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) body(i);
}

struct Axpy {
  double a;
  const double* x;
  double* y;
  __host__ __device__ void operator()(long i) const { y[i] += a * x[i]; }
};

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("no device: compiled only\n");
    return 77;
  }
  constexpr long n = 1 << 20;
  std::vector<double> x(n), y(n), expected(n);
  for (long i = 0; i < n; ++i) {
    x[i] = static_cast<double>(i);
    y[i] = 0.5 * static_cast<double>(i % 7);
    expected[i] = y[i] + 2.0 * x[i];  // exact in binary: the device must give the same bits
  }
  double *dx = nullptr, *dy = nullptr;
  const std::size_t bytes = n * sizeof(double);
  bool ok = cudaMalloc(&dx, bytes) == cudaSuccess && cudaMalloc(&dy, bytes) == cudaSuccess;
  ok = ok && cudaMemcpy(dx, x.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess;
  ok = ok && cudaMemcpy(dy, y.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess;
  each<<<(n + 255) / 256, 256>>>(n, Axpy{2.0, dx, dy});
  ok = ok && cudaMemcpy(y.data(), dy, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
  cudaFree(dx);
  cudaFree(dy);
  std::printf("%s\n", !ok             ? cudaGetErrorString(cudaGetLastError())
                      : y == expected ? "equal"
                                      : "different");
  return ok && y == expected ? 0 : 1;
}
