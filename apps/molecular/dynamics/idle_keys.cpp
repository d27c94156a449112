// SPDX-License-Identifier: Apache-2.0
// Settings that a stage does not read. One that has its default says nothing: a
// resolved case has all of them.
#include "molecular/dynamics/complaints.h"
#include "molecular/dynamics/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::apps::dynamics {
namespace {

bool freezes(const Settings& s) {
  return std::ranges::any_of(std::array{&s.freeze, &s.freeze_x, &s.freeze_y, &s.freeze_z},
                             [](const auto* choice) { return names_atoms(*choice); });
}

bool same(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }  // units round
template <std::size_t n>
bool same(const std::array<double, n>& a, const std::array<double, n>& b) {
  return std::ranges::equal(a, b, [](double x, double y) { return same(x, y); });
}
template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}

bool has_default(const Settings& s, std::string_view key) {
  static const Settings defaults;
  bool out = false;
  each_setting([&](std::string_view name, auto member, auto, const data::Field&) {
    if (name == key) out = same(s.*member, defaults.*member);
  });
  return out;
}

struct Idle {
  const Asked& asked;
  const Settings& s = asked.settings;
  const bool langevin = asked.integrator == IntegratorChoice::sd;
  std::vector<Complaint> out{};

  void idle(std::string key, std::string_view why, std::string hint) {
    if (has_default(s, key)) return;
    std::string message = fmt::format("{} has no effect {}", key, why);
    out.push_back({std::move(key), std::move(message), std::move(hint), 757, true});
  }

  bool held() const { return names_atoms(s.posres) || asked.restrained; }

  void motion_of_the_whole() {
    if (s.comm_mode == CentreChoice::none)
      return idle("nstcomm", "with comm_mode = \"none\"", "leave it out");
    const char* why =
        langevin ? "with integrator = \"sd\", whose friction and noise act on the whole, too"
        : s.tcoupl == ThermostatChoice::andersen
            ? "with tcoupl = \"andersen\", whose collisions set the whole in motion"
        : freezes(s) ? "where atoms are frozen: what holds them takes up momentum"
        : held()     ? "where springs hold atoms: they take up momentum"
                     : nullptr;
    if (!why) return;
    idle("comm_mode", why, "leave it out, or comm_mode = \"none\"");
    idle("nstcomm", why, "leave it out");
  }

  void barostat() {
    switch (s.pcoupl) {
      case BarostatChoice::no:
        for (const char* key : {"tau_p", "ref_p", "compressibility", "pcoupltype", "nstpcouple"})
          idle(key, "without a barostat", "give pcoupl, or leave it out");
        return;
      case BarostatChoice::monte_carlo:
        idle("tau_p", "with pcoupl = \"monte-carlo\", whose trials find their size by themselves",
             "leave it out; nstpcouple is the steps between trials");
        if (std::ranges::all_of(s.compressibility, [](double c) { return c > 0; }))
          idle("compressibility",
               "with pcoupl = \"monte-carlo\", unless it is 0 for an edge that is to stay",
               "leave it out");
        return;
      case BarostatChoice::parrinello_rahman:
        if (s.nstpcouple != 1)
          idle("nstpcouple",
               "with pcoupl = \"parrinello-rahman\", which moves the box in every step",
               "leave it out, or nstpcouple = 1");
        return;
      case BarostatChoice::c_rescale:
      case BarostatChoice::berendsen:
        return;
    }
  }

  void coulomb() {
    const CoulombChoice type = s.coulombtype;
    const bool pme = type == CoulombChoice::pme, ewald = type == CoulombChoice::ewald;
    const auto without = [&](std::initializer_list<const char*> keys, const char* kinds) {
      for (const char* key : keys)
        idle(key, fmt::format("without coulombtype = {}", kinds), "leave it out, or give that");
    };
    if (type != CoulombChoice::reaction_field)
      without({"epsilon_rf", "reaction_field_of_excluded"}, "\"reaction-field\"");
    if (type == CoulombChoice::reaction_field)
      idle("coulomb_modifier",
           "with coulombtype = \"reaction-field\", whose potential is 0 at the cut-off by itself",
           "leave it out");
    if (!pme) without({"fourierspacing", "fourier_grid", "pme_order"}, "\"pme\"");
    if (!pme && !ewald) without({"ewald_rtol", "ewald_beta"}, "\"pme\" or \"ewald\"");
    if (!ewald) without({"ewald_kmax"}, "\"ewald\"");
    if (pme && std::ranges::all_of(s.fourier_grid, [](std::int64_t n) { return n > 0; }))
      idle("fourierspacing", "beside fourier_grid, which gives the numbers", "one of the two");
    if (s.ewald_beta > 0 && (pme || (ewald && s.ewald_kmax > 0)))
      idle("ewald_rtol", "beside ewald_beta, which splits the sum", "one of the two");
    if (type == CoulombChoice::none)
      idle("epsilon_r", "with coulombtype = \"none\"", "leave it out");
    if (!asked.periodic)
      for (const char* key : {"DispCorr", "DispCorr_pairs"})
        idle(key, "without a box", "leave it out, or a structure with a box");
    else if (s.dispersion == DispersionChoice::no)
      idle("DispCorr_pairs", "without DispCorr", "DispCorr = \"EnerPres\", or leave it out");
  }

  void restraints() {
    if (!names_atoms(s.posres))
      idle("posres_k", "without posres; force constants of a topology are its own",
           "give posres, or leave it out");
    if (!held())
      idle("refcoord_scaling", "where no atoms are held", "give posres, or leave it out");
  }

  void velocities() {
    if (s.gen_vel == false)
      idle("gen_temp", "with gen_vel = false: no velocities are drawn", "gen_vel = true");
    else if (!s.gen_vel && asked.has_velocities)
      idle("gen_temp", "where a stage begins with velocities: none are drawn",
           "gen_vel = true, where others are wanted");
  }
};

}  // namespace

std::vector<Complaint> idle_keys_of_energies(const Asked& asked) {
  Idle c{asked};
  c.coulomb();
  c.restraints();
  return std::move(c.out);
}

std::vector<Complaint> idle_keys_of_minimization(const Asked& asked) {
  Idle c{asked};
  for (const char* key : {"dt",
                          "mts",
                          "mts_level2_factor",
                          "tcoupl",
                          "tau_t",
                          "ref_t",
                          "heat_from",
                          "annealing_time",
                          "annealing_temp",
                          "tc_grps",
                          "tc_ref_t",
                          "tc_tau_t",
                          "pcoupl",
                          "pcoupltype",
                          "tau_p",
                          "ref_p",
                          "compressibility",
                          "nstpcouple",
                          "comm_mode",
                          "nstcomm",
                          "gen_vel",
                          "gen_temp",
                          "hydrogen_mass"})
    c.idle(key, "in a minimization, which has no time, temperature or pressure",
           "leave it out, or type = \"dynamics\"");
  return std::move(c.out);
}

std::vector<Complaint> idle_keys(const Asked& asked) {
  Idle c{asked};
  for (const char* key : {"emtol", "emstep"})
    c.idle(key, "in a stage of dynamics", "leave it out, or type = \"minimize\"");
  c.motion_of_the_whole();
  c.barostat();
  c.velocities();
  if (c.s.tcoupl == ThermostatChoice::no && !c.langevin)
    for (const char* key : {"tau_t", "tc_tau_t"})
      c.idle(key, "without a thermostat", "give tcoupl, or leave it out");
  if (!c.s.mts) c.idle("mts_level2_factor", "without mts = true", "give it, or leave this out");
  return std::move(c.out);
}

}  // namespace tessera::apps::dynamics
