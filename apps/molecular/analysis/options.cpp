// SPDX-License-Identifier: Apache-2.0
#include "molecular/analysis/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace tessera::apps::analysis {
namespace {

data::Options<FrameOptions> frame_table() {
  using O = FrameOptions;
  data::Options<O> o("frames", "Which frames count.");
  o.add("from", &O::from, {.doc = "The first time.", .unit = "ps"});
  o.add("to", &O::to, {.doc = "The last time.", .unit = "ps"});
  o.add("every", &O::every, {.doc = "Use every n-th frame between them.", .min = 1});
  o.add("times", &O::times,
        {.doc = "Of several files: as the files have them, where frames whose times overlap with "
                "earlier ones are left out and a file that starts again is refused; or each file "
                "goes on where the one before has ended, and a first frame with the positions of "
                "that end is left out.",
         .choices = {"file", "append"}});
  o.add("spacing", &O::spacing,
        {.doc = "Time between frames that have no times of their own; without it they are counted.",
         .unit = "ps",
         .above = 0});
  o.add("accept_cut_end", &O::accept_cut_end,
        {.doc = "Take a trajectory whose last frame was never finished, with a warning, up to the "
                "frame before."});
  return o;
}

data::Options<GroupOptions> group_table() {
  using O = GroupOptions;
  data::Options<O> o("group",
                     "Atoms by a name. An atom belongs to the group if it meets every key given; "
                     "the group `all` always exists.");
  o.add("name", &O::name, {.doc = "What analyses call it.", .required = true});
  o.add("atoms", &O::atoms, {.doc = "Names of atoms."});
  o.add("residues", &O::residues, {.doc = "Names of residues."});
  o.add("elements", &O::elements, {.doc = "Symbols of elements."});
  o.add(
      "range", &O::range,
      {.doc = "Numbers of the first and the last atom, counted from 1 in the topology.", .min = 1});
  o.add("select", &O::select,
        {.doc = "A selection (docs/reference/selections.md), made at the first frame of the first "
                "file."});
  return o;
}

data::Options<TaskOptions> task_table() {
  using O = TaskOptions;
  data::Options<O> o("analysis", "One thing to find out.");
  o.add_kind("type", &O::kind,
             {.doc = "rdf: pair distribution g(r) and coordination; msd: mean squared displacement "
                     "and diffusion; vacf: velocity autocorrelation and diffusion; density: mass "
                     "density of the box and of slices; rmsd: RMSD from the first frame and RMSF; "
                     "gyration: radius of gyration; hydrogen_bonds: number of hydrogen bonds.",
              .choices = {"rdf", "msd", "vacf", "density", "rmsd", "gyration", "hydrogen_bonds"}});
  o.add("name", &O::name, {.doc = "Of its tables and pictures; its type and group if not given."});
  o.add("group", &O::group,
        {.doc = "The atoms.", .only_for = {"rdf", "msd", "vacf", "density", "rmsd", "gyration"}});
  o.add("with", &O::with,
        {.doc = "The other atoms of pairs; those of `group` if not given.", .only_for = {"rdf"}});
  o.add(
      "r_max", &O::r_max,
      {.doc = "Longest distance; 0.95 of half of the smallest width of the first box if not given.",
       .unit = "nm",
       .above = 0,
       .only_for = {"rdf"}});
  o.add("bin", &O::bin, {.doc = "Width of a bin.", .unit = "nm", .above = 0, .only_for = {"rdf"}});
  o.add("same_molecule", &O::same_molecule,
        {.doc = "Count pairs within a molecule, too.", .only_for = {"rdf"}});
  o.add("fit_from", &O::fit_from,
        {.doc = "Where the straight line begins whose slope is 6 D.",
         .unit = "ps",
         .min = 0,
         .only_for = {"msd"},
         .required_for = {"msd"}});
  o.add("fit_to", &O::fit_to,
        {.doc = "Where it ends.",
         .unit = "ps",
         .above = 0,
         .only_for = {"msd"},
         .required_for = {"msd"}});
  o.add("lag", &O::lag,
        {.doc = "Longest time between two frames; of msd fit_to if not given.",
         .unit = "ps",
         .above = 0,
         .only_for = {"msd", "vacf"},
         .required_for = {"vacf"}});
  o.add("molecules", &O::molecules,
        {.doc = "Follow the centres of mass of molecules (of which an atom is in the group) "
                "instead of atoms.",
         .only_for = {"msd"}});
  o.add("remove_drift", &O::remove_drift,
        {.doc = "Take the motion of the centre of mass of all atoms out.", .only_for = {"msd"}});
  o.add("axis", &O::axis,
        {.doc = "The edge of the box that slices lie across.",
         .choices = {"a", "b", "c"},
         .only_for = {"density"}});
  o.add("slices", &O::slices,
        {.doc = "How many.", .min = 0, .max = 100000, .only_for = {"density"}});
  o.add("mass_weighted", &O::mass_weighted,
        {.doc = "Weigh atoms by mass.", .only_for = {"rmsd", "gyration"}});
  o.add("distance", &O::distance,
        {.doc = "Longest distance of donor and acceptor.",
         .unit = "nm",
         .above = 0,
         .only_for = {"hydrogen_bonds"}});
  o.add("angle", &O::angle,
        {.doc = "Largest angle hydrogen - donor - acceptor.",
         .unit = "deg",
         .above = 0,
         .max = 180,
         .only_for = {"hydrogen_bonds"}});
  return o;
}

data::Options<OutputOptions> output_table() {
  data::Options<OutputOptions> o("output", "What is written besides results.h5 and tables.");
  o.add("pictures", &OutputOptions::pictures, {.doc = "Draw every curve."});
  return o;
}

data::Options<ExpectOptions> expect_table() {
  using O = ExpectOptions;
  data::Options<O> o(
      "expect",
      "A number that the run has to find; one that it does not find ends it with exit code 6.");
  o.add("quantity", &O::quantity, {.doc = "As tables/averages.csv names it.", .required = true});
  o.add("value", &O::value,
        {.doc = "The number that is expected, in the unit of the table.", .required = true});
  o.add("tolerance", &O::tolerance, {.doc = "How far off it may be.", .min = 0, .required = true});
  o.add("relative", &O::relative, {.doc = "The tolerance is relative: a fraction of the value."});
  return o;
}

const std::vector<std::string> kinds = {"rdf",  "msd",      "vacf",          "density",
                                        "rmsd", "gyration", "hydrogen_bonds"};

}  // namespace

