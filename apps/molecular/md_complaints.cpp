// SPDX-License-Identifier: Apache-2.0
#include "molecular/md_complaints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::md {
namespace {

constexpr const char* coulomb_words[] = {"pme", "ewald", "reaction-field", "cut-off", "none"};
constexpr const char* modifier_words[] = {"none", "potential-shift", "force-switch",
                                          "potential-switch", "force-shift"};
constexpr const char* barostat_words[] = {"no", "c-rescale", "parrinello-rahman", "monte-carlo",
                                          "berendsen"};

struct Complainer {
  const Asked& asked;
  const Settings& s = asked.settings;
  std::vector<Complaint> out;

  void refuse(std::string key, std::string message, std::string hint = {}, int number = 751) {
    out.push_back({std::move(key), std::move(message), std::move(hint), number, false});
  }
  void doubt(std::string key, std::string message, std::string hint = {}) {
    out.push_back({std::move(key), std::move(message), std::move(hint), 757, true});
  }
  bool langevin() const { return asked.integrator == IntegratorChoice::sd; }

  void coulomb() {
    const CoulombChoice type = s.coulombtype;
    const ModifierChoice modifier = s.coulomb_modifier;
    const char* word = modifier_words[static_cast<int>(modifier)];
    if (modifier == ModifierChoice::force_switch || modifier == ModifierChoice::potential_switch)
      refuse("coulomb_modifier",
             fmt::format(
                 "coulomb_modifier = \"{}\": only the Lennard-Jones interaction is switched", word),
             "none, potential-shift, or force-shift with coulombtype = \"cut-off\"");
    else if (modifier == ModifierChoice::force_shift && type != CoulombChoice::cut_off &&
             type != CoulombChoice::none)
      refuse("coulomb_modifier",
             fmt::format("coulomb_modifier = \"force-shift\" does not go with coulombtype = \"{}\"",
                         coulomb_words[static_cast<int>(type)]),
             "none or potential-shift, or coulombtype = \"cut-off\"");
    const bool sums = type == CoulombChoice::pme || type == CoulombChoice::ewald;
    if (sums && !asked.periodic)
      refuse("coulombtype",
             fmt::format("coulombtype = \"{}\" is a sum over a periodic box, and there is none",
                         coulomb_words[static_cast<int>(type)]),
             "coulombtype = \"cut-off\" with rcoulomb = \"inf\", or a structure with a box", 752);
    if (sums && asked.periodic && std::abs(asked.net_charge_e) > 0.01)
      doubt("coulombtype",
            fmt::format("the net charge of {:.4g} e meets an even background of the opposite "
                        "charge: energies and pressures depend on the box",
                        asked.net_charge_e),
            "ions that neutralise it, such as [solvate] adds");
  }

  void switches() {
    const bool switched = s.vdw_modifier == ModifierChoice::force_switch ||
                          s.vdw_modifier == ModifierChoice::potential_switch,
               cut = asked.periodic || std::isfinite(s.rvdw);
    const char* word = modifier_words[static_cast<int>(s.vdw_modifier)];
    if (switched && cut && !s.rvdw_switch)
      return refuse("vdw_modifier",
                    fmt::format("vdw_modifier = \"{}\" does not say where it begins", word),
                    "give rvdw_switch, such as 0.1 to 0.2 nm below rvdw");
    if (!s.rvdw_switch) return;
    if (!switched)
      return doubt("rvdw_switch",
                   fmt::format("rvdw_switch has no effect with vdw_modifier = \"{}\"", word),
                   "vdw_modifier = \"force-switch\" or \"potential-switch\", or leave it out");
    if (!cut)
      return doubt("rvdw_switch", "rvdw_switch has no effect without a cut-off", "leave it out");
    if (*s.rvdw_switch >= s.rvdw)
      refuse("rvdw_switch",
             fmt::format("the switch has to begin below rvdw, {:g} nm, not at {:g} nm",
                         in_unit(s.rvdw, "nm"), in_unit(*s.rvdw_switch, "nm")),
             {}, 752);
    else if (*s.rvdw_switch < 0.5 * s.rvdw)
      doubt("rvdw_switch",
            fmt::format("a switch from {:g} to {:g} nm changes most of the Lennard-Jones "
                        "interaction, its well included",
                        in_unit(*s.rvdw_switch, "nm"), in_unit(s.rvdw, "nm")),
            "0.1 to 0.2 nm below rvdw");
  }

