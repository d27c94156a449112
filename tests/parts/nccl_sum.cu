// SPDX-License-Identifier: Apache-2.0
// A sum over all devices of this machine through NCCL. Ends with 77 (skipped) where there is no
// device.
#include <nccl.h>

#include <cstdio>
#include <vector>

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("no device: compiled only\n");
    return 77;
  }
  std::vector<ncclComm_t> group(devices);
  if (ncclCommInitAll(group.data(), devices, nullptr) != ncclSuccess) return 1;
  std::vector<double*> value(devices);
  std::vector<cudaStream_t> stream(devices);
  for (int d = 0; d < devices; ++d) {
    const double mine = d + 1;
    cudaSetDevice(d);
    cudaStreamCreate(&stream[d]);
    cudaMalloc(&value[d], sizeof mine);
    cudaMemcpy(value[d], &mine, sizeof mine, cudaMemcpyHostToDevice);
  }
  ncclGroupStart();
  for (int d = 0; d < devices; ++d)
    ncclAllReduce(value[d], value[d], 1, ncclDouble, ncclSum, group[d], stream[d]);
  bool ok = ncclGroupEnd() == ncclSuccess;
  const double expected = 0.5 * devices * (devices + 1);
  for (int d = 0; d < devices; ++d) {
    double sum = 0;
    cudaSetDevice(d);
    cudaStreamSynchronize(stream[d]);
    cudaMemcpy(&sum, value[d], sizeof sum, cudaMemcpyDeviceToHost);
    std::printf("device %d of %d: sum %g, expected %g\n", d, devices, sum, expected);
    ok = ok && sum == expected;
    ncclCommDestroy(group[d]);
    cudaFree(value[d]);
    cudaStreamDestroy(stream[d]);
  }
  return ok ? 0 : 1;
}
