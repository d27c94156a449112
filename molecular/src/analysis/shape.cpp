// SPDX-License-Identifier: Apache-2.0
#include "analysis/near_grid.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/analysis.h"

#include <fmt/format.h>

namespace tessera::molecular {

Density::Density(const System& system, Group atoms, int axis, std::size_t slices)
    : atoms_(std::move(atoms)), axis_(static_cast<std::size_t>(axis)), slices_(slices) {
  if (axis < 0 || axis > 2)
    throw Error(fmt::format("[density] expected axis 0, 1 or 2, got {}", axis));
  for (std::int32_t i : atoms_)
    masses_.push_back(system.atoms.mass_amu.at(static_cast<std::size_t>(i)));
}

void Density::add(const Frame& frame) {
  if (!is_periodic(frame.box))
    throw Error("[density] expected a periodic box: without one there is no volume");
  const double volume = volume_nm3(frame.box), n = static_cast<double>(slices_.size());
  std::vector<double> mass(slices_.size(), 0);
  double total = 0;
  for (std::size_t k = 0; k < atoms_.size(); ++k) {
    total += masses_[k];
    if (slices_.empty()) continue;
    const double s =
        inside(fractions(frame.box, frame.x_nm[static_cast<std::size_t>(atoms_[k])])[axis_]);
    mass[std::min(slices_.size() - 1, static_cast<std::size_t>(s * n))] += masses_[k];
  }
  mean_.add(total / volume * kg_m3_per_amu_nm3);
  width_.add(widths_nm(frame.box)[axis_]);
  for (std::size_t b = 0; b < mass.size(); ++b)
    slices_[b].add(mass[b] * n / volume * kg_m3_per_amu_nm3);
}

Curve Density::profile() const {
  Curve out;
  const double width = width_.result().mean / static_cast<double>(slices_.size());
  for (std::size_t b = 0; b < slices_.size(); ++b) {
    const data::BlockedMean m = slices_[b].result();
    out.x.push_back((static_cast<double>(b) + 0.5) * width);
    out.y.push_back(m.mean);
    out.error.push_back(m.error);
  }
  return out;
}

double radius_of_gyration(const std::vector<Vec3>& x, std::span<const std::int32_t> group,
                          std::span<const double> masses) {
  const Vec3 c = centre_of(x, group, masses);
  double sum = 0, total = 0;
  for (std::size_t k = 0; k < group.size(); ++k) {
    const Vec3& p = x[static_cast<std::size_t>(group[k])];
    const double m = masses.empty() ? 1 : masses[k];
    for (std::size_t d = 0; d < 3; ++d) sum += m * (p[d] - c[d]) * (p[d] - c[d]);
    total += m;
  }
  return std::sqrt(sum / total);
}

Fluctuations::Fluctuations(std::vector<Vec3> reference, Group group, std::vector<double> weights)
    : reference_(std::move(reference)),
      group_(std::move(group)),
      weights_(std::move(weights)),
      mean_(group_.size()),
      squares_(group_.size(), 0) {}

double Fluctuations::add(const std::vector<Vec3>& x) {
  const Superposition fit = superpose(x, reference_, group_, weights_);
  ++n_;
  for (std::size_t k = 0; k < group_.size(); ++k) {
    const Vec3 p = fit(x[static_cast<std::size_t>(group_[k])]);
    for (std::size_t d = 0; d < 3; ++d) {
      const double off = p[d] - mean_[k][d];
      mean_[k][d] += off / static_cast<double>(n_);
      squares_[k] += off * (p[d] - mean_[k][d]);
    }
  }
  return fit.rmsd_nm;
}

std::vector<double> Fluctuations::rmsf_nm() const {
  std::vector<double> out;
  for (double s : squares_) out.push_back(n_ > 0 ? std::sqrt(s / static_cast<double>(n_)) : 0);
  return out;
}

}  // namespace tessera::molecular
