// SPDX-License-Identifier: Apache-2.0
#include "dynamics/barostats.h"

#include "dynamics/random.h"
#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace tessera::molecular {
namespace {

double edge_of(const Box& box, std::size_t axis) { return box.edge[axis][axis]; }
void stretch(Box& box, const Vec3& factor) {
  for (Vec3& e : box.edge)
    for (std::size_t c = 0; c < 3; ++c) e[c] *= factor[c];
}
constexpr std::size_t groups_of_a_block = 1024;

/// What f(begin, end) gives, over blocks of loose atoms and of rigid groups in turn.
template <std::size_t K, class Loose, class Rigid>
std::array<double, K> sum_over_parts(const Parts& p, Loose&& loose, Rigid&& rigid) {
  const auto blocks = [](std::size_t n) { return (n + groups_of_a_block - 1) / groups_of_a_block; };
  const std::size_t first = blocks(p.loose.size()), all = first + blocks(p.rigid.size());
  std::vector<std::array<double, K>> parts(all);
  parallel_chunks(static_cast<std::int64_t>(all), [&](std::int64_t chunk) {
    const auto c = static_cast<std::size_t>(chunk);
    const bool is_loose = c < first;
    const std::size_t begin = (is_loose ? c : c - first) * groups_of_a_block,
                      n = is_loose ? p.loose.size() : p.rigid.size();
    const std::size_t end = std::min(begin + groups_of_a_block, n);
    parts[c] = is_loose ? loose(begin, end) : rigid(begin, end);
  });
  std::array<double, K> sum{};
  for (const auto& part : parts)
    for (std::size_t k = 0; k < K; ++k) sum[k] += part[k];
  return sum;
}

}  // namespace

std::vector<Scale> scales_of(const Dynamics& o) {
  std::vector<std::vector<std::size_t>> together;
  switch (o.scaling) {
    case Dynamics::Scaling::isotropic:
      together = {{0, 1, 2}};
      break;
    case Dynamics::Scaling::semi_isotropic:
      together = {{0, 1}, {2}};
      break;
    case Dynamics::Scaling::anisotropic:
      together = {{0}, {1}, {2}};
      break;
  }
  std::vector<Scale> scales;
  for (const auto& axes : together) {
    const double pressure = o.pressure_bar[axes[0]],
                 compressibility = o.compressibility_per_bar[axes[0]];
    for (const std::size_t k : axes)
      if (o.pressure_bar[k] != pressure || o.compressibility_per_bar[k] != compressibility)
        throw Error(fmt::format(
            "[dynamics] edges that scale together need one pressure and one compressibility, got "
            "{} and {} bar, {} and {} 1/bar",
            pressure, o.pressure_bar[k], compressibility, o.compressibility_per_bar[k]));
    if (!(compressibility >= 0))
      throw Error(fmt::format("[dynamics] a compressibility must not be negative, got {} 1/bar",
                              compressibility));
    if (compressibility > 0)
      scales.push_back(
          {axes, pressure / bar_per_pressure_unit, compressibility * bar_per_pressure_unit});
  }
  if (scales.empty())
    throw Error("[dynamics] a barostat needs a compressibility above zero along one edge");
  return scales;
}

double coordinate_of(const Scale& s, const Box& box) {
  double q = 1;
  for (const std::size_t k : s.axes) q *= edge_of(box, k);
  return q;
}