const data::Options<AnalysisOptions>& analysis_options() {
  static const auto table = [] {
    using O = AnalysisOptions;
    data::Options<O> o("molecular.analysis",
                       "What trajectories of molecules tell, with error bars");
    o.add("schema", &O::schema, {.doc = "Version of this layout.", .min = 1, .max = 1});
    o.add("title", &O::title, {.doc = "Title of pictures."});
    o.add("topology", &O::topology,
          {.doc = "Names, masses and bonds of the atoms: AMBER (.prmtop, .parm7), GROMACS (.top), "
                  "PDB or mmCIF (.pdb, .cif), or an H5MD file, which knows elements, masses and "
                  "bonds (.h5md).",
           .required = true});
    o.add("include_folders", &O::include_folders,
          {.doc = "Folders besides its own that are searched for what a GROMACS topology includes "
                  "(#include), such as GROMACS's share/top. Files elsewhere are not read."});
    o.add(
        "trajectory", &O::trajectory,
        {.doc = "Files of frames (.xtc, .trr, .dcd, .nc, .h5md, .gro, .pdb), one after the other.",
         .required = true,
         .min_items = 1});
    o.add_table("frames", &O::frames, frame_table(), {.doc = "Which frames count."});
    o.add_tables("group", &O::groups, group_table(), {.doc = "Atoms by a name."});
    o.add_tables("analysis", &O::tasks, task_table(), {.doc = "What to find out.", .min_items = 1});
    o.add_table("output", &O::output, output_table(), {.doc = "What is written."});
    o.add_tables("expect", &O::expect, expect_table(),
                 {.doc = "Numbers that the run has to find."});
    return o;
  }();
  return table;
}

