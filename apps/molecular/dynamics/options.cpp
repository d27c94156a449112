// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/options.h"

#include "molecular/dynamics/settings.h"
#include "tessera/data/quantity.h"
#include "tessera/molecular/build.h"

#include <charconv>
#include <cmath>

namespace tessera::apps::dynamics {
namespace {

namespace mol = tessera::molecular;

data::Options<StageOptions> stage_table() {
  using O = StageOptions;
  data::Options<O> o("stage",
                     "One part of a run: a minimization, a piece of dynamics, or a look at frames. "
                     "It begins where the stage before it has ended; keys that it does not give "
                     "are those at the top of the file.");
  o.add("name", &O::name,
        {.doc = "Name of its folder and of its lines in the log; its type if not given."});
  o.add_kind("type", &O::type,
             {.doc = "Motion in time, the way down to a minimum of the energy, or energies and "
                     "forces of the frames of a trajectory.",
              .choices = {"dynamics", "minimize", "rerun"}});
  o.add("frames", &O::frames,
        {.doc = "The trajectory (.xtc, .trr, .dcd, .nc, .h5md, .gro, .pdb).",
         .required = true,
         .only_for = {"rerun"}});
  each_setting([&](const char* key, auto, auto member, data::Field field) {
    o.add(
        key, [member](O & s) -> auto& { return s.*member; }, std::move(field));
  });
  return o;
}

data::Options<LennardJonesOptions> lennard_jones_table() {
  using O = LennardJonesOptions;
  data::Options<O> o("lennard_jones",
                     "A fluid of equal atoms without charge, instead of a topology. sigma = 1 nm, "
                     "epsilon = 1 kJ/mol and mass = 1 amu are reduced units: their time is 1 ps.");
  o.add("sigma", &O::sigma, {.doc = "Where the potential is zero.", .unit = "nm", .above = 0});
  o.add("epsilon", &O::epsilon, {.doc = "Depth of its well.", .unit = "kJ/mol", .min = 0});
  o.add("mass", &O::mass, {.doc = "Mass of an atom.", .unit = "amu", .above = 0});
  return o;
}

data::Options<BuildOptions> build_table() {
  using O = BuildOptions;
  data::Options<O> o(
      "build", "A system without files: atoms of [lennard_jones] on a lattice, or a box of water.");
  o.add_kind("kind", &O::kind, {.doc = "What is built.", .choices = {"lattice", "water"}});
  o.add("lattice", &O::lattice,
        {.doc = "1, 2, 4 or 8 atoms a cell.",
         .choices = {"simple", "bcc", "fcc", "diamond"},
         .only_for = {"lattice"}});
  o.add("cells", &O::cells,
        {.doc = "Cells along each edge.",
         .min = 1,
         .max = 1000,
         .only_for = {"lattice"},
         .one_for_all = true});
  o.add("edge", &O::edge,
        {.doc = "Edge of a cell.",
         .unit = "nm",
         .above = 0,
         .required = true,
         .only_for = {"lattice"}});
  o.add("model", &O::model,
        {.doc = "Model of the water.", .choices = mol::water_model_names(), .only_for = {"water"}});
  o.add("molecules", &O::molecules,
        {.doc = "Molecules; as many as fit the box at 0.997 g/cm^3 if not given.",
         .min = 1,
         .only_for = {"water"}});
  o.add("box", &O::box,
        {.doc = "Edges of the box; a cube for the molecules at 0.997 g/cm^3 if not given.",
         .unit = "nm",
         .above = 0,
         .only_for = {"water"},
         .one_for_all = true});
  return o;
}

data::Options<SolvateOptions> solvate_table() {
  using O = SolvateOptions;
  data::Options<O> o("solvate", "Water and ions around the molecules of topology and structure.");
  o.add("model", &O::model,
        {.doc = "Model of the water. There are ions for tip3p, spce, tip4pew, opc and opc3.",
         .choices = mol::water_model_names()});
  o.add("padding", &O::padding,
        {.doc = "Water on every side: a box around the molecules in place of that of the "
                "structure. If neither this nor box is given water fills the box of the "
                "structure; where it has none, this is 1 nm.",
         .unit = "nm",
         .above = 0});
  o.add("box", &O::box,
        {.doc = "Edges of the box instead.", .unit = "nm", .above = 0, .one_for_all = true});
  o.add("neutralise", &O::neutralise,
        {.doc = "Ions for the net charge, to the nearest whole number of them."});
  o.add("concentration", &O::concentration,
        {.doc = "Pairs of ions besides.", .unit = "mol/L", .min = 0});
  o.add("cation", &O::cation, {.doc = "The positive ion.", .choices = {"NA", "K"}});
  o.add("anion", &O::anion, {.doc = "The negative ion.", .choices = {"CL"}});
  return o;
}

data::Options<ExpectOptions> expect_table() {
  using O = ExpectOptions;
  data::Options<O> o("expect", "A number that the run has to find.");
  o.add("stage", &O::stage, {.doc = "Name of the stage; the last if not given."});
  o.add("quantity", &O::quantity,
        {.doc = "A column of its energies.csv, of which the average counts; or drift.",
         .required = true});
  o.add("first", &O::first, {.doc = "The value of the first row instead of the average."});
  o.add("last", &O::last,
        {.doc = "The value of the last row instead of the average; not beside `first`."});
  o.add("value", &O::value,
        {.doc = "The number that is expected, in the unit of the column.", .required = true});
  o.add("tolerance", &O::tolerance, {.doc = "How far off it may be.", .min = 0, .required = true});
  o.add("relative", &O::relative, {.doc = "The tolerance is relative: a fraction of the value."});
  return o;
}

data::Options<OutputOptions> output_table() {
  using O = OutputOptions;
  data::Options<O> o("output", "What is written besides energies and final structures.");
  o.add("trajectory", &O::trajectory,
        {.doc = "Formats of the trajectories, of which a frame is written every nstxout steps; pvd "
                "is for ParaView.",
         .choices = {"xtc", "trr", "dcd", "nc", "h5md", "pvd"}});
  o.add(
      "select", &O::select,
      {.doc = "Which atoms the trajectories hold: all, solute, or any selection at the start of "
              "the case (docs/reference/selections.md). trajectory.pdb then says which they are."});
  o.add("velocities", &O::velocities,
        {.doc = "Velocities with the frames, where the format has a place for them."});
  o.add("forces", &O::forces,
        {.doc = "Forces with the frames, likewise, and those of the end in forces.csv: -dU/dx, of "
                "frozen atoms and along rigid bonds, too."});
  o.add("final", &O::final,
        {.doc = "Formats of the structure at the end of every stage, final.rst7 and so on: rst7 "
                "and ncrst (AMBER, text and NetCDF) and gro (GROMACS) with velocities, pdb, cif.",
         .choices = {"rst7", "ncrst", "gro", "pdb", "cif"}});
  o.add("xtc_precision", &O::xtc_precision,
        {.doc = "Positions in .xtc are multiples of 1 over this.", .unit = "1/nm", .above = 0});
  o.add("pressure_tensor", &O::pressure_tensor,
        {.doc = "The pressure tensor in energies.csv, in any ensemble: pressure_xx_bar, yy, zz, "
                "and the means of xy and yx, xz and zx, yz and zy. Anisotropic barostats write the "
                "first three anyway."});
  o.add("pictures", &O::pictures,
        {.doc = "Draw energies, temperature and pressure of every stage."});
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
    data::Options<O> o("molecular.dynamics",
                       "Molecular dynamics: minimization, heating and dynamics of molecules in "
                       "stages, on AMBER, GROMACS or OpenMM input or boxes of its own");
    o.add("schema", &O::schema, {.doc = "Version of this layout.", .min = 1, .max = 1});
    o.add("title", &O::title, {.doc = "Title of reports and pictures."});
    o.add("topology", &O::topology,
          {.doc = "The molecules and their force field: an AMBER topology (.prmtop, .parm7) or a "
                  "GROMACS one (.top), also packed by gzip."});
    o.add("structure", &O::structure,
          {.doc = "Where the atoms are: an AMBER restart (.rst7, .inpcrd, .ncrst), GROMACS (.gro), "
                  "PDB or mmCIF (.pdb, .cif) with forcefield, or XYZ (.xyz, in angstrom) for a "
                  "Lennard-Jones fluid."});
    o.add("velocities", &O::velocities,
          {.doc = "A restart of the same atoms (.rst7, .ncrst) that a case with another structure "
                  "goes on from: its velocities, positions, box and time, which PDB and mmCIF lack "
                  "or round."});
    o.add("forcefield", &O::forcefield,
          {.doc = "Force field in OpenMM's XML, of a structure in PDB or mmCIF: files that belong "
                  "together, instead of a topology."});
    o.add("add_hydrogens", &O::add_hydrogens,
          {.doc = "With forcefield: give the structure the hydrogens that the templates have and "
                  "it lacks, at the force field's lengths: starts to minimize from."});
    o.add("box", &O::box,
          {.doc = "Whether there is a box: as the structure says, or none, whatever it says.",
           .choices = {"input", "none"}});
    o.add("start_time", &O::start_time,
          {.doc = "Time at which the first stage begins; that of the structure if not given.",
           .unit = "ps"});
    o.add("include_folders", &O::include_folders,
          {.doc = "Folders besides its own that are searched for what a GROMACS topology includes "
                  "(#include), such as GROMACS's share/top. Files elsewhere are not read."});
    o.add("coulomb_constant", &O::coulomb_constant,
          {.doc = "k_e: of the input file's usual program (file), amber, charmm, codata_2018, or a "
                  "number in kJ/mol nm/e^2. Which one moves energies by 1e-5."});
    o.add("precision", &O::precision,
          {.doc = "Precision of the pair forces of dynamics: single (mixed) or double (f64); "
                  "minimizers take f64. Forces are summed in fixed point and steps are in double "
                  "precision either way; single points and reruns in f64 sum in double precision.",
           .choices = {"mixed", "f64"}});
    o.add("seed", &O::seed, {.doc = "Seed of drawn velocities, thermostats and barostats."});
    each_setting([&](const char* key, auto member, auto, data::Field field) {
      o.add(
          key, [member](O & c) -> auto& { return c.common.*member; }, std::move(field));
    });
    o.add_tables("stage", &O::stages, stage_table(),
                 {.doc = "Parts of the run, in their order; one of dynamics if none is given.",
                  .max_items = 1000});
    o.add_table("lennard_jones", &O::lennard_jones, lennard_jones_table(),
                {.doc = "A fluid of equal atoms, instead of a topology."});
    o.add_table("build", &O::build, build_table(), {.doc = "A system without files."});
    o.add_table("solvate", &O::solvate, solvate_table(),
                {.doc = "Water and ions around the molecules."});
    o.add_table("output", &O::output, output_table(), {.doc = "What is written."});
    o.add_tables(
        "expect", &O::expectations, expect_table(),
        {.doc = "Numbers that are expected; a run that does not meet one ends with exit code 6."});
    return o;
  }();
  return table;
}

Settings merged(const Settings& common, const StageOptions& stage) {
  Settings out = common;
  each_setting(
      [&](const char*, auto to, auto from, const data::Field&) { take(out.*to, stage.*from); });
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

}  // namespace tessera::apps::dynamics
