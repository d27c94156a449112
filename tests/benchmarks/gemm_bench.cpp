// SPDX-License-Identifier: Apache-2.0
// Matrix products beside OpenBLAS called directly with its own threads, on the same matrices and
// the same number of threads; and batches of small matrices beside one direct call each. Bound by
// the floating-point units.
#include "autodiff/src/kernels/gemm.h"
#include "measure.h"
#include "openblas_choice.h"
#include "tessera/autodiff/forall.h"

#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace tessera::benchmarks;

template <class T>
std::vector<T> random_matrix(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> x(n);
  for (T& v : x) {
    if constexpr (std::is_floating_point_v<T>)
      v = static_cast<T>(normal(random));
    else
      v = T(static_cast<typename T::value_type>(normal(random)),
            static_cast<typename T::value_type>(normal(random)));
  }
  return x;
}

template <class T>
void direct(int n, const T* a, const T* b, T* c) {
  const T one(1), zero(0);
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, one, a, n, b, n, zero, c, n);
  else if constexpr (std::is_same_v<T, double>)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, one, a, n, b, n, zero, c, n);
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    cblas_cgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, &one, a, n, b, n, &zero, c, n);
  else
    cblas_zgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, &one, a, n, b, n, &zero, c, n);
}

template <class T>
void expect_close(const std::vector<T>& x, const std::vector<T>& y, double bound) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(std::abs(x[i] - y[i]) <= bound)) {
      std::printf("results differ\n");
      std::exit(1);
    }
}

/// Returns our rate over OpenBLAS's.
template <class T>
double large(const std::string& type, int n, int repeats) {
  const std::size_t size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const auto a = random_matrix<T>(size, 1), b = random_matrix<T>(size, 2);
  std::vector<T> ours(size), peer(size);
  Samples t_ours, t_peer;
  alternate(
      repeats, t_ours, t_peer,
      [&] {
        tessera::kernels::gemm<T>(false, false, n, n, n, T(1), a.data(), n, b.data(), n, T(0),
                                  ours.data(), n);
      },
      [&] { direct<T>(n, a.data(), b.data(), peer.data()); });
  // sums of n products of size 1 in another order
  expect_close(ours, peer,
               n * (sizeof(T) == 4 || std::is_same_v<T, std::complex<float>> ? 1e-6 : 1e-15) * 10);
  const double flops = (std::is_floating_point_v<T> ? 2e-9 : 8e-9) * n * n * n;
  const std::string tail = type + "_" + std::to_string(n);
  print_figure("gemm_" + tail, flops / t_ours.median(), "GFLOP/s");
  print_figure("gemm_" + tail + "_spread", t_ours.spread(), "1");
  print_figure("openblas_" + tail, flops / t_peer.median(), "GFLOP/s");
  print_figure("openblas_" + tail + "_spread", t_peer.spread(), "1");
  print_figure("ratio_gemm_to_openblas_" + tail, t_peer.median() / t_ours.median(), "x");
  print_figure("ratio_best_gemm_to_openblas_" + tail, t_peer.best() / t_ours.best(), "x");
  return t_peer.median() / t_ours.median();
}

void small(int n, int threads) {
  const std::int64_t batch = 20000, size = n * n;
  const auto a = random_matrix<double>(static_cast<std::size_t>(batch * size), 1);
  const auto b = random_matrix<double>(static_cast<std::size_t>(batch * size), 2);
  std::vector<double> ours(a.size()), peer(a.size());
  Samples t_ours, t_peer;
  alternate(
      11, t_ours, t_peer,
      [&] {
        tessera::kernels::gemm_batched<double>(batch, false, false, n, n, n, 1, a.data(), n, size,
                                               b.data(), n, size, 0, ours.data(), n, size);
      },
      [&] {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (std::int64_t i = 0; i < batch; ++i)
          direct<double>(n, a.data() + i * size, b.data() + i * size, peer.data() + i * size);
      });
  expect_close(ours, peer, 1e-13);
  const std::string tail = "batched_f64_" + std::to_string(n);
  print_figure("gemm_" + tail, t_ours.median() / static_cast<double>(batch) * 1e9, "ns");
  print_figure("openblas_" + tail, t_peer.median() / static_cast<double>(batch) * 1e9, "ns");
  print_figure("ratio_gemm_to_openblas_" + tail, t_peer.median() / t_ours.median(), "x");
}

}  // namespace

int main(int argc, char** argv) {
  bench::let_openblas_choose(argv);
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 9;
  const int threads = tessera::num_threads();
  omp_set_num_threads(threads);
  std::printf("threads on both sides: %d; repeats: %d, alternating; medians\n", threads, repeats);
  for (int n : {3, 8, 16, 32}) small(n, threads);
  double least = std::min(large<std::complex<double>>("c128", 700, repeats),
                          large<std::complex<float>>("c64", 700, repeats));
  for (int n : {200, 500, 1000, 1500, 2000}) {
    const double f64 = large<double>("f64", n, repeats), f32 = large<float>("f32", n, repeats);
    if (n >= 1000) least = std::min({least, f64, f32});
  }
  print_figure("gemm_ratio", least,
               "x");  // the least of all four types where the arithmetic bounds it
  return 0;
}
