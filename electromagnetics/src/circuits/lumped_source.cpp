// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/lumped_element.h"

#include <cmath>
#include <mutex>

namespace tessera::electromagnetics {
namespace {

/// A decayed source counts as ended.
constexpr double kDecayed = 1e-16;

/// J of the element's medium in a field E given at the middle of each step, A/m^2 per V/m: what its
/// edges would carry. Kept from the first step on, as a pole remembers all of it.
class Filtered {
 public:
  Filtered(const Medium& medium, std::function<double(double)> field, double dt_s)
      : sigma_(medium.sigma[0]), field_(std::move(field)), dt_(dt_s) {
    for (const PoleResidue& p : medium.poles) {
      update_.push_back(pole_update(p, dt_s));
      share_.push_back(is_real(p) ? 1 : 2);
    }
    q_.resize(update_.size()), y_.resize(update_.size());
  }
  double at(std::int64_t step) {
    const double e = field_((static_cast<double>(step) + 0.5) * dt_);
    if (update_.empty()) return sigma_ * e;
    const std::lock_guard lock(mutex_);
    while (static_cast<std::int64_t>(polarized_.size()) <= step) take_step();
    return sigma_ * e + polarized_[static_cast<std::size_t>(step)];
  }

 private:
  void take_step() {
    const double e = field_((static_cast<double>(polarized_.size()) + 0.5) * dt_);
    double change = 0;
    for (std::size_t p = 0; p < update_.size(); ++p) {
      const PoleUpdate& u = update_[p];
      const std::complex<double> before = q_[p];
      if (u.shear != 0) {
        q_[p] = u.alpha * q_[p] + u.shear * y_[p] + u.beta.real() * 2 * e;
        y_[p] = u.alpha.real() * y_[p] + u.beta.imag() * 2 * e;
      } else {
        q_[p] = u.alpha * q_[p] + u.beta * (2 * e);
      }
      change += share_[p] * (q_[p] - before).real();
    }
    polarized_.push_back(vacuum_permittivity * change / dt_);
  }

  double sigma_;
  std::function<double(double)> field_;
  double dt_;
  std::vector<PoleUpdate> update_;
  std::vector<double> share_;
  std::vector<std::complex<double>> q_;
  std::vector<double> y_;
  std::mutex mutex_;
  std::vector<double> polarized_;  ///< [steps] dP/dt
};

}  // namespace

Injection lumped_source(const PlacedElement& element, const Waveform& volts, double dt_s) {
  const Circuit& c = element.circuit;
  if (!c.resistance_ohm) throw Error("[lumped_source] a source wants a resistance in its circuit");
  Medium medium = element.added;
  if (c.parallel) {  // behind R alone
    medium.poles.clear();
    medium.sigma.fill(element.length_m / (element.section_m2 * *c.resistance_ohm));
  }
  Injection out;
  out.edges = element.edges;
  out.end_s = volts.end_s;
  for (const PoleResidue& p : medium.poles)
    out.end_s = std::max(out.end_s, volts.end_s + std::log(kDecayed) / p.a.real());
  const auto filtered = std::make_shared<Filtered>(
      medium, [at = volts.at, l = element.length_m](double t) { return at(t) / l; }, dt_s);
  out.fill = [filtered, moment = element.moment](std::int64_t first, std::int64_t n_steps,
                                                 double* currents) {
    for (std::int64_t n = 0; n < n_steps; ++n) {
      const double density = -filtered->at(first + n);
      for (const double m : moment) *currents++ = density * m;
    }
  };
  return out;
}

}  // namespace tessera::electromagnetics
