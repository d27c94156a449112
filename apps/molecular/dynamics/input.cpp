// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/input.h"

#include "molecular/dynamics/complaints.h"
#include "tessera/data/input_files.h"
#include "tessera/data/text_file.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/build.h"
#include "tessera/molecular/elements.h"
#include "tessera/molecular/gromacs.h"
#include "tessera/molecular/openmm_xml.h"
#include "tessera/molecular/structure_file.h"
#include "tessera/molecular/xyz.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace tessera::apps::dynamics {
namespace {

namespace fs = std::filesystem;

bool is_amber_topology(const std::string& e) {
  return e == ".prmtop" || e == ".parm7" || e == ".top7";
}
bool is_amber_restart(const std::string& e) {
  return e == ".rst7" || e == ".inpcrd" || e == ".restrt" || e == ".rst" || e == ".ncrst";
}

data::TextFile read(const fs::path& path) {
  data::open_input(path);
  return data::read_text_file(path);
}

mol::Box box_of(const std::array<double, 3>& edges) {
  return mol::rectangular_box(
      {in_unit(edges[0], "nm"), in_unit(edges[1], "nm"), in_unit(edges[2], "nm")});
}

/// What `make` builds; what cannot be built is told at the key that asks for it.
template <class Make>
auto built_at(const data::Config& config, const char* key, Make&& make) {
  try {
    return make();
  } catch (const mol::BuildError& e) {
    throw data::InputError(
        config.error(702, key, words_of(e), "are the number and its unit the right ones?"),
        data::ExitCode::config_invalid);
  }
}

mol::System lennard_jones_system(const LennardJonesOptions& o, std::size_t n) {
  mol::System s;
  s.title = "Lennard-Jones fluid";
  s.lj = mol::mixed(mol::LennardJones::Mixing::lorentz_berthelot, {in_unit(o.sigma, "nm")},
                    {in_unit(o.epsilon, "kJ/mol")});
  const double mass = in_unit(o.mass, "amu");
  const std::uint8_t element = mol::element_of_mass(mass);
  const std::string name = element ? std::string(mol::symbol_of(element)) : "LJ";
  s.atoms.name.assign(n, name);
  s.atoms.type.assign(n, name);
  s.atoms.element.assign(n, element);
  s.atoms.mass_amu.assign(n, mass);
  s.atoms.charge_e.assign(n, 0.0);
  s.atoms.lj_type.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    s.atoms.residue.push_back(static_cast<std::int32_t>(i));
    s.residues.push_back({name, std::to_string(i + 1), "", ""});
  }
  return s;
}

mol::Frame lattice(const BuildOptions& o, const LennardJonesOptions& lj) {
  using L = mol::LatticeFluid::Lattice;
  constexpr L kind[] = {L::sc, L::bcc, L::fcc, L::diamond};
  constexpr double sites[] = {1, 2, 4, 8};
  const double a = in_unit(o.edge, "nm");
  mol::LatticeFluid f{.lattice = kind[static_cast<int>(o.lattice)],
                      .cells = {},
                      .density_per_nm3 = sites[static_cast<int>(o.lattice)] / (a * a * a)};
  for (std::size_t k = 0; k < 3; ++k) f.cells[k] = static_cast<int>(o.cells[k]);
  f.sigma_nm = in_unit(lj.sigma, "nm");
  return mol::lattice_fluid(f).frame;
}

mol::BuiltSystem water(const BuildOptions& o, std::uint64_t seed) {
  mol::WaterBox w{.model = o.model,
                  .molecules = static_cast<std::size_t>(o.molecules.value_or(0)),
                  .box = {},
                  .seed = seed};
  if (o.box) w.box = box_of(*o.box);
  return mol::water_box(w);
}

const char* key_of_box(const SolvateOptions& o) {
  return o.box ? "solvate.box" : o.padding ? "solvate.padding" : "solvate";
}

