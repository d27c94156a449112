// SPDX-License-Identifier: Apache-2.0
// Every way in which a case of electromagnetics.fdtd can contradict itself.
#include "fdtd_options_reading.h"

using namespace tessera::apps::fdtd;
using namespace tessera::data;
using namespace tessera::testing;

TEST(FdtdOptions, EachContradictionHasItsNumberAndPlace) {
  const std::string grid = "grid = {size = [\"4 um\", \"4 um\", \"0 um\"], cell = \"0.1 um\"}\n";
  const std::string stop = "run.stop.steps = 10\n";
  const std::string wave = "waveform = {kind = \"ricker\", frequency = \"50 THz\"}\n";
  const std::string source =
      "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [\"0 um\", \"0 um\", \"0 "
      "um\"]\n" +
      wave;
  const std::string head = grid + stop, all = grid + stop + source;  // 2 and 7 lines behind `app`
  const std::string flux =
      "[[monitor]]\nkind = \"flux\"\nname = \"f\"\nposition = [\"0 um\", \"0 um\", \"0 um\"]\nsize "
      "= "
      "[\"0 um\", \"1 um\", \"0 um\"]\n";
  const struct {
    std::string text;
    int number;
    std::size_t line, column;
    const char* words;
  } cases[] = {
      // grid
      {stop + source, 620, 0, 0, "the domain has no size"},
      {stop + source + "[grid]\nsize = [\"4 um\", \"4 um\", \"0 um\"]\n", 620, 8, 2,
       "there is no cell"},
      {stop + source + "[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\ncell = \"0.3 um\"\n", 620, 9,
       9, "is no whole number of cells: 13.3"},
      {stop + source + "[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\ncell = \"5 um\"\n", 620, 9,
       9, "take 5 um, or smaller cells"},
      {stop + source +
           "[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\ncell = \"0.1 um\"\ncells_per_wavelength "
           "= "
           "20\nfrequency_max = \"2 um\"\n",
       620, 11, 1, "given in two ways"},
      {stop + source + "[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\ncells_per_wavelength = 20\n",
       620, 10, 1, "grid.frequency_max, which is missing"},
      {stop + source + "[grid]\nsize = [\"0 um\", \"4 um\", \"0 um\"]\ncell = \"0.1 um\"\n", 621, 9,
       1, "come first"},
      {stop + source +
           "[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\ncell = \"0.1 um\"\npolarization = "
           "\"Ez\"\n",
       621, 11, 1, "in 2-D only"},
      {stop + source + "[grid]\nx.lines = [\"0 um\", \"2 um\", \"2 um\"]\n", 620, 9, 3, "rising"},
      {stop + source +
           "[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\nx.lines = [\"0 um\", \"2 um\"]\n",
       620, 9, 9, "size is 4 um, but the lines of x span 2 um"},
      {stop + source +
           "[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\ncell = \"0.1 "
           "um\"\n[[grid.x.refine]]\nfrom "
           "= \"1 um\"\nto = \"3 um\"\ncell = \"10 nm\"\n",
       620, 11, 1, "reaches out of the domain"},
      {stop + source +
           "[grid]\ncentre = [\"1 um\", \"0 um\", \"0 um\"]\nx.lines = [\"0 um\", \"1 um\", \"4 "
           "um\"]\n",
       620, 9, 11, "centre is 1 um, but the middle of the lines of x is 2 um"},
      {stop + source + "[grid]\nauto = {}\ncentre = [\"1 um\", \"0 um\", \"0 um\"]\n", 620, 10, 1,
       "wherever grid.centre is"},
      // run
      {grid + source, 622, 0, 0, "the run has no end"},
      {grid +
           "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [\"0 um\", \"0 um\", \"0 "
           "um\"]\nwaveform = {kind = \"continuous\", frequency = \"50 THz\"}\n[run]\nstop = "
           "{decay_db = 60}\n",
       622, 9, 1, "source[0] never does"},
      // boundary
      {all + "[boundary]\nx_low = \"periodic\"\n", 623, 10, 1, "join two faces"},
      {all + "[boundary]\nx = \"bloch\"\n", 623, 9, 2, "need a wave vector"},
      {all + "[boundary]\nbloch_phase = [\"90 deg\", \"0 deg\", \"0 deg\"]\n", 623, 10, 16,
       "across x are not bloch"},
      {all + "[boundary]\ny = \"bloch\"\nbloch_k = [\"0 rad/m\", \"1 rad/um\", \"0 "
             "rad/m\"]\nbloch_phase = [\"0 deg\", \"9 deg\", \"0 deg\"]\n",
       623, 12, 1, "in two ways"},
      // materials
      {all + "[[material]]\nname = \"a\"\npec = true\neps = 2\n", 624, 11, 1, "nothing else"},
      {all + "[[material]]\nname = \"a\"\nlibrary = \"Au\"\neps = 2\n", 624, 11, 1,
       "already says what eps"},
      {all + "[[material]]\nname = \"a\"\nindex = 2\neps = 2\n", 624, 11, 1, "in two ways"},
      {all + "[[material]]\nname = \"a\"\nloss_tangent = 0.1\n", 624, 11, 1, "loss_frequency"},
      {all + "[[material]]\nname = \"a\"\nloss_band = [\"1 GHz\", \"2 GHz\"]\n", 624, 11, 1,
       "there is no loss_tangent"},
      {all + "[[material]]\nname = \"a\"\npoles = [{kind = \"residue\", pole = [\"1 rad/s\", \"1 "
             "rad/s\"], residue = [\"1 rad/s\", \"1 rad/s\"]}]\n",
       624, 11, 29, "grows in time"},
      {all + "[[material]]\nname = \"a\"\n[[material]]\nname = \"a\"\n", 625, 12, 1,
       "the name 'a' is given twice"},
      {all + "[[material]]\nname = \"vacuum\"\n", 625, 10, 1, "always there"},
      {all + "[[material]]\nname = \"a\"\nlibrary = \"Gold\"\n", 215, 11, 11, "must be one of"},
      // structures
      {all + "[[material]]\nname = \"glass\"\n[[structure]]\nshape = \"sphere\"\nradius = \"1 "
             "um\"\nmaterial = \"glas\"\n",
       625, 14, 1, "there is no medium 'glas'"},
      {all + "[[structure]]\nshape = \"box\"\nmaterial = \"Au\"\n", 626, 9, 1,
       "a size, or a low and a high corner"},
      {all + "[[structure]]\nshape = \"box\"\nmaterial = \"Au\"\nlow = [\"0 um\", \"0 um\", \"0 "
             "um\"]\n",
       626, 12, 1, "a size, or a low and a high corner"},
      {all + "[[structure]]\nshape = \"box\"\nmaterial = \"Au\"\nlow = [\"0 um\", \"1 um\", \"0 "
             "um\"]\nhigh = [\"1 um\", \"0 um\", \"0 um\"]\n",
       626, 12, 1, "is above high"},
      {all + "[[structure]]\nshape = \"box\"\nmaterial = \"Au\"\ncentre = [\"1 um\", \"0 um\", \"0 "
             "um\"]\nlow = [\"0 um\", \"0 um\", \"0 um\"]\nhigh = [\"1 um\", \"1 um\", \"1 "
             "um\"]\n",
       626, 12, 11, "between its low and high corners, whose middle is elsewhere"},
      {all + "[[structure]]\nshape = \"sphere\"\nradius = \"1 um\"\n", 626, 9, 1,
       "has no material"},
      {all + "[[structure]]\nshape = \"sphere\"\nmaterial = \"Au\"\nradius = \"1 "
             "um\"\ninner_radius = "
             "\"1 um\"\n",
       626, 13, 1, "is not below radius"},
      {all + "[[structure]]\nshape = \"sphere\"\nname = \"s\"\nmaterial = \"Au\"\nradius = \"1 "
             "um\"\n[[structure]]\nshape = \"union\"\nmaterial = \"Au\"\nparts = [\"s\", \"a\"]\n",
       625, 17, 15, "there is no earlier structure 'a'"},
      {all +
           "[[structure]]\nshape = \"half_space\"\nmaterial = \"Au\"\npoint = [\"0 um\", \"0 um\", "
           "\"0 um\"]\noutward = [0, 0, 0]\n",
       626, 13, 1, "has no direction"},
      // sources
      {head, 628, 1, 1, "nothing makes waves: the case has no [[source]]"},
      {head +
           "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [\"3 um\", \"0 um\", \"0 "
           "um\"]\n" +
           wave,
       628, 7, 1, "leaves the domain along x, which ends at -2 um and 2 um"},
      {head +
           "[[source]]\nkind = \"line\"\ncomponent = \"Ez\"\nposition = [\"0 um\", \"0 um\", \"0 "
           "um\"]\nsize = [\"1 um\", \"1 um\", \"0 um\"]\n" +
           wave,
       628, 8, 1, "a line has one entry above 0"},
      {head +
           "[[source]]\nkind = \"plane_wave\"\ndirection = [1, 0, 0]\npolarization = [2, 0, 0]\n" +
           wave,
       628, 7, 1, "lies across its direction"},
      {head +
           "[[source]]\nkind = \"plane_wave\"\ndirection = [0, 0, 1]\npolarization = [1, 0, 0]\n" +
           wave,
       628, 6, 1, "leads out of the axes that are resolved"},
      {head +
           "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [\"0 um\", \"0 um\", \"0 "
           "um\"]\nwaveform = {kind = \"gaussian\", frequency = \"50 THz\"}\n",
       627, 8, 1, "a gaussian has a frequency and a bandwidth"},
      {head +
           "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [\"0 um\", \"0 um\", \"0 "
           "um\"]\nwaveform = {frequency_min = \"1 um\", frequency_max = \"2 um\"}\n",
       627, 8, 13, "is not below frequency_max"},
      // monitors
      {all + flux, 629, 9, 1, "needs frequencies, or both ends of a band"},
      {all + flux + "frequencies = [\"50 THz\"]\nfrequency_min = \"40 THz\"\n", 629, 9, 1,
       "needs frequencies, or both ends of a band"},
      {all + flux + "frequency_min = \"50 THz\"\nfrequency_max = \"40 THz\"\n", 629, 14, 1,
       "is above frequency_max"},
      {all + flux + "frequencies = [\"50 THz\"]\nrelative_to = \"g\"\n", 625, 15, 1,
       "there is no flux, mode or beam monitor 'g'"},
      {all + flux + "frequencies = [\"50 THz\"]\n" + flux + "frequencies = [\"50 THz\"]\n", 625, 17,
       1, "the name 'f' is given twice"},
      {all + "[[monitor]]\nkind = \"flux\"\nname = \"f\"\nposition = [\"0 um\", \"0 um\", \"0 "
             "um\"]\nsize = [\"0 um\", \"0 um\", \"0 um\"]\nfrequencies = [\"50 THz\"]\n",
       629, 13, 1, "neither a plane"},
      {all + "[[monitor]]\nkind = \"probe\"\nname = \"a/b\"\nposition = [\"0 um\", \"0 um\", \"0 "
             "um\"]\n",
       629, 11, 1, "letters, digits"},
      {all + "[[monitor]]\nkind = \"rcs\"\nname = \"r\"\nposition = [\"0 um\", \"0 um\", \"0 "
             "um\"]\nsize = [\"1 um\", \"1 um\", \"0 um\"]\nfrequencies = [\"50 THz\"]\n",
       629, 9, 1, "is measured against one plane_wave source, but there are 0"},
      {all + "[[monitor]]\nkind = \"probe\"\nname = \"p\"\nposition = [\"0 um\", \"0 um\", \"0 "
             "um\"]\ncomponents = [\"Ez\", \"Ez\"]\n",
       629, 13, 21, "the component is named twice"},
      {all + "[[structure]]\nshape = \"sphere\"\nname = \"s\"\nmaterial = \"Au\"\nradius = \"1 "
             "um\"\n[[monitor]]\nkind = \"resonances\"\nname = \"r\"\nposition = [\"0 um\", \"0 "
             "um\", \"0 um\"]\nfrequency_min = \"40 THz\"\nfrequency_max = \"50 THz\"\nderivatives "
             "= [\"s.radius\", \"s.radius\"]\n",
       629, 20, 28, "it is named twice"},
      {grid + source +
           "[run]\nstop = {dft_tolerance = 1e-3}\n[[monitor]]\nkind = \"probe\"\nname = "
           "\"p\"\nposition = [\"0 um\", \"0 um\", \"0 um\"]\n",
       622, 9, 1, "no monitor takes a transform"},
      {all + "[[expect]]\nmonitor = \"flax\"\nvalue = 1\ntolerance = 0.1\n", 625, 10, 1,
       "there is no monitor 'flax'"},
  };
  EXPECT_TRUE(findings(all).empty());
  // A centre that says what others do, and one that an endless body turns about.
  EXPECT_TRUE(findings(stop + source +
                       "[grid]\ncentre = [\"2 um\", \"0 um\", \"0 um\"]\nx.lines = [\"0 um\", \"1 "
                       "um\", \"4 um\"]\n")
                  .empty());
  EXPECT_TRUE(findings(all +
                       "[[structure]]\nshape = \"box\"\nmaterial = \"Au\"\ncentre = [\"1 um\", "
                       "\"0.5 um\", \"0 um\"]\nlow = [\"-inf\", \"0 um\", \"-inf\"]\nhigh = "
                       "[\"inf\", \"1 um\", \"inf\"]\nrotate = {angle = \"20 deg\"}\n")
                  .empty());
  for (const auto& c : cases) {
    const auto found = findings(c.text);
    EXPECT_EQ(found.size(), 1u) << c.text << (found.empty() ? "" : to_string(found.back()));
    if (found.empty()) continue;
    const Diagnostic& d = found[0];
    EXPECT_EQ(d.number, c.number) << to_string(d);
    EXPECT_EQ(d.place.line, c.line) << to_string(d);
    EXPECT_EQ(d.place.column, c.column) << to_string(d);
    EXPECT_NE(to_string(d).find(c.words), std::string::npos) << to_string(d);
  }
}

