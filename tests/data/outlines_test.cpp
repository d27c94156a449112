// SPDX-License-Identifier: Apache-2.0
//
// Areas that are united: by hand, and against counted points.
#include "tessera/data/outlines.h"

#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

namespace tessera::data {
namespace {

Outline rectangle_at(double x, double y, double w, double h) {
  return {{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}};
}

/// How often outlines go round p, each taken as it runs.
int windings(const Outline& o, const Place2& p) {
  int sum = 0;
  for (std::size_t k = 0; k < o.size(); ++k) {
    const Place2 &a = o[k], &b = o[(k + 1) % o.size()];
    if ((a[1] > p[1]) == (b[1] > p[1])) continue;
    if (p[0] < a[0] + (p[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0])) sum += b[1] > a[1] ? 1 : -1;
  }
  return sum;
}

/// As many sides end at each corner as begin there.
void expect_closed(const std::vector<Side>& rim) {
  std::map<Place2, int> ends;
  for (const Side& s : rim) --ends[s.from], ++ends[s.to];
  for (const auto& [corner, n] : ends) EXPECT_EQ(n, 0) << corner[0] << " " << corner[1];
}

}  // namespace

TEST(Outlines, UnionsByHand) {
  const auto area = [](const std::vector<Outline>& o) {
    const std::vector<Side> rim = united(o);
    expect_closed(rim);
    return area_of(rim);
  };
  const Outline square = rectangle_at(0, 0, 2, 2);
  EXPECT_EQ(area({}), 0);
  EXPECT_EQ(area({{{0, 0}, {1, 1}}}), 0);
  EXPECT_EQ(area({square}), 4);
  EXPECT_EQ(area({square, square}), 4);
  EXPECT_EQ(area({square, {square.rbegin(), square.rend()}}), 4);  // either way round
  EXPECT_EQ(area({square, rectangle_at(1, 1, 2, 2)}), 7);
  EXPECT_EQ(area({square, rectangle_at(2, 0, 1, 2)}), 6);  // a common side
  EXPECT_EQ(united({square, rectangle_at(2, 0, 1, 2)}).size(), 6U);
  EXPECT_EQ(area({square, rectangle_at(2, 2, 1, 1)}), 5);      // a common corner
  EXPECT_EQ(area({square, rectangle_at(2, 0.5, 1, 1)}), 5);    // part of a side
  EXPECT_EQ(area({square, rectangle_at(0.5, 0.5, 1, 1)}), 4);  // within
  EXPECT_EQ(area({{{0, 0}, {2, 2}, {2, 0}, {0, 2}}}), 2);      // crosses itself
  // A hole that a line there and back joins to the outside.
  EXPECT_EQ(
      area({{{0, 0}, {4, 0}, {4, 4}, {0, 4}, {0, 0}, {1, 1}, {1, 3}, {3, 3}, {3, 1}, {1, 1}}}), 12);
  EXPECT_EQ(area({{{0, 0}, {4, 0}, {4, 4}, {0, 4}, {0, 0}, {1, 1}, {1, 3}, {3, 3}, {3, 1}, {1, 1}},
                  rectangle_at(2, 2, 4, 1)}),
            12 + 1 + 2);
  EXPECT_THROW(united({{{0, 0}, {1, NAN}, {1, 1}}}), Error);
}

// Long sides that nearly coincide: crossings rounded to the grid must not go along them step by
// step.
TEST(Outlines, LongSidesThatNearlyCoincideAreUnited) {
  constexpr double far = 6.7108908e7;
  for (const double e : {1e-7, 1e-5}) {
    std::vector<Outline> all;
    for (int k = 0; k < 6; ++k) {
      all.push_back(
          {{k * e, k * e}, {far, 82 + 7 * k * e}, {far - k, 90 - k * e}, {3 * k * e - 1, 100}});
      all.push_back({{40 - k * e, -2.7e8},
                     {40 + k * e, 32 + k * e},
                     {far, 82 + 3 * k * e},
                     {far, 90 - 6e-7 * k},
                     {6e-7 * k, 100 - 6e-7 * k}});
    }
    std::map<Place2, int> ends;
    const std::vector<Side> rim = united(all);
    for (const Side& s : rim) --ends[s.from], ++ends[s.to];
    EXPECT_GT(rim.size(), 5u);
    for (const auto& [corner, n] : ends) EXPECT_EQ(n, 0) << corner[0] << " " << corner[1];
  }
}

TEST(Outlines, UnionsOfManyAgreeWithCountedPoints) {
  std::mt19937_64 random(4);
  std::uniform_int_distribution<int> corner(-12, 12);
  std::uniform_real_distribution<double> along(-12.3, 12.3);
  for (int round = 0; round < 60; ++round) {
    std::vector<Outline> o(1 + round % 12);
    for (Outline& one : o)  // whole corners: many touch, many cross themselves
      for (int k = 0; k < 3 + round % 6; ++k)
        one.push_back({double(corner(random)), double(corner(random))});
    const std::vector<Side> rim = united(o);
    expect_closed(rim);
    const SideTree tree(rim);
    for (int k = 0; k < 400; ++k) {
      const Place2 p{along(random), along(random)};
      bool inside = false;
      for (const Outline& one : o) inside = inside || windings(one, p) != 0;
      int round_rim = 0;
      for (const Side& s : rim)
        if ((s.from[1] > p[1]) != (s.to[1] > p[1]) &&
            p[0] < s.from[0] + (p[1] - s.from[1]) / (s.to[1] - s.from[1]) * (s.to[0] - s.from[0]))
          round_rim += s.to[1] > s.from[1] ? 1 : -1;
      EXPECT_EQ(round_rim, inside) << round << ": " << p[0] << " " << p[1];
    }
  }
}

}  // namespace tessera::data
