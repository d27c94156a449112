// SPDX-License-Identifier: Apache-2.0
// What `tessera info FILE` says of a .gro file.
#include "tessera/data/info.h"

#include "tessera/molecular/gromacs.h"

namespace tessera::molecular {
namespace {

data::InfoNode summarize(const std::filesystem::path& path) {
  const GroFile file = read_gro(data::read_text_file(path));
  const Frame& first = file.frames.front();
  data::InfoNode node{path.filename().string(), {}, {}};
  node.add("title", file.title);
  node.add("atoms", static_cast<std::int64_t>(file.atom_name.size()));
  node.add("residues", static_cast<std::int64_t>(file.residues.size()));
  node.add("frames", static_cast<std::int64_t>(file.frames.size()));
  node.add("first time [ps]", first.time_ps);
  node.add("velocities", !first.v_nm_ps.empty());
  if (!is_periodic(first.box)) return node;
  constexpr const char* names[] = {"a [nm]", "b [nm]", "c [nm]", "alpha [deg]", "beta [deg]", "gamma [deg]"};
  data::InfoNode& box = node.add("box");
  for (std::size_t k = 0; k < 3; ++k) box.add(names[k], lengths_nm(first.box)[k]);
  for (std::size_t k = 0; k < 3; ++k) box.add(names[3 + k], angles_deg(first.box)[k]);
  return node;
}

const data::RegisterFormat gro({.name = "GRO", .summary = "GROMACS structures", .extensions = {".gro"}, .summarize = summarize});

}  // namespace
}  // namespace tessera::molecular
