// SPDX-License-Identifier: Apache-2.0
#include "dynamics/barostats.h"

#include "base/whole_sums.h"
#include "dynamics/random.h"
#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <span>

namespace tessera::molecular {
namespace {

double edge_of(const Box& box, std::size_t axis) { return box.edge[axis][axis]; }
void stretch(Box& box, const Vec3& factor) {
  for (Vec3& e : box.edge)
    for (std::size_t c = 0; c < 3; ++c) e[c] *= factor[c];
}
std::size_t count(const Bodies& p) { return p.loose.size() + p.rigid.size(); }
/// loose(atom) or rigid(atoms of a rigid group) of body k.
template <class Loose, class Rigid>
auto of_body(const Bodies& p, std::size_t k, Loose&& loose, Rigid&& rigid) {
  if (k < p.loose.size()) return loose(static_cast<std::size_t>(p.loose[k]));
  const std::size_t g = k - p.loose.size();
  return rigid(std::span(p.rigid.atom)
                   .subspan(static_cast<std::size_t>(p.rigid.first[g]),
                            static_cast<std::size_t>(p.rigid.first[g + 1] - p.rigid.first[g])));
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

Centres centres_of(const Bodies& p, const State& m, double early, double late, double slow_kicks) {
  const auto& x = m.frame.x_nm;
  const auto& v = m.frame.v_nm_ps;
  const auto& f = m.forces.f;
  // Over two half steps the mean of u u is u u + mean of (u a + a u) t + a a t^2.
  const double once = 0.5 * (early + late), twice = 0.5 * (early * early + late * late);
  // sum M u u, then what forces within rigid groups and on atoms that stay take from the virial.
  using Sum = std::array<double, 18>;
  const auto kinetic = [&](double mass, const Vec3& u, const Vec3& a) {
    Sum sum{};
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t l = 0; l < 3; ++l)
        sum[3 * k + l] =
            mass * (u[k] * u[l] + once * (u[k] * a[l] + a[k] * u[l]) + twice * a[k] * a[l]);
    return sum;
  };
  const auto once_each = [&](std::size_t i, std::size_t c) {
    return slow_kicks == 1 ? f[i][c] : f[i][c] + (1 - slow_kicks) * m.slow.f[i][c];
  };
  const auto loose = [&](std::size_t i) {
    return kinetic(
        p.mass[i], v[i],
        {p.inverse[i][0] * f[i][0], p.inverse[i][1] * f[i][1], p.inverse[i][2] * f[i][2]});
  };
  const auto rigid = [&](std::span<const std::int32_t> group) {
    double mass = 0;
    Vec3 u{}, a{}, centre{};
    for (const std::int32_t atom : group) {
      const auto i = static_cast<std::size_t>(atom);
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
    Sum s = kinetic(mass, u, a);
    for (const std::int32_t atom : group) {
      const auto i = static_cast<std::size_t>(atom);
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t b = 0; b < 3; ++b)
          s[9 + 3 * b + c] -= (x[i][b] - centre[b]) * once_each(i, c);
    }
    return s;
  };
  auto sum = whole_sums<18>(count(p), p.others,
                            [&](std::size_t k) { return of_body(p, k, loose, rigid); });
  if (p.any_still) {
    const auto of_still = whole_sums<9>(p.still.size(), p.others, [&](std::size_t k) {
      const auto i = static_cast<std::size_t>(p.still[k]);
      std::array<double, 9> s{};
      for (std::size_t c = 0; c < 3; ++c)
        if (p.inverse[i][c] == 0)
          for (std::size_t b = 0; b < 3; ++b) s[3 * b + c] = -x[i][b] * once_each(i, c);
      return s;
    });
    for (std::size_t k = 0; k < 9; ++k) sum[9 + k] += of_still[k];
  }
  Centres out;
  for (std::size_t k = 0; k < 9; ++k) {
    out.twice_kinetic[k / 3][k % 3] = sum[k];
    out.virial[k / 3][k % 3] = m.forces.virial[k / 3][k % 3] + sum[9 + k];
  }
  return out;
}

double scale_centres(const Bodies& p, State& m, const Vec3& factor, bool velocities) {
  auto& x = m.frame.x_nm;
  auto& v = m.frame.v_nm_ps;
  const Vec3 inverse =
      velocities ? Vec3{1 / factor[0], 1 / factor[1], 1 / factor[2]} : Vec3{1, 1, 1};
  stretch(m.frame.box, factor);
  const auto loose = [&](std::size_t i) {
    double change = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      if (p.inverse[i][c] == 0) continue;
      x[i][c] *= factor[c];
      change += 0.5 * p.mass[i] * v[i][c] * v[i][c] * (inverse[c] * inverse[c] - 1);
      v[i][c] *= inverse[c];
    }
    return change;
  };
  const auto rigid = [&](std::span<const std::int32_t> group) {
    double mass = 0, change = 0;
    Vec3 u{}, centre{};
    for (const std::int32_t atom : group) {
      const auto i = static_cast<std::size_t>(atom);
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
    for (const std::int32_t atom : group) {
      const auto i = static_cast<std::size_t>(atom);
      for (std::size_t c = 0; c < 3; ++c) {
        x[i][c] += centre[c];
        v[i][c] += u[c];
      }
    }
    return change;
  };
  std::vector<double> change(count(p));
  over_blocks(change.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) change[k] = of_body(p, k, loose, rigid);
  });
  return whole_sums<1>(change.size(), p.others,
                       [&](std::size_t k) { return std::array{change[k]}; })[0];
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

void drift_piston(const std::vector<Scale>& scales, const Bodies& bodies, State& m, double t) {
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
  scale_centres(bodies, m, factor);
}

double piston_energy(const std::vector<double>& piston) {
  double sum = 0;
  for (std::size_t j = 0; j < piston.size(); j += 2)
    sum += 0.5 * piston[j] * piston[j] / piston[j + 1];
  return sum;
}

}  // namespace tessera::molecular
