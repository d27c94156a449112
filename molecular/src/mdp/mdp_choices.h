// SPDX-License-Identifier: Apache-2.0
// Values of mdp's keys that name something, and what they mean.
#pragma once
#include "tessera/molecular/stage.h"

#include <optional>
#include <span>
#include <string_view>

namespace tessera::molecular {

/// A value by its name; where there is a `way`, it is not supported, and that is what to do.
struct MdpName {
  std::string_view name, way;
};
template <class V>
struct MdpValue {
  std::string_view name;
  V meant{};
  std::string_view way = {};
};
/// A key that names something; without it, `otherwise` is meant.
template <class V>
struct MdpChoice {
  std::string_view key, otherwise;
  std::span<const MdpValue<V>> values;
};

enum class MdpIntegrator { md, md_vv, sd, steep, l_bfgs };

inline constexpr MdpValue<Rigid> mdp_constraints_values[] = {
    {"none", Rigid::none},
    {"h-bonds", Rigid::h_bonds},
    {"all-bonds", Rigid::all_bonds},
    {"h-angles", Rigid::h_angles},
    {"all-angles", {}, "all-angles makes no sense for large molecules; take h-angles"}};
inline constexpr MdpChoice<Rigid> mdp_constraints = {"constraints", "none", mdp_constraints_values};

inline constexpr MdpValue<Nonbonded::Coulomb> mdp_coulombtype_values[] = {
    {"pme", Nonbonded::Coulomb::pme},
    {"ewald", Nonbonded::Coulomb::ewald},
    {"reaction-field", Nonbonded::Coulomb::reaction_field},
    {"cut-off", Nonbonded::Coulomb::cutoff},
    {"reaction-field-zero", {}, "obsolete: take reaction-field with epsilon-rf = 0"},
    {"generalized-reaction-field", {}, "obsolete: take reaction-field"},
    {"pme-switch", {}, "take pme"},
    {"switch", {}, "take pme"},
    {"shift", {}, "take pme or reaction-field"},
    {"encad-shift", {}, "take pme"},
    {"p3m-ad", {}, "take pme"},
    {"user", {}, "tables are not read: take pme"},
    {"pme-user", {}, "tables are not read: take pme"}};
inline constexpr MdpChoice<Nonbonded::Coulomb> mdp_coulombtype = {"coulombtype", "cut-off",
                                                                  mdp_coulombtype_values};

inline constexpr MdpValue<Nonbonded::Modifier> mdp_coulomb_modifier_values[] = {
    {"potential-shift", Nonbonded::Modifier::potential_shift},
    {"potential-shift-verlet", Nonbonded::Modifier::potential_shift},
    {"none", Nonbonded::Modifier::none}};
inline constexpr MdpChoice<Nonbonded::Modifier> mdp_coulomb_modifier = {
    "coulomb-modifier", "potential-shift", mdp_coulomb_modifier_values};

inline constexpr MdpValue<std::optional<Nonbonded::Modifier>> mdp_vdwtype_values[] = {
    {"cut-off", std::nullopt},
    {"shift", Nonbonded::Modifier::force_switch},
    {"switch", Nonbonded::Modifier::potential_switch},
    {"pme", {}, "take cut-off with DispCorr = EnerPres"},
    {"user", {}, "tables are not read: take cut-off"},
    {"encad-shift", {}, "take cut-off"}};
inline constexpr MdpChoice<std::optional<Nonbonded::Modifier>> mdp_vdwtype = {"vdwtype", "cut-off",
                                                                              mdp_vdwtype_values};

inline constexpr MdpValue<Nonbonded::Modifier> mdp_vdw_modifier_values[] = {
    {"potential-shift", Nonbonded::Modifier::potential_shift},
    {"potential-shift-verlet", Nonbonded::Modifier::potential_shift},
    {"none", Nonbonded::Modifier::none},
    {"force-switch", Nonbonded::Modifier::force_switch},
    {"potential-switch", Nonbonded::Modifier::potential_switch}};
inline constexpr MdpChoice<Nonbonded::Modifier> mdp_vdw_modifier = {
    "vdw-modifier", "potential-shift", mdp_vdw_modifier_values};

inline constexpr MdpValue<Nonbonded::Tail> mdp_dispcorr_values[] = {
    {"no", Nonbonded::Tail::none},
    {"EnerPres", Nonbonded::Tail::c6},
    {"AllEnerPres", Nonbonded::Tail::c6_c12},
    {"Ener", {}, "the correction is of energy and pressure: EnerPres"},
    {"AllEner", {}, "the correction is of energy and pressure: AllEnerPres"}};
inline constexpr MdpChoice<Nonbonded::Tail> mdp_dispcorr = {"dispcorr", "no", mdp_dispcorr_values};

inline constexpr MdpValue<bool> mdp_pbc_values[] = {
    {"xyz", true},
    {"no", false},
    {"xy", {}, "boxes are periodic in all directions or in none"},
    {"screw", {}, "take xyz"}};
inline constexpr MdpChoice<bool> mdp_pbc = {"pbc", "xyz", mdp_pbc_values};

inline constexpr MdpValue<MdpIntegrator> mdp_integrator_values[] = {
    {"md", MdpIntegrator::md},
    {"md-vv", MdpIntegrator::md_vv},
    {"sd", MdpIntegrator::sd},
    {"steep", MdpIntegrator::steep},
    {"l-bfgs", MdpIntegrator::l_bfgs},
    {"md-vv-avek", {}, "take md-vv"},
    {"sd1", {}, "obsolete: take sd"},
    {"sd2", {}, "obsolete: take sd"},
    {"bd", {}, "take sd with a short tau-t"},
    {"cg", {}, "take l-bfgs"},
    {"nm",
     {},
     "second derivatives of the energy are an operation of "
     "the library; minimize by newton-cg"},
    {"tpi", {}, "particle insertion is not supported"},
    {"tpic", {}, "particle insertion is not supported"},
    {"mimic", {}, "take md"}};
inline constexpr MdpChoice<MdpIntegrator> mdp_integrator = {"integrator", "md",
                                                            mdp_integrator_values};

inline constexpr MdpValue<Dynamics::CentreOfMassRemoval> mdp_comm_mode_values[] = {
    {"linear", Dynamics::CentreOfMassRemoval::linear},
    {"angular", Dynamics::CentreOfMassRemoval::angular},
    {"none", Dynamics::CentreOfMassRemoval::none},
    {"linear-acceleration-correction", {}, "take linear"}};
inline constexpr MdpChoice<Dynamics::CentreOfMassRemoval> mdp_comm_mode = {"comm-mode", "linear",
                                                                           mdp_comm_mode_values};

inline constexpr MdpValue<Dynamics::Thermostat> mdp_tcoupl_values[] = {
    {"no", Dynamics::Thermostat::none},
    {"v-rescale", Dynamics::Thermostat::v_rescale},
    {"nose-hoover", Dynamics::Thermostat::nose_hoover},
    {"andersen", Dynamics::Thermostat::andersen},
    {"berendsen", Dynamics::Thermostat::berendsen},
    {"andersen-massive", {}, "take andersen or v-rescale"},
    {"yes", {}, "obsolete: name the thermostat, such as v-rescale"}};
inline constexpr MdpChoice<Dynamics::Thermostat> mdp_tcoupl = {"tcoupl", "no", mdp_tcoupl_values};

inline constexpr MdpValue<Dynamics::Barostat> mdp_pcoupl_values[] = {
    {"no", Dynamics::Barostat::none},
    {"c-rescale", Dynamics::Barostat::c_rescale},
    {"parrinello-rahman", Dynamics::Barostat::parrinello_rahman},
    {"berendsen", Dynamics::Barostat::berendsen},
    {"mttk", {}, "take c-rescale"},
    {"yes", {}, "obsolete: name the barostat, such as C-rescale"}};
inline constexpr MdpChoice<Dynamics::Barostat> mdp_pcoupl = {"pcoupl", "no", mdp_pcoupl_values};

inline constexpr MdpValue<Dynamics::Scaling> mdp_pcoupltype_values[] = {
    {"isotropic", Dynamics::Scaling::isotropic},
    {"semiisotropic", Dynamics::Scaling::semi_isotropic},
    {"anisotropic", Dynamics::Scaling::anisotropic},
    {"surface-tension", {}, "take semiisotropic"}};
inline constexpr MdpChoice<Dynamics::Scaling> mdp_pcoupltype = {"pcoupltype", "isotropic",
                                                                mdp_pcoupltype_values};

/// Whether the ensemble has a temperature of its own; else it has that of its baths, or none.
inline constexpr MdpValue<bool> mdp_ensemble_temperature_values[] = {
    {"auto", false}, {"constant", true}, {"variable", false}, {"not-available", false}};
inline constexpr MdpChoice<bool> mdp_ensemble_temperature = {"ensemble-temperature-setting", "auto",
                                                             mdp_ensemble_temperature_values};

inline constexpr MdpValue<RestraintScaling> mdp_refcoord_scaling_values[] = {
    {"no", RestraintScaling::none},
    {"all", RestraintScaling::all},
    {"com", RestraintScaling::centre}};
inline constexpr MdpChoice<RestraintScaling> mdp_refcoord_scaling = {"refcoord-scaling", "no",
                                                                     mdp_refcoord_scaling_values};

}  // namespace tessera::molecular
