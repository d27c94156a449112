// SPDX-License-Identifier: Apache-2.0
//
// The sums of kernels/convolution.h to the bit: loops that say in which order, nothing else.
#include "autodiff/src/kernels/convolution.h"
#include "autodiff/src/kernels/gemm_blocked.h"
#include "autodiff/src/kernels/scalar.h"
#include "tessera/autodiff/forall.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

namespace kernels = tessera::kernels;
using Index = std::int64_t;
using Triple = std::array<Index, 3>;
using kernels::ConvolutionShape;

template <class T>
T fused(T a, T b, T sum) {
  if constexpr (kernels::is_cplx<T>) {
    auto re = std::fma(a.real(), b.real(), sum.real()),
         im = std::fma(a.real(), b.imag(), sum.imag());
    re = std::fma(-a.imag(), b.imag(), re), im = std::fma(a.imag(), b.real(), im);
    return {re, im};
  } else {
    return std::fma(a, b, sum);
  }
}

/// One element's sum in runs.
template <class T>
struct OrderedSum {
  T run{}, total{};
  Index in_run = 0, runs = 0;
  void close() {
    total = runs++ == 0 ? run : total + run;
    run = T(0), in_run = 0;
  }
  void count(Index most) {
    if (in_run == most) close();
    ++in_run;
  }
  T value() {
    if (in_run > 0) close();
    return total;
  }
};

/// Memory of an operand with other numbers between its elements.
template <class T>
struct Held {
  std::vector<T> memory;
  kernels::ConvolutionOperand<T> at{};
  T operator()(Index lead, Triple p, Index last) const {
    return at.data[lead * at.lead + p[0] * at.axis[0] + p[1] * at.axis[1] + p[2] * at.axis[2] +
                   last * at.last];
  }
};
template <class T>
T random_number(std::mt19937_64& random) {
  std::uniform_real_distribution<double> u(-1, 1);
  if constexpr (kernels::is_cplx<T>) {
    using R = typename T::value_type;
    const R re = static_cast<R>(u(random));
    return {re, static_cast<R>(u(random))};
  } else {
    return static_cast<T>(u(random));
  }
}
/// Row-major with gaps behind each axis but the last; of weights the channels of a group may lie
/// closer than those of the result.
template <class T>
Held<T> held(Index lead, Triple n, Index last, Index gap, bool weights, std::mt19937_64& random) {
  Held<T> h;
  Index step = 1;
  h.at.last = 1;
  step = last + gap;
  if (weights) {
    h.at.lead = step;
    step *= lead;
    if (gap > 1) h.at.lead = 1, h.at.last = lead;  // transposed
  }
  for (int a = 2; a >= 0; --a)
    h.at.axis[static_cast<std::size_t>(a)] = step,
    step = step * n[static_cast<std::size_t>(a)] + gap;
  if (!weights) h.at.lead = step, step *= lead;
  for (Index i = 0; i < step; ++i) h.memory.push_back(random_number<T>(random));
  h.at.data = h.memory.data();
  return h;
}

std::string text(const ConvolutionShape& s) {
  std::string t = "batch " + std::to_string(s.batch) + " groups " + std::to_string(s.groups) +
                  " c " + std::to_string(s.c) + " f " + std::to_string(s.f);
  for (const auto& a : s.axis)
    for (Index v : {a.n, a.k, a.m, a.stride, a.low, a.dilation, a.spread})
      t += " " + std::to_string(v);
  return t;
}

/// Position of x that o and j meet along an axis; -1: none.
Index met(const kernels::ConvolutionAxis& a, Index o, Index j) {
  const Index at = a.stride * o + a.dilation * j - a.low;
  return at < 0 || at % a.spread != 0 || at / a.spread >= a.n ? -1 : at / a.spread;
}
template <class F>
void over(Triple n, F f) {
  for (Index i = 0; i < n[0]; ++i)
    for (Index j = 0; j < n[1]; ++j)
      for (Index k = 0; k < n[2]; ++k) f(Triple{i, j, k});
}
Triple sizes(const ConvolutionShape& s, Index kernels::ConvolutionAxis::*of) {
  return {s.axis[0].*of, s.axis[1].*of, s.axis[2].*of};
}
bool inside(const Triple& p) { return p[0] >= 0 && p[1] >= 0 && p[2] >= 0; }