/// Ions in place of waters; what cannot be done is told at the key that asks for it.
void add_ions(const SolvateOptions& o, const data::Config& config, Case& c, mol::BuiltSystem& all) {
  const auto refuse = [&](const std::string& key, const Error& fault, const char* hint) {
    throw data::InputError(config.error(702, key, words_of(fault), hint),
                           data::ExitCode::config_invalid);
  };
  mol::Ions ions{.cation = {},
                 .anion = {},
                 .concentration_mol_per_l = in_unit(o.concentration, "mol/L"),
                 .neutralise = o.neutralise,
                 .seed = c.options.seed};
  try {
    ions.cation = mol::ion(o.cation, o.model);
    ions.anion = mol::ion(o.anion, o.model);
  } catch (const Error& e) {
    refuse("solvate.model", e, "one of these, or neutralise = false and no concentration");
  }
  try {
    all = mol::with_ions(all, ions);
  } catch (const Error& e) {
    if (std::string_view(e.what()).find("cannot be made up") != std::string_view::npos)
      refuse("solvate.neutralise", e,
             "mend the charges of the force field or the topology, or neutralise = false");
    refuse(o.concentration > 0 ? "solvate.concentration" : key_of_box(o), e,
           "a larger box, or a lower concentration");
  }
  const double left = mol::net_charge_e(all.system);
  if (!o.neutralise || std::abs(left) < 1e-3) return;
  data::Diagnostic d = config.error(
      757, "solvate.neutralise",
      fmt::format("ions leave a net charge of {:.3g} e: that of the solute is no whole number",
                  left),
      "charges with more digits");
  d.severity = data::Severity::note;
  c.findings.push_back(std::move(d));
}

/// The molecules of a case in water, with ions.
void solvate(const SolvateOptions& o, const data::Config& config, Case& c) {
  mol::Solvation w{.model = o.model, .box = {}, .seed = c.options.seed};
  if (o.padding) w.padding_nm = in_unit(*o.padding, "nm");
  if (o.box)
    w.box = box_of(*o.box);
  else if (!o.padding)
    w.box = c.start.box;
  const auto warn = [&](const char* key, const char* message, const char* hint) {
    c.findings.push_back(config.error(757, key, message, hint));
    c.findings.back().severity = data::Severity::warning;
  };
  if (o.box && o.padding)
    warn("solvate.padding", "padding has no effect beside box, which gives the edges",
         "one of the two");
  mol::BuiltSystem all =
      built_at(config, key_of_box(o), [&] { return mol::solvated(c.system, c.start, w); });
  const double net = mol::net_charge_e(c.system);
  if ((o.neutralise && std::abs(net) > 0.5) || o.concentration > 0) add_ions(o, config, c, all);
  if (all.system.n_atoms() == c.system.n_atoms())
    warn("solvate", "[solvate] adds nothing: no water finds room in the box, and there are no ions",
         "a larger box, by padding or box; or leave the table out");
  c.system = std::move(all.system);
  c.start = std::move(all.frame);
}

/// Atoms that topology and structure name differently may be others.
void doubt_names(const mol::GroFile& structure, Case& c) {
  std::size_t differ = 0, first = 0;
  for (std::size_t i = c.system.n_atoms(); i-- > 0;)
    if (c.system.atoms.name[i] != structure.atom_name[i]) {
      ++differ;
      first = i;
    }
  if (differ == 0) return;
  data::Diagnostic d;
  d.severity = data::Severity::warning;
  d.number = 704;
  d.place.file = c.options.structure->string();
  d.message = fmt::format(
      "{} atoms have other names than in the topology, first atom {}: {} there, {} here", differ,
      first + 1, c.system.atoms.name[first], structure.atom_name[first]);
  d.hint = "the names of the topology are taken; check that the order of the atoms is the same";
  c.findings.push_back(std::move(d));
}