std::string average_of(const TaskOptions& o) {
  static const std::string names[] = {"",     "diffusion", "diffusion", "density",
                                      "rmsd", "radius",    "number"};
  const std::string& name = names[static_cast<std::size_t>(o.kind)];
  return name.empty() ? "" : o.name + "." + name;
}

AnalysisOptions read_analysis_options(const data::Config& config) {
  AnalysisOptions o = analysis_options().read(config);
  std::set<std::string> groups = {"all"}, names;
  std::vector<data::Diagnostic> findings;
  const auto say = [&](const std::string& key, const std::string& message,
                       const std::string& hint) {
    findings.push_back(config.error(743, key, message, hint));
  };
  if (o.frames.from && o.frames.to && *o.frames.to < *o.frames.from)
    say("frames.to", "frames.to lies before frames.from", "exchange them");
  for (std::size_t k = 0; k < o.groups.size(); ++k)
    if (const auto& r = o.groups[k].range; r && (*r)[1] < (*r)[0])
      say(fmt::format("group[{}].range", k),
          fmt::format("the range ends at atom {}, before its first, {}", (*r)[1], (*r)[0]),
          "exchange them");
  constexpr std::size_t longest_name = 100;  // with what is added to it, a file may still have it
  const auto fits = [&](const std::string& key, const std::string& name) {
    if (name.size() > longest_name)
      say(key, fmt::format("a name has at most {} letters, this one {}", longest_name, name.size()),
          "shorten it: files are called by it");
  };
  for (std::size_t k = 0; k < o.groups.size(); ++k) {
    fits(fmt::format("group[{}].name", k), o.groups[k].name);
    if (!groups.insert(o.groups[k].name).second)
      say(fmt::format("group[{}].name", k),
          fmt::format("two groups have the name '{}'", o.groups[k].name), "rename one");
  }
  for (std::size_t k = 0; k < o.tasks.size(); ++k) {
    TaskOptions& t = o.tasks[k];
    const auto key = [&](const char* name) { return fmt::format("analysis[{}].{}", k, name); };
    if (t.with.empty()) t.with = t.group;
    fits(key("name"), t.name);
    if (!groups.count(t.group))
      say(key("group"), fmt::format("there is no group '{}'", t.group),
          "add a [[group]] of that name");
    else if (!groups.count(t.with))
      say(key("with"), fmt::format("there is no group '{}'", t.with),
          "add a [[group]] of that name");
    if (t.kind == Kind::msd && t.fit_to <= t.fit_from)
      say(key("fit_to"), "fit_to is not after fit_from", "exchange them");
    if (t.name.empty())
      t.name = kinds[static_cast<std::size_t>(t.kind)] +
               (t.kind == Kind::hydrogen_bonds
                    ? ""
                    : "_" + t.group + (t.with != t.group ? "_" + t.with : ""));
    const auto in_no_file = [](unsigned char ch) { return ch == '/' || std::iscntrl(ch) != 0; };
    if (t.name.starts_with('.') || std::ranges::any_of(t.name, in_no_file))
      say(key("name"),
          "a name becomes that of files, which have no slash, no dot at their beginning and no "
          "control characters",
          "leave them out; without a name the analysis has that of its type and groups");
    if (!names.insert(t.name).second)
      say(key("name"), fmt::format("two analyses have the name '{}'", t.name),
          "give one of them another name");
  }
  std::string averages;
  std::set<std::string> known;
  for (const TaskOptions& t : o.tasks)
    if (const std::string name = average_of(t); !name.empty() && known.insert(name).second)
      averages += (averages.empty() ? "" : ", ") + name;
  for (std::size_t k = 0; k < o.expect.size(); ++k)
    if (!known.contains(o.expect[k].quantity))
      say(fmt::format("expect[{}].quantity", k), "no analysis finds '" + o.expect[k].quantity + "'",
          averages.empty() ? "no analysis of these has averages" : "they find " + averages);
  if (!findings.empty())
    throw data::InputError(data::ExitCode::config_invalid, std::move(findings));
  return o;
}

}  // namespace tessera::apps::analysis
