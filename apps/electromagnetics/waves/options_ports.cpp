// SPDX-License-Identifier: Apache-2.0
// The ports of a device, [[port]], and its scattering parameters, [s_parameters].
#include "electromagnetics/waves/option_tables.h"

namespace tessera::apps::waves {

data::Options<PortOptions> port_table() {
  using O = PortOptions;
  const std::vector<std::string> guided = {"mode"}, lumped = {"lumped"};
  data::Options<O> o("port",
                     "Where waves enter and leave a device: modes of a guide, through a plane "
                     "across it, or the terminals of a source between two conductors.",
                     "0.3");
  o.add_kind("kind", &O::kind,
             {.doc = "mode: modes of a guide, those of the grid; lumped: a source behind R, L and "
                     "C between two "
                     "conductors, over a rectangle or along a line of the grid.",
              .choices = {"mode", "lumped"},
              .required = true});
  o.add("name", &O::name,
        {.doc = "Its name in S, of letters, digits, _ and -; with several modes they are name.1, "
                "name.2 and so on.",
         .required = true});
  o.add("position", &O::position,
        length({.doc = "A point of its plane, which is put on the nearest line of the grid; of "
                       "`size` the middle. Of a lumped port its middle.",
                .required = true}));
  o.add(
      "size", &O::size,
      length({.doc =
                  "Part of the plane in which the guide lies, walls of metal around it (all "
                  "of the plane if not given); 0 across it. Of a lumped port its extent, from one "
                  "conductor to the other and across.",
              .min = 0,
              .required_for = lumped}));
  o.add(
      "direction", &O::direction,
      {.doc =
           "Along an axis: into the device, or from the negative terminal of a lumped port to the "
           "positive one. E.g. [1, 0, 0].",
       .required = true});
  o.add("modes", &O::modes,
        {.doc = "How many modes, from the slowest that travels on: each is a port of S.",
         .min = 1,
         .max = 100,
         .only_for = guided});
  o.add("index", &O::index,
        {.doc = "Effective index about which modes are sought; above that of the densest medium in "
                "the plane if not given.",
         .above = 0,
         .only_for = guided});
  o.add("impedance", &O::impedance,
        {.doc = "Impedance that its waves refer to. Of a mode what its line is said to have, which "
                "`s_parameters.reference` and files take it for; if not given S is that of the "
                "mode's own waves, and a reference takes a line of two conductors for what it "
                "has. Of a lumped port its resistance, if not given.",
         .unit = "ohm",
         .above = 0});
  o.add("reactance", &O::reactance, {.doc = "Imaginary part of impedance.", .unit = "ohm"});
  o.add("shift", &O::shift,
        length({.doc = "How far along its direction, into the device, S has its plane of "
                       "reference: waves are moved there by the guide's own propagation constant.",
                .only_for = guided}));
  add_circuit(o, lumped);
  o.add("plane", &O::plane,
        length({.doc = "A point of the line that the port feeds, further on from `position` along "
                       "the line: "
                       "V and I are read there, between the same conductors, instead of at the "
                       "terminals.",
                .only_for = lumped}));
  o.add("same_as", &O::same_as,
        {.doc = "Name of a port that looks into the device as this one does, by a symmetry of it: "
                "this one then needs no run."});
  o.add("order", &O::order,
        {.doc = "With same_as: all ports in the order in which they take the places of those of "
                "the file. Not needed where only the two change places.",
         .max_items = 1000});
  return o;
}

namespace {

data::Options<PairOptions> pair_table() {
  using O = PairOptions;
  data::Options<O> o("pair", "Two ports as one with a differential and a common mode.", "0.3");
  o.add("name", &O::name, {.doc = "Its name: the modes are NAME.d and NAME.c.", .required = true});
  o.add("plus", &O::plus, {.doc = "The port that counts plus.", .required = true});
  o.add("minus", &O::minus, {.doc = "The port that counts minus.", .required = true});
  return o;
}

data::Options<JoinOptions> join_table() {
  using O = JoinOptions;
  data::Options<O> o(
      "join",
      "A Touchstone file whose ports are joined to those of the device, by voltages and "
      "currents; where a mode has no impedance, its waves go on as they are.",
      "0.3");
  o.add("name", &O::name,
        {.doc = "Its name; a port of it that stays open is NAME.1, NAME.2 and so on.",
         .required = true});
  o.add("file", &O::file,
        {.doc = "The file, with all frequencies of S in its range.", .required = true});
  o.add("ports", &O::ports,
        {.doc = "For each port of the file that of the device which it is joined to; \"\" where it "
                "stays open.",
         .required = true,
         .max_items = 1000});
  return o;
}

data::Options<CompareOptions> compare_table() {
  using O = CompareOptions;
  data::Options<O> o("compare",
                     "A Touchstone file beside S: its curves are drawn dashed, and `difference` is "
                     "the largest one, which [[expect]] may bound.",
                     "0.3");
  o.add("name", &O::name, {.doc = "What the result is called.", .required = true});
  o.add("file", &O::file,
        {.doc = "The file, its ports in the order of the case.", .required = true});
  o.add("result", &O::result,
        {.doc = "Beside which result.", .choices = {"s_parameters", "s_mixed", "s_joined"}});
  return o;
}

data::Options<ArrayOptions> array_table() {
  using O = ArrayOptions;
  data::Options<O> o("array",
                     "Waves that come in at several ports at once, of which all runs together tell "
                     "what becomes: far fields as MONITOR.NAME, reflections at the ports as NAME.",
                     "0.3");
  o.add("name", &O::name, {.doc = "Its name.", .required = true});
  o.add("ports", &O::ports,
        {.doc = "The ports that are driven, by their names in S: one at least.",
         .required = true,
         .max_items = 1000});
  o.add("amplitudes", &O::amplitudes,
        {.doc = "Amplitudes of their waves, relative to each other; 1 each if not given.",
         .max_items = 1000});
  o.add("phases", &O::phases,
        {.doc = "Phases of their waves; 0 if not given.", .unit = "deg", .max_items = 1000});
  return o;
}

}  // namespace

data::Options<ScatteringOptions> scattering_table() {
  using O = ScatteringOptions;
  data::Options<O> o("s_parameters", "What is made of the waves at ports.", "0.3");
  o.add("frequencies", &O::frequencies,
        frequency({.doc = "Frequencies one by one.", .max_items = 100000}));
  o.add("frequency_min", &O::frequency_min,
        frequency({.doc = "Instead: the lower end of a band."}));
  o.add("frequency_max", &O::frequency_max, frequency({.doc = "Its upper end."}));
  o.add("frequency_points", &O::frequency_points,
        {.doc = "How many in the band, evenly spaced.", .min = 1, .max = 100000});
  o.add("waves", &O::waves,
        {.doc = "Waves at complex impedances: power, |a|^2 - |b|^2 is the power into the port; "
                "pseudo, a line of that impedance reflects nothing. For real ones both are the "
                "same.",
         .choices = {"power", "pseudo"}});
  o.add("reference", &O::reference,
        {.doc = "Impedance of all ports in S, and in all that is told by waves: VSWR, active "
                "reflections, incident power, realised gain, total efficiency; those of the ports "
                "if not given.",
         .unit = "ohm",
         .above = 0});
  o.add("touchstone", &O::touchstone,
        {.doc =
             "Version of the Touchstone file s_parameters.sNp in the run's folder. auto: 1.1, "
             "or 2.0 where ports differ in impedance. Such files have real references, the same at "
             "all frequencies: S of a complex one is taken to its real part, of a line to its "
             "impedance in the middle of the band, as comments of the file say.",
         .choices = {"auto", "1.1", "2.0", "none"}});
  o.add("numbers", &O::numbers,
        {.doc = "How that file writes numbers: real and imaginary part, magnitude and angle, or "
                "decibels and angle.",
         .choices = {"RI", "MA", "DB"}});
  o.add(
      "per_watt", &O::per_watt,
      {.doc = "What transforms of other monitors are given for: as the pulse makes them (no), or "
              "for a wave of 1 W that comes in at the driven port (incident) or power of 1 W that "
              "it takes (accepted), with the phase of that wave, that of S, zero at the port.",
       .choices = {"no", "incident", "accepted"}});
  o.add(
      "derivatives", &O::derivatives,
      {.doc = "What S is differentiated in, as S_to_from_by_NAME: names of [parameters], which may "
              "move structures of conductors and of dielectrics with losses and without, sheets, "
              "wires, permittivities and conductivities, R, L and C of loads and lumped ports with "
              "the impedances that follow from them, and lengths of structures. Modes of ports "
              "are constants: what moves lies two cells away from their planes, and bodies from "
              "the edges of lumped ports. One more pass of all runs for each.",
       .max_items = 1000});
  o.add_tables("pair", &O::pairs, pair_table(),
               {.doc = "Pairs of ports, seen as differential and common modes: s_mixed.",
                .max_items = 1000});
  o.add_tables(
      "join", &O::joins, join_table(),
      {.doc = "Networks of files, joined to ports of the device: s_joined.", .max_items = 1000});
  o.add_tables("array", &O::arrays, array_table(),
               {.doc = "Ports driven together, with weights.", .max_items = 1000});
  o.add_tables("compare", &O::compare, compare_table(),
               {.doc = "Networks of files, drawn beside S.", .max_items = 1000});
  return o;
}

std::vector<double> ScatteringOptions::all_frequencies() const {
  return MonitorOptions{.frequencies = frequencies,
                        .frequency_min = frequency_min,
                        .frequency_max = frequency_max,
                        .frequency_points = frequency_points}
      .all_frequencies();
}

std::vector<std::string> channel_names(const PortOptions& port) {
  if (port.modes == 1) return {port.name};
  std::vector<std::string> out;
  for (int m = 1; m <= port.modes; ++m) out.push_back(port.name + "." + std::to_string(m));
  return out;
}

}  // namespace tessera::apps::waves
