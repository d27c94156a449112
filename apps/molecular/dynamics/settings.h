// SPDX-License-Identifier: Apache-2.0
// The keys that a case gives for all stages and a stage for itself, in one list.
#pragma once
#include "molecular/dynamics/options.h"

namespace tessera::apps::dynamics {

/// f(key, member of the case's settings, member of a stage's, its field) for every key.
template <class F>
void each_setting(F&& f) {
  using C = SettingsOf<Plain>;
  using S = SettingsOf<std::optional>;
  const auto at_least = [](double least, std::string doc, std::string unit) {
    return data::Field{.doc = std::move(doc), .unit = std::move(unit), .min = least};
  };
  const auto positive = [](std::string doc, std::string unit) {
    return data::Field{.doc = std::move(doc), .unit = std::move(unit), .above = 0};
  };
  const auto cut_off = [](std::string doc) {
    return data::Field{.doc = std::move(doc), .unit = "nm", .infinite = true, .above = 0};
  };
  const std::vector<std::string> modifiers = {"none", "potential-shift", "force-switch",
                                              "potential-switch", "force-shift"};

  f("integrator", &C::integrator, &S::integrator,
    data::Field{.doc = "Dynamics: md (leap-frog), md-vv (velocity Verlet), sd (Langevin, BAOAB); "
                       "minimizers: steep, l-bfgs, fire, newton-cg. md or l-bfgs if not given.",
                .choices = {"md", "md-vv", "sd", "steep", "l-bfgs", "fire", "newton-cg"}});
  f("nsteps", &C::nsteps, &S::nsteps,
    data::Field{.doc = "Steps in time, or most steps of a minimizer (5000 if not given). 0: "
                       "energies and forces of the start alone. At the top: for stages that give "
                       "neither nsteps nor duration.",
                .min = 0});
  f("duration", &C::duration, &S::duration,
    at_least(0, "Instead of nsteps: the time simulated, to the nearest whole step.", "ps"));
  f("dt", &C::dt, &S::dt, positive("Time step.", "fs"));

  f("rcoulomb", &C::rcoulomb, &S::rcoulomb,
    cut_off("Cut-off of the Coulomb interaction; at most half of the smallest width of the box, "
            "inf in vacuum."));
  f("rvdw", &C::rvdw, &S::rvdw,
    cut_off("Cut-off of the Lennard-Jones interaction; at most half of the smallest width of the "
            "box, inf in vacuum."));
  f("rvdw_switch", &C::rvdw_switch, &S::rvdw_switch,
    at_least(0,
             "Distance at which force-switch and potential-switch begin, required for both; "
             "Lennard-Jones alone.",
             "nm"));
  f("coulombtype", &C::coulombtype, &S::coulombtype,
    data::Field{
        .doc = "How charges act beyond the cut-off: pme and ewald sum over all periodic images, in "
               "reciprocal space on a grid or directly; reaction-field has a uniform dielectric "
               "there; with cut-off they do not act there. none: charges do not act at all.",
        .choices = {"pme", "ewald", "reaction-field", "cut-off", "none"}});
  f("coulomb_modifier", &C::coulomb_modifier, &S::coulomb_modifier,
    data::Field{.doc = "How the Coulomb interaction goes to zero at its cut-off; force-shift with "
                       "coulombtype cut-off alone. A reaction field goes there by itself.",
                .choices = {"none", "potential-shift", "force-shift"}});
  f("vdw_modifier", &C::vdw_modifier, &S::vdw_modifier,
    data::Field{.doc = "How the Lennard-Jones interaction goes to zero at its cut-off.",
                .choices = modifiers});
  f("epsilon_r", &C::epsilon_r, &S::epsilon_r,
    data::Field{.doc = "Relative permittivity, also between 1-4 pairs.", .above = 0});
  f("epsilon_rf", &C::epsilon_rf, &S::epsilon_rf,
    data::Field{.doc = "Relative permittivity of the reaction field; 0: a conductor.", .min = 0});
  f("reaction_field_of_excluded", &C::reaction_field_of_excluded, &S::reaction_field_of_excluded,
    data::Field{.doc = "Whether excluded pairs and charges themselves feel the reaction field "
                       "(GROMACS: yes; OpenMM: no)."});
  f("fourierspacing", &C::fourierspacing, &S::fourierspacing,
    positive("Largest distance of the grid points of pme where a stage begins; their number stays "
             "while the box changes.",
             "nm"));
  f("fourier_grid", &C::fourier_grid, &S::fourier_grid,
    data::Field{.doc = "Instead of fourierspacing: the numbers of grid points along the edges; "
                       "zeros: by fourierspacing.",
                .min = 0,
                .max = 4096});
  f("pme_order", &C::pme_order, &S::pme_order,
    data::Field{.doc = "Order of the splines of pme.", .min = 4, .max = 8});
  f("ewald_rtol", &C::ewald_rtol, &S::ewald_rtol,
    data::Field{
        .doc = "erfc(beta rcoulomb): how much of a pair's Coulomb energy is left at the cut-off.",
        .above = 0,
        .max = 0.1});
  f("ewald_beta", &C::ewald_beta, &S::ewald_beta,
    at_least(0, "Ewald's splitting parameter beta; 0: from ewald_rtol.", "1/nm"));
  f("ewald_kmax", &C::ewald_kmax, &S::ewald_kmax,
    at_least(0, "coulombtype ewald: wave vectors shorter than this; 0: from ewald_rtol.", "1/nm"));
  f("DispCorr", &C::dispersion, &S::dispersion,
    data::Field{.doc = "Correction for what lies beyond the cut-off, in energy and pressure: none, "
                       "of r^-6 (EnerPres), or of r^-6 and r^-12 (AllEnerPres).",
                .choices = {"no", "EnerPres", "AllEnerPres"}});
  f("DispCorr_pairs", &C::dispersion_pairs, &S::dispersion_pairs,
    data::Field{.doc = "The pairs whose mean C6 DispCorr takes: all ordered ones (AMBER), those "
                       "that are not excluded (GROMACS), unordered ones with each atom's own "
                       "(OpenMM); input: as the program does that the topology is from, else all.",
                .choices = {"input", "all", "not-excluded", "unordered"}});

  f("mts", &C::mts, &S::mts,
    data::Field{.doc = "Multiple time steps: the reciprocal sum of pme or ewald is computed every "
                       "mts_level2_factor steps and is then applied that many times as strongly."});
  f("mts_level2_factor", &C::mts_level2_factor, &S::mts_level2_factor,
    data::Field{.doc = "Steps between these forces; nstenergy, nstlog, nstxout, nstpcouple and "
                       "nsteps are multiples.",
                .min = 2,
                .max = 100});

  f("tcoupl", &C::tcoupl, &S::tcoupl,
    data::Field{.doc = "Thermostat. Langevin's is integrator = \"sd\", which has its own bath. "
                       "berendsen samples no ensemble.",
                .choices = {"no", "v-rescale", "nose-hoover", "andersen", "berendsen"}});
  f("tau_t", &C::tau_t, &S::tau_t,
    positive("Time constant of the thermostat; with sd the inverse of the friction.", "ps"));
  f("ref_t", &C::ref_t, &S::ref_t,
    at_least(0, "Temperature of the bath, and of c-rescale and monte-carlo without a bath.", "K"));
  f("heat_from", &C::heat_from, &S::heat_from,
    at_least(0,
             "The bath starts at this temperature and goes linearly to ref_t, that of each of "
             "tc_grps to its tc_ref_t, over the stage; with no steps it stays there.",
             "K"));
  f("annealing_time", &C::annealing_time, &S::annealing_time,
    at_least(0,
             "Instead of heat_from: times since the beginning of the stage at which the bath has "
             "annealing_temp; straight lines between.",
             "ps"));
  f("annealing_temp", &C::annealing_temp, &S::annealing_temp,
    at_least(0, "The temperatures at annealing_time.", "K"));
  f("tc_grps", &C::tc_grps, &S::tc_grps,
    data::Field{.doc = "Parts with a bath of their own, every atom in exactly one: solute, "
                       "solvent, system, protein, non-protein, water, non-water, water_and_ions, "
                       "or a selection each (docs/reference/selections.md). None: one bath."});
  f("tc_ref_t", &C::tc_ref_t, &S::tc_ref_t,
    at_least(0, "Temperature of each of tc_grps; ref_t if not given.", "K"));
  f("tc_tau_t", &C::tc_tau_t, &S::tc_tau_t,
    positive("Time constant of the thermostat of each of tc_grps, with sd the inverse of the "
             "friction; tau_t if not given.",
             "ps"));
  f("pcoupl", &C::pcoupl, &S::pcoupl,
    data::Field{.doc = "Barostat. berendsen samples no ensemble.",
                .choices = {"no", "c-rescale", "parrinello-rahman", "monte-carlo", "berendsen"}});
  f("pcoupltype", &C::pcoupltype, &S::pcoupltype,
    data::Field{
        .doc = "Which axes scale together: all; x with y; none. A slanted box keeps its angles "
               "where all do.",
        .choices = {"isotropic", "semiisotropic", "anisotropic"}});
  f("tau_p", &C::tau_p, &S::tau_p,
    positive("Time constant of the barostat; with parrinello-rahman the period of its piston. "
             "monte-carlo has none.",
             "ps"));
  f("ref_p", &C::ref_p, &S::ref_p,
    data::Field{.doc = "Pressure, or those along x, y, z.", .unit = "bar", .one_for_all = true});
  f("compressibility", &C::compressibility, &S::compressibility,
    data::Field{
        .doc =
            "Compressibility of the system, or those along x, y, z; 0: nothing scales along this "
            "axis, which is all that monte-carlo asks.",
        .unit = "1/bar",
        .min = 0,
        .one_for_all = true});
  f("nstpcouple", &C::nstpcouple, &S::nstpcouple,
    data::Field{.doc = "Steps between moves of the barostat; parrinello-rahman moves in each.",
                .min = 1});
  f("refcoord_scaling", &C::refcoord_scaling, &S::refcoord_scaling,
    data::Field{.doc = "How the reference positions of restraints (those of posres and of a "
                       "topology, which are the positions of the structure) follow a changing box: "
                       "not at all, scaled with it, or only their centre.",
                .choices = {"no", "all", "com"}});
  f("hydrogen_mass", &C::hydrogen_mass, &S::hydrogen_mass,
    positive("Mass given to hydrogens outside of water, taken from the atoms that they are bound "
             "to; it allows longer steps.",
             "amu"));
  f("constraints", &C::constraints, &S::constraints,
    data::Field{.doc = "Which bonds are rigid.",
                .choices = {"none", "h-bonds", "all-bonds", "h-angles"}});
  f("rigid_water", &C::rigid_water, &S::rigid_water,
    data::Field{.doc = "Whether three-point waters are rigid bodies; true wherever constraints are "
                       "not none, if not given."});
  f("comm_mode", &C::comm_mode, &S::comm_mode,
    data::Field{.doc =
                    "Which motion of the whole system is removed: that of its centre of mass "
                    "(linear), its rotation as well (angular, in vacuum), or none. It stays with "
                    "integrator sd, with tcoupl andersen, and where atoms are frozen or held by "
                    "springs. Velocities are drawn with what stays.",
                .choices = {"linear", "angular", "none"}});
  f("nstcomm", &C::nstcomm, &S::nstcomm,
    data::Field{.doc = "Steps between removals of the motion of the centre of mass.", .min = 1});
  f("gen_vel", &C::gen_vel, &S::gen_vel,
    data::Field{
        .doc =
            "Draw velocities at the beginning of the stage; if not given, where there are none."});
  f("gen_temp", &C::gen_temp, &S::gen_temp,
    at_least(
        0,
        "Temperature of the velocities, where they are drawn; that of the bath at the beginning "
        "of the stage if not given.",
        "K"));

  f("emtol", &C::emtol, &S::emtol,
    positive("A minimizer has converged where no force is larger; one that ends before is told, "
             "and the next stage begins.",
             "kJ/mol/nm"));
  f("emstep", &C::emstep, &S::emstep,
    positive("How far the first step of a minimizer moves an atom at most.", "nm"));
  f("define", &C::define, &S::define,
    data::Field{
        .doc = "Names that the preprocessor of a GROMACS topology finds defined, such as POSRES, "
               "FLEXIBLE or NAME=value. Position restraints hold to the structure of the case."});
  f("posres", &C::posres, &S::posres,
    data::Field{
        .doc =
            "Which atoms are held by springs to where they are when the stage begins: none, heavy, "
            "solute, solute-heavy, backbone, or any selection (docs/reference/selections.md)."});
  f("posres_k", &C::posres_k, &S::posres_k, positive("Force constant of posres.", "kJ/mol/nm^2"));

  f("freeze", &C::freeze, &S::freeze,
    data::Field{
        .doc = "Which atoms stay exactly where they are: none, solute, solvent, or any selection. "
               "Rigid bonds between them are left out; one to an atom that moves is refused."});
  f("freeze_x", &C::freeze_x, &S::freeze_x,
    data::Field{.doc = "Which atoms keep their x, likewise."});
  f("freeze_y", &C::freeze_y, &S::freeze_y,
    data::Field{.doc = "Which atoms keep their y, likewise."});
  f("freeze_z", &C::freeze_z, &S::freeze_z,
    data::Field{.doc = "Which atoms keep their z, likewise."});

  f("nstlog", &C::nstlog, &S::nstlog,
    data::Field{.doc = "Steps between lines in the log; 0: none.", .min = 0});
  f("nstenergy", &C::nstenergy, &S::nstenergy,
    data::Field{.doc = "Steps between rows of energies.csv; 0: the first and the last alone.",
                .min = 0});
  f("nstxout", &C::nstxout, &S::nstxout,
    data::Field{.doc = "Steps between frames of the trajectory; 0: none.", .min = 0});
}

}  // namespace tessera::apps::dynamics