template <class T>
struct Naive {
  const ConvolutionShape& s;
  const Held<T>&x, &w, &y;
  Triple n = sizes(s, &kernels::ConvolutionAxis::n), k = sizes(s, &kernels::ConvolutionAxis::k),
         m = sizes(s, &kernels::ConvolutionAxis::m);
  Triple position(const Triple& o, const Triple& j) const {
    return {met(s.axis[0], o[0], j[0]), met(s.axis[1], o[1], j[1]), met(s.axis[2], o[2], j[2])};
  }
  std::vector<T> of_y() const {
    std::vector<T> out;
    for (Index b = 0; b < s.batch; ++b)
      over(m, [&](Triple o) {
        for (Index g = 0; g < s.groups; ++g)
          for (Index f = 0; f < s.f; ++f) {
            OrderedSum<T> sum;
            over(k, [&](Triple j) {
              const Triple i = position(o, j);
              for (Index c = 0; inside(i) && c < s.c; ++c) {
                sum.count(kernels::kDepth<T>);
                sum.run = fused(x(b, i, g * s.c + c), w(c, j, g * s.f + f), sum.run);
              }
            });
            out.push_back(sum.value());
          }
      });
    return out;
  }
  std::vector<T> of_x() const {
    std::vector<T> out;
    for (Index b = 0; b < s.batch; ++b)
      over(n, [&](Triple i) {
        for (Index g = 0; g < s.groups; ++g)
          for (Index c = 0; c < s.c; ++c) {
            OrderedSum<T> sum;
            over(k, [&](Triple j) {
              Triple o{-1, -1, -1};
              for (std::size_t a = 0; a < 3; ++a)
                for (Index p = 0; p < m[a]; ++p)
                  if (met(s.axis[a], p, j[a]) == i[a]) o[a] = p;
              for (Index f = 0; inside(o) && f < s.f; ++f) {
                sum.count(kernels::kDepth<T>);
                sum.run = fused(y(b, o, g * s.f + f), w(c, j, g * s.f + f), sum.run);
              }
            });
            out.push_back(sum.value());
          }
      });
    return out;
  }
  std::vector<T> of_w() const {
    std::vector<T> out;
    over(k, [&](Triple j) {
      for (Index c = 0; c < s.c; ++c)
        for (Index g = 0; g < s.groups; ++g)
          for (Index f = 0; f < s.f; ++f) {
            OrderedSum<T> sum;
            for (Index b = 0; b < s.batch; ++b)
              over(m, [&](Triple o) {
                sum.count(kernels::kDepth<T>);
                const Triple i = position(o, j);
                if (inside(i)) sum.run = fused(x(b, i, g * s.c + c), y(b, o, g * s.f + f), sum.run);
              });
            out.push_back(sum.value());
          }
    });
    return out;
  }
};

template <class T>
void expect_bits(const std::vector<T>& got, const std::vector<T>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(std::memcmp(&got[i], &want[i], sizeof(T)), 0)
        << what << " at " << i << ": " << got[i] << " and " << want[i];
}

template <class T>
void expect_ordered(const ConvolutionShape& s, Index gap, unsigned seed) {
  std::mt19937_64 random(seed);
  const Triple n = sizes(s, &kernels::ConvolutionAxis::n),
               k = sizes(s, &kernels::ConvolutionAxis::k),
               m = sizes(s, &kernels::ConvolutionAxis::m);
  const auto x = held<T>(s.batch, n, s.groups * s.c, gap, false, random),
             w = held<T>(s.c, k, s.groups * s.f, gap, true, random),
             y = held<T>(s.batch, m, s.groups * s.f, gap, false, random);
  const Naive<T> naive{s, x, w, y};
  std::vector<int> widths{0};
  if (!kernels::is_cplx<T>)
    widths.insert(widths.end(), kernels::blocked_widths().begin(), kernels::blocked_widths().end());
  const std::vector<T> of_y = naive.of_y(), of_x = naive.of_x(), of_w = naive.of_w();
  const int before = tessera::num_threads();
  for (const int width : widths)
    for (const int threads : {1, 3}) {
      tessera::set_num_threads(threads);
      const std::string what = " in " + std::to_string(width) + " bytes, " +
                               std::to_string(threads) + " threads, " + text(s);
      const T never(std::numeric_limits<float>::max());
      std::vector<T> got(of_y.size(), never);
      kernels::convolution_y<T>(width, s, x.at, w.at, got.data());
      expect_bits(got, of_y, "y" + what);
      got.assign(of_x.size(), never);
      kernels::convolution_x<T>(width, s, y.at, w.at, got.data());
      expect_bits(got, of_x, "x" + what);
      got.assign(of_w.size(), never);
      kernels::convolution_w<T>(width, s, x.at, y.at, got.data());
      expect_bits(got, of_w, "w" + what);
      if (testing::Test::HasFatalFailure()) return;
    }
  tessera::set_num_threads(before);
}
template <class... T>
void expect_ordered_in(const ConvolutionShape& s, Index gap, unsigned seed) {
  (expect_ordered<T>(s, gap, seed), ...);
}

