// SPDX-License-Identifier: Apache-2.0
//
// The Yee scheme beside what the memory gives one core. A step that does h and then e over the
// whole grid moves 18 words of fields (each of the two halves reads 6 and writes 3 fields) and c of
// coefficients per cell; with c = 3 coefficient words in f64, 168 B. The roofline is the rate of
// the triad a = b + s c with stores past the caches (24 B a number) over that. Ours does h and e of
// a row together, hence may exceed it, and more so with several steps together. Rows of
// coefficients all differ, so that none is shared; no layers; blocks of the triad, of single steps
// and of steps together in turn.
//   fdtd_roofline_bench [--cells N] [--rounds N]
#include "fdtd_cases.h"
#include "interleave.h"
#include "tessera/autodiff/forall.h"

#include <immintrin.h>

#include <cstdlib>

namespace {

using namespace tessera::electromagnetics;

constexpr int kBlock = 16;  // steps

YeeModel all_rows_differ(int cells) {
  YeeModel m = bench::empty_cube(cells, tessera::Dtype::f64);
  const Faces conductor{Boundary::pec, Boundary::pec};
  m.faces = {conductor, conductor, conductor};
  m.material = [](int c, int j, int k, MaterialRow& row) {
    if (!is_electric(c)) return;
    for (std::size_t i = 0; i < row.inverse.size(); ++i)
      row.inverse[i] =
          0.5 + 0.1 * std::sin(0.01 * static_cast<double>(i) + 0.7123 * j + 1.3317 * k + c);
  };
  return m;
}

/// a = b + s c, stores that pass the caches.
void triad(double* a, const double* b, const double* c, std::int64_t n) {
  const __m256d s = _mm256_set1_pd(3.0);
  for (std::int64_t i = 0; i < n; i += 4)
    _mm256_stream_pd(a + i,
                     _mm256_add_pd(_mm256_load_pd(b + i), _mm256_mul_pd(s, _mm256_load_pd(c + i))));
  _mm_sfence();
}

}  // namespace

int main(int argc, char** argv) {
  int cells = 200, rounds = 9;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--cells")
      cells = std::atoi(argv[i + 1]);
    else if (key == "--rounds")
      rounds = std::atoi(argv[i + 1]);
    else
      return std::fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  tessera::set_num_threads(1);
  bench::print_machine();
  const YeeModel model = all_rows_differ(cells);
  bench::Stepper single(model, kBlock, {.steps = 1}), together(model, kBlock);
  const double words = single.scheme().traffic().coefficient_words_per_cell,
               bytes = single.scheme().traffic().unfused_bytes_per_cell;
  const std::int64_t n = std::int64_t{1} << 24;  // 128 MiB an array
  const tessera::Type array{tessera::Dtype::f64, {n}};
  const tessera::Tensor a = tessera::empty(array), b = tessera::full({n}, 1.0),
                        c = tessera::full({n}, 2.0);
  const auto stream = [&] {
    triad(static_cast<double*>(a.view().data), static_cast<const double*>(b.view().data),
          static_cast<const double*>(c.view().data), n);
  };
  std::printf(
      "# %d^3 cells, f64, one thread, %.2f coefficient words and %.0f B a cell, blocks of %d "
      "steps\n",
      cells, words, bytes, kBlock);
  std::vector<double> rate, single_share, together_share, single_rate, together_rate;
  stream(), single(), together();
  const double count = std::pow(cells, 3) * kBlock;
  for (int r = 0; r < rounds; ++r) {
    rate.push_back(24.0 * static_cast<double>(n) / bench::seconds_of(stream) / 1e9);
    single_rate.push_back(count / bench::seconds_of(single) / 1e6);
    together_rate.push_back(count / bench::seconds_of(together) / 1e6);
    const double roofline = rate.back() * 1e3 / 168;
    single_share.push_back(single_rate.back() / roofline);
    together_share.push_back(together_rate.back() / roofline);
  }
  bench::print("triad", bench::median(rate), "GB/s");
  bench::print("triad_spread", bench::spread(rate), "x");
  bench::print("single_rate", bench::median(single_rate), "Mcells/s");
  bench::print("blocked_rate", bench::median(together_rate), "Mcells/s");
  bench::print("roofline_share", bench::median(single_share), "x");
  bench::print("roofline_share_spread", bench::spread(single_share), "x");
  bench::print("blocked_roofline_share", bench::median(together_share), "x");
  bench::print("blocked_roofline_share_spread", bench::spread(together_share), "x");
}
