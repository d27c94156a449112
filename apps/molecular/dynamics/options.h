// SPDX-License-Identifier: Apache-2.0
// What a case of molecular.dynamics may say. Keys are mdp's where mdp has them; values are SI here,
// as every app keeps them (case.h has them in nm, ps, kJ/mol). The keys and their documentation
// are in options.cpp and settings.h.
#pragma once
#include "tessera/data/options.h"
#include "tessera/molecular/stage.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::dynamics {

using molecular::StageType;
enum class IntegratorChoice { md, md_vv, sd, steep, l_bfgs, fire, newton_cg };
enum class CoulombChoice { pme, ewald, reaction_field, cut_off, none };
enum class CoulombModifierChoice { none, potential_shift, force_shift };
enum class ModifierChoice { none, potential_shift, force_switch, potential_switch, force_shift };
enum class DispersionChoice { no, ener_pres, all_ener_pres };
enum class DispersionPairs { input, all, not_excluded, unordered };
enum class ThermostatChoice { no, v_rescale, nose_hoover, andersen, berendsen };
enum class ConstraintChoice { none, h_bonds, all_bonds, h_angles };
enum class BarostatChoice { no, c_rescale, parrinello_rahman, monte_carlo, berendsen };
enum class ScalingChoice { isotropic, semiisotropic, anisotropic };
enum class RefcoordChoice { no, all, com };
enum class CentreChoice { linear, angular, none };
enum class Precision { mixed, f64 };

template <class T>
using Plain = T;

/// What may stand at the top of a file, for all stages, or in a stage. `Maybe` is Plain or
/// std::optional.
template <template <class> class Maybe>
struct SettingsOf {
  std::optional<IntegratorChoice> integrator;
  std::optional<std::int64_t> nsteps;
  std::optional<double> duration;
  Maybe<double> dt{};

  Maybe<double> rcoulomb{}, rvdw{};
  std::optional<double> rvdw_switch;
  Maybe<CoulombChoice> coulombtype{};
  Maybe<CoulombModifierChoice> coulomb_modifier{};
  Maybe<ModifierChoice> vdw_modifier{};
  Maybe<double> epsilon_r{}, epsilon_rf{};
  Maybe<bool> reaction_field_of_excluded{};
  Maybe<double> fourierspacing{};
  Maybe<std::array<std::int64_t, 3>> fourier_grid{};
  Maybe<std::int64_t> pme_order{};
  Maybe<double> ewald_rtol{}, ewald_beta{}, ewald_kmax{};
  Maybe<DispersionChoice> dispersion{};
  Maybe<DispersionPairs> dispersion_pairs{};
  Maybe<bool> mts{};
  Maybe<std::int64_t> mts_level2_factor{};

  Maybe<ThermostatChoice> tcoupl{};
  Maybe<double> tau_t{}, ref_t{};
  std::optional<double> heat_from;
  std::optional<std::vector<double>> annealing_time, annealing_temp;
  Maybe<std::vector<std::string>> tc_grps{};
  Maybe<std::vector<double>> tc_ref_t{}, tc_tau_t{};
  Maybe<BarostatChoice> pcoupl{};
  Maybe<ScalingChoice> pcoupltype{};
  Maybe<double> tau_p{};
  Maybe<std::array<double, 3>> ref_p{}, compressibility{};
  Maybe<std::int64_t> nstpcouple{};
  Maybe<RefcoordChoice> refcoord_scaling{};
  std::optional<double> hydrogen_mass;
  Maybe<ConstraintChoice> constraints{};
  std::optional<bool> rigid_water;
  Maybe<CentreChoice> comm_mode{};
  Maybe<std::int64_t> nstcomm{};
  std::optional<bool> gen_vel;
  std::optional<double> gen_temp;

  Maybe<std::vector<std::string>> define{};
  Maybe<double> emtol{}, emstep{};
  std::optional<std::string> posres, freeze, freeze_x, freeze_y, freeze_z;
  Maybe<double> posres_k{};

