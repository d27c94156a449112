// SPDX-License-Identifier: Apache-2.0
#include "molecular/md_options.h"

#include "molecular/md_settings.h"
#include "tessera/data/quantity.h"

#include <charconv>
#include <cmath>

namespace tessera::apps::md {
namespace {

data::Options<StageOptions> stage_table() {
  using O = StageOptions;
  data::Options<O> o("stage", "One part of a run: a minimization, a piece of dynamics, or a look at frames. It begins where the stage before it has ended; keys that it does not give are those at the top of the file.");
  o.add("name", &O::name, {.doc = "Name of its folder and of its lines in the log; its type if not given."});
  o.add_kind("type", &O::type, {.doc = "Motion in time, the way down to a minimum of the energy, or energies and forces of the frames of a trajectory.", .choices = {"dynamics", "minimize", "rerun"}});
  o.add("frames", &O::frames, {.doc = "The trajectory (.xtc, .trr, .dcd, .h5md).", .required = true, .only_for = {"rerun"}});
  each_setting([&](const char* key, auto, auto member, data::Field field) { o.add(key, [member](O& s) -> auto& { return s.*member; }, std::move(field)); });
  return o;
}

data::Options<LennardJonesOptions> lennard_jones_table() {
  using O = LennardJonesOptions;
  data::Options<O> o("lennard_jones", "A fluid of equal atoms without charge, instead of a topology. sigma = 1 nm, epsilon = 1 kJ/mol and mass = 1 amu are reduced units: their time is 1 ps.");
  o.add("sigma", &O::sigma, {.doc = "Where the potential is zero.", .unit = "nm", .above = 0});
  o.add("epsilon", &O::epsilon, {.doc = "Depth of its well.", .unit = "kJ/mol", .min = 0});
  o.add("mass", &O::mass, {.doc = "Mass of an atom.", .unit = "amu", .above = 0});
  return o;
}

data::Options<BuildOptions> build_table() {
  using O = BuildOptions;
  data::Options<O> o("build", "Positions on a lattice, instead of a structure file.");
  o.add("lattice", &O::lattice, {.doc = "Face-centred (4 atoms a cell) or simple cubic (1).", .choices = {"fcc", "simple"}});
  o.add("cells", &O::cells, {.doc = "Cells along each edge.", .min = 1, .max = 1000, .one_for_all = true});
  o.add("edge", &O::edge, {.doc = "Edge of a cell.", .unit = "nm", .above = 0, .required = true});
  return o;
}

data::Options<ExpectOptions> expect_table() {
  using O = ExpectOptions;
  data::Options<O> o("expect", "A number that the run has to find.");
  o.add("stage", &O::stage, {.doc = "Name of the stage; the last if not given."});
  o.add("quantity", &O::quantity, {.doc = "A column of its energies.csv, of which the average counts; or drift.", .required = true});
  o.add("first", &O::first, {.doc = "The value of the first row instead of the average."});
  o.add("last", &O::last, {.doc = "The value of the last row instead of the average."});
  o.add("value", &O::value, {.doc = "The number promised, in the unit of the column.", .required = true});
  o.add("tolerance", &O::tolerance, {.doc = "How far off it may be.", .min = 0, .required = true});
  o.add("relative", &O::relative, {.doc = "The tolerance is a part of the value."});
  return o;
}

data::Options<OutputOptions> output_table() {
  using O = OutputOptions;
  data::Options<O> o("output", "What is written besides energies and final structures.");
  o.add("trajectory", &O::trajectory, {.doc = "Formats of the trajectories, of which a frame is written every nstxout steps; pvd is for ParaView.", .choices = {"xtc", "trr", "dcd", "h5md", "pvd"}});
  o.add("velocities", &O::velocities, {.doc = "Velocities with the frames, where the format has a place for them."});
  o.add("forces", &O::forces, {.doc = "Forces with the frames, likewise, and those of the end in forces.csv."});
  o.add("xtc_precision", &O::xtc_precision, {.doc = "Places in .xtc are multiples of 1 over this.", .unit = "1/nm", .above = 0});
  o.add("pictures", &O::pictures, {.doc = "Draw energies, temperature and pressure of every stage."});
  return o;
}

template <class M, class V>
void take(M& to, const V& from) {
  if constexpr (std::is_same_v<M, V>) {
    if (from) to = from;
  } else {
    if (from) to = *from;
  }
}

}  // namespace

const data::Options<MdOptions>& md_options() {
  static const auto table = [] {
    using O = MdOptions;
    data::Options<O> o("molecular.dynamics", "Molecular dynamics: minimization, heating and dynamics of molecules in stages, on AMBER, GROMACS or OpenMM input or a Lennard-Jones fluid");
    o.add("schema", &O::schema, {.doc = "Version of this layout.", .min = 1, .max = 1});
    o.add("title", &O::title, {.doc = "Title of reports and pictures."});
    o.add("topology", &O::topology, {.doc = "The molecules and their force field: an AMBER topology (.prmtop, .parm7), also packed by gzip, or one of GROMACS (.top)."});
    o.add("structure", &O::structure, {.doc = "Where the atoms are: an AMBER restart (.rst7, .inpcrd), a GROMACS structure (.gro), PDB or mmCIF (.pdb, .cif) with forcefield, or XYZ (.xyz, in angstrom) for a Lennard-Jones fluid."});
    o.add("forcefield", &O::forcefield, {.doc = "Force field in OpenMM's XML, of a structure in PDB or mmCIF: files that belong together, instead of a topology."});
    o.add("define", &O::define, {.doc = "Names that the topology's preprocessor finds defined, such as POSRES or FLEXIBLE."});
    o.add("include_folders", &O::include_folders, {.doc = "Where the files of a GROMACS topology's #include are besides its own folder, such as GROMACS's share/top. Files elsewhere are not read."});
    o.add("coulomb_constant", &O::coulomb_constant,
          {.doc = "k_e: of the input file's usual program (file), amber, charmm, codata_2018, or a number in kJ/mol nm/e^2. Which one moves energies by 1e-5."});
    o.add("precision", &O::precision, {.doc = "Of pair forces, minimizers apart; sums are in whole numbers, steps in double precision always, and single points in f64 in sums of doubles.", .choices = {"mixed", "f64"}});
    o.add("seed", &O::seed, {.doc = "Of velocities, thermostats and barostats."});
    each_setting([&](const char* key, auto member, auto, data::Field field) { o.add(key, [member](O& c) -> auto& { return c.common.*member; }, std::move(field)); });
    o.add_tables("stage", &O::stages, stage_table(), {.doc = "Parts of the run, in their order; one of dynamics if none is given.", .max_items = 1000});
    o.add_table("lennard_jones", &O::lennard_jones, lennard_jones_table(), {.doc = "A fluid of equal atoms, instead of a topology."});
    o.add_table("build", &O::build, build_table(), {.doc = "Positions on a lattice, instead of a structure."});
    o.add_table("output", &O::output, output_table(), {.doc = "What is written."});
    o.add_tables("expect", &O::expectations, expect_table(), {.doc = "Promised numbers; a run that breaks one ends with exit code 6."});
    return o;
  }();
  return table;
}

Settings merged(const Settings& common, const StageOptions& stage) {
  Settings out = common;
  each_setting([&](const char*, auto to, auto from, const data::Field&) { take(out.*to, stage.*from); });
  // A length given for the stage is meant instead of the other one given for all.
  if (stage.nsteps && !stage.duration) out.duration.reset();
  if (stage.duration && !stage.nsteps) out.nsteps.reset();
  return out;
}

double in_unit(double si, const std::string& unit) {
  if (!std::isfinite(si)) return si;
  const std::string text = data::print_quantity(si, unit);
  double value = 0;
  const char* end = std::from_chars(text.data(), text.data() + text.size(), value).ptr;
  if (std::string_view(end) == " " + unit) return value;
  const data::Unit u = data::parse_unit(unit);
  return si / u.factor / std::pow(10.0, u.exponent);
}

}  // namespace tessera::apps::md