TEST(FdtdOptions, WhatAPolarizationLeavesOutCannotBeExcitedNorMeasured) {
  const auto found = findings(
      "run.stop.steps = 10\n[grid]\nsize = [\"4 um\", \"4 um\", \"0 um\"]\ncell = \"0.1 "
      "um\"\npolarization = \"Hz\"\n[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = "
      "[\"0 "
      "um\", \"0 um\", \"0 um\"]\nwaveform = {kind = \"ricker\", frequency = \"50 "
      "THz\"}\n[[monitor]]\nkind = \"probe\"\nname = \"p\"\nposition = [\"0 um\", \"0 um\", \"0 "
      "um\"]\ncomponents = [\"Hz\", \"Hx\"]\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].number, 628);
  EXPECT_EQ(found[0].place.line, 9u);
  EXPECT_EQ(found[1].number, 629);
  EXPECT_EQ(found[1].place.line, 16u);
  EXPECT_EQ(found[1].place.column, 21u);
}

/// A pulse may begin at its peak (delay 0), a continuous wave not at once.
TEST(FdtdOptions, AContinuousWaveIsTurnedOnInSomeTime) {
  const auto of = [](const std::string& waveform) {
    return findings(
        "run.stop.steps = 10\ngrid = {size = [\"4 um\", \"4 um\", \"0 um\"], cell = \"0.1 um\"}\n"
        "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [\"0 um\", \"0 um\", \"0 "
        "um\"]\nwaveform = {frequency = \"50 THz\", " +
        waveform + "}\n");
  };
  EXPECT_TRUE(of("kind = \"gaussian\", bandwidth = \"20 THz\", delay = \"0 fs\"").empty());
  EXPECT_TRUE(of("kind = \"continuous\", ramp = \"1 fs\"").empty());
  const auto found = of("kind = \"continuous\", ramp = \"0 fs\"");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].place.line, 8u);
}

TEST(FdtdOptions, AlongOneAxisNoWaveHasAComponentAlongIt) {
  const auto found = findings(
      "run.stop.steps = 10\n[grid]\nsize = [\"4 um\", \"0 um\", \"0 um\"]\ncell = \"0.1 um\"\n"
      "[[source]]\nkind = \"point\"\ncomponent = \"Ex\"\nposition = [\"0 um\", \"0 um\", \"0 "
      "um\"]\n"
      "waveform = {kind = \"ricker\", frequency = \"50 THz\"}\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].number, 628);
  EXPECT_EQ(found[0].place.line, 8u);
  EXPECT_NE(found[0].message.find("the one axis that is resolved"), std::string::npos)
      << found[0].message;
}
