// SPDX-License-Identifier: Apache-2.0
// Keys of molecular.dynamics that do nothing are told.
#include "md_words.h"

#include <gtest/gtest.h>

using namespace tessera::testing;

namespace {

TEST_F(MdWords, WhatDoesNothingIsTold) {
  warned(std::string(kArgon) + "tcoupl = \"berendsen\"\nintegrator = \"sd\"\n",
         "tcoupl = \"berendsen\"", "tcoupl has no effect with integrator = \"sd\"");
  warned("tcoupl = \"v-rescale\"\nintegrator = \"sd\"\n" + std::string(kWater), "tcoupl",
         "tcoupl has no effect with integrator = \"sd\"");
  warned("define = [\"POSRES\"]\n" + std::string(kWater), "define",
         "define has no effect without a GROMACS topology");
  warned("include_folders = [\".\"]\n" + std::string(kWater), "include_folders",
         "include_folders has no effect");
  write(
      "ion.top",
      "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nNA 11 22.99 0.0 A 0.25 0.1\n[ moleculetype "
      "]\nNA 1\n[ atoms ]\n1 NA 1 NA NA 1 1.0\n[ system ]\nIon\n[ molecules ]\nNA 2\n");
  write("ion.gro",
        "Ions\n    2\n    1NA      NA    1   0.500   0.500   0.500\n    2NA      NA    2   1.500   "
        "1.500   1.500\n   3.00000   3.00000   3.00000\n");
  warned(
      "app = \"molecular.dynamics\"\ntopology = \"ion.top\"\nstructure = \"ion.gro\"\ncoulombtype "
      "= \"pme\"\nnsteps = 1\n",
      "coulombtype", "net charge of 2 e is neutralised by a uniform background");
  write("ION.TOP", read("ion.top"));  // endings are read in capitals, too
  write(
      "case.toml",
      "app = \"molecular.dynamics\"\ntopology = \"ION.TOP\"\nstructure = \"ion.gro\"\ncoulombtype "
      "= \"cut-off\"\nnsteps = 1\ndefine = [\"POSRES\"]\n");
  const Outcome capitals = tessera({"check", "case.toml"});
  EXPECT_TRUE(capitals.code == 0 && !holds(capitals.out + capitals.err, "without a GROMACS"))
      << capitals.err;
  warned("rigid_water = false\n" + std::string(kWater), "rigid_water",
         "rigid_water = false changes nothing");
  // An end at the top is that of stages without one of their own; a minimizer has no duration.
  const std::string stage = "[[stage]]\nduration = \"40 fs\"\n",
                    down = "[[stage]]\ntype = \"minimize\"\n",
                    water = changed("nsteps = 20\n", "", kWater);
  warned("nsteps = 5\n" + water + stage, "nsteps", "nsteps has no effect");
  warned("duration = \"10 fs\"\n" + water + down + stage, "duration", "duration has no effect");
  warned(water + down + "duration = \"20 fs\"\n" + stage, "duration = \"20",
         "duration has no effect where a stage minimizes, with at most 5000 steps");
  warned(
      water + stage + "[[expect]]\nquantity = \"drift\"\nvalue = 0\ntolerance = 1\nfirst = true\n",
      "first", "a drift is that of the whole stage");
  write("case.toml", "nsteps = 5\n" + water + down + stage);
  EXPECT_FALSE(holds(tessera({"check", "case.toml"}).err, "E0757"));
}

/// Keys that the steps of no stage read; one that a stage reads is not idle at the top.
TEST_F(MdWords, KeysThatNoStageReadsAreTold) {
  const std::string sd = "integrator = \"sd\"\n", coupled = "tcoupl = \"v-rescale\"\n",
                    cut = "coulombtype = \"cut-off\"\n";
  const auto water = [&](const std::string& keys) { return keys + kWater; };
  for (const auto& [keys, key, says] :
       {std::tuple{sd + "nstcomm = 5\n", "nstcomm", "with integrator = \"sd\""},
        {"tcoupl = \"andersen\"\nnstcomm = 5\n", "nstcomm", "with tcoupl = \"andersen\""},
        {"freeze = \"index 0 to 2\"\nnstcomm = 5\n", "nstcomm", "where atoms are frozen"},
        {"comm_mode = \"none\"\nnstcomm = 5\n", "nstcomm", "with comm_mode = \"none\""},
        {coupled + "pcoupl = \"monte-carlo\"\ntau_p = \"1 ps\"\n", "tau_p",
         "with pcoupl = \"monte-carlo\""},
        {coupled + "pcoupl = \"monte-carlo\"\ncompressibility = \"1 1/bar\"\n", "compressibility",
         "with pcoupl = \"monte-carlo\", unless it is 0"},
        {"pcoupl = \"parrinello-rahman\"\nnstpcouple = 5\n", "nstpcouple",
         "with pcoupl = \"parrinello-rahman\""},
        {"tau_p = \"1 ps\"\n", "tau_p", "without a barostat"},
        {"tau_t = \"1 ps\"\n", "tau_t", "without a thermostat"},
        {"tc_grps = [\"all\"]\ntc_ref_t = [\"300 K\"]\ntc_tau_t = [\"1 ps\"]\n", "tc_tau_t",
         "without a thermostat"},
        {"mts_level2_factor = 3\n", "mts_level2_factor", "without mts"},
        {"gen_vel = false\n", "gen_temp", "with gen_vel = false"},
        {"coulombtype = \"reaction-field\"\ncoulomb_modifier = \"none\"\n", "coulomb_modifier",
         "with coulombtype = \"reaction-field\", whose potential is 0"},
        {"emtol = \"1 kJ/mol/nm\"\n", "emtol", "in a stage of dynamics"},
        {"epsilon_rf = 78\n", "epsilon_rf", "without coulombtype = \"reaction-field\""},
        {cut + "pme_order = 6\n", "pme_order", "without coulombtype = \"pme\""},
        {cut + "ewald_rtol = 1e-6\n", "ewald_rtol", "without coulombtype = \"pme\" or \"ewald\""},
        {"ewald_kmax = \"20 1/nm\"\n", "ewald_kmax", "without coulombtype = \"ewald\""},
        {"fourier_grid = [24, 24, 24]\nfourierspacing = \"0.1 nm\"\n", "fourierspacing",
         "beside fourier_grid"},
        {"ewald_beta = \"3 1/nm\"\newald_rtol = 1e-6\n", "ewald_rtol", "beside ewald_beta"},
        {"DispCorr_pairs = \"all\"\n", "DispCorr_pairs", "without DispCorr"},
        {"posres_k = \"10 kJ/mol/nm^2\"\n", "posres_k", "without posres"},
        {"posres = \"none\"\nrefcoord_scaling = \"com\"\n", "refcoord_scaling",
         "where no atoms are held"}})
    warned(water(keys), key, std::string(key) + " has no effect " + says);
  const std::string down = "[[stage]]\ntype = \"minimize\"\n",
                    tensor = "output.pressure_tensor = true\n",
                    speeds = "output.velocities = true\n";
  warned(tensor + water("") + down, "output.pressure_tensor",
         "pressure_tensor has no effect without a stage of dynamics in a box");
  warned("box = \"none\"\n" + tensor + water(cut), "output.pressure_tensor", "in a box");
  warned(speeds + water("") + down, "output.velocities",
         "velocities has no effect where stages minimize");
  const auto silent = [&](const std::string& text) {
    write("case.toml", text);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_TRUE(o.code == 0 && !holds(o.err, "E0757")) << text << o.err;
  };
  silent(tensor + speeds + water("") + down + "[[stage]]\nname = \"on\"\n");
  silent(water(sd + "comm_mode = \"none\"\n"));
  silent(water("freeze = \"none\"\ncomm_mode = \"linear\"\n"));
  silent(water(coupled +
               "pcoupl = \"monte-carlo\"\npcoupltype = \"semiisotropic\"\ncompressibility "
               "= [\"1 1/bar\", \"1 1/bar\", \"0 1/bar\"]\n"));
  silent(water("gen_vel = true\n"));
  silent(water("fourier_grid = [24, 0, 0]\nfourierspacing = \"0.1 nm\"\n"));
  silent(water(""));
  silent(water("posres = \"heavy\"\nposres_k = \"10 kJ/mol/nm^2\"\n"));
  // Energies of all kinds of stages read what is given for all.
  silent("epsilon_rf = 78\n" + water("") +
         "[[stage]]\ntype = \"minimize\"\ncoulombtype = " + "\"reaction-field\"\n[[stage]]\n");
  // Defaults are in every resolved case.
  silent(water(sd + "comm_mode = \"linear\"\nnstcomm = 100\n"));
  silent(water("tau_p = \"5 ps\"\nref_p = \"1 bar\"\ncompressibility = \"4.5e-5 1/bar\"\n"));
  write("case.toml", water(""));
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN"}).code, 0);
  const Outcome resolved = tessera({"check", "RUN/resolved.toml"});
  EXPECT_TRUE(resolved.code == 0 && !holds(resolved.err, "E0757")) << resolved.err;
  // A stage of one kind with keys of the other, which a stage beside it may read.
  const std::string on = "[[stage]]\nname = \"on\"\n";
  for (const std::string key :
       {"dt = \"3 fs\"", "mts = true", "tcoupl = \"v-rescale\"", "ref_t = \"200 K\"",
        "heat_from = \"10 K\"", "annealing_time = [\"0 ps\"]", "tc_grps = [\"all\"]",
        "pcoupl = \"c-rescale\"", "comm_mode = \"none\"", "gen_vel = true", "gen_temp = \"20 K\"",
        "hydrogen_mass = \"2 amu\""})
    warned(water("") + down + key + "\n" + on, key,
           key.substr(0, key.find(' ')) + " has no effect in a minimization");
  warned(water("") + down + on + "emstep = \"0.001 nm\"\n", "emstep",
         "emstep has no effect in a stage of dynamics");
  warned(water(coupled) + down, "tcoupl", "tcoupl has no effect in a minimization");
  silent("emtol = \"1 kJ/mol/nm\"\n" + water(coupled) + down + on);
  const std::string first = "[[stage]]\nname = \"a\"\n", second = "[[stage]]\nname = \"b\"\n",
                    bath = "tau_t = \"1 ps\"\n";
  silent(water(bath) + first + second + coupled);
  warned(water(coupled) + first + second + "tcoupl = \"no\"\n" + bath, "tau_t",
         "tau_t has no effect without a thermostat");
  // The second stage begins with the velocities of the first, unless it was one of minimization.
  warned(water("") + first + second + "gen_temp = \"20 K\"\n", "gen_temp = \"20 K\"",
         "gen_temp has no effect where a stage begins with velocities");
  silent(water("") + first + "type = \"minimize\"\n" + second + "gen_temp = \"20 K\"\n");
  silent(water("") + first + second + "gen_vel = true\ngen_temp = \"20 K\"\n");
}

}  // namespace