  Maybe<std::int64_t> nstlog{}, nstenergy{}, nstxout{};
};

/// The settings of a whole case, with mdp's defaults where it has usable ones.
struct Settings : SettingsOf<Plain> {
  Settings() {
    dt = 1e-15;
    rcoulomb = rvdw = 1e-9;
    coulombtype = CoulombChoice::pme;
    coulomb_modifier = CoulombModifierChoice::potential_shift;
    vdw_modifier = ModifierChoice::potential_shift;
    epsilon_r = 1;
    reaction_field_of_excluded = true;
    fourierspacing = 0.12e-9;
    pme_order = 5;
    ewald_rtol = 1e-5;
    mts_level2_factor = 2;
    tau_t = 0.5e-12;
    ref_t = 300;
    tau_p = 5e-12;
    ref_p = {1e5, 1e5, 1e5};
    compressibility = {4.5e-10, 4.5e-10, 4.5e-10};
    nstpcouple = 10;
    nstcomm = 100;
    emtol = 10e12;
    emstep = 0.01e-9;
    posres_k = 1000e21;
    nstlog = nstenergy = nstxout = 1000;
  }
};

struct StageOptions : SettingsOf<std::optional> {
  std::string name;
  StageType type = StageType::dynamics;
  std::filesystem::path frames;  ///< of a rerun
};

/// All atoms alike: sigma and epsilon of their Lennard-Jones potential.
struct LennardJonesOptions {
  double sigma = 0.3405e-9, epsilon = 996.0;
  double mass = 39.948 * 1.66053906660e-27;
};

enum class BuildKind { lattice, water };
enum class Lattice { simple, bcc, fcc, diamond };
struct BuildOptions {
  BuildKind kind = BuildKind::lattice;
  Lattice lattice = Lattice::fcc;
  std::array<std::int64_t, 3> cells{5, 5, 5};
  double edge = 0;  ///< of a cell
  std::string model = "tip3p";
  std::optional<std::int64_t> molecules;
  std::optional<std::array<double, 3>> box;
};
/// Water and ions around what topology and structure hold.
struct SolvateOptions {
  std::string model = "tip3p";
  std::optional<double> padding;
  std::optional<std::array<double, 3>> box;
  bool neutralise = true;
  double concentration = 0;  ///< mol/m^3
  std::string cation = "NA", anion = "CL";
};

struct ExpectOptions {
  std::string stage;  ///< empty: the last
  std::string quantity;
  bool first = false, last = false;
  double value = 0, tolerance = 0;
  bool relative = false;
};

struct OutputOptions {
  std::vector<std::string> trajectory = {"xtc"};
  std::string select = "all";
  bool velocities = false, forces = false;
  double xtc_precision = 1e12;  ///< 1/m
  std::vector<std::string> final = {"rst7", "gro"};
  bool pressure_tensor = false;
  bool pictures = true;
};

enum class BoxChoice { input, none };

struct MdOptions {
  int schema = 1;
  std::string title;
  std::optional<std::filesystem::path> topology, structure, velocities;
  std::vector<std::filesystem::path> forcefield, include_folders;
  bool add_hydrogens = false;
  BoxChoice box = BoxChoice::input;
  std::optional<double> start_time;
  std::string coulomb_constant = "file";
  Precision precision = Precision::mixed;
  std::uint64_t seed = 1;
  Settings common;
  std::vector<StageOptions> stages;
  std::optional<LennardJonesOptions> lennard_jones;
  std::optional<BuildOptions> build;
  std::optional<SolvateOptions> solvate;
  OutputOptions output;
  std::vector<ExpectOptions> expectations;
};

const data::Options<MdOptions>& md_options();

/// The settings of one stage: its own where it gives them, else those of the case.
Settings merged(const Settings& common, const StageOptions& stage);

/// `si` in `unit`, as the number that a user who writes that unit would have written: 0.9 for 9e-10
/// m in nm.
double in_unit(double si, const std::string& unit);

}  // namespace tessera::apps::dynamics
