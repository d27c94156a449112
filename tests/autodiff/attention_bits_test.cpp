// SPDX-License-Identifier: Apache-2.0
//
// The sums of kernels/attention.h to the bit: loops that say in which order, nothing else, beside
// the kernels in all widths of vectors, on one thread and on three.
#include "autodiff/src/kernels/attention.h"
#include "autodiff/src/kernels/attention_blocks.h"
#include "autodiff/src/kernels/gemm_blocked.h"
#include "autodiff/src/kernels/vmath_log.h"
#include "tessera/autodiff/forall.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace tessera::attention_order {
namespace {

/// [1, tokens, heads, features] or, of booleans, [1, heads, n, m], in memory of its own.
template <class T>
struct Held {
  Shape shape;
  std::vector<T> numbers;
  explicit Held(const Shape& s) : shape(s), numbers(static_cast<std::size_t>(s.count())) {}
  View view() const {
    return {const_cast<T*>(numbers.data()), dtype_of<T>(), shape, row_major(shape)};
  }
  T& operator()(Index i, Index h, Index f) {
    return numbers[static_cast<std::size_t>((i * shape[2] + h) * shape[3] + f)];
  }
  T operator()(Index i, Index h, Index f) const { return const_cast<Held&>(*this)(i, h, f); }
};
template <class T>
Held<T> drawn(const Shape& s, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Held<T> x(s);
  for (T& v : x.numbers) v = static_cast<T>(normal(random));
  return x;
}

/// kRowStep sums of x, added in halves.
template <class T>
T in_halves(const std::vector<T>& x) {
  constexpr auto step = static_cast<std::size_t>(kernels::kRowStep<T>);
  T sums[step] = {};
  for (std::size_t j = 0; j < x.size(); ++j) sums[j % step] += x[j];
  for (std::size_t h = step / 2; h > 0; h /= 2)
    for (std::size_t i = 0; i < h; ++i) sums[i] += sums[i + h];
  return sums[0];
}

/// Attention and its derivatives by the formulas of kernels/attention.h.
template <class T>
struct Naive {
  static constexpr T never = -std::numeric_limits<T>::infinity();
  static constexpr Index kKeys = kernels::kAttentionKeys<T>;
  const Held<T>&q, &k, &v;
  const Held<bool>* mask;
  bool causal;
  Index n = q.shape[1], m = k.shape[1], heads = q.shape[2], d = q.shape[3], e = v.shape[3];
  T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(d)));
  Held<T> y{{1, n, heads, e}}, l{{1, 1, heads, n}};

  bool sees(Index h, Index i, Index j) const {
    if (causal && j > i + m - n) return false;
    return !mask ||
           mask->numbers[static_cast<std::size_t>(((mask->shape[1] > 1 ? h : 0) * n + i) * m + j)];
  }
  /// (c a_i) . b_j
  T scaled(const Held<T>& a, Index i, const Held<T>& b, Index j, Index h) const {
    T sum = 0;
    for (Index f = 0; f < d; ++f) sum = std::fma(scale * a(i, h, f), b(j, h, f), sum);
    return sum;
  }
  T p(Index h, Index i, Index j) const {
    const T li = l(0, h, i);
    if (!sees(h, i, j)) return 0;
    return kernels::exp_of_score(scaled(q, i, k, j, h) - (li == never ? T(0) : li));
  }
  void values() {
    for (Index h = 0; h < heads; ++h)
      for (Index i = 0; i < n; ++i) {
        T largest = never, total = 0;
        std::vector<T> sums(static_cast<std::size_t>(e));
        for (Index first = 0; first < m; first += kKeys) {
          const Index end = std::min(m, first + kKeys);
          std::vector<T> s;
          T now = largest;
          for (Index j = first; j < end; ++j) {
            s.push_back(sees(h, i, j) ? scaled(q, i, k, j, h) : never);
            now = std::max(now, s.back());
          }
          if (now != largest && largest != never) {
            const T factor = kernels::exp_of_score(largest - now);
            total *= factor;
            for (T& sum : sums) sum *= factor;
          }
          largest = now;
          for (T& score : s) score = kernels::exp_of_score(score - (now == never ? T(0) : now));
          total += in_halves(s);
          for (Index f = 0; f < e; ++f) {
            T run = 0;
            for (Index j = first; j < end; ++j)
              run = std::fma(s[static_cast<std::size_t>(j - first)], v(j, h, f), run);
            sums[static_cast<std::size_t>(f)] += run;
          }
        }
        for (Index f = 0; f < e; ++f)
          y(i, h, f) = total == 0 ? T(0) : sums[static_cast<std::size_t>(f)] / total;
        l(0, h, i) = total == 0 ? never : largest + kernels::vm::log(total);
      }
  }
  void tangents(const Held<T>& tq, const Held<T>& tk, const Held<T>& tv, Held<T>& ty,
                Held<T>& tl) const {
    for (Index h = 0; h < heads; ++h)
      for (Index i = 0; i < n; ++i) {
        T of_l = 0;
        std::vector<T> sums(static_cast<std::size_t>(e));
        for (Index first = 0; first < m; first += kKeys) {
          const Index end = std::min(m, first + kKeys);
          std::vector<T> w, pj;
          for (Index j = first; j < end; ++j) {
            pj.push_back(p(h, i, j));
            w.push_back(pj.back() * (scaled(tq, i, k, j, h) + scaled(q, i, tk, j, h)));
          }
          of_l += in_halves(w);
          const auto add = [&](const std::vector<T>& a, const Held<T>& b, Index f) {
            T run = 0;
            for (Index j = first; j < end; ++j)
              run = std::fma(a[static_cast<std::size_t>(j - first)], b(j, h, f), run);
            sums[static_cast<std::size_t>(f)] += run;
          };
          for (Index f = 0; f < e; ++f) add(w, v, f), add(pj, tv, f);
        }
        tl(0, h, i) = of_l;
        for (Index f = 0; f < e; ++f)
          ty(i, h, f) = std::fma(-of_l, y(i, h, f), sums[static_cast<std::size_t>(f)]);
      }
  }
  void gradients(const Held<T>& u, const Held<T>& w, Held<T>& gq, Held<T>& gk, Held<T>& gv) const {
    std::vector<T> of_pairs(static_cast<std::size_t>(n * m)), r(of_pairs.size());
    for (Index h = 0; h < heads; ++h) {
      const auto at = [&](std::vector<T>& x, Index i, Index j) -> T& {
        return x[static_cast<std::size_t>(i * m + j)];
      };
      for (Index i = 0; i < n; ++i) {
        T mean = -w(0, h, i);
        for (Index f = 0; f < e; ++f) mean = std::fma(u(i, h, f), y(i, h, f), mean);
        for (Index j = 0; j < m; ++j) {
          T dot = 0;
          for (Index f = 0; f < e; ++f) dot = std::fma(u(i, h, f), v(j, h, f), dot);
          at(of_pairs, i, j) = p(h, i, j);
          at(r, i, j) = at(of_pairs, i, j) * (dot - mean);
        }
        for (Index f = 0; f < d; ++f) {
          T sum = 0;
          for (Index first = 0; first < m; first += kKeys) {
            T run = 0;
            for (Index j = first; j < std::min(m, first + kKeys); ++j)
              run = std::fma(at(r, i, j), k(j, h, f), run);
            sum = std::fma(scale, run, sum);
          }
          gq(i, h, f) = sum;
        }
      }
      const auto over_queries = [&](auto term) {
        T sum = 0, run = 0;
        for (Index i = 0; i < n; ++i) {
          term(i, run);
          if ((i + 1) % kernels::kDepth<T> == 0 || i + 1 == n) sum += run, run = 0;
        }
        return sum;
      };
      for (Index j = 0; j < m; ++j) {
        for (Index f = 0; f < d; ++f)
          gk(j, h, f) = over_queries(
              [&](Index i, T& run) { run = std::fma(at(r, i, j), scale * q(i, h, f), run); });
        for (Index f = 0; f < e; ++f)
          gv(j, h, f) = over_queries(
              [&](Index i, T& run) { run = std::fma(at(of_pairs, i, j), u(i, h, f), run); });
      }
    }
  }
};

