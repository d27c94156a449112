// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/molecular/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace tessera::molecular {
namespace {

/// Slope of the least-squares line through (k dt, y[k]), k = first ... last.
double slope(const std::vector<double>& y, std::size_t first, std::size_t last, double dt) {
  const auto n = static_cast<double>(last - first + 1);
  const double middle = 0.5 * static_cast<double>(first + last);
  double xy = 0, xx = 0;
  for (std::size_t k = first; k <= last; ++k) {
    const double x = static_cast<double>(k) - middle;
    xy += x * y[k], xx += x * x;
  }
  if (!(xx > 0))
    throw Error(
        fmt::format("[msd] expected at least two frames between the times of the fit, got {}", n));
  return xy / xx / dt;
}

}  // namespace

LagAverage::LagAverage(Of what, std::size_t lags) : what_(what), ring_(lags + 1), mean_(lags + 1) {}

void LagAverage::add(double time_ps, std::vector<Vec3> v) {
  constexpr double slack = 1e-3, single = 0x1p-23;  // times of XTC files are in single precision: a
                                                    // difference of two is off by so much of them
  if (frames_ > 0 && v.size() != ring_[0].size())
    throw Error(
        fmt::format("[lags] expected {} vectors as before, got {}", ring_[0].size(), v.size()));
  if (frames_ == 0) first_time_ps_ = time_ps;
  if (frames_ == 1) dt_ps_ = time_ps - time_ps_;
  if (frames_ > 0 &&
      !(dt_ps_ > 0 && std::abs(time_ps - time_ps_ - dt_ps_) <=
                          std::min(slack * dt_ps_ + single * std::abs(time_ps), 0.5 * dt_ps_)))
    throw Error(
        fmt::format("[lags] expected frames {:.6g} ps after each other, got {:.9g} after {:.9g} ps",
                    dt_ps_, time_ps, time_ps_));
  time_ps_ = time_ps;
  if (frames_ > 0)
    dt_ps_ =
        (time_ps - first_time_ps_) / static_cast<double>(frames_);  // the longer, the better known
  const std::size_t size = ring_.size(), now = frames_ % size;
  ring_[now] = std::move(v);
  last_.assign(std::min(frames_, size - 1) + 1, 0);
  const std::vector<Vec3>& a = ring_[now];
  const auto n = static_cast<double>(a.size());
  // Cost: 48 n bytes read a lag. A lag is one thread's; a task has work enough to be worth one.
  constexpr std::size_t vectors_a_task = 1 << 16;
  const std::size_t lags_a_task =
      std::max<std::size_t>(1, vectors_a_task / std::max<std::size_t>(1, a.size()));
  const auto average = [&](std::size_t lag) {
    const std::vector<Vec3>& b = ring_[(frames_ - lag) % size];
    double sum = 0;
    if (what_ == Of::product)
      for (std::size_t i = 0; i < a.size(); ++i)
        sum += a[i][0] * b[i][0] + a[i][1] * b[i][1] + a[i][2] * b[i][2];
    else
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double x = a[i][0] - b[i][0], y = a[i][1] - b[i][1], z = a[i][2] - b[i][2];
        sum += x * x + y * y + z * z;
      }
    last_[lag] = sum / n;
  };
  parallel_chunks(static_cast<std::int64_t>((last_.size() + lags_a_task - 1) / lags_a_task),
                  [&](std::int64_t task) {
                    const std::size_t first = static_cast<std::size_t>(task) * lags_a_task;
                    for (std::size_t lag = first; lag < std::min(last_.size(), first + lags_a_task);
                         ++lag)
                      average(lag);
                  });
  for (std::size_t lag = 0; lag < last_.size(); ++lag) mean_[lag].add(last_[lag]);
  ++frames_;
}

Curve LagAverage::curve() const {
  Curve out;
  for (std::size_t lag = 0; lag < mean_.size(); ++lag) {
    const data::BlockedMean m = mean_[lag].result();
    if (m.n == 0) break;
    out.x.push_back(static_cast<double>(lag) * dt_ps_);
    out.y.push_back(m.mean);
    out.error.push_back(m.error);
  }
  return out;
}

MeanSquaredDisplacement::MeanSquaredDisplacement(const System& system, std::vector<Group> groups,
                                                 const Options& options)
    : options_(options), groups_(std::move(groups)), all_masses_(system.atoms.mass_amu) {
  if (!(options_.fit_from_ps >= 0 && options_.fit_to_ps > options_.fit_from_ps))
    throw Error(fmt::format("[msd] expected a range of times to fit, got {} to {} ps",
                            options_.fit_from_ps, options_.fit_to_ps));
  options_.lag_ps = std::max(options_.lag_ps, options_.fit_to_ps);
  if (groups_.empty()) throw Error("[msd] expected groups of atoms, got none");
  for (const Group& g : groups_) {
    std::vector<double> m;
    for (std::int32_t i : g) m.push_back(system.atoms.mass_amu.at(static_cast<std::size_t>(i)));
    if (std::accumulate(m.begin(), m.end(), 0.0) <= 0) m.assign(g.size(), 1);
    masses_.push_back(std::move(m));
  }
}

