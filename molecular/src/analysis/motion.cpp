// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/molecular/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

namespace tessera::molecular {
namespace {

/// Slope of the least-squares line through (k dt, y[k]), k = first ... last > first.
double slope(const std::vector<double>& y, std::size_t first, std::size_t last, double dt) {
  const double middle = 0.5 * static_cast<double>(first + last);
  double xy = 0, xx = 0;
  for (std::size_t k = first; k <= last; ++k) {
    const double x = static_cast<double>(k) - middle;
    xy += x * y[k], xx += x * x;
  }
  return xy / xx / dt;
}

}  // namespace

std::array<std::size_t, 2> frames_between(double from_ps, double to_ps, double dt_ps,
                                          double time_ps) {
  constexpr double most = 1e15;  // more than any trajectory has
  const double first = std::min(most, from_ps / dt_ps), last = std::min(most, to_ps / dt_ps),
               unknown = 0x1p-22 * std::abs(time_ps) / dt_ps;  // of dt, a part of it
  const auto slack = [&](double frames) {
    return std::min(0.5, rounded_frames + frames * (rounded_times + unknown));
  };
  return {static_cast<std::size_t>(std::max(0.0, std::ceil(first - slack(first)))),
          static_cast<std::size_t>(std::floor(last + slack(last)))};
}

LagAverage::LagAverage(Of what, std::size_t lags) : what_(what), lags_(lags) {}

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
  if (ring_.size() <= lags_) ring_.emplace_back(), mean_.emplace_back();
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
    : options_(options), n_atoms_(system.n_atoms()), map_(system) {
  if (!(options_.fit_from_ps >= 0 && options_.fit_to_ps > options_.fit_from_ps))
    throw Error(fmt::format("[msd] expected a range of times to fit, got {} to {} ps",
                            options_.fit_from_ps, options_.fit_to_ps));
  options_.lag_ps = std::max(options_.lag_ps, options_.fit_to_ps);
  if (groups.empty()) throw Error("[msd] expected groups of atoms, got none");
  const std::vector<std::int32_t> molecule = molecules(system);
  for (const Group& g : groups)
    centres_.push_back(centre_of_group(g, molecule, system.atoms.mass_amu));
  if (!options_.remove_drift) return;
  Group all(system.n_atoms());
  std::iota(all.begin(), all.end(), 0);
  drift_ = centre_of_group(all, molecule, system.atoms.mass_amu);
}

MeanSquaredDisplacement::Centre MeanSquaredDisplacement::centre_of_group(
    const Group& atoms, const std::vector<std::int32_t>& molecule,
    const std::vector<double>& mass_amu) {
  double total = 0;
  for (const std::int32_t i : atoms) total += mass_amu.at(static_cast<std::size_t>(i));
  const bool by_mass = total > 0;  // of virtual sites alone: none weighs more than others
  std::map<std::int32_t, Body> of_molecule;
  for (const std::int32_t i : atoms) {
    const double weight = by_mass ? mass_amu[static_cast<std::size_t>(i)] : 1;
    if (!(weight > 0)) continue;
    Body& body = of_molecule[molecule[static_cast<std::size_t>(i)]];
    body.atoms.push_back(i);
    body.weight.push_back(weight);
  }
  if (of_molecule.empty()) throw Error("[msd] expected groups of atoms, got one without any");
  Centre out{.first = bodies_.size()};
  for (auto& [number, body] : of_molecule) {
    weight_.push_back(std::accumulate(body.weight.begin(), body.weight.end(), 0.0));
    out.weight += weight_.back();
    bodies_.push_back(std::move(body));
  }
  out.last = bodies_.size();
  return out;
}

Vec3 MeanSquaredDisplacement::at(const Centre& centre, const std::vector<Vec3>& x) const {
  Vec3 out{};
  for (std::size_t k = centre.first; k < centre.last; ++k)
    for (std::size_t d = 0; d < 3; ++d) out[d] += weight_[k] * x[k][d];
  for (double& v : out) v /= centre.weight;
  return out;
}

void MeanSquaredDisplacement::add(const Frame& frame) {
  if (frame.x_nm.size() != n_atoms_)
    throw Error(fmt::format("[msd] expected the positions of {} atoms, got {}", n_atoms_,
                            frame.x_nm.size()));
  std::vector<Vec3> whole = frame.x_nm;
  map_.make_whole(whole, frame.box);
  Frame f{.x_nm = {}, .box = frame.box, .time_ps = frame.time_ps};
  for (const Body& b : bodies_) f.x_nm.push_back(centre_of(whole, b.atoms, b.weight));
  unwrap_.apply(f);
  std::vector<Vec3> centres;
  centres.reserve(centres_.size());
  for (const Centre& c : centres_) centres.push_back(at(c, f.x_nm));
  if (drift_) {
    const Vec3 drift = at(*drift_, f.x_nm);
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
    fit_ = frames_between(options_.fit_from_ps, options_.fit_to_ps, dt, f.time_ps);
    if (fit_[1] <= fit_[0])
      throw Error(
          fmt::format("[msd] expected a fit over at least two frames, which are {:.6g} ps apart, "
                      "got one from {:.6g} to {:.6g} ps",
                      dt, options_.fit_from_ps, options_.fit_to_ps));
    average_.emplace(LagAverage::Of::squared_displacement,
                     std::max(fit_[1], frames_between(0, options_.lag_ps, dt, f.time_ps)[1]));
    average_->add(first_time_ps_, std::move(first_));
    windows_.push_back({0});
  }
  average_->add(f.time_ps, std::move(centres));
  // The window that began `lag` frames ago has its next value; one that is as long as the fit gives
  // its slope.
  const double dt = average_->dt_ps();
  const std::size_t longest = fit_[1];
  if (windows_.size() <= longest) windows_.emplace_back();
  const std::size_t size = windows_.size();
  windows_[frames_ % size] = {0};
  for (std::size_t lag = 1; lag <= std::min(longest, frames_); ++lag) {
    std::vector<double>& w = windows_[(frames_ - lag) % size];
    w.push_back(average_->last()[lag]);
    if (lag == longest) slopes_.add(slope(w, fit_[0], longest, dt) / 6);
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

VelocityAutocorrelation::VelocityAutocorrelation(const System& system, const Group& atoms,
                                                 std::size_t lags)
    : average_(LagAverage::Of::product, lags) {
  for (const std::int32_t i : atoms)
    if (system.atoms.mass_amu.at(static_cast<std::size_t>(i)) > 0) atoms_.push_back(i);
  if (atoms_.empty())
    throw Error(fmt::format("[vacf] expected atoms with mass, got {}",
                            atoms.empty() ? "none" : "virtual sites alone"));
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
