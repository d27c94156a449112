// SPDX-License-Identifier: Apache-2.0
// Keys of mdp that mean nothing here, by what that is due to; GROMACS user guide, "Molecular dynamics parameters (.mdp options)".
#pragma once
#include <array>
#include <string_view>

namespace tessera::apps::md {

/// Switches of what is not supported: any value but `off` is refused.
struct MdpSwitch {
  std::string_view key, off, what;
};
inline constexpr MdpSwitch mdp_switches[] = {
    {"free-energy", "no", "free-energy perturbation"}, {"expanded", "no", "expanded ensembles"}, {"simulated-tempering", "no", "simulated tempering"},
    {"pull", "no", "pulling"}, {"awh", "no", "adaptive weight histograms"}, {"rotation", "no", "enforced rotation"}, {"swapcoords", "no", "swapping of ions"},
    {"qmmm", "no", "QM/MM"}, {"qmmm-cp2k-active", "no", "QM/MM by CP2K"}, {"disre", "no", "NMR distance restraints"}, {"orire", "no", "orientation restraints"},
    {"nwall", "0", "walls"}, {"implicit-solvent", "no", "implicit solvent"}, {"adress", "no", "AdResS"}, 
    {"density-guided-simulation-active", "no", "density-guided simulation"}, {"lambda-dynamics", "no", "lambda dynamics"}, {"morse", "no", "Morse bonds"},
    {"acc-grps", "", "accelerated groups"}, {"energygrp-excl", "", "exclusion of energy groups"}, {"energygrp-table", "", "tabulated potentials"},
    {"electric-field-x", "", "an electric field"}, {"electric-field-y", "", "an electric field"}, {"electric-field-z", "", "an electric field"},
    {"e-x", "", "an electric field"}, {"e-y", "", "an electric field"}, {"e-z", "", "an electric field"}, {"deform", "", "deformation of the box"},
    {"cos-acceleration", "0", "a cosine acceleration"}, {"imd-group", "", "interactive dynamics"}, {"periodic-molecules", "no", "molecules bound to their own images"},
    {"ewald-geometry", "3d", "slab geometry of the Ewald sum"}, {"epsilon-surface", "0", "a dipole correction"}, {"mass-repartition-factor", "1", "mass repartitioning by a factor (give hydrogen_mass)"},
};

/// What other lists of pairs and other solvers of constraints ask for (docs/decisions 0102 and 0101).
inline constexpr std::string_view mdp_of_lists[] = {"nstlist", "rlist", "verlet-buffer-tolerance", "verlet-buffer-pressure-tolerance"};
inline constexpr std::string_view mdp_of_constraints[] = {"constraint-algorithm", "lincs-order", "lincs-iter", "lincs-warnangle", "shake-tol", "shake-sor"};

/// What another program's way of computing asks for, and ours decides by itself.
inline constexpr std::string_view mdp_not_asked[] = {
    "nstcalcenergy", "nsttcouple", "continuation", "nh-chain-length", "print-nose-hoover-chain-variables", "energygrps", "energygrps-table",
    "simulation-part", "table-extension", "lj-pme-comb-rule", "ewald-rtol-lj", "rcoulomb-switch", "niter", "fcstep", "nstcgsteep", "nbfgscorr", "bd-fric",
    "ensemble-temperature-setting", "ensemble-temperature", "user1-grps", "user2-grps", "userint1", "userint2", "userint3", "userint4", "userreal1", "userreal2", "userreal3",
    "userreal4", "accelerate", "init-lambda", "delta-lambda", "calc-lambda-neighbors", "nstdhdl", "separate-dhdl-file", "nstexpanded", "nstdisreout", "nstorireout",
    "couple-moltype", "andersen-seed", "nst-transition-matrix", "symmetrized-transition-matrix", "mininum-var-min",
};
/// Families of keys that belong to a switch above.
inline constexpr std::string_view mdp_families[] = {"sc-", "fep-", "couple-", "dhdl-", "dh-hist-", "pull-", "awh-", "awh1-", "awh2-", "rot-", "swap-", "qmmm-", "wall-", "sim-temp-", "simulated-tempering-", "lmc-",
                                                   "wl-", "init-lambda-", "density-guided-simulation-", "disre-", "orire-", "lambda-dynamics-", "coul-lambdas", "vdw-lambdas", "bonded-lambdas",
                                                   "restraint-lambdas", "mass-lambdas", "temperature-lambdas"};

struct MdpObsolete {
  std::string_view key, now;  ///< `now`: what took its place; empty: it was removed
  std::string_view why;
};
inline constexpr MdpObsolete mdp_obsolete[] = {
    {"nstxtcout", "nstxout-compressed", ""}, {"xtc-precision", "compressed-x-precision", ""}, {"xtc-grps", "compressed-x-grps", ""}, {"unconstrained-start", "continuation", ""},
    {"title", "", "a title belongs to the topology"}, {"cpp", "", "the preprocessor is built in"}, {"warnings", "", "warnings are always given"}, {"optimize-fft", "", "transforms are always optimised"},
    {"ns-type", "", "lists of neighbours are always found by a grid"}, {"rlistlong", "", "there is one cut-off for each interaction"}, {"nstcalclr", "", "all forces are computed at every step"},
    {"domain-decomposition", "", "it is chosen by the program"}, {"bd-temp", "", "ref-t is the temperature"}, {"dihre", "", "dihedral restraints follow from the topology"},
    {"dihre-fc", "", "dihedral restraints follow from the topology"}, {"gb-algorithm", "", "GROMACS no longer has implicit solvent"}, {"nstgbradii", "", "GROMACS no longer has implicit solvent"},
    {"rgbradii", "", "GROMACS no longer has implicit solvent"}, {"gb-epsilon-solvent", "", "GROMACS no longer has implicit solvent"}, {"gb-saltconc", "", "GROMACS no longer has implicit solvent"},
    {"sa-algorithm", "", "GROMACS no longer has implicit solvent"}, {"sa-surface-tension", "", "GROMACS no longer has implicit solvent"},
};

/// Keys that are read, for suggestions too.
inline constexpr std::string_view mdp_read[] = {
    "define", "include", "integrator", "dt", "nsteps", "tinit", "init-step", "comm-mode", "comm-grps", "nstcomm", "ld-seed", "gen-seed", "emtol", "emstep", "nstxout", "nstvout", "nstfout", "nstlog", "nstenergy",
    "nstxout-compressed", "compressed-x-precision", "cutoff-scheme", "pbc", "coulombtype", "coulomb-modifier", "rcoulomb", "epsilon-r", "epsilon-rf", "vdwtype", "vdw-modifier", "rvdw",
    "rvdw-switch", "dispcorr", "fourierspacing", "fourier-nx", "fourier-ny", "fourier-nz", "pme-order", "ewald-rtol", "tcoupl", "tc-grps", "tau-t", "ref-t", "pcoupl", "pcoupltype",
    "nstpcouple", "tau-p", "ref-p", "compressibility", "refcoord-scaling", "annealing", "annealing-npoints", "annealing-time", "annealing-temp", "gen-vel", "gen-temp", "constraints",
    "freezegrps", "freezedim", "compressed-x-grps", "mts", "mts-levels", "mts-level2-forces", "mts-level2-factor",
};

}  // namespace tessera::apps::md
