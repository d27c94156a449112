// SPDX-License-Identifier: Apache-2.0
// Values of mdp's keys that name something, and what they are here.
#pragma once
#include <span>
#include <string_view>

namespace tessera::apps::dynamics {

/// A name of mdp's and ours; `way`: none of ours, and what to do.
struct MdpValue {
  std::string_view theirs, ours, way = {};
};
/// A key that names something; without it, `otherwise` is meant.
struct MdpChoice {
  std::string_view key, otherwise;
  std::span<const MdpValue> values;
};

inline constexpr MdpValue mdp_constraints_values[] = {
    {"none", "none"},
    {"h-bonds", "h-bonds"},
    {"all-bonds", "all-bonds"},
    {"h-angles", "h-angles"},
    {"all-angles", "", "all-angles makes no sense for large molecules; take h-angles"}};
inline constexpr MdpChoice mdp_constraints = {"constraints", "none", mdp_constraints_values};

inline constexpr MdpValue mdp_coulombtype_values[] = {
    {"pme", "pme"},
    {"ewald", "ewald"},
    {"reaction-field", "reaction-field"},
    {"cut-off", "cut-off"},
    {"reaction-field-zero", "", "obsolete: take reaction-field with epsilon-rf = 0"},
    {"generalized-reaction-field", "", "obsolete: take reaction-field"},
    {"pme-switch", "", "take pme"},
    {"switch", "", "take pme"},
    {"shift", "", "take pme or reaction-field"},
    {"encad-shift", "", "take pme"},
    {"p3m-ad", "", "take pme"},
    {"user", "", "tables are not read: take pme"},
    {"pme-user", "", "tables are not read: take pme"}};
inline constexpr MdpChoice mdp_coulombtype = {"coulombtype", "cut-off", mdp_coulombtype_values};

inline constexpr MdpValue mdp_coulomb_modifier_values[] = {
    {"potential-shift", "potential-shift"},
    {"potential-shift-verlet", "potential-shift"},
    {"none", "none"}};
inline constexpr MdpChoice mdp_coulomb_modifier = {"coulomb-modifier", "potential-shift",
                                                   mdp_coulomb_modifier_values};

inline constexpr MdpValue mdp_vdwtype_values[] = {
    {"cut-off", "cut-off"},
    {"shift", "force-switch"},
    {"switch", "potential-switch"},
    {"pme", "", "take cut-off with DispCorr = EnerPres"},
    {"user", "", "tables are not read: take cut-off"},
    {"encad-shift", "", "take cut-off"}};
inline constexpr MdpChoice mdp_vdwtype = {"vdwtype", "cut-off", mdp_vdwtype_values};

inline constexpr MdpValue mdp_vdw_modifier_values[] = {
    {"potential-shift", "potential-shift"},
    {"potential-shift-verlet", "potential-shift"},
    {"none", "none"},
    {"force-switch", "force-switch"},
    {"potential-switch", "potential-switch"}};
inline constexpr MdpChoice mdp_vdw_modifier = {"vdw-modifier", "potential-shift",
                                               mdp_vdw_modifier_values};

inline constexpr MdpValue mdp_dispcorr_values[] = {
    {"no", "no"},
    {"EnerPres", "EnerPres"},
    {"AllEnerPres", "AllEnerPres"},
    {"Ener", "", "the correction is of energy and pressure: EnerPres"},
    {"AllEner", "", "the correction is of energy and pressure: AllEnerPres"}};
inline constexpr MdpChoice mdp_dispcorr = {"dispcorr", "no", mdp_dispcorr_values};

inline constexpr MdpValue mdp_pbc_values[] = {
    {"xyz", "xyz"},
    {"no", "no"},
    {"xy", "", "boxes are periodic in all directions or in none"},
    {"screw", "", "take xyz"}};
inline constexpr MdpChoice mdp_pbc = {"pbc", "xyz", mdp_pbc_values};

inline constexpr MdpValue mdp_integrator_values[] = {
    {"md", "md"},
    {"md-vv", "md-vv"},
    {"sd", "sd"},
    {"steep", "steep"},
    {"l-bfgs", "l-bfgs"},
    {"md-vv-avek", "", "take md-vv"},
    {"sd1", "", "obsolete: take sd"},
    {"sd2", "", "obsolete: take sd"},
    {"bd", "", "take sd with a short tau-t"},
    {"cg", "", "take l-bfgs"},
    {"nm", "",
     "second derivatives of the energy are an operation of "
     "the library; minimize by newton-cg"},
    {"tpi", "", "particle insertion is not supported"},
    {"tpic", "", "particle insertion is not supported"},
    {"mimic", "", "take md"}};
inline constexpr MdpChoice mdp_integrator = {"integrator", "md", mdp_integrator_values};

inline constexpr MdpValue mdp_comm_mode_values[] = {
    {"linear", "linear"},
    {"angular", "angular"},
    {"none", "none"},
    {"linear-acceleration-correction", "", "take linear"}};
inline constexpr MdpChoice mdp_comm_mode = {"comm-mode", "linear", mdp_comm_mode_values};

inline constexpr MdpValue mdp_tcoupl_values[] = {
    {"no", "no"},
    {"v-rescale", "v-rescale"},
    {"nose-hoover", "nose-hoover"},
    {"andersen", "andersen"},
    {"berendsen", "berendsen"},
    {"andersen-massive", "", "take andersen or v-rescale"},
    {"yes", "", "obsolete: name the thermostat, such as v-rescale"}};
inline constexpr MdpChoice mdp_tcoupl = {"tcoupl", "no", mdp_tcoupl_values};

inline constexpr MdpValue mdp_pcoupl_values[] = {
    {"no", "no"},
    {"c-rescale", "c-rescale"},
    {"parrinello-rahman", "parrinello-rahman"},
    {"berendsen", "berendsen"},
    {"mttk", "", "take c-rescale"},
    {"yes", "", "obsolete: name the barostat, such as C-rescale"}};
inline constexpr MdpChoice mdp_pcoupl = {"pcoupl", "no", mdp_pcoupl_values};

inline constexpr MdpValue mdp_pcoupltype_values[] = {{"isotropic", "isotropic"},
                                                     {"semiisotropic", "semiisotropic"},
                                                     {"anisotropic", "anisotropic"},
                                                     {"surface-tension", "", "take semiisotropic"}};
inline constexpr MdpChoice mdp_pcoupltype = {"pcoupltype", "isotropic", mdp_pcoupltype_values};

inline constexpr MdpValue mdp_refcoord_scaling_values[] = {
    {"no", "no"}, {"all", "all"}, {"com", "com"}};
inline constexpr MdpChoice mdp_refcoord_scaling = {"refcoord-scaling", "no",
                                                   mdp_refcoord_scaling_values};

}  // namespace tessera::apps::dynamics