/// m of the sizes that `high` gives.
kernels::ConvolutionAxis along(Index n, Index k, Index stride, Index low, Index high,
                               Index dilation, Index spread) {
  const Index room = (n == 0 ? 0 : spread * (n - 1) + 1) + low + high - dilation * (k - 1);
  return {n, k, room <= 0 ? 0 : (room - 1) / stride + 1, stride, low, dilation, spread};
}

TEST(ConvolutionBits, EveryStrideBorderDilationAndGroup) {
  // Small arrays of every kind; the largest window is longer than the input.
  std::mt19937_64 random(1);
  const auto draw = [&](Index low, Index high) {
    return std::uniform_int_distribution<Index>(low, high)(random);
  };
  for (unsigned trial = 0; trial < 300; ++trial) {
    ConvolutionShape s{draw(1, 3), 1, draw(1, 5), draw(1, 5), {}};
    if (trial % 3 == 0) s.groups = draw(2, 4);
    if (trial % 9 == 0) s.c = s.f = 1, s.groups = draw(1, 40);
    const Index dims = 1 + trial % 3;
    for (Index a = 3 - dims; a < 3; ++a)
      s.axis[static_cast<std::size_t>(a)] =
          along(draw(1, dims == 1 ? 40 : 7), draw(1, 4), draw(1, 3), draw(-2, 4), draw(-2, 4),
                draw(1, 3), draw(1, 3));
    expect_ordered_in<float, double, tessera::c64, tessera::c128>(s, trial % 4, trial);
    if (HasFatalFailure()) return;
  }
}

TEST(ConvolutionBits, ManyChannelsAndRuns) {
  // Sums over more than one run, panels and tiles with a rest, work for several threads.
  const auto three = along(9, 3, 1, 1, 1, 1, 1), two = along(30, 3, 2, 1, 0, 2, 1),
             spread = along(7, 4, 1, 2, 2, 1, 3);
  expect_ordered<double>({2, 1, 70, 37, {{{}, three, three}}}, 0, 1);
  expect_ordered<float>({2, 1, 130, 19, {{{}, three, three}}}, 1, 2);
  expect_ordered<double>({1, 2, 33, 40, {{{}, {}, two}}}, 2, 3);
  expect_ordered<float>({3, 1, 16, 64, {{{}, spread, two}}}, 0, 4);
  expect_ordered<double>({20, 1, 16, 16, {{three, {}, three}}}, 0, 5);
  expect_ordered<float>({40, 1, 8, 24, {{{}, {}, along(64, 5, 1, 2, 2, 1, 1)}}}, 0, 6);
  expect_ordered<double>({3, 48, 1, 1, {{{}, along(20, 3, 1, 1, 1, 1, 1), two}}}, 0, 7);
  expect_ordered<float>({3, 53, 1, 1, {{{}, spread, two}}}, 1, 8);
  // Enough channels for w to be made of packed parts.
  expect_ordered<double>({2, 1, 257, 270, {{{}, {}, along(21, 3, 1, 1, 0, 1, 1)}}}, 0, 10);
  expect_ordered<float>({60, 1, 256, 256, {{{}, {}, along(9, 1, 1, 0, 0, 1, 1)}}}, 1, 11);
  expect_ordered<tessera::c128>({2, 1, 40, 7, {{{}, three, two}}}, 0, 9);
}

TEST(ConvolutionBits, WhatLiesOutsideDoesNotTakePart) {
  // Weights that no position of x ever meets may be anything.
  ConvolutionShape s{1, 1, 1, 1, {{{}, {}, along(3, 3, 1, 1, 1, 1, 1)}}};
  const double x[] = {1, 2, 3}, w[] = {INFINITY, 1, NAN};
  double y[3];
  for (const int width :
       {0, kernels::blocked_widths().empty() ? 0 : kernels::blocked_widths().back()}) {
    kernels::convolution_y<double>(width, s, {x, 3, {0, 0, 1}, 1}, {w, 1, {0, 0, 1}, 1}, y);
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
    EXPECT_EQ(y[2], INFINITY);  // 2 inf + 3: NaN is beyond the border
  }
}

}  // namespace