void MeanSquaredDisplacement::add(const Frame& frame) {
  Frame f = frame;
  if (is_periodic(f.box)) unwrap_.apply(f);
  std::vector<Vec3> centres;
  centres.reserve(groups_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g)
    centres.push_back(centre_of(f.x_nm, groups_[g], masses_[g]));
  if (options_.remove_drift) {
    Group all(all_masses_.size());
    std::iota(all.begin(), all.end(), 0);
    const Vec3 drift = centre_of(f.x_nm, all, all_masses_);
    for (Vec3& c : centres)
      for (std::size_t d = 0; d < 3; ++d) c[d] -= drift[d];
  }
  if (frames_ == 0) {
    first_time_ps_ = f.time_ps, first_ = std::move(centres), frames_ = 1;
    return;
  }
  if (!average_) {
    const double dt = f.time_ps - first_time_ps_;
    if (!(dt > 0))
      throw Error(fmt::format("[msd] expected rising times, got {} after {} ps", f.time_ps,
                              first_time_ps_));
    if (!(options_.fit_to_ps >= 0.5 * dt))
      throw Error(
          fmt::format("[msd] expected a fit that ends later than {:.6g} ps, the time "
                      "between frames, got {:.6g} ps",
                      dt, options_.fit_to_ps));
    average_.emplace(LagAverage::Of::squared_displacement,
                     static_cast<std::size_t>(std::llround(options_.lag_ps / dt)));
    windows_.resize(static_cast<std::size_t>(std::llround(options_.fit_to_ps / dt)) + 1);
    average_->add(first_time_ps_, std::move(first_));
    windows_[0] = {0};
  }
  average_->add(f.time_ps, std::move(centres));
  // The window that began `lag` frames ago has its next value; one that is as long as the fit gives
  // its slope.
  const double dt = average_->dt_ps();
  const std::size_t longest = windows_.size() - 1, size = windows_.size();
  windows_[frames_ % size] = {0};
  for (std::size_t lag = 1; lag <= std::min(longest, frames_); ++lag) {
    std::vector<double>& w = windows_[(frames_ - lag) % size];
    w.push_back(average_->last()[lag]);
    if (lag == longest)
      slopes_.add(
          slope(w, static_cast<std::size_t>(std::llround(options_.fit_from_ps / dt)), longest, dt) /
          6);
  }
  ++frames_;
}

Curve MeanSquaredDisplacement::curve() const { return average_ ? average_->curve() : Curve{}; }

data::BlockedMean MeanSquaredDisplacement::diffusion() const {
  data::BlockedMean d = slopes_.result();
  if (d.n == 0)
    throw Error(fmt::format("[msd] expected a trajectory longer than {} ps, got {} frames",
                            options_.fit_to_ps, frames_));
  return d;
}

double unbounded_diffusion(double d, double temperature_k, double viscosity_pa_s, double box_nm) {
  constexpr double xi = 2.837297, boltzmann = 1.380649e-23;  // of a cubic lattice; J/K
  const double m2_s =
      xi * boltzmann * temperature_k / (6 * std::numbers::pi * viscosity_pa_s * box_nm * 1e-9);
  return d + m2_s * 1e6;  // m^2/s = 1e6 nm^2/ps
}

VelocityAutocorrelation::VelocityAutocorrelation(Group atoms, std::size_t lags)
    : atoms_(std::move(atoms)), average_(LagAverage::Of::product, lags) {
  if (atoms_.empty()) throw Error("[vacf] expected atoms, got none");
}

void VelocityAutocorrelation::add(const Frame& frame) {
  if (frame.v_nm_ps.empty())
    throw Error(fmt::format("[vacf] step {}: expected velocities; .trr and .h5md files keep them",
                            frame.step));
  std::vector<Vec3> v;
  v.reserve(atoms_.size());
  for (std::int32_t i : atoms_) v.push_back(frame.v_nm_ps.at(static_cast<std::size_t>(i)));
  average_.add(frame.time_ps, std::move(v));
}

double VelocityAutocorrelation::diffusion() const {
  const Curve c = curve();
  double sum = 0;
  for (std::size_t k = 1; k < c.y.size(); ++k)
    sum += 0.5 * (c.y[k - 1] + c.y[k]) * (c.x[k] - c.x[k - 1]);
  return sum / 3;
}

}  // namespace tessera::molecular
