// SPDX-License-Identifier: Apache-2.0
// What `tessera info FILE` says of a trajectory.
#include "tessera/data/info.h"

#include "system/box_info.h"
#include "tessera/molecular/trajectory.h"

#include <string_view>

namespace tessera::molecular {
namespace {

data::InfoNode summary(const std::filesystem::path& path, const char* ending) {
  const auto reader = open_trajectory(path, {.ending = ending, .accept_cut_end = true});
  data::InfoNode node{path.filename().string(), {}, {}};
  node.add("atoms", static_cast<std::int64_t>(reader->n_atoms()));
  std::int64_t frames = 0;
  Snapshot s;
  double first_ps = 0;
  std::int64_t first_step = 0;
  for (; reader->read(s); ++frames)
    if (frames == 0) first_ps = s.frame.time_ps, first_step = s.frame.step;
  node.add("frames", frames);
  if (reader->cut_end()) node.add("cut off", reader->cut_end()->message);
  if (frames == 0) return node;
  node.add("first time [ps]", first_ps);
  node.add("last time [ps]", s.frame.time_ps);
  node.add("first step", first_step);
  node.add("last step", s.frame.step);
  node.add("velocities", !s.frame.v_nm_ps.empty());
  node.add("forces", !s.f.empty());
  add_box(node, "last box", s.frame.box);
  return node;
}

using Summarize = data::InfoNode (*)(const std::filesystem::path&);
// What is known by its content is read so, whatever the name: restarts are called .rst7, too.
constexpr Summarize as_xtc = [](const auto& path) { return summary(path, ".xtc"); };
constexpr Summarize as_trr = [](const auto& path) { return summary(path, ".trr"); };
constexpr Summarize as_dcd = [](const auto& path) { return summary(path, ".dcd"); };
constexpr Summarize as_netcdf = [](const auto& path) { return summary(path, ".nc"); };
constexpr Summarize by_name = [](const auto& path) { return summary(path, ""); };

bool begins(std::string_view head, std::string_view bytes) {
  return head.substr(0, bytes.size()) == bytes;
}

using namespace std::string_view_literals;
const data::RegisterFormat xtc({.name = "XTC",
                                .summary = "GROMACS trajectories, compressed positions",
                                .extensions = {".xtc"},
                                .sniff =
                                    [](std::string_view head, const std::filesystem::path&) {
                                      return begins(head, "\0\0\x07\xcb"sv) ||
                                             begins(head, "\0\0\x07\xe7"sv);
                                    },
                                .summarize = as_xtc});
const data::RegisterFormat trr({.name = "TRR",
                                .summary = "GROMACS trajectories, positions, velocities, forces",
                                .extensions = {".trr"},
                                .sniff =
                                    [](std::string_view head, const std::filesystem::path&) {
                                      return begins(head, "\0\0\x07\xc9\0\0\0\x0d"sv);
                                    },
                                .summarize = as_trr});
const data::RegisterFormat dcd({.name = "DCD",
                                .summary = "CHARMM and NAMD trajectories",
                                .extensions = {".dcd"},
                                .sniff =
                                    [](std::string_view head, const std::filesystem::path&) {
                                      return begins(head, "\x54\0\0\0CORD"sv) || begins(head,
                                                                                        "\0\0\0\x54"
                                                                                        "CORD"sv);
                                    },
                                .summarize = as_dcd});
const data::RegisterFormat netcdf({.name = "AMBER NetCDF",
                                   .summary = "AMBER trajectories and restarts in NetCDF",
                                   .extensions = {".nc", ".ncdf", ".ncrst"},
                                   .sniff =
                                       [](std::string_view head, const std::filesystem::path&) {
                                         return begins(head, "CDF\1"sv) ||
                                                begins(head, "CDF\2"sv) || begins(head, "CDF\5"sv);
                                       },
                                   .summarize = as_netcdf});
const data::RegisterFormat h5md({.name = "H5MD",
                                 .summary = "trajectories in HDF5",
                                 .extensions = {".h5md"},
                                 .sniff =
                                     [](std::string_view, const std::filesystem::path& path) {
                                       return path.extension() == ".h5md";
                                     },
                                 .summarize = by_name,
                                 .priority = 5});

}  // namespace
}  // namespace tessera::molecular