template <class T>
void expect_same(const Held<T>& got, const Held<T>& want, const std::string& what) {
  for (std::size_t i = 0; i < want.numbers.size(); ++i)
    ASSERT_EQ(std::memcmp(&got.numbers[i], &want.numbers[i], sizeof(T)), 0)
        << what << " at " << i << ": " << got.numbers[i] << " and " << want.numbers[i];
}

struct BitsCase {
  Index n, m, heads, d, e;
  bool causal, masked;
};

template <class T>
void expect_bits(const BitsCase& c) {
  const Shape of_q{1, c.n, c.heads, c.d}, of_k{1, c.m, c.heads, c.d}, of_v{1, c.m, c.heads, c.e},
      of_y{1, c.n, c.heads, c.e}, of_l{1, 1, c.heads, c.n};
  const Held<T> q = drawn<T>(of_q, 1), k = drawn<T>(of_k, 2), v = drawn<T>(of_v, 3),
                tq = drawn<T>(of_q, 4), tk = drawn<T>(of_k, 5), tv = drawn<T>(of_v, 6),
                u = drawn<T>(of_y, 7), w = drawn<T>(of_l, 8);
  Held<bool> mask({1, c.heads, c.n, c.m});
  std::mt19937_64 random(9);
  for (auto&& seen : mask.numbers) seen = random() % 3 > 0;
  const auto bytes = std::make_unique<bool[]>(mask.numbers.size());
  std::copy(mask.numbers.begin(), mask.numbers.end(), bytes.get());
  Naive<T> naive{q, k, v, c.masked ? &mask : nullptr, c.causal};
  naive.values();
  Held<T> ty(of_y), tl(of_l), gq(of_q), gk(of_k), gv(of_v);
  naive.tangents(tq, tk, tv, ty, tl);
  naive.gradients(u, w, gq, gk, gv);

  const View vq = q.view(), vk = k.view(), vv = v.view(), vtq = tq.view(), vtk = tk.view(),
             vtv = tv.view(), vu = u.view(), vy = naive.y.view();
  // Numbers of queries without the axis in front that makes them as long as others.
  const auto flat = [&](const Held<T>& x) {
    View view = x.view();
    view.shape = {1, c.heads, c.n}, view.strides = row_major(view.shape);
    return view;
  };
  const View vl = flat(naive.l), vw = flat(w),
             vm{bytes.get(), Dtype::boolean, mask.shape, row_major(mask.shape)};
  const kernels::AttentionOperands in{&vq, &vk, &vv, c.masked ? &vm : nullptr, c.causal};
  std::vector<int> widths{0};
  widths.insert(widths.end(), kernels::blocked_widths().begin(), kernels::blocked_widths().end());
  const int before = num_threads();
  for (const int width : widths)
    for (const int threads : {1, 3}) {
      set_num_threads(threads);
      const std::string what = " in " + std::to_string(width) + " bytes, " +
                               std::to_string(threads) + " threads, " + std::to_string(c.n) +
                               " x " + std::to_string(c.m);
      Held<T> y(of_y), l(of_l);
      kernels::attention_values<T>(width, in, y.numbers.data(), l.numbers.data());
      expect_same(y, naive.y, "y" + what), expect_same(l, naive.l, "L" + what);
      kernels::attention_tangents<T>(width, in, vy, vl, {&vtq, &vtk, &vtv}, y.numbers.data(),
                                     l.numbers.data());
      expect_same(y, ty, "y'" + what), expect_same(l, tl, "L'" + what);
      Held<T> hq(of_q), hk(of_k), hv(of_v);
      kernels::attention_gradients<T>(width, in, vy, vl, vu, vw,
                                      {hq.numbers.data(), hk.numbers.data(), hv.numbers.data()});
      expect_same(hq, gq, "gq" + what), expect_same(hk, gk, "gk" + what);
      expect_same(hv, gv, "gv" + what);
      // Each alone is the same.
      Held<T> alone(of_k);
      kernels::attention_gradients<T>(width, in, vy, vl, vu, vw,
                                      {nullptr, alone.numbers.data(), nullptr});
      expect_same(alone, gk, "gk alone" + what);
      if (testing::Test::HasFatalFailure()) return;
    }
  set_num_threads(before);
}

