// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "molecular_cases.h"
#include "tessera/molecular/trajectory.h"

#include <cmath>
#include <random>

namespace tessera::molecular::testing {

/// Waters that move a little from frame to frame, in a slanted box that breathes; some lie outside
/// of it. Step 10 f, time 0.02 f ps.
inline std::vector<Snapshot> moving_waters(std::size_t waters, std::size_t frames,
                                           unsigned seed = 3) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> any(-0.2, 1.2);
  const Box box = box_of_angles({2.1, 2.3, 2.2}, {75, 80, 70});
  std::vector<Vec3> x;
  const auto moved = [&](const Vec3& p, double by) {
    return Vec3{p[0] + by * normal(random), p[1] + by * normal(random), p[2] + by * normal(random)};
  };
  for (std::size_t m = 0; m < waters; ++m) {
    x.push_back(from_fractions(box, {any(random), any(random), any(random)}));
    for (int h = 0; h < 2; ++h) x.push_back(moved(x[3 * m], 0.06));
  }
  std::vector<Snapshot> out;
  for (std::size_t f = 0; f < frames; ++f) {
    Snapshot s;
    for (Vec3& p : x) p = moved(p, 0.02);
    s.frame.x_nm = x;
    for (std::size_t i = 0; i < x.size(); ++i)
      s.frame.v_nm_ps.push_back(moved({}, 0.5)), s.f.push_back(moved({}, 300));
    s.frame.box = box;
    for (Vec3& e : s.frame.box.edge)
      for (double& v : e) v *= 1 + 0.001 * static_cast<double>(f);
    s.frame.step = static_cast<std::int64_t>(10 * f);
    s.frame.time_ps = 0.02 * static_cast<double>(f);
    s.observables = {-1000.0 - normal(random), 300 + normal(random)};
    out.push_back(std::move(s));
  }
  return out;
}

inline TrajectoryOptions all_of_it() {
  TrajectoryOptions o;
  o.velocities = o.forces = true;
  o.observables = {{"potential_energy", "kJ mol-1"}, {"temperature", "K"}};
  return o;
}

inline std::vector<Snapshot> read_all(TrajectoryReader& reader) {
  std::vector<Snapshot> out;
  for (Snapshot s; reader.read(s);) out.push_back(s);
  return out;
}

inline double largest_difference(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double d = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    for (std::size_t k = 0; k < 3; ++k) d = std::max(d, std::abs(a[i][k] - b[i][k]));
  return d;
}
inline double largest_difference(const Box& a, const Box& b) {
  return largest_difference(std::vector<Vec3>(a.edge.begin(), a.edge.end()),
                            std::vector<Vec3>(b.edge.begin(), b.edge.end()));
}

}  // namespace tessera::molecular::testing