/// A GROMACS topology with its structure, to which restraints of positions hold.
void read_gromacs(Case& c) {
  const MdOptions& o = c.options;
  mol::GroFile gro = mol::read_gro(read(*o.structure));
  c.start = gro.frames.front();
  const auto system_with = [&](const std::vector<std::string>& names) {
    mol::TopologyOptions t{
        .include_folders = o.include_folders, .defines = names, .reference = &c.start};
    for (std::string& name : t.defines)
      if (name.starts_with("-D")) name.erase(0, 2);
    mol::GromacsTopology made = mol::read_top(*o.topology, t);
    if (made.system.n_atoms() != c.start.x_nm.size())
      throw data::InputError(
          data::Diagnostic{.number = 704,
                           .place = {o.structure->string(), 2, 1, {}},
                           .message = fmt::format("the structure has {} atoms, the topology {}",
                                                  c.start.x_nm.size(), made.system.n_atoms()),
                           .hint = "check [ molecules ] of the topology"});
    return made;
  };
  mol::GromacsTopology made = system_with(o.common.define);
  for (const auto* remarks : {&gro.remarks, &made.remarks})
    c.findings.insert(c.findings.end(), remarks->begin(), remarks->end());
  c.system = std::move(made.system);
  doubt_names(gro, c);
  for (const StageOptions& stage : o.stages)
    if (stage.define && *stage.define != o.common.define &&
        std::ranges::find(c.variants, *stage.define,
                          &std::pair<std::vector<std::string>, mol::System>::first) ==
            c.variants.end())
      c.variants.emplace_back(*stage.define, system_with(*stage.define).system);
}

/// The frame of a restart in place of the structure's.
void go_on_from(const fs::path& restart, const data::Config& config, Case& c) {
  if (!is_amber_restart(ending(restart)))
    throw data::InputError(
        config.error(750, "velocities",
                     "'" + restart.filename().string() + "' has no ending of a restart",
                     ".rst7, .inpcrd or .ncrst"),
        data::ExitCode::config_invalid);
  data::open_input(restart);
  const bool periodic = mol::is_periodic(c.start.box);
  mol::Frame frame = mol::read_amber_restart(
      restart, c.system.n_atoms(),
      periodic ? std::optional(mol::angles_deg(c.start.box)) : std::nullopt);
  if (frame.v_nm_ps.empty())
    throw data::InputError(config.error(750, "velocities",
                                        "'" + restart.filename().string() + "' holds no velocities",
                                        "a restart that a stage of dynamics has written"));
  if (!mol::is_periodic(frame.box)) frame.box = c.start.box;
  c.start = std::move(frame);
}

