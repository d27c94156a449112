// SPDX-License-Identifier: Apache-2.0
//
// The same bits on any number of threads, from a whole gradient down to one product, where OpenBLAS
// called with its own threads gives others; and calls from several host threads at once.
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/thread_count.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <thread>

extern "C" {
void openblas_set_num_threads(int n);
int openblas_get_num_threads();
void dgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
}

using namespace tessera;

namespace {

std::vector<double> normal(std::size_t n, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> draw;
  std::vector<double> v(n);
  for (double& x : v) x = draw(engine);
  return v;
}

/// Sets the number of threads and gives it back.
class WithThreads {
 public:
  explicit WithThreads(int n) : before_(num_threads()) { set_num_threads(n); }
  ~WithThreads() { set_num_threads(before_); }
  WithThreads(const WithThreads&) = delete;

 private:
  int before_;
};

/// The bits of f() on 1, 2 and 4 threads, and on 4 again.
void expect_same_bits(const std::function<Tensor()>& f) {
  std::vector<double> first;
  for (int n : {1, 2, 4, 4}) {
    const WithThreads threads(n);
    const std::vector<double> y = f().to_vector();
    if (first.empty()) first = y;
    ASSERT_EQ(y.size(), first.size());
    EXPECT_EQ(std::memcmp(y.data(), first.data(), y.size() * sizeof(double)), 0) << n << " threads";
  }
}

}  // namespace

TEST(Threads, ReductionsHaveTheSameBits) {
  const Tensor x = tensor(normal(1'000'003, 1)), m = tensor(normal(1500 * 700, 2), {1500, 700});
  expect_same_bits([&] { return sum(x); });
  expect_same_bits([&] { return sum(m, {0}); });
  expect_same_bits([&] { return sum(m, {1}); });
  expect_same_bits([&] { return sum(transpose(m), {0}); });
  expect_same_bits([&] { return dot(x, x); });
}