Centres centres_of(const Parts& p, const State& m, double early, double late, double slow_kicks) {
  const auto& x = m.frame.x_nm;
  const auto& v = m.frame.v_nm_ps;
  const auto& f = m.forces.f;
  // Over two half steps the mean of u u is u u + mean of (u a + a u) t + a a t^2.
  const double once = 0.5 * (early + late), twice = 0.5 * (early * early + late * late);
  const auto add = [&](std::array<double, 18>& sum, double mass, const Vec3& u, const Vec3& a) {
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t l = 0; l < 3; ++l)
        sum[3 * k + l] +=
            mass * (u[k] * u[l] + once * (u[k] * a[l] + a[k] * u[l]) + twice * a[k] * a[l]);
  };
  const auto sum = sum_over_parts<18>(
      p,
      [&](std::size_t begin, std::size_t end) {
        std::array<double, 18> s{};
        for (std::size_t k = begin; k < end; ++k) {
          const auto i = static_cast<std::size_t>(p.loose[k]);
          add(s, p.mass[i], v[i],
              {p.inverse[i][0] * f[i][0], p.inverse[i][1] * f[i][1], p.inverse[i][2] * f[i][2]});
        }
        return s;
      },
      [&](std::size_t begin, std::size_t end) {
        std::array<double, 18> s{};
        for (std::size_t g = begin; g < end; ++g) {
          double mass = 0;
          Vec3 u{}, a{}, centre{};
          const auto first = static_cast<std::size_t>(p.rigid.first[g]),
                     last = static_cast<std::size_t>(p.rigid.first[g + 1]);
          for (std::size_t k = first; k < last; ++k) {
            const auto i = static_cast<std::size_t>(p.rigid.atom[k]);
            mass += p.mass[i];
            for (std::size_t c = 0; c < 3; ++c) {
              u[c] += p.mass[i] * v[i][c];
              a[c] += f[i][c];
              centre[c] += p.mass[i] * x[i][c];
            }
          }
          for (std::size_t c = 0; c < 3; ++c) {
            u[c] /= mass;
            a[c] /= mass;
            centre[c] /= mass;
          }
          add(s, mass, u, a);
          for (std::size_t k = first; k < last; ++k) {
            const auto i = static_cast<std::size_t>(p.rigid.atom[k]);
            for (std::size_t c = 0; c < 3; ++c) {
              const double once_each =
                  slow_kicks == 1 ? f[i][c] : f[i][c] + (1 - slow_kicks) * m.slow.f[i][c];
              for (std::size_t b = 0; b < 3; ++b)
                s[9 + 3 * b + c] -= (x[i][b] - centre[b]) * once_each;
            }
          }
        }
        return s;
      });
  Centres out;
  for (std::size_t k = 0; k < 9; ++k) {
    out.twice_kinetic[k / 3][k % 3] = sum[k];
    out.virial[k / 3][k % 3] = m.forces.virial[k / 3][k % 3] + sum[9 + k];
  }
  for (const std::int32_t atom : p.still) {
    const auto i = static_cast<std::size_t>(atom);
    for (std::size_t c = 0; c < 3; ++c) {
      if (p.inverse[i][c] > 0) continue;
      const double once_each =
          slow_kicks == 1 ? f[i][c] : f[i][c] + (1 - slow_kicks) * m.slow.f[i][c];
      for (std::size_t b = 0; b < 3; ++b) out.virial[b][c] -= x[i][b] * once_each;
    }
  }
  return out;
}

double scale_centres(const Parts& p, State& m, const Vec3& factor, bool velocities) {
  auto& x = m.frame.x_nm;
  auto& v = m.frame.v_nm_ps;
  const Vec3 inverse =
      velocities ? Vec3{1 / factor[0], 1 / factor[1], 1 / factor[2]} : Vec3{1, 1, 1};
  stretch(m.frame.box, factor);
  return sum_over_parts<1>(
      p,
      [&](std::size_t begin, std::size_t end) {
        double change = 0;
        for (std::size_t k = begin; k < end; ++k) {
          const auto i = static_cast<std::size_t>(p.loose[k]);
          for (std::size_t c = 0; c < 3; ++c) {
            if (p.inverse[i][c] == 0) continue;
            x[i][c] *= factor[c];
            change += 0.5 * p.mass[i] * v[i][c] * v[i][c] * (inverse[c] * inverse[c] - 1);
            v[i][c] *= inverse[c];
          }
        }
        return std::array<double, 1>{change};
      },
      [&](std::size_t begin, std::size_t end) {
        double change = 0;
        for (std::size_t g = begin; g < end; ++g) {
          double mass = 0;
          Vec3 u{}, centre{};
          const auto first = static_cast<std::size_t>(p.rigid.first[g]),
                     last = static_cast<std::size_t>(p.rigid.first[g + 1]);
          for (std::size_t k = first; k < last; ++k) {
            const auto i = static_cast<std::size_t>(p.rigid.atom[k]);
            mass += p.mass[i];
            for (std::size_t c = 0; c < 3; ++c) {
              u[c] += p.mass[i] * v[i][c];
              centre[c] += p.mass[i] * x[i][c];
            }
          }
          for (std::size_t c = 0; c < 3; ++c) {
            change += 0.5 * u[c] * u[c] / mass * (inverse[c] * inverse[c] - 1);
            u[c] *= (inverse[c] - 1) / mass;
            centre[c] *= (factor[c] - 1) / mass;
          }
          for (std::size_t k = first; k < last; ++k) {
            const auto i = static_cast<std::size_t>(p.rigid.atom[k]);
            for (std::size_t c = 0; c < 3; ++c) {
              x[i][c] += centre[c];
              v[i][c] += u[c];
            }
          }
        }
        return std::array<double, 1>{change};
      })[0];
}