void read_files(const data::Config& config, Case& c) {
  const MdOptions& o = c.options;
  const auto refuse = [&](const char* key, std::string message, std::string hint) {
    throw data::InputError(config.error(750, key, std::move(message), std::move(hint)),
                           data::ExitCode::config_invalid);
  };
  const bool water_box = o.build && o.build->kind == BuildKind::water;
  if (const int given =
          o.topology.has_value() + o.lennard_jones.has_value() + !o.forcefield.empty() + water_box;
      given != 1)
    refuse(
        "topology",
        given == 0
            ? "there is nothing to simulate"
            : "more than one of topology, forcefield, [lennard_jones] and a box of water is given",
        "topology and structure, forcefield and structure, [lennard_jones] with structure or "
        "[build], or [build] with kind = \"water\"");
  if (o.structure.has_value() == o.build.has_value())
    refuse("structure",
           o.build ? "a structure and [build] are both given"
                   : "the positions of the atoms are missing",
           "give structure or [build]");
  if (o.build && !water_box && !o.lennard_jones)
    refuse("build", "a lattice is built of the atoms of [lennard_jones]", "give structure");
  if (o.add_hydrogens && o.forcefield.empty())
    refuse("add_hydrogens", "hydrogens are added by the templates of a force field",
           "give forcefield and structure");
  if (o.solvate && !o.topology && o.forcefield.empty())
    refuse("solvate", "water is put around the molecules of a topology or a force field",
           "give topology and structure");

  if (o.solvate && o.box == BoxChoice::none)
    refuse("box", "[solvate] fills a box, and box = \"none\" takes it away", "leave box out");

  if (water_box) {
    if (!o.build->molecules && !o.build->box)
      refuse("build.molecules", "neither molecules nor box is given", "give one of them, or both");
    mol::BuiltSystem built = built_at(config, o.build->molecules ? "build.molecules" : "build.box",
                                      [&] { return water(*o.build, o.seed); });
    c.system = std::move(built.system);
    c.start = std::move(built.frame);
    return;
  }
  if (o.lennard_jones) {
    if (o.build) {
      c.start =
          built_at(config, "build.cells", [&] { return lattice(*o.build, *o.lennard_jones); });
    } else if (ending(*o.structure) == ".xyz") {
      c.start = mol::read_xyz(read(*o.structure));
    } else {
      refuse("structure",
             "'" + o.structure->filename().string() + "' has no ending that is known here", ".xyz");
    }
    c.system = lennard_jones_system(*o.lennard_jones, c.start.x_nm.size());
    return;
  }
  if (!o.forcefield.empty()) {
    std::vector<data::TextFile> files;
    for (const fs::path& path : o.forcefield) files.push_back(read(path));
    mol::ForceField field = mol::read_openmm_xml(files);
    data::open_input(*o.structure);
    mol::StructureFile file = mol::read_structure(*o.structure);
    const mol::Structure structure = mol::with_virtual_sites(
        field, o.add_hydrogens ? mol::with_hydrogens(field, file.structure) : file.structure);
    mol::ParametrizedSystem made = mol::apply(field, structure, {.rigid_water = false});
    c.system = std::move(made.system);
    c.tail_pairs = mol::Nonbonded::TailPairs::unordered;
    c.start.x_nm = structure.x_nm;
    c.start.box = structure.box;
    for (const auto* remarks : {&file.remarks, &field.remarks, &made.remarks})
      c.findings.insert(c.findings.end(), remarks->begin(), remarks->end());
    if (o.solvate) solvate(*o.solvate, config, c);
    return;
  }
  const std::string topology = ending(*o.topology), structure = ending(*o.structure);
  if (topology == ".top") {
    if (structure != ".gro")
      refuse("structure",
             "'" + o.structure->filename().string() +
                 "' has no ending that goes with a GROMACS topology",
             ".gro");
    if (o.solvate)
      refuse("solvate",
             "the molecules of a GROMACS topology are counted in its [ molecules ]: put water into "
             "topology and structure",
             "or give the molecules as an AMBER topology");
    read_gromacs(c);
    c.tail_pairs = mol::Nonbonded::TailPairs::not_excluded;
    return;
  }
  if (!is_amber_topology(topology))
    refuse("topology", "'" + o.topology->filename().string() + "' has no ending that is known here",
           ".prmtop, .parm7 or .top");
  if (!is_amber_restart(structure))
    refuse("structure",
           "'" + o.structure->filename().string() + "' has no ending that is known here",
           ".rst7, .inpcrd or .ncrst");
  mol::AmberTopology t = mol::read_amber_topology(read(*o.topology));
  c.system = std::move(t.system);
  c.findings = std::move(t.remarks);
  data::open_input(*o.structure);
  c.start = mol::read_amber_restart(*o.structure, c.system.n_atoms(), t.cell_angles_deg);
  if (!mol::is_periodic(c.start.box) && t.box) c.start.box = *t.box;
  if (o.solvate) solvate(*o.solvate, config, c);
}

}  // namespace

std::string ending(const fs::path& path) {
  const auto lower = [](std::string word) {
    for (char& ch : word) ch = static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
    return word;
  };
  const std::string last = lower(path.extension().string());
  return last == ".gz" ? lower(path.stem().extension().string()) : last;
}

std::optional<double> coulomb_constant_of(const std::string& word, double of_file) {
  if (word == "file") return of_file;
  if (word == "amber") return mol::coulomb_amber;
  if (word == "charmm") return mol::coulomb_charmm;
  if (word == "codata_2018") return mol::coulomb_codata_2018;
  double value = 0;
  const char* end = word.data() + word.size();
  const auto [at, fault] = std::from_chars(word.data(), end, value);
  if (fault != std::errc() || at != end || !(value > 0) || !std::isfinite(value))
    return std::nullopt;
  return value;
}

void read_input(const data::Config& config, Case& c) {
  try {
    read_files(config, c);
    c.reference = c.start;
    if (c.options.velocities) go_on_from(*c.options.velocities, config, c);
    if (c.options.box == BoxChoice::none) c.start.box = {};
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {  // what a part of the library refuses without a place in the file: the
                              // input is at fault, not the program
    const MdOptions& o = c.options;
    const char* key = !o.forcefield.empty() ? "forcefield"
                      : o.topology          ? "topology"
                      : o.structure         ? "structure"
                                            : "build";
    throw data::InputError(
        config.error(702, key, e.what(), o.structure ? "structure: " + o.structure->string() : ""),
        o.structure ? data::ExitCode::input_invalid : data::ExitCode::config_invalid);
  }
}

}  // namespace tessera::apps::dynamics