TEST(Threads, ElementwiseHasTheSameBits) {
  const Tensor x = tensor(normal(300'001, 3)), m = tensor(normal(600 * 501, 4), {600, 501}),
               row = tensor(normal(501, 5));
  expect_same_bits([&] { return exp(x) * tanh(x) + 1.0 / (2.0 + square(x)); });
  expect_same_bits([&] { return m * row + sin(m); });
  expect_same_bits([&] { return transpose(m) * 2.0 - reverse(transpose(m), {0}); });
}

TEST(Threads, AWholeGradientHasTheSameBitsEagerAndPlanned) {
  const Tensor x = tensor(normal(300 * 120, 6), {300, 120}),
               w = tensor(normal(120 * 250, 7), {120, 250}),
               v = tensor(normal(250 * 9, 8), {250, 9});
  const auto g = grad([&](Tensor u) { return sum(square(matmul(tanh(matmul(x, u) * 0.1), v))); });
  const auto planned = jit(g);
  expect_same_bits([&] { return g(w); });
  expect_same_bits([&] { return planned(w); });
  EXPECT_EQ(g(w).to_vector(), planned(w).to_vector());
}

// The reason for our own tiles (docs of matmul): OpenBLAS cuts a product by the number of its
// threads.
TEST(Threads, MatmulKeepsItsBitsWhereOpenblasDoesNot) {
  constexpr int n = 600;
  const std::vector<double> a = normal(n * n, 9), b = normal(n * n, 10);
  const Tensor ta = tensor(a, {n, n}), tb = tensor(b, {n, n});
  expect_same_bits([&] { return matmul(ta, tb); });
  std::vector<double> c[2];
  const int before = openblas_get_num_threads();
  for (int threads : {1, 2}) {
    openblas_set_num_threads(threads);
    std::vector<double>& out = c[threads - 1];
    out.resize(n * n);
    const double one = 1, zero = 0;
    dgemm_("N", "N", &n, &n, &n, &one, b.data(), &n, a.data(), &n, &zero, out.data(), &n);
  }
  openblas_set_num_threads(before);
  std::size_t differing = 0;
  for (std::size_t i = 0; i < c[0].size(); ++i) differing += c[0][i] != c[1][i];
  RecordProperty("openblas_entries_that_differ", static_cast<int>(differing));
  if (differing == 0)
    GTEST_SKIP() << "this OpenBLAS, on this machine, gives the same bits on one and two threads";
}

TEST(Threads, FirstCallsOfOnePlanFromSeveralHostThreadsAgree) {
  const Tensor x = tensor(normal(40'000, 11));
  const auto f = [](Tensor u) { return sum(sin(u) * exp(neg(square(u)))); };
  const std::vector<double> expect = grad(f)(x).to_vector();
  for (int round = 0; round < 5; ++round) {
    const auto planned = jit(grad(f));  // recorded by whoever comes first
    std::vector<int> wrong(4, 0);
    std::vector<std::thread> pool;
    for (std::size_t t = 0; t < wrong.size(); ++t)
      pool.emplace_back([&, t] {
        for (int i = 0; i < 5; ++i) wrong[t] += planned(x).to_vector() != expect;
      });
    for (std::thread& t : pool) t.join();
    EXPECT_EQ(wrong, std::vector<int>(4, 0));
  }
}

TEST(Threads, TensorsMayDieOnAnotherThreadThanTheirs) {
  std::vector<Tensor> made(64);
  std::thread([&] {
    for (std::size_t k = 0; k < made.size(); ++k)
      made[k] = full({Index{100} * static_cast<Index>(k)}, static_cast<double>(k));
  }).join();  // the maker's caches are gone
  for (std::size_t k = 0; k < made.size(); ++k)
    EXPECT_EQ(sum(made[k]).item(), 100.0 * static_cast<double>(k * k));
  std::thread([&] { made.clear(); }).join();
}

TEST(Threads, NeighbouringChunksStayWithOneThread) {
  const WithThreads threads(2);
  constexpr std::size_t n = 64;
  std::vector<std::thread::id> by(n);
  // A machine at work may hold one thread up, whose share the other then takes; not every time.
  for (int round = 0; round < 50; ++round) {
    parallel_chunks(n, [&](std::int64_t c) {
      by[static_cast<std::size_t>(c)] = std::this_thread::get_id();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    });
    int changes = 0;
    for (std::size_t c = 1; c < n; ++c) changes += by[c] != by[c - 1];
    if (changes > 0 && changes <= 3) return;
  }
  FAIL() << "in 50 loops threads never had shares of neighbours";
}

TEST(Threads, AnErrorInsideAParallelLoopReachesTheCaller) {
  const WithThreads threads(4);
  EXPECT_THROW(parallel_chunks(100,
                               [](std::int64_t c) {
                                 if (c == 57) throw Error("chunk 57");
                               }),
               Error);
  EXPECT_EQ(sum(ones({100'000})).item(), 100'000.0);  // and later loops still run
}

TEST(Threads, TheirNumberIsTheCallingThreads) {
  const WithThreads all(3);
  const std::vector<double> numbers = normal(200 * 200, 5);
  const Tensor a = tensor(numbers, {200, 200});
  const std::vector<double> want = matmul(a, tanh(a)).to_vector();
  int within = 0, nested = 0, after = 0, other = 0;
  std::vector<double> got[2];
  std::thread one([&] {
    {
      const ThreadCount count(2);
      within = num_threads();
      {
        const ThreadCount none(0);
        nested = num_threads();
        got[0] = matmul(a, tanh(a)).to_vector();
      }
      EXPECT_EQ(num_threads(), 2);
      got[1] = matmul(a, tanh(a)).to_vector();
      std::thread([&] { other = num_threads(); }).join();
    }
    after = num_threads();
  });
  EXPECT_EQ(num_threads(), 3);
  one.join();
  EXPECT_EQ(within, 2);
  EXPECT_EQ(nested, 1);
  EXPECT_EQ(other, 3);
  EXPECT_EQ(after, 3);
  EXPECT_EQ(got[0], want);
  EXPECT_EQ(got[1], want);
}

/// No chunk runs on a thread beyond the calling thread's number.
TEST(Threads, ChunksKeepToTheCallingThreadsNumber) {
  const WithThreads all(4);
  const ThreadCount count(2);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  parallel_chunks(64, [&](std::int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_LE(seen.size(), 2u);
}
