// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/mdp.h"

#include "molecular/dynamics/mdp_case.h"
#include "tessera/molecular/gromacs.h"

namespace tessera::apps::dynamics {
namespace {

namespace fs = std::filesystem;
namespace mol = tessera::molecular;

/// The one file of this ending in a folder, else the usual name.
std::string beside(const fs::path& folder, const char* ending, const char* usual) {
  std::string found;
  std::error_code failed;
  if (fs::exists(folder / usual, failed)) return usual;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == ending) {
      if (!found.empty()) return usual;
      found = entry.path().filename().string();
    }
  return found.empty() ? usual : found;
}

}  // namespace

Imported import_mdp(const data::TextFile& text, const std::string& stage,
                    const std::string& topology, const std::string& structure, MdpGroups groups) {
  MdpCase c(text, std::move(groups));
  c.files(topology, structure);
  c.interactions();
  c.output();
  c.run(stage);
  std::string words = c.text();
  return {std::move(words), c.entries().findings.take_remarks()};
}

Imported import_mdp(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string topology = beside(folder, ".top", "topol.top"),
                    structure = beside(folder, ".gro", "conf.gro"),
                    index = beside(folder, ".ndx", "index.ndx");
  MdpGroups groups;
  std::error_code failed;
  if (fs::exists(folder / index, failed)) {
    groups.file = index;
    groups.index = read_index(data::read_text_file(folder / index));
  } else if (fs::exists(folder / structure, failed)) {
    for (const mol::Residue& r : mol::read_gro(data::read_text_file(folder / structure)).residues)
      groups.residues.insert(r.name);
  }
  return import_mdp(data::read_text_file(path), path.stem().string(), topology, structure,
                    std::move(groups));
}

}  // namespace tessera::apps::dynamics