TEST(AttentionBits, AreThoseOfLoopsInTheStatedOrder) {
  // One head and several: threads take blocks or heads.
  for (const BitsCase& c :
       {BitsCase{5, 7, 2, 3, 2, false, false}, BitsCase{70, 300, 1, 5, 40, true, false},
        BitsCase{300, 70, 2, 17, 3, true, true}, BitsCase{1100, 260, 1, 4, 3, false, true},
        BitsCase{520, 520, 1, 9, 1, true, false}, BitsCase{40, 33, 6, 33, 65, true, true}}) {
    expect_bits<float>(c);
    expect_bits<double>(c);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(AttentionBits, OfARowAreThoseItHasAlone) {
  const Held<float> q = drawn<float>({1, 130, 2, 20}, 1), k = drawn<float>({1, 300, 2, 20}, 2),
                    v = drawn<float>({1, 300, 2, 20}, 3);
  const View vq = q.view(), vk = k.view(), vv = v.view();
  const int width = kernels::blocked_widths().empty() ? 0 : kernels::blocked_widths().back();
  std::vector<float> y(130 * 2 * 20), l(130 * 2);
  kernels::attention_values<float>(width, {&vq, &vk, &vv, nullptr, false}, y.data(), l.data());
  for (Index i : {0, 63, 129}) {
    View one = vq;
    one.data = const_cast<float*>(&q.numbers[static_cast<std::size_t>(i) * 40]);
    one.shape[1] = 1;
    std::vector<float> row(40), of_l(2);
    kernels::attention_values<float>(width, {&one, &vk, &vv, nullptr, false}, row.data(),
                                     of_l.data());
    EXPECT_EQ(std::memcmp(row.data(), &y[static_cast<std::size_t>(i) * 40], 160), 0) << i;
    EXPECT_EQ(of_l[1], l[static_cast<std::size_t>(130 + i)]);
  }
}

TEST(AttentionBits, ExponentialsAreRightToAnUlp) {
  const auto check = [](auto zero, double lowest, double epsilon) {
    using T = decltype(zero);
    double worst = 0;
    for (double x = lowest; x <= 0; x += 0.00317 * -lowest / 87) {
      const T at = static_cast<T>(x);
      const long double want = std::exp(static_cast<long double>(at));
      worst =
          std::max(worst, static_cast<double>(std::abs(kernels::exp_of_score(at) - want) / want));
    }
    EXPECT_LE(worst, 1.1 * epsilon);
    EXPECT_EQ(kernels::exp_of_score(T(0)), 1);
    EXPECT_EQ(kernels::exp_of_score(-std::numeric_limits<T>::infinity()), 0);
    EXPECT_EQ(kernels::exp_of_score(std::numeric_limits<T>::lowest()), 0);
    EXPECT_TRUE(std::isnan(kernels::exp_of_score(std::numeric_limits<T>::quiet_NaN())));
  };
  check(0.0F, -86.9, 1.2e-7);
  check(0.0, -707.9, 2.3e-16);
}

}  // namespace
}  // namespace tessera::attention_order