Vec3 relaxed_edges(const std::vector<Scale>& scales, const Dynamics& o, const Centres& centres,
                   const Box& box, double kt, double t, bool noise, std::uint64_t step) {
  const double volume = volume_nm3(box);
  Vec3 factor = {1, 1, 1};
  for (std::size_t j = 0; j < scales.size(); ++j) {
    const Scale& s = scales[j];
    const auto many = static_cast<double>(s.axes.size());
    double pressure = 0;
    for (const std::size_t k : s.axes)
      pressure += (centres.twice_kinetic[k][k] + centres.virial[k][k]) / (many * volume);
    const double rate = many / 3 * s.compressibility / o.tau_p_ps;
    double e = rate * (pressure - s.pressure) * t;
    if (noise)
      e += std::sqrt(2 * rate * kt / volume * t) * data::normal({o.seed, box_noise}, 3 * step + j);
    if (!(std::abs(e) < 0.1))
      throw Error(
          fmt::format("[dynamics] the barostat would change the box by a factor of {:g} in one "
                      "step (pressure {:g} bar): minimize first, or take a longer tau_p",
                      std::exp(e), pressure * bar_per_pressure_unit));
    for (const std::size_t k : s.axes) factor[k] = std::exp(e / many);
  }
  return factor;
}

std::vector<double> piston_at_rest(const std::vector<Scale>& scales, const Dynamics& o,
                                   const Box& box) {
  std::vector<double> piston;
  for (const Scale& s : scales) {
    const double q = coordinate_of(s, box), part = static_cast<double>(s.axes.size()) / 3;
    piston.push_back(0);
    piston.push_back(o.tau_p_ps * o.tau_p_ps * volume_nm3(box) /
                     (4 * std::numbers::pi * std::numbers::pi * part * s.compressibility * q * q));
  }
  return piston;
}

void push_piston(const std::vector<Scale>& scales, std::vector<double>& piston, const Box& box,
                 const std::array<Vec3, 3>& tensor, bool with_pressure, double t) {
  const double volume = volume_nm3(box);
  for (std::size_t j = 0; j < scales.size(); ++j) {
    const Scale& s = scales[j];
    double sum = 0;
    for (const std::size_t k : s.axes)
      sum += tensor[k][k] - (with_pressure ? volume * s.pressure : 0);
    piston[2 * j] += t * sum / (static_cast<double>(s.axes.size()) * coordinate_of(s, box));
  }
}

void drift_piston(const std::vector<Scale>& scales, const Parts& parts, State& m, double t) {
  Vec3 factor = {1, 1, 1};
  for (std::size_t j = 0; j < scales.size(); ++j) {
    const Scale& s = scales[j];
    const double growth =
        1 + t * m.piston[2 * j] / (m.piston[2 * j + 1] * coordinate_of(s, m.frame.box));
    if (!(growth > 0.9 && growth < 1.1))
      throw Error(
          fmt::format("[dynamics] the piston would change the box by a factor of {:g} in one step: "
                      "minimize first, or take a longer tau_p",
                      growth));
    for (const std::size_t k : s.axes)
      factor[k] = std::pow(growth, 1 / static_cast<double>(s.axes.size()));
  }
  scale_centres(parts, m, factor);
}

double piston_energy(const std::vector<double>& piston) {
  double sum = 0;
  for (std::size_t j = 0; j < piston.size(); j += 2)
    sum += 0.5 * piston[j] * piston[j] / piston[j + 1];
  return sum;
}

}  // namespace tessera::molecular
