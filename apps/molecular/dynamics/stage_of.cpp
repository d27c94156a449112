// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/stage_of.h"

#include <algorithm>

namespace tessera::apps::dynamics {
namespace {

namespace mol = tessera::molecular;

mol::Nonbonded nonbonded_of(const Settings& s, mol::Nonbonded::TailPairs of_input) {
  using N = mol::Nonbonded;
  constexpr N::Coulomb coulomb[] = {N::Coulomb::pme, N::Coulomb::ewald, N::Coulomb::reaction_field,
                                    N::Coulomb::cutoff, N::Coulomb::none};
  constexpr N::Modifier modifier[] = {N::Modifier::none, N::Modifier::potential_shift,
                                      N::Modifier::force_switch, N::Modifier::potential_switch,
                                      N::Modifier::linear_force_shift};
  constexpr N::Tail tail[] = {N::Tail::none, N::Tail::c6, N::Tail::c6_c12};
  N o;
  o.coulomb = coulomb[static_cast<int>(s.coulombtype)];
  constexpr N::Modifier coulomb_modifier[] = {N::Modifier::none, N::Modifier::potential_shift,
                                              N::Modifier::linear_force_shift};
  o.coulomb_modifier = coulomb_modifier[static_cast<int>(s.coulomb_modifier)];
  o.lj_modifier = modifier[static_cast<int>(s.vdw_modifier)];
  o.tail = tail[static_cast<int>(s.dispersion)];
  constexpr N::TailPairs pairs[] = {N::TailPairs::all, N::TailPairs::all,
                                    N::TailPairs::not_excluded, N::TailPairs::unordered};
  o.tail_pairs = s.dispersion_pairs == DispersionPairs::input
                     ? of_input
                     : pairs[static_cast<int>(s.dispersion_pairs)];
  o.cutoff_coulomb_nm = in_unit(s.rcoulomb, "nm");
  o.cutoff_lj_nm = in_unit(s.rvdw, "nm");
  o.lj_switch_nm = in_unit(s.rvdw_switch.value_or(0), "nm");
  o.epsilon_r = s.epsilon_r;
  o.epsilon_rf = s.epsilon_rf;
  o.reaction_field_of_excluded = s.reaction_field_of_excluded;
  o.ewald_rtol = s.ewald_rtol;
  o.ewald_beta = in_unit(s.ewald_beta, "1/nm");
  o.ewald_kmax = in_unit(s.ewald_kmax, "1/nm");
  o.pme_order = static_cast<int>(s.pme_order);
  o.fourier_spacing_nm = in_unit(s.fourierspacing, "nm");
  for (std::size_t k = 0; k < 3; ++k) o.fourier_grid[k] = static_cast<int>(s.fourier_grid[k]);
  return o;
}

mol::Dynamics dynamics_of(const Settings& s, IntegratorChoice integrator) {
  using D = mol::Dynamics;
  constexpr D::Thermostat thermostat[] = {D::Thermostat::none, D::Thermostat::v_rescale,
                                          D::Thermostat::nose_hoover, D::Thermostat::andersen,
                                          D::Thermostat::berendsen};
  D o;
  o.scheme = integrator == IntegratorChoice::sd      ? D::Scheme::langevin
             : integrator == IntegratorChoice::md_vv ? D::Scheme::velocity_verlet
                                                     : D::Scheme::leap_frog;
  constexpr D::Barostat barostat[] = {D::Barostat::none, D::Barostat::c_rescale,
                                      D::Barostat::parrinello_rahman, D::Barostat::monte_carlo,
                                      D::Barostat::berendsen};
  constexpr D::Scaling scaling[] = {D::Scaling::isotropic, D::Scaling::semi_isotropic,
                                    D::Scaling::anisotropic};
  constexpr D::CentreOfMassRemoval removal[] = {D::CentreOfMassRemoval::linear,
                                                D::CentreOfMassRemoval::angular,
                                                D::CentreOfMassRemoval::none};
  o.barostat = barostat[static_cast<int>(s.pcoupl)];
  o.scaling = scaling[static_cast<int>(s.pcoupltype)];
  o.tau_p_ps = in_unit(s.tau_p, "ps");
  for (std::size_t a = 0; a < 3; ++a) {
    o.pressure_bar[a] = in_unit(s.ref_p[a], "bar");
    o.compressibility_per_bar[a] = in_unit(s.compressibility[a], "1/bar");
  }
  o.barostat_every = s.nstpcouple;
  o.centre_of_mass_removal = removal[static_cast<int>(s.comm_mode)];
  o.dt_ps = in_unit(s.dt, "ps");
  o.temperature_k = s.ref_t;
  o.tau_t_ps = in_unit(s.tau_t, "ps");
  o.friction_per_ps = 1 / o.tau_t_ps;
  if (integrator != IntegratorChoice::sd) o.thermostat = thermostat[static_cast<int>(s.tcoupl)];
  o.centre_of_mass_removal_every = s.comm_mode == CentreChoice::none ? 0 : s.nstcomm;
  o.slow_every = s.mts ? s.mts_level2_factor : 1;
  if (s.annealing_time && s.annealing_temp)
    for (std::size_t k = 0; k < std::min(s.annealing_time->size(), s.annealing_temp->size()); ++k)
      o.annealing.push_back({in_unit((*s.annealing_time)[k], "ps"), (*s.annealing_temp)[k]});
  return o;
}

mol::Minimization minimization_of(const Settings& s, IntegratorChoice integrator) {
  using M = mol::Minimization;
  M o;
  o.method = integrator == IntegratorChoice::steep       ? M::Method::steepest_descent
             : integrator == IntegratorChoice::fire      ? M::Method::fire
             : integrator == IntegratorChoice::newton_cg ? M::Method::newton_cg
                                                         : M::Method::lbfgs;
  o.force_tolerance = in_unit(s.emtol, "kJ/mol/nm");
  o.first_move_nm = in_unit(s.emstep, "nm");
  return o;
}

std::vector<mol::BathGroup> baths_of(const Settings& s) {
  const auto value = [](const std::vector<double>& of_groups, std::size_t k, double of_all) {
    return k < of_groups.size() ? of_groups[k] : of_all;
  };
  std::vector<mol::BathGroup> out;
  for (std::size_t k = 0; k < s.tc_grps.size(); ++k)
    out.push_back({.atoms = s.tc_grps[k],
                   .temperature_k = value(s.tc_ref_t, k, s.ref_t),
                   .tau_t_ps = in_unit(value(s.tc_tau_t, k, s.tau_t), "ps")});
  return out;
}

}  // namespace

mol::Stage stage_of(const Settings& s, IntegratorChoice integrator,
                    mol::Nonbonded::TailPairs of_input) {
  constexpr mol::Rigid rigid[] = {mol::Rigid::none, mol::Rigid::h_bonds, mol::Rigid::all_bonds,
                                  mol::Rigid::h_angles};
  constexpr mol::RestraintScaling scaling[] = {
      mol::RestraintScaling::none, mol::RestraintScaling::all, mol::RestraintScaling::centre};
  mol::Stage out;
  out.nonbonded = nonbonded_of(s, of_input);
  out.constraints = rigid[static_cast<int>(s.constraints)];
  out.rigid_water = s.rigid_water.value_or(s.constraints != ConstraintChoice::none);
  if (s.hydrogen_mass) out.hydrogen_mass_amu = in_unit(*s.hydrogen_mass, "amu");
  out.held = s.posres.value_or("");
  out.held_k = in_unit(s.posres_k, "kJ/mol/nm^2");
  out.restraint_scaling = scaling[static_cast<int>(s.refcoord_scaling)];
  out.dynamics = dynamics_of(s, integrator);
  out.minimization = minimization_of(s, integrator);
  out.frozen = {.all = s.freeze.value_or(""),
                .x = s.freeze_x.value_or(""),
                .y = s.freeze_y.value_or(""),
                .z = s.freeze_z.value_or("")};
  out.baths = baths_of(s);
  out.heat_from_k = s.heat_from;
  out.draws_velocities = s.gen_vel;
  out.drawn_temperature_k = s.gen_temp;
  return out;
}

}  // namespace tessera::apps::dynamics
