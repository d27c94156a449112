// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/mesh.h"

#include "electromagnetics/waves/auto_grid.h"
#include "electromagnetics/waves/pictures.h"
#include "tessera/data/file_io.h"
#include "tessera/data/quantity.h"
#include "tessera/data/vtk_xml.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

std::string metres(double m) { return data::print_readably({m, data::dimension::length}); }

double largest_ratio(const Case& c, int axis) {
  double most = 1;
  for (int i = 1; i < c.grid.cells(axis); ++i) {
    const double q = c.grid.length(axis, i) / c.grid.length(axis, i - 1);
    most = std::max({most, q, 1 / q});
  }
  return most;
}

}  // namespace

std::vector<std::string> auto_grid_lines(const Case& c) {
  std::vector<std::string> out;
  const waves::AutoGrid& a = c.auto_grid;
  if (a.smallest_axis < 0) return out;
  const waves::AutoGrid::Axis& axis = a.axes[static_cast<std::size_t>(a.smallest_axis)];
  std::string text =
      fmt::format("the smallest cell, {} at {} = {}, is made by {}", metres(axis.smallest_m),
                  "xyz"[a.smallest_axis], metres(axis.smallest_at), axis.culprit.reason);
  if (a.cost)
    text += fmt::format(
        "; without that {}, {:.3g} times the time step, {:.3g} times the cells: "
        "{:.3g} times the work",
        metres(a.cost->smallest_m), a.cost->time_step, a.cost->cells,
        a.cost->cells / a.cost->time_step);
  out.push_back(std::move(text));
  if (a.one_of > 1)
    out.push_back(fmt::format(
        "of so many bodies gaps and edges were looked for at one face of {}: finer ones that are "
        "nowhere repeated want grid.x.refine",
        a.one_of));
  for (int d = 0; d < 3; ++d) {
    const auto& dropped = a.axes[static_cast<std::size_t>(d)].dropped;
    if (dropped.empty()) continue;
    std::string names;
    for (std::size_t k = 0; k < std::min<std::size_t>(dropped.size(), 5); ++k)
      names +=
          fmt::format("{}{} at {}", k == 0 ? "" : ", ", dropped[k].owner, metres(dropped[k].at));
    out.push_back(
        fmt::format("{} of {} have no line of their own along {}, as one is too near: {}{}",
                    dropped.size() == 1 ? "1 face" : fmt::format("{} faces", dropped.size()),
                    "bodies and ports", "xyz"[d], names, dropped.size() > 5 ? ", ..." : ""));
  }
  return out;
}

MeshReport write_mesh(const std::filesystem::path& folder, const Case& c) {
  MeshReport out;
  out.table.push_back({"axis", "from", "to", "cells", "smallest", "largest", "ratio", "made by"});
  for (int d = 0; d < 3; ++d) {
    if (!c.grid.resolved(d)) continue;
    const auto& lines = c.grid.lines[static_cast<std::size_t>(d)];
    const auto& made = c.auto_grid.axes[static_cast<std::size_t>(d)];
    double largest = 0;
    for (int i = 0; i < c.grid.cells(d); ++i) largest = std::max(largest, c.grid.length(d, i));
    out.table.push_back({std::string(1, "xyz"[d]), metres(lines.front()), metres(lines.back()),
                         std::to_string(c.grid.cells(d)), metres(c.grid.smallest_length(d)),
                         metres(largest), fmt::format("{:.3g}", largest_ratio(c, d)),
                         made.made ? made.culprit.reason : "the case"});
  }
  out.lines = {fmt::format("{:.4g} million cells, fields {:.3g} GB, time step {}",
                           static_cast<double>(c.grid.cell_count()) / 1e6,
                           static_cast<double>(waves::field_bytes(c)) / 1e9,
                           data::print_readably({c.dt_s, data::dimension::time}))};
  for (std::string& text : auto_grid_lines(c)) out.lines.push_back(std::move(text));
  out.files.push_back(folder / "lines.toml");
  data::write_file_atomically(out.files.back(), waves::lines_as_toml(c));
  std::string why_not;
  if (data::vtk_xml_available(&why_not)) {
    write_scene(folder, c);
    for (const char* name : {"scene.vtr", "scene.pvd"})
      if (std::filesystem::exists(folder / name)) out.files.push_back(folder / name);
  } else {
    out.lines.push_back("no VTK XML files: " + why_not);
  }
  for (std::filesystem::path& file : draw_scene(folder, c, true))
    out.files.push_back(std::move(file));
  return out;
}

}  // namespace tessera::apps::fdtd
