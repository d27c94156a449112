// SPDX-License-Identifier: Apache-2.0
// What an Ewald sum leaves out, told at the setting that cuts it short.
#include "molecular/dynamics/complaints.h"
#include "tessera/molecular/ewald.h"
#include "tessera/molecular/pme.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::dynamics {
namespace {

/// Of the force between two charges 0.1 nm apart. GROMACS' usual grid, of 0.12 nm and splines of
/// order 4 with a cut-off of 0.9 nm or more, makes less of it than the first.
constexpr double doubtful = 1e-3, absurd = 0.1;
constexpr double doubtful_volume = 2e-3;  ///< that a barostat finds, a part of it

struct Sum {
  const mol::System& system;
  const mol::Nonbonded& options;
  const mol::Frame& begin;
  const mol::Box& box = begin.box;

  double pairs_with_beta(double beta) const {
    mol::Nonbonded o = options;
    o.ewald_beta = beta;
    return mol::ewald_errors(system, o, box).pairs;
  }
  double waves_up_to(double kmax) const {
    mol::Nonbonded o = options;
    o.ewald_kmax = kmax;
    return mol::ewald_errors(system, o, box).waves;
  }
  mol::Nonbonded with_spacing(double nm) const {
    mol::Nonbonded o = options;
    o.fourier_grid = {};
    o.fourier_spacing_nm = nm;
    return o;
  }
  /// Force between two charges of mean square size 0.1 nm apart, kJ/mol/nm.
  double unit() const {
    double square = 0, charges = 0;
    for (const double q : system.atoms.charge_e) {
      square += q * q;
      charges += q != 0;
    }
    return 100 * system.coulomb_constant / options.epsilon_r * square / charges;
  }
  Complaint of_forces(double error, const char* key, const std::string& what,
                      std::string hint) const {
    return {key,
            fmt::format("{}: forces of charges are off by about {:.3g} kJ/mol/nm (root mean "
                        "square), {:.2g} of that between two of them 0.1 nm apart, and energies "
                        "and pressures with them; up to {:g} is usual",
                        what, error * unit(), error, doubtful),
            std::move(hint), error > absurd ? 752 : 758, error <= absurd};
  }
};

/// The first of value, value + step, ... of which `within` holds.
template <class Within>
double first_of(double value, double step, Within&& within) {
  double v = std::ceil(value / step) * step;
  while (!within(v)) v += step;
  return v;
}

/// The grid of PME: its forces, and with a barostat its pressure.
void complain_of_mesh(std::vector<Complaint>& out, const Asked& asked, const Sum& sum,
                      double error) {
  const Settings& s = asked.settings;
  if (s.coulombtype != CoulombChoice::pme) return;
  const bool pressed =
      s.pcoupl != BarostatChoice::no && asked.type == StageType::dynamics && asked.n_steps > 0;
  const double soft = in_unit(*std::ranges::max_element(s.compressibility), "1/bar");
  const auto pressure = [&](const mol::Nonbonded& o) {
    return pressed ? mol::mesh_pressure_bar(sum.system, o, sum.begin) : 0.0;
  };
  const double bar = pressure(sum.options);
  if (!(error > doubtful) && !(std::abs(bar) * soft > doubtful_volume)) return;
  const std::array<int, 3> grid = mol::pme_grid(sum.options, sum.box);
  const mol::Vec3 length = mol::lengths_nm(sum.box);
  double spacing = 0;
  for (std::size_t a = 0; a < 3; ++a) spacing = std::max(spacing, length[a] / grid[a]);
  const auto keys = {"fourierspacing", "pme_order", "ewald_beta", "ewald_rtol", "rcoulomb"};
  const auto given = std::ranges::find_if(keys, asked.given);
  const char* key = s.fourier_grid != std::array<std::int64_t, 3>{} ? "fourier_grid"
                    : given == keys.end()                           ? "fourierspacing"
                                                                    : *given;
  const std::string what = fmt::format(
      "a grid of {} x {} x {} points, {:.3g} nm apart, is coarse for beta = {:.3g}/nm and splines "
      "of order {}",
      grid[0], grid[1], grid[2], spacing, mol::ewald_beta(sum.options), sum.options.pme_order);
  std::string hint = "a larger rcoulomb, which makes beta smaller";
  try {
    const auto does = [&](double nm) {
      const mol::Nonbonded o = sum.with_spacing(nm);
      return mol::ewald_errors(sum.system, o, sum.box).mesh <= doubtful &&
             std::abs(pressure(o)) * soft <= doubtful_volume;
    };
    double fine = std::ceil(100 * spacing) / 100;
    while (!does(fine)) fine *= 0.95;
    hint = fmt::format("fourierspacing of {:.2g} nm or less, a higher pme_order, or {}",
                       std::floor(1000 * fine) / 1000, hint);
  } catch (const Error&) {  // no such grid is made
  }
  if (error > doubtful) return out.push_back(sum.of_forces(error, key, what, hint));
  out.push_back({key,
                 fmt::format("{}: pressures are off by about {:.0f} bar, which are {:.2g} % of the "
                             "volume at this compressibility",
                             what, bar, 100 * std::abs(bar) * soft),
                 hint, 758, true});
}

}  // namespace

std::vector<Complaint> complaints_of_sum(const Asked& asked, const mol::System& system,
                                         const mol::Nonbonded& options, const mol::Frame& begin) {
  const Settings& s = asked.settings;
  const Sum sum{system, options, begin};
  const mol::EwaldErrors errors = mol::ewald_errors(system, options, begin.box);
  std::vector<Complaint> out;
  const auto tell = [&](double error, const char* key, const std::string& what, const auto& hint) {
    if (error > doubtful) out.push_back(sum.of_forces(error, key, what, hint()));
  };
  const double beta = mol::ewald_beta(options), rc = options.cutoff_coulomb_nm;
  tell(
      errors.pairs, s.ewald_beta > 0 ? "ewald_beta" : "ewald_rtol",
      fmt::format("beta = {:.3g}/nm leaves erfc(beta rcoulomb) = {:.2g} of pairs at the cut-off of "
                  "{:g} nm",
                  beta, std::erfc(beta * rc), rc),
      [&] {
        return fmt::format(
            "ewald_beta of {:.1f}/nm or more, or a smaller ewald_rtol",
            first_of(beta, 0.1, [&](double b) { return sum.pairs_with_beta(b) <= doubtful; }));
      });
  const double kmax = mol::ewald_kmax(options);
  tell(errors.waves, s.ewald_kmax > 0 ? "ewald_kmax" : "ewald_rtol",
       fmt::format("waves up to {:.3g}/nm leave exp(-(kmax/2 beta)^2) = {:.2g} there, with beta = "
                   "{:.3g}/nm",
                   kmax, std::exp(-std::pow(kmax / (2 * beta), 2)), beta),
       [&] {
         return fmt::format(
             "ewald_kmax of {:.0f}/nm or more, or none",
             first_of(kmax, 1, [&](double k) { return sum.waves_up_to(k) <= doubtful; }));
       });
  complain_of_mesh(out, asked, sum, errors.mesh);
  return out;
}

}  // namespace tessera::apps::dynamics
