// SPDX-License-Identifier: Apache-2.0
//
// a * b + c on 10^7 doubles against the memory: bytes per second, counting 6 arrays (a, b, product;
// product, c, result), over those of STREAM's triad x = y + s z on arrays of the same length,
// counting 3. A plan that keeps the product in the cache moves fewer bytes than are counted and may
// exceed the triad. McCalpin, "Memory bandwidth and machine balance in current high performance
// computers", 1995.
#include "interleave.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <new>

namespace {

constexpr std::int64_t kN = 10'000'000;
constexpr int kRounds = 31;
constexpr double kArray = 8.0 * static_cast<double>(kN);

/// An array on huge pages, as the engine's large blocks are: the triad must not lose time to page
/// tables.
struct Release {
  void operator()(double* p) const { std::free(p); }
};
std::unique_ptr<double[], Release> huge_array() {
  constexpr std::size_t page = std::size_t{2} << 20, bytes = (8 * kN + page - 1) / page * page;
  auto* p = static_cast<double*>(std::aligned_alloc(page, bytes));
  if (!p) throw std::bad_alloc();
  madvise(p, bytes, MADV_HUGEPAGE);
  return std::unique_ptr<double[], Release>(p);
}

/// STREAM's triad as the compiler makes it, the pages touched first by the threads that use them.
struct Triad {
  std::unique_ptr<double[], Release> x = huge_array(), y = huge_array(), z = huge_array();
  double s = 3.0;
  explicit Triad(int threads) {
    double *px = x.get(), *py = y.get(), *pz = z.get();
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < kN; ++i) px[i] = 0, py[i] = 1, pz[i] = 2;
  }
  void run(int threads) {
    double *px = x.get(), *py = y.get(), *pz = z.get();
    const double t = s;
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < kN; ++i) px[i] = py[i] + t * pz[i];
  }
};

double compare(int threads, bool planned, const std::string& name) {
  using tessera::Tensor;
  tessera::set_num_threads(threads);
  const Tensor a = tessera::linspace(-1, 1, kN), b = tessera::linspace(2, 3, kN),
               c = tessera::linspace(0, 5, kN);
  const auto f = [](Tensor u, Tensor v, Tensor w) { return u * v + w; };
  const auto compiled = tessera::jit(f);
  Triad triad(threads);
  Tensor y;
  const bench::Versus v = bench::alternate(
      kRounds, [&] { y = planned ? compiled(a, b, c) : f(a, b, c); }, [&] { triad.run(threads); });
  const auto pa = a.data<double>(), pb = b.data<double>(), pc = c.data<double>(),
             py = y.data<double>();
  for (std::int64_t i = 0; i < kN; i += 997)
    if (py[i] != pa[i] * pb[i] + pc[i]) {
      std::printf("# wrong value at %ld\n", static_cast<long>(i));
      std::exit(1);
    }
  bench::print(name + "_bandwidth", 6 * kArray / v.ours * 1e-9, "GB/s");
  bench::print(name + "_triad_bandwidth", 3 * kArray / v.peer * 1e-9, "GB/s");
  bench::print(name + "_ratio", 2 * v.ratio, "x");
  bench::print(name + "_ratio_low_quartile", 2 * v.ratio_low, "x");
  bench::print(name + "_ratio_high_quartile", 2 * v.ratio_high, "x");
  return 2 * v.ratio;
}

}  // namespace

int main() {
  bench::print_machine();
  std::printf("# 10^7 doubles, %d rounds; bounded by memory\n", kRounds);
  const int all = tessera::num_threads();
  double worst = compare(1, true, "muladd_planned_1");
  worst = std::min(worst, compare(1, false, "muladd_eager_1"));
  if (all > 1) {
    worst = std::min(worst, compare(all, true, "muladd_planned_" + std::to_string(all)));
    worst = std::min(worst, compare(all, false, "muladd_eager_" + std::to_string(all)));
  }
  bench::print("muladd_ratio", worst, "x");  // the least of planned and eager, one thread and all
}
