// SPDX-License-Identifier: Apache-2.0
#include "geometry/polylines.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::electromagnetics::detail {
namespace {

double distance_to_segment(const std::array<double, 2>& p, const std::array<double, 2>& a,
                           const std::array<double, 2>& b) {
  const double du = b[0] - a[0], dv = b[1] - a[1], square = du * du + dv * dv;
  const double t =
      square > 0 ? std::clamp(((p[0] - a[0]) * du + (p[1] - a[1]) * dv) / square, 0.0, 1.0) : 0;
  return std::hypot(p[0] - a[0] - t * du, p[1] - a[1] - t * dv);
}

}  // namespace

std::vector<std::vector<int>> chains(std::size_t n_points,
                                     const std::vector<std::array<int, 2>>& segments) {
  std::vector<std::array<int, 2>> of_point(n_points, {-1, -1});  // the segments that end there
  for (std::size_t s = 0; s < segments.size(); ++s)
    for (const int p : segments[s]) {
      auto& own = of_point[static_cast<std::size_t>(p)];
      own[own[0] < 0 ? 0 : 1] = static_cast<int>(s);
    }
  std::vector<bool> used(segments.size(), false);
  std::vector<std::vector<int>> lines;
  const auto follow = [&](int point) {
    std::vector<int> line{point};
    for (;;) {
      int next = -1;
      for (const int s : of_point[static_cast<std::size_t>(point)])
        if (s >= 0 && !used[static_cast<std::size_t>(s)]) next = s;
      if (next < 0) break;
      used[static_cast<std::size_t>(next)] = true;
      const auto& ends = segments[static_cast<std::size_t>(next)];
      point = ends[0] == point ? ends[1] : ends[0];
      line.push_back(point);
    }
    if (line.size() > 1) lines.push_back(std::move(line));
  };
  for (std::size_t p = 0; p < n_points;
       ++p)  // open lines from one of their ends, then what is left: closed ones
    if (of_point[p][1] < 0) follow(static_cast<int>(p));
  for (std::size_t p = 0; p < n_points; ++p) follow(static_cast<int>(p));
  return lines;
}

std::vector<std::array<double, 2>> simplified(const std::vector<std::array<double, 2>>& line,
                                              double tolerance) {
  if (line.size() < 3) return line;
  std::vector<bool> keep(line.size(), false);
  keep.front() = keep.back() = true;
  std::vector<std::pair<std::size_t, std::size_t>> spans{{0, line.size() - 1}};
  while (!spans.empty()) {
    const auto [first, last] = spans.back();
    spans.pop_back();
    std::size_t furthest = first;
    double most = tolerance;
    for (std::size_t i = first + 1; i < last; ++i) {
      const double d = distance_to_segment(line[i], line[first], line[last]);
      if (d > most) most = d, furthest = i;
    }
    if (furthest == first) continue;
    keep[furthest] = true;
    spans.emplace_back(first, furthest);
    spans.emplace_back(furthest, last);
  }
  std::vector<std::array<double, 2>> out;
  for (std::size_t i = 0; i < line.size(); ++i)
    if (keep[i]) out.push_back(line[i]);
  return out;
}

}  // namespace tessera::electromagnetics::detail
