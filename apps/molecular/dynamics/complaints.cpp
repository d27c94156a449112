// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/complaints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::dynamics {
namespace {

constexpr const char* coulomb_words[] = {"pme", "ewald", "reaction-field", "cut-off", "none"};
constexpr const char* modifier_words[] = {"none", "potential-shift", "force-switch",
                                          "potential-switch", "force-shift"};
constexpr const char* flexible_where_it_can_be =
    "rigid_water = false and constraints = \"none\" where the topology has flexible bonds";
constexpr const char* barostat_words[] = {"no", "c-rescale", "parrinello-rahman", "monte-carlo",
                                          "berendsen"};
constexpr const char* thermostat_words[] = {"no", "v-rescale", "nose-hoover", "andersen",
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
  void water() {
    if (asked.type != StageType::rerun && asked.water_stays_rigid)
      doubt("rigid_water",
            "rigid_water = false changes nothing: the topology itself makes its waters rigid",
            "leave it out; flexible waters need bonds and an angle in the topology (of a .top: "
            "define = [\"FLEXIBLE\"])");
  }
  bool langevin() const { return asked.integrator == IntegratorChoice::sd; }
  /// The first of these keys that stands in the file; where none does, the first.
  const char* given(std::initializer_list<const char*> keys) const {
    const auto at = std::ranges::find_if(keys, asked.given);
    return at == keys.end() ? *keys.begin() : *at;
  }

  void coulomb() {
    const CoulombChoice type = s.coulombtype;
    if (s.coulomb_modifier == CoulombModifierChoice::force_shift &&
        type != CoulombChoice::cut_off && type != CoulombChoice::none)
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
            fmt::format("the net charge of {:.4g} e is neutralised by a uniform background "
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
                    fmt::format("vdw_modifier = \"{}\" needs rvdw_switch, where it begins", word),
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
    else if (*s.rvdw_switch == 0 && s.vdw_modifier == ModifierChoice::potential_switch &&
             s.dispersion != DispersionChoice::no)
      refuse("rvdw_switch",
             "a potential that is switched from 0 nm on lacks an infinite energy, which DispCorr "
             "would have to give back",
             "0.1 to 0.2 nm below rvdw, or DispCorr = \"no\"");
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
      refuse("pcoupl", fmt::format("pcoupl = \"{}\" needs a temperature, and none is given", word),
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
      refuse("compressibility", "every compressibility is 0, so the box cannot change",
             "a compressibility above 0 along one edge");
    pressure_in_time(word);
    if (s.pcoupl == BarostatChoice::parrinello_rahman && s.mts)
      refuse("mts", "pcoupl = \"parrinello-rahman\" takes all forces in every step",
             "mts = false, or pcoupl = \"c-rescale\"");
  }

  /// Edges along several axes, where these scale apart.
  void slanted_box() {
    if (s.pcoupl == BarostatChoice::no || asked.n_steps == 0 || !asked.periodic) return;
    if (s.pcoupltype == ScalingChoice::isotropic) return;
    const bool alike = s.pcoupltype == ScalingChoice::semiisotropic;  // x and y
    const auto apart = [&](std::size_t k, std::size_t l) {
      return !(alike && k + l == 1) && (s.compressibility[k] > 0 || s.compressibility[l] > 0);
    };
    constexpr double rounding = 1e-9;  // of edges that angles of 90 degrees make
    const bool turns = std::ranges::any_of(asked.box.edge, [&](const mol::Vec3& e) {
      const double least = rounding * std::hypot(e[0], e[1], e[2]);
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t l = k + 1; l < 3; ++l)
          if (apart(k, l) && std::abs(e[k]) > least && std::abs(e[l]) > least) return true;
      return false;
    });
    if (turns)
      doubt("pcoupltype",
            fmt::format("pcoupltype = \"{}\" scales the axes apart, and the box is slanted: its "
                        "angles change, and so do the lengths of its slanted edges, whatever their "
                        "compressibility",
                        alike ? "semiisotropic" : "anisotropic"),
            "pcoupltype = \"isotropic\", or a rectangular box, where these are to stay");
  }

  /// What keeps its place while the box and all else in it scale about the origin.
  void fixed_places() {
    if (s.pcoupl == BarostatChoice::no || asked.n_steps == 0) return;
    const char* effect = "hold the box, too, the more the farther from the origin they are";
    if (s.refcoord_scaling == RefcoordChoice::no && (asked.restrained || names_atoms(s.posres)))
      doubt(given({"refcoord_scaling", "posres", "pcoupl"}),
            fmt::format("the positions of restraints stay where they are while the box changes "
                        "(refcoord_scaling = \"no\"): springs {}, and the volume is not that of "
                        "the pressure",
                        effect),
            "refcoord_scaling = \"com\" with a barostat");
    const auto frozen = [&](const char* key, const std::optional<std::string>& choice,
                            std::initializer_list<std::size_t> directions) {
      if (names_atoms(choice) &&
          std::ranges::any_of(directions, [&](std::size_t a) { return s.compressibility[a] > 0; }))
        doubt(key,
              fmt::format("frozen atoms stay where they are while the box changes: they {}, and "
                          "the volume is not that of the pressure",
                          effect),
              "a compressibility of 0 where they are frozen, or posres with refcoord_scaling = "
              "\"com\"");
    };
    frozen("freeze", s.freeze, {0, 1, 2});
    frozen("freeze_x", s.freeze_x, {0});
    frozen("freeze_y", s.freeze_y, {1});
    frozen("freeze_z", s.freeze_z, {2});
  }

  /// Barostats with a time take a part of it at once: their formulas are those of a small one.
  void pressure_in_time(const char* word) {
    const bool piston = s.pcoupl == BarostatChoice::parrinello_rahman;
    if (s.pcoupl == BarostatChoice::monte_carlo) return;
    const double between = static_cast<double>(piston ? 1 : s.nstpcouple) * s.dt;
    const std::string message = fmt::format(
        "tau_p of pcoupl = \"{}\", {:g} ps, is {} the {:g} ps between its changes of the box", word,
        in_unit(s.tau_p, "ps"), between > s.tau_p ? "shorter than" : "less than ten times",
        in_unit(between, "ps"));
    if (between > s.tau_p)
      refuse(
          given({"tau_p", "nstpcouple", "pcoupl"}), message,
          piston ? "a longer tau_p, or a shorter dt" : "a longer tau_p, or a smaller nstpcouple");
    else if (between > 0.1 * s.tau_p * (1 + 1e-12))
      doubt(given({"tau_p", "nstpcouple", "pcoupl"}), message + ": the volume varies too much",
            piston ? "a longer tau_p, or a shorter dt" : "a longer tau_p, or a smaller nstpcouple");
  }

  void thermostat() {
    if (langevin() && s.tcoupl != ThermostatChoice::no)
      doubt("tcoupl",
            "tcoupl has no effect with integrator = \"sd\", which keeps the temperature by itself",
            "leave tcoupl out, or integrator = \"md\"");
    if (s.tcoupl != ThermostatChoice::no && s.tcoupl != ThermostatChoice::v_rescale &&
        !langevin()) {
      const double shortest =
          s.tc_tau_t.empty() || s.tc_grps.empty() ? s.tau_t : *std::ranges::min_element(s.tc_tau_t);
      if (s.dt > shortest)
        refuse(given({s.tc_tau_t.empty() ? "tau_t" : "tc_tau_t", "tcoupl"}),
               fmt::format("the time of tcoupl = \"{}\", {:g} ps, is shorter than a step",
                           thermostat_words[static_cast<int>(s.tcoupl)], in_unit(shortest, "ps")),
               "a longer one, or a shorter dt");
    }
    if (s.tcoupl == ThermostatChoice::nose_hoover && !langevin()) chains_at_zero();
  }

  /// Chains have the masses N k T (tau_t/2 pi)^2, and do nothing while T is 0. On the way from
  /// there they begin to.
  void chains_at_zero() {
    const auto bath_at_zero = [&](const char* key) {
      refuse(
          key,
          "tcoupl = \"nose-hoover\" is no bath at 0 K, where its chains have no mass: atoms would "
          "move as without a thermostat",
          "a temperature above 0 K, or tcoupl = \"v-rescale\"");
    };
    const auto is_zero = [](double t) { return t == 0; };
    if (s.annealing_temp && !s.annealing_temp->empty()) {
      const std::vector<double>& t = *s.annealing_temp;
      const bool waits = s.annealing_time && !s.annealing_time->empty() && is_zero(t.front()) &&
                         s.annealing_time->front() > 0;
      const auto both = [&](double a, double b) { return is_zero(a) && is_zero(b); };
      if (waits || is_zero(t.back()) || std::ranges::adjacent_find(t, both) != t.end())
        bath_at_zero("annealing_temp");
    } else if (std::ranges::any_of(s.tc_ref_t, is_zero)) {
      bath_at_zero("tc_ref_t");
    } else if (is_zero(s.ref_t) && (s.tc_grps.empty() || s.tc_ref_t.empty())) {
      bath_at_zero("ref_t");
    }
  }

  /// What a bath's temperature does over the stage.
  void ramp() {
    const bool anneals = s.annealing_time || s.annealing_temp;
    if (!s.heat_from && !anneals) return;
    const char* of_annealing = s.annealing_time ? "annealing_time" : "annealing_temp";
    if (s.tcoupl == ThermostatChoice::no && !langevin())
      refuse(s.heat_from ? "heat_from" : of_annealing, "there is no thermostat to heat with",
             "give tcoupl, or integrator = \"sd\"");
    if (s.heat_from && anneals)
      refuse("heat_from", fmt::format("heat_from and {} are both given", of_annealing),
             "one of them");
    if (!anneals) return;
    if (s.annealing_time.has_value() != s.annealing_temp.has_value() ||
        (s.annealing_time && s.annealing_time->size() != s.annealing_temp->size()))
      refuse(of_annealing,
             "annealing_time and annealing_temp belong together, one temperature for each time");
    if (std::ranges::any_of(s.tc_ref_t, [&](double t) { return t != s.tc_ref_t.front(); }))
      refuse("tc_ref_t",
             fmt::format("{} has one temperature for all of tc_grps; tc_ref_t gives them several",
                         of_annealing),
             "equal tc_ref_t, or heat_from, which goes to the tc_ref_t of each group");
    if (!s.annealing_time) return;
    for (std::size_t k = 1; k < s.annealing_time->size(); ++k)
      if (!((*s.annealing_time)[k] > (*s.annealing_time)[k - 1]))
        return refuse("annealing_time", "times of annealing have to grow from one to the next");
  }

  void box() {
    if (!asked.periodic && s.pcoupl != BarostatChoice::no)
      refuse("pcoupl", "a barostat needs a periodic box",
             "a structure with a box, or leave it out");
    if (asked.periodic && s.comm_mode == CentreChoice::angular)
      refuse("comm_mode",
             "comm_mode = \"angular\" is for vacuum: there is no rotation in a periodic box",
             "comm_mode = \"linear\", or box = \"none\"");
  }

  /// What is reported of a step is that of all forces there, slow ones too.
  void slow_forces() {
    if (!s.mts || asked.n_steps == 0) return;
    if (s.coulombtype != CoulombChoice::pme && s.coulombtype != CoulombChoice::ewald)
      refuse("mts",
             fmt::format("there are no slow forces with coulombtype = \"{}\": mts is for the sum "
                         "in reciprocal space",
                         coulomb_words[static_cast<int>(s.coulombtype)]),
             "coulombtype = \"pme\", or mts = false");
    for (const auto& [key, steps] :
         {std::pair{"nstenergy", s.nstenergy},
          {"nstlog", s.nstlog},
          {"nstxout", s.nstxout},
          {s.nsteps ? "nsteps" : "duration", asked.n_steps},
          {"nstpcouple", s.pcoupl == BarostatChoice::no ? 0 : s.nstpcouple}})
      if (steps % s.mts_level2_factor != 0)
        refuse(given({key, "mts_level2_factor", "mts"}),
               fmt::format("the {} steps of {} are no multiple of mts_level2_factor, {}", steps,
                           key, s.mts_level2_factor),
               "another of the two, or mts = false");
  }
};

}  // namespace

std::vector<Complaint> complaints_of(const Asked& asked) {
  Complainer c{asked, asked.settings, {}};
  c.coulomb();
  c.switches();
  c.water();
  if (asked.type != StageType::dynamics) return std::move(c.out);
  c.barostat();
  c.slanted_box();
  c.fixed_places();
  c.thermostat();
  c.ramp();
  c.box();
  c.slow_forces();
  return std::move(c.out);
}

std::string words_of(const Error& fault) {
  const std::string_view text = fault.what();
  const std::size_t end = text.starts_with('[') ? text.find("] ") : std::string_view::npos;
  return std::string(end == std::string_view::npos ? text : text.substr(end + 2));
}

Complaint complaint_of_fault(const std::string& words, const Asked& asked) {
  const Settings& s = asked.settings;
  const auto says = [&](const char* part) { return words.find(part) != std::string::npos; };
  const char* freeze = s.freeze     ? "freeze"
                       : s.freeze_x ? "freeze_x"
                       : s.freeze_y ? "freeze_y"
                                    : "freeze_z";
  const bool freezes = s.freeze || s.freeze_x || s.freeze_y || s.freeze_z;
  // What makes distances rigid: a key, or the topology.
  const char* rigid_by = s.rigid_water == true ? "rigid_water"
                         : s.constraints != ConstraintChoice::none && asked.given("constraints")
                             ? "constraints"
                             : "topology";
  if (says("temperature group")) return {"tc_grps", words};
  if (says("is a virtual site"))
    return {
        "constraints", words,
        "constraints = \"h-bonds\" or \"none\", or no bond to the site: its place is that of the "
        "atoms that it is made from"};
  for (const char* rigid : {"cannot be rigid", "constrained", "rigid water"})
    if (says(rigid)) return {rigid_by, words};
  if (says("its hydrogens'")) return {"hydrogen_mass", words};
  if (says("degrees of freedom") && freezes)
    return {freeze, fmt::format("with {} nothing is left to move: {}", freeze, words),
            "fewer atoms, or comm_mode = \"none\" where few are left"};
  if (says("degrees of freedom")) return {"comm_mode", words};
  if (says("Newton-CG"))
    return {"integrator",
            "integrator = \"newton-cg\" takes neither rigid bonds (rigid_water, constraints) nor "
            "virtual sites",
            fmt::format("integrator = \"l-bfgs\", or {}", flexible_where_it_can_be)};
  return {"integrator", words};
}

bool keeps_waters_flexible(const mol::System& topology, mol::Rigid bonds) {
  if (bonds == mol::Rigid::none) return false;  // no water is rigid without the key
  try {
    return mol::constrained(topology, bonds, true) != mol::constrained(topology, bonds, false);
  } catch (const Error&) {  // one that cannot be rigid
    return true;
  }
}

std::optional<Complaint> complaint_of_sites(const char* key, const mol::System& system,
                                            const std::vector<std::int32_t>& atoms) {
  const auto is_site = [&](std::int32_t i) {
    return !(system.atoms.mass_amu[static_cast<std::size_t>(i)] > 0);
  };
  if (atoms.empty() || !std::ranges::all_of(atoms, is_site)) return std::nullopt;
  return Complaint{
      key,
      fmt::format("{} means virtual sites alone, which go where the atoms do that they "
                  "are made from",
                  key),
      "choose these atoms"};
}

std::optional<Complaint> complaint_of_step(const mol::System& system, const std::string& stage,
                                           double dt_ps) {
  double shortest = INFINITY;
  std::size_t at = 0;
  for (std::size_t b = 0; b < system.bonds.size(); ++b) {
    const auto& [i, j] = system.bonds.atoms[b];
    const double mi = system.atoms.mass_amu[static_cast<std::size_t>(i)],
                 mj = system.atoms.mass_amu[static_cast<std::size_t>(j)],
                 k_bond = system.bonds.rows[static_cast<std::size_t>(system.bonds.row[b])][1];
    if (!(mi > 0 && mj > 0 && k_bond > 0)) continue;
    const double period = 2 * std::acos(-1.0) * std::sqrt(mi * mj / (mi + mj) / k_bond);
    if (period < shortest) {
      shortest = period;
      at = b;
    }
  }
  if (!(dt_ps * 10 > shortest)) return std::nullopt;
  const auto [i, j] = system.bonds.atoms[at];
  return Complaint{"dt",
                   fmt::format("stage '{}': the bond of atoms {} and {} swings in {:.2f} fs, less "
                               "than ten steps of {:g} fs",
                               stage, mol::name_of_atom(system, i), mol::name_of_atom(system, j),
                               1e3 * shortest, 1e3 * dt_ps) +
                       (dt_ps * std::acos(-1.0) > shortest
                            ? ": above 1/pi of its period no step is stable, and the run will fail"
                            : ""),
                   "a shorter dt, or constraints = \"h-bonds\"", 753, true};
}

std::optional<Complaint> complaint_of_rigid(const mol::System& system, const mol::System& topology,
                                            const mol::Frame& frame, const Settings& s) {
  const std::pair<const char*, const std::optional<std::string>*> keys[] = {
      {"freeze", &s.freeze},
      {"freeze_x", &s.freeze_x},
      {"freeze_y", &s.freeze_y},
      {"freeze_z", &s.freeze_z}};
  std::vector<bool> rigid(system.n_atoms(), false);
  for (const auto& pair : system.constraints.atoms)
    for (const std::int32_t i : pair) rigid[static_cast<std::size_t>(i)] = true;
  for (const auto& water : system.rigid_waters.atoms)
    for (const std::int32_t i : water) rigid[static_cast<std::size_t>(i)] = true;
  for (const auto& [key, choice] : keys) {
    if (!*choice || **choice == "none") continue;
    for (const std::int32_t i : mol::atoms_of(**choice, topology, frame))
      if (rigid[static_cast<std::size_t>(i)])
        return Complaint{
            key,
            fmt::format("{} holds atom {}, which is part of a rigid water or bond (rigid_water, "
                        "constraints): these are frozen as a whole or not at all",
                        key, mol::name_of_atom(system, i)),
            fmt::format("freeze = all atoms of it, or {}", flexible_where_it_can_be)};
  }
  return std::nullopt;
}

}  // namespace tessera::apps::dynamics