  void barostat() {
    if (s.pcoupl == BarostatChoice::no) return;
    const char* word = barostat_words[static_cast<int>(s.pcoupl)];
    const bool bath = s.tcoupl != ThermostatChoice::no || langevin(),
               by_temperature =
                   s.pcoupl == BarostatChoice::c_rescale || s.pcoupl == BarostatChoice::monte_carlo;
    if (by_temperature && asked.n_steps > 0 && !bath && !asked.given("ref_t"))
      refuse(
          "pcoupl",
          fmt::format("pcoupl = \"{}\" moves the box by the temperature, which nothing gives here",
                      word),
          "give ref_t, the temperature of the system, or tcoupl");
    if ((s.pcoupl == BarostatChoice::parrinello_rahman ||
         s.pcoupl == BarostatChoice::monte_carlo) &&
        !(s.ref_p[0] == s.ref_p[1] && s.ref_p[0] == s.ref_p[2]))
      refuse("ref_p", fmt::format("pcoupl = \"{}\" takes one pressure for all directions", word),
             "pcoupl = \"c-rescale\" for a tension");
    for (const auto& [key, values, unit] :
         {std::tuple{"ref_p", s.ref_p, "bar"},
          std::tuple{"compressibility", s.compressibility, "1/bar"}}) {
      const bool same = s.pcoupltype == ScalingChoice::anisotropic ||
                        (values[0] == values[1] &&
                         (s.pcoupltype == ScalingChoice::semiisotropic || values[0] == values[2]));
      if (!same)
        refuse(key,
               fmt::format("edges that scale together take one {}, not {:g}, {:g}, {:g} {}",
                           std::string_view(key) == "ref_p" ? "pressure" : "compressibility",
                           in_unit(values[0], unit), in_unit(values[1], unit),
                           in_unit(values[2], unit), unit),
               "pcoupltype = \"semiisotropic\" or \"anisotropic\"");
    }
    if (s.compressibility == std::array<double, 3>{})
      refuse("compressibility", "no edge of the box yields",
             "a compressibility above 0 along one edge");
    if (s.pcoupl == BarostatChoice::parrinello_rahman && s.mts)
      refuse("mts", "pcoupl = \"parrinello-rahman\" takes all forces in every step",
             "mts = false, or pcoupl = \"c-rescale\"");
  }

  void thermostat() {
    if (langevin() && s.tcoupl != ThermostatChoice::no)
      doubt("tcoupl",
            "tcoupl has no effect with integrator = \"sd\", which keeps the temperature by itself",
            "leave tcoupl out, or integrator = \"md\"");
    if (s.tcoupl == ThermostatChoice::andersen && !langevin()) {
      const double shortest =
          s.tc_tau_t.empty() || s.tc_grps.empty() ? s.tau_t : *std::ranges::min_element(s.tc_tau_t);
      if (s.dt > shortest)
        refuse(s.tc_tau_t.empty() ? "tau_t" : "tc_tau_t",
               fmt::format("the time of tcoupl = \"andersen\", {:g} ps, is shorter than a step",
                           in_unit(shortest, "ps")),
               "a longer one, or a shorter dt");
    }
    if (!s.annealing_time) return;
    for (std::size_t k = 1; k < s.annealing_time->size(); ++k)
      if (!((*s.annealing_time)[k] > (*s.annealing_time)[k - 1]))
        return refuse("annealing_time", "times of annealing have to grow from one to the next");
  }
};

}  // namespace

std::vector<Complaint> complaints_of(const Asked& asked) {
  Complainer c{asked, asked.settings, {}};
  c.coulomb();
  c.switches();
  if (asked.type != StageType::dynamics) return std::move(c.out);
  c.barostat();
  c.thermostat();
  return std::move(c.out);
}

}  // namespace tessera::apps::md